"""The catalogue of hostile and unlucky inputs: one module per section, one class of named cases in each.

    class Text(Catalogue):
        CODES = "J01 J02"                       # every code of the section; each must have a case, or a reason in BY_HAND
        CASES = [refused("J01", "an empty file", {"x.json": b""}, "empty file"),
                 same("J02", "a byte order mark", {"x.json": b"..."}, {"x.json": b"..."})]
        @case("J03", "what needs code of its own")
        def test_it(self): ...

Every refusal is held to the same rules, whatever its case says: nothing on standard output; one line on standard error,
short and without control characters (a hint may follow); the files in the folder as they were, none more; little time
and memory. A case that is accepted must give the bytes that the plain form of the same data gives.
"""
import atexit, collections, os, pathlib, resource, signal, struct, subprocess, sys, threading, unicodedata

from attn_test import BINARY, SOURCE, CliTest, Done, main

OLD = "old.csv"  # stands in the folder before each run, and is its output
MOST_SECONDS = 2.0  # of CPU time: what the clock says depends on who else is at work
MOST_MEMORY = 200 << 10  # KiB
MOST_LINE = 300
SANITIZED = os.environ.get("ATTN_SANITIZED") == "yes"  # takes time and memory of its own

Case = collections.namedtuple("Case", "code fault run")


def refused(code, fault, files, says, *command, exit=3, options=(), **how):
    """`command` (the first file as a document, without one) is refused with that exit code and a message that matches."""
    def run(test):
        for name, content in files.items(): test.write(name, content() if callable(content) else content)
        words = command or ("compute", next(iter(files)))
        test.refuse(words + tuple(options), says, exit, **how)
    return Case(code, fault, run)


def array(code, fault, name, content, says, *options, exit=3):
    """The same for a file that holds one array."""
    return refused(code, fault, {name: content}, says, "compute", "-X", name, *options, exit=exit)


def same(code, fault, files, plain, *command, outputs=("-w",), options=()):
    """`command` on `files` gives the bytes that it gives on the plain form of the same data."""
    def run(test):
        got = []
        for content in (plain, files):
            for name, data in content.items(): test.write(name, data() if callable(data) else data)
            words = list(command or ("compute", next(iter(content)))) + list(options)
            for i, option in enumerate(outputs): words += [option, f"same{i}.json"]
            test.run_cli(*words)
            got.append([test.read(f"same{i}.json") for i in range(len(outputs))])
        test.assertEqual(got[1], got[0])
    return Case(code, fault, run)


def case(code, fault):
    """Makes a method the test of a case."""
    def mark(method):
        method.case = Case(code, fault, method)
        return method
    return mark


class Counts:
    """What became of the cases of this process."""
    codes, by_hand, passed, cases = {}, {}, collections.Counter(), 0

    @classmethod
    def report(cls):
        total = len(cls.codes)
        covered = [code for code, count in cls.codes.items() if count > 0]
        good = [code for code in covered if cls.passed[code] == cls.codes[code]]
        print(f"catalogue: {total} entries, {len(covered)} automated by {cls.cases} cases, {len(good)} passed", file=sys.stderr)
        for code, reason in sorted(cls.by_hand.items()): print(f"  {code} not automated: {reason}", file=sys.stderr)


