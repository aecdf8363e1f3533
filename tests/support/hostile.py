"""Refusals of damaged and hostile text files: what every one of them must keep."""
import resource, time

from attn_test import CliTest

LIMIT = 200 << 10  # KiB of resident memory that a refusal may take


class Hostile(CliTest):
    """`refuse` runs the tool on one bad file. A refusal writes one line to stderr and nothing to stdout, replaces no
    file and leaves none behind, and is quick and small."""

    def setUp(self):
        super().setUp()
        self.write("old.csv", "old\n")

    def refuse(self, name, content, pattern, *args, exit=3, stdin=None):
        if content is not None: self.write(name, content)
        before, start = self.files(), time.monotonic()
        done = self.run_cli("compute", *(args or (name,)), "-w", "old.csv", expect=exit, stdin=stdin or b"")
        self.assertLess(time.monotonic() - start, 20)
        self.assertError(done, pattern)
        line = done.err.splitlines()[0].encode()
        self.assertLessEqual(len(line), 300)
        self.assertFalse([b for b in line if b < 32 or b == 127], line)
        self.assertEqual(self.read("old.csv"), "old\n")
        self.assertEqual(self.files(), before)
        self.assertLess(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, LIMIT)
        return done


def rest(query):
    """A document whose query is the given JSON text and whose key and value are good."""
    return b'{"query":' + (query if isinstance(query, bytes) else query.encode()) + b',"key":[[1]],"value":[[1]]}'
