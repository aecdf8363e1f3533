"""Delimited text."""
from catalogue import Case, Catalogue, array, case, run


def bad(code, fault, content, says, *options, exit=3): return array(code, fault, "x.csv", content, says, *options, exit=exit)


def good(code, fault, content, rows):
    """An odd file that is right: its numbers are these."""
    def check(test):
        test.write("x.csv", content)
        test.write("plain.json", rows)
        test.run_cli("diff", "x.csv", "plain.json", "--atol", "0", "--rtol", "0")
    return Case(code, fault, check)


class Csv(Catalogue):
    CODES = "C01 C02 C03 C05 C06 C07 C09 C10 C11 C13 C14 C15 C17 C18 C19 C21 C22"
    CASES = [
        bad("C01", "an empty file", b"", r"x\.csv: empty file"),
        bad("C01", "blank lines", b"\n\n \n", r"x\.csv: no numbers"),
        bad("C01", "a byte order mark alone", b"\xef\xbb\xbf", r"x\.csv: "),
        bad("C02", "words alone", b"a,b,c\n", r"x\.csv:1:1: 'a' is not a number"),
        bad("C03", "a line that is shorter", b"1,2\n3\n", r"x\.csv:2:2: line has 1 cell, line 1 has 2"),
        bad("C03", "a line that is longer", b"1,2\n3,4,5\n", r"x\.csv:2:3: line has 3 cells, line 1 has 2"),
        bad("C03", "a row of a file of ours that is missing", b"head,query,a\n0,x,1\n0,y,2\n1,x,3\n", r"x\.csv:4: "),
        good("C05", "lines that end in CR", b"1,2\r3,4\r", [[1, 2], [3, 4]]),
        good("C05", "lines that end in CR and LF", b"1,2\r\n3,4\r\n", [[1, 2], [3, 4]]),
        good("C06", "a byte order mark", b"\xef\xbb\xbf1,2\n", [[1, 2]]),
        good("C07", "no line end at the end", b"1,2\n3,4", [[1, 2], [3, 4]]),
        good("C07", "too many of them", b"1,2\n3,4\n\n\n", [[1, 2], [3, 4]]),
        bad("C09", "an empty cell", b"1,,2\n", r"x\.csv:1:2: empty cell"),
        bad("C09", "a comma at the end", b"1,2,\n3,4,\n", r"x\.csv:1:3: empty cell"),
        bad("C09", "a comma at the start", b",1,2\n3,4,5\n", r"x\.csv:1:1: "),
        bad("C09", "a blank line in the middle", b"1,2\n\n3,4\n", r"x\.csv:2:1: blank line"),
        bad("C10", "numbers that are not finite", b"1,nan\ninf,2\n", r"x\.csv: row 0, column 1 is NaN", exit=4),
        bad("C10", "with a sign, in capitals", b"1,-Infinity\n0,2\n", r"x\.csv", exit=4),
        bad("C10", "a NaN with a payload", b"1,NaN(7)\n0,2\n", r"x\.csv:1:2: 'NaN\(7\)' is not a number"),
        bad("C10", "a NaN with a quoted payload", b'1,"nan(7)"\n0,2\n', r"x\.csv:1:2: "),
        *[bad("C11", f"{cell} is no number", f"1,2\n3,{cell}\n".encode(), r"x\.csv:2:2: ")
          for cell in ("0x1p3", "1_0", "1e", "1.5abc", "1.2.3", "--1", "+-1", "1;2", "\u0661", "1\u00a0", "1d5", "1e+", ".", "-", "infinit", "1f")],
        good("C13", "a number below all others is zero", b"7,1e-400\n1e-46,5e-324\n", [[7, 0], [1e-46, 5e-324]]),
        bad("C14", "a number beyond float32", b"1,1e39\n0,0\n", r"x\.csv: 1e\+?39 at \[0,1\] is beyond float32", "--precision", "float32", exit=4),
        bad("C14", "a number beyond float64", b"1,1e400\n", r"x\.csv:1:2: the number 1e400 is out of range"),
        good("C14", "which is right in float64, the precision of text", b"1,1e39\n", [[1, 1e39]]),
        good("C15", "quoted numbers", b'"1.5","2"\n', [[1.5, 2]]),
        bad("C15", "a quote that is never closed", b'1,"2\n3,4\n', r"x\.csv:1:2: this quote is never closed"),
        bad("C15", "text after a quote", b'"1"2,3\n', r"x\.csv:1:1: text after the closing quote"),
        bad("C17", "a NUL byte", b"1,2\0,3\n", r"x\.csv:1:2: a NUL byte"),
        bad("C17", "UTF-16", "1,2\n".encode("utf-16"), r"x\.csv: .*UTF-16"),
        bad("C17", "every byte there is", bytes(range(1, 256)), r"x\.csv:"),
        bad("C17", "control characters in a cell", b"1,2\n3,\x1b[31m" + b"a" * 100000 + b"\n", r"x\.csv:2:2: "),
        bad("C17", "bytes that are not UTF-8", b"1\n" + b"\xff" * 5000 + b"\n", r"x\.csv:2:1: "),
        bad("C18", "a cell of 2 MiB", b"1" * (2 << 20), r"x\.csv:1:1: a cell of over 1 MiB", exit=6),
        bad("C19", "CR and a blank", b"a\r b\r c\n", r"x\.csv:2:1: ' b' is not a number"),
        good("C21", "blanks around numbers", b" 1 ,\t2\n", [[1, 2]]),
        good("C21", "runs of blanks between them", b" 1  2 \n 3  4\n", [[1, 2], [3, 4]]),
        bad("C22", "groups of digits", b"1 000,2\n", r"x\.csv:1:1: '1 000' is not a number"),
        bad("C22", "groups of digits in quotes", b'"1,000",2\n', r"x\.csv:1:1: '1,000' is not a number"),
    ]

    @case("C10", "which --allow-nonfinite lets in")
    def nonfinite(self):
        self.write("x.csv", "1,nan\ninf,2\n")
        self.write("x.json", b'[[1,"NaN"],["Infinity",2]]')
        for name in ("x.csv", "x.json"): self.run_cli("compute", "-X", name, "--allow-nonfinite", "-w", name + ".w.csv", "--precision", "float64")
        self.assertEqual(self.read("x.csv.w.csv"), self.read("x.json.w.csv"))

    @case("C18", "a line without an end")
    def endless(self):
        self.refuse(("compute", "-X", "-"), "cell of over 1 MiB", 6, stdin=(b"1" * 100000 for _ in range(3000)))
        self.refuse(("compute", "-X", "-"), "over 1 MiB", 6, stdin=(b" " * 100000 for _ in range(3000)))
        self.refuse(("compute", "-X", "-", "--max-memory", "32M"), "limit", 6, stdin=(b"1,2\n" * 50000 for _ in range(3000)))


if __name__ == "__main__": run()
