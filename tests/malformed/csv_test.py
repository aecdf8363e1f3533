"""Damaged and hostile delimited text, and odd files that are right."""
import os, threading

from attn_test import main
from hostile import Hostile

MATRICES = ("-Q", "x.csv", "-K", "x.csv", "-V", "x.csv")


class Refusals(Hostile):
    def bad(self, content, pattern, *args, exit=3, name="x.csv"):
        files = [name if word == "x.csv" else word for word in MATRICES]
        return self.refuse(name, content, pattern, *files, *args, exit=exit)

    def test_nothing_in_it(self):
        self.bad(b"", r"x\.csv: empty file")
        self.bad(b"\n\n \n", r"x\.csv: no numbers")
        self.bad(b"\xef\xbb\xbf", r"x\.csv: ")

    def test_text_only(self):
        self.bad(b"a,b,c\n", r"x\.csv:1:1: 'a' is not a number")
        self.bad(b"a\r b\r c\n", r"x\.csv:2:1: ' b' is not a number")

    def test_lines_of_several_lengths(self):
        self.bad(b"1,2\n3\n", r"x\.csv:2:2: line has 1 cell, line 1 has 2")
        self.bad(b"1,2\n3,4,5\n", r"x\.csv:2:3: line has 3 cells, line 1 has 2")

    def test_empty_cells(self):
        self.bad(b"1,,2\n", r"x\.csv:1:2: empty cell")
        self.bad(b"1,2,\n3,4,\n", r"x\.csv:1:3: empty cell")
        self.bad(b"1,2\n\n3,4\n", r"x\.csv:2:1: blank line")

    def test_what_is_no_number(self):
        for cell in ("1.5abc", "0x1p3", "1_0", "1e", "1 000", "NaN(7)", "1.2.3", "--1", "1;2", "\u0661", "1\u00a0", "1d5"):
            self.bad(f"1,2\n3,{cell}\n".encode(), r"x\.csv:2:2: ")
        self.bad(b"1,2\n3,1.5abc\n", r"x\.csv:2:2: '1\.5abc' is not a number")

    def test_out_of_range(self):
        self.bad(b"1,1e400\n", r"x\.csv:1:2: the number 1e400 is out of range")

    def test_not_finite(self):
        self.bad(b"1,nan\ninf,2\n", r"x\.csv", exit=4)

    def test_quotes(self):
        self.bad(b'1,"2\n3,4\n', r"x\.csv:1:2: this quote is never closed")
        self.bad(b'"1"2,3\n', r"x\.csv:1:1: text after the closing quote")

    def test_bytes_that_are_no_text(self):
        self.bad(b"1,2\0,3\n", r"x\.csv:1:2: a NUL byte")
        self.bad("1,2\n".encode("utf-16"), r"x\.csv: .*UTF-16")
        self.bad(bytes(range(1, 256)), r"x\.csv:")

    def test_hostile_cells_stay_on_one_short_line(self):
        self.bad(b"1,2\n3,\x1b[31m" + b"a" * 100000 + b"\n", r"x\.csv:2:2: ")
        self.bad(b"1\n" + b"\xff" * 5000 + b"\n", r"x\.csv:2:1: ")

    def test_one_endless_cell(self):
        self.refuse_stream((b"1" * 100000 for _ in range(3000)), "cell of over 1 MiB", 6, "-X", "-")
        self.refuse_stream((b" " * 100000 for _ in range(3000)), "over 1 MiB", 6, "-X", "-")
        self.bad(b"1" * (2 << 20), "x.csv:1:1: a cell of over 1 MiB", exit=6)

    def test_endless_files(self):
        self.refuse_stream((b"1,2\n" * 50000 for _ in range(3000)), "limit", 6, "-X", "-", "--max-memory", "32M")
        for device in ("/dev/zero", "/dev/urandom"):
            self.refuse("x.csv", None, device, "-X", device)
            self.refuse("x.csv", None, device, "-X", device, "--input-format", "csv")

    def test_files_that_are_none(self):
        self.refuse("x.csv", None, r"cannot open 'no\.csv': No such file", "-X", "no.csv")
        (self.folder / "folder.csv").mkdir()
        self.refuse("x.csv", None, r"folder\.csv", "-X", "folder.csv")
        os.symlink("a.csv", self.folder / "b.csv")
        os.symlink("b.csv", self.folder / "a.csv")
        self.refuse("x.csv", None, r"a\.csv.*symbolic links", "-X", "a.csv")
        self.refuse("x.csv", None, r"/proc/self/status", "-X", "/proc/self/status")

    def test_files_of_this_tool_with_rows_missing(self):
        self.refuse("w.csv", b"head,query,a\n0,x,1\n0,y,2\n1,x,3\n", r"w\.csv:4: ", "-X", "w.csv")


class Odd(Hostile):
    """Unusual files that are right: the numbers are those of the plain form."""

    def same(self, content, plain, *args, name="x.csv"):
        self.write(name, content)
        self.write("plain.json", plain)
        self.run_cli("diff", name, "plain.json", "--atol", "0", "--rtol", "0", *args)

    def test_line_ends(self):
        for content in (b"1,2\n3,4\n", b"1,2\n3,4", b"1,2\r\n3,4\r\n", b"1,2\r3,4\r", b"1,2\n3,4\n\n\n", b"\xef\xbb\xbf1,2\n3,4\n"):
            self.same(content, [[1, 2], [3, 4]])

    def test_delimiters(self):
        for content in (b"1;2\n3;4\n", b"1\t2\n3\t4\n", b"1 2\n3 4\n", b" 1  2 \n 3  4\n", b" 1 ,\t2\n3, 4 \n"):
            self.same(content, [[1, 2], [3, 4]])
        self.same(b"1|2\n3|4\n", [[1, 2], [3, 4]], "--delimiter", "|")

    def test_quoted_numbers(self):
        self.same(b'"1.5","2"\n', [[1.5, 2]])

    def test_headings_and_labels(self):
        self.same(b",a,b\nx,1,2\n", [[1, 2]])
        self.same(b"2020,2021\n1,2\n", [[1, 2]], "--header", "yes")
        self.same(b"1,2\n3,4\n", [[2], [4]], "--label-column", "yes")

    def test_tiny_numbers(self):
        self.same(b"7,1e-400\n1e-46,5e-324\n", [[7, 0], [1e-46, 5e-324]])

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