class Catalogue(CliTest):
    CODES, CASES, BY_HAND = "", [], {}

    def __init_subclass__(cls):
        super().__init_subclass__()
        counts = dict.fromkeys(cls.CODES.split(), 0)
        marked = [value.case for value in list(vars(cls).values()) if hasattr(value, "case")]
        for name in [name for name, value in vars(cls).items() if hasattr(value, "case")]: delattr(cls, name)
        for number, one in enumerate([*cls.CASES, *marked]):
            counts[one.code] += 1
            label = "".join(c if c.isalnum() else "_" for c in one.fault)
            def test(self, one=one):
                one.run(self)
                Counts.passed[one.code] += 1
            test.__doc__ = f"{one.code}: {one.fault}"
            setattr(cls, f"test_{one.code}_{number:03}_{label}", test)
            Counts.cases += 1
        missing = [code for code, count in counts.items() if count == 0 and code not in cls.BY_HAND]
        if missing: raise AssertionError(f"no case for {missing}")
        Counts.codes.update(counts)
        Counts.by_hand.update(cls.BY_HAND)

    def setUp(self):
        super().setUp()
        self.write(OLD, "old\n")

    def snapshot(self):
        found = {}
        for path in sorted(self.folder.rglob("*")):
            status = path.lstat()
            content = path.read_bytes() if path.is_file() and not path.is_symlink() and status.st_size < 1 << 20 and status.st_mode & 0o400 else None
            found[str(path.relative_to(self.folder))] = (status.st_mode, status.st_size, content)
        return found

    def environment(self, env=None):
        clean = {k: v for k, v in os.environ.items() if not k.startswith("ATTN_CLI_")}
        clean.update({"HOME": str(self.folder), "XDG_CONFIG_HOME": str(self.folder / ".config"), **(env or {})})
        return {k: v for k, v in clean.items() if v is not None}

    def start(self, words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, prepare=None, env=None, before=(), binary=BINARY, **more):
        return subprocess.Popen([*before, binary, *map(str, words)], cwd=self.folder, stdin=stdin, stdout=stdout, stderr=subprocess.PIPE,
                                preexec_fn=prepare, env=self.environment(env), **more)

    def finish(self, tool, stdin=None, timeout=60):
        """Waits for a tool; returns what it left, with .seconds of CPU and .memory in KiB."""
        parts = {}
        def gather(name, stream): parts[name] = stream.read()
        threads = [threading.Thread(target=gather, args=(name, stream)) for name, stream in (("out", tool.stdout), ("err", tool.stderr)) if stream]
        if stdin is not None: threads.append(threading.Thread(target=feed, args=(tool.stdin, stdin)))
        watch = threading.Timer(timeout, tool.kill)
        for thread in (*threads, watch): thread.start()
        _, status, used = os.wait4(tool.pid, 0)
        watch.cancel()
        for thread in threads: thread.join()
        for stream in (tool.stdout, tool.stderr):
            if stream: stream.close()
        tool.returncode = os.waitstatus_to_exitcode(status)
        done = Done(tool.returncode, parts.get("out", b""), parts["err"])
        done.err_bytes, done.seconds, done.memory = parts["err"], used.ru_utime + used.ru_stime, used.ru_maxrss
        return done

    def run_tool(self, *words, stdin=None, **how):
        """Like run_cli with any exit code; `stdin` may be bytes or an iterator of blocks."""
        timeout = how.pop("timeout", 60)
        return self.finish(self.start(words, stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE, **how), stdin, timeout)

    def refuse(self, words, says, exit, stdin=None, seconds=MOST_SECONDS, memory=MOST_MEMORY, output=True, **how):
        """Runs a command that is refused, and holds it to the rules."""
        words = [*words, "-w", OLD] if output and words and words[0] == "compute" else list(words)
        before = self.snapshot()
        done = self.run_tool(*words, stdin=stdin, **how)
        self.assertIn(done.code, exit if isinstance(exit, tuple) else (exit,), f"{words}\n{done.err}")
        self.assertRefusal(done, says)
        self.assertEqual(self.snapshot(), before)
        if not SANITIZED: self.assertLess(done.seconds, seconds)
        if not SANITIZED: self.assertLess(done.memory, memory)
        return done

    def assertRefusal(self, done, says):
        self.assertEqual(done.out_bytes, b"")
        lines = done.err_bytes.split(b"\n")
        self.assertEqual(lines.pop(), b"", done.err)
        self.assertTrue(lines and lines[0].startswith(b"attn-cli: error: "), done.err)
        self.assertTrue(all(line.startswith(b"attn-cli: hint: ") for line in lines[1:2]) and len(lines) <= 2, done.err)
        for line in lines:
            self.assertLessEqual(len(line), MOST_LINE, line)
            self.assertFalse([c for c in line.decode() if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")], line)
        self.assertRegex(lines[0].decode(), says)


def feed(stream, content):
    try:
        for block in [content] if isinstance(content, bytes) else content: stream.write(block)
        stream.close()
    except BrokenPipeError:
        try: stream.close()
        except BrokenPipeError: pass


def nobody():
    """As root every file can be read and written."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)


def limit(what, value):
    """For `prepare`: a limit of the system on the tool."""
    return lambda: resource.setrlimit(what, (value, value))


def rows_text(rows): return "".join(",".join(str(x) for x in row) + "\n" for row in rows)


def run():
    atexit.register(Counts.report)
    main()
