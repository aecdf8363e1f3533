"""Odd delimited text that is right: the numbers are those of the plain form."""
import os, threading

from attn_test import CliTest, main


class Odd(CliTest):
    def same(self, content, plain, *args, name="x.csv"):
        self.write(name, content)
        self.write("plain.json", plain)
        self.run_cli("diff", name, "plain.json", "--atol", "0", "--rtol", "0", *args)

    def test_delimiters(self):
        for content in (b"1;2\n3;4\n", b"1\t2\n3\t4\n", b"1 2\n3 4\n", b" 1  2 \n 3  4\n", b" 1 ,\t2\n3, 4 \n"):
            self.same(content, [[1, 2], [3, 4]])
        self.same(b"1|2\n3|4\n", [[1, 2], [3, 4]], "--delimiter", "|")

    def test_headings_and_labels(self):
        self.same(b",a,b\nx,1,2\n", [[1, 2]])
        self.same(b"2020,2021\n1,2\n", [[1, 2]], "--header", "yes")
        self.same(b"1,2\n3,4\n", [[2], [4]], "--label-column", "yes")

    def test_one_column_and_one_cell(self):
        self.same(b"1\n2\n3\n", [[1], [2], [3]])
        self.same(b"3.5", [[3.5]])

    def test_a_fifo(self):
        os.mkfifo(self.folder / "pipe")
        feeder = threading.Thread(target=lambda: (self.folder / "pipe").write_bytes(b"1,2\n3,4\n"))
        feeder.start()
        self.write("plain.json", [[1, 2], [3, 4]])
        self.run_cli("diff", "pipe", "plain.json")
        feeder.join()


main()
