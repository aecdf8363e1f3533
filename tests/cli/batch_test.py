"""attn-cli batch: one process for many jobs, shards of them, and going on where a run was ended."""
import hashlib, json, os, random, signal, subprocess, time

import attn_test
from attn_test import CliTest, main

FULL = os.environ.get("ATTN_FULL") == "yes"
DOCUMENT = {"tokens": ["The", "cat", "is", "cute"], "embeddings": [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]}


def whole_results(text):
    """The results among lines of which a kill may have cut off some."""
    for line in text.splitlines():
        try: yield json.loads(line)
        except ValueError: pass


class Batch(CliTest):
    def manifest(self, jobs, name="m.jsonl"):
        return self.write(name, "".join((job if isinstance(job, str) else json.dumps(job)) + "\n" for job in jobs))

    def batch(self, *args, **options):
        done = self.run_cli("batch", *args, timeout=300, **options)
        done.results = [json.loads(line) for line in done.out.splitlines()]
        done.by_job = {result["job"]: result for result in done.results}
        return done

    def small_jobs(self, count):
        """Distinct four-token jobs, each with a file of its own."""
        self.write("doc.json", DOCUMENT)
        (self.folder / "out").mkdir(exist_ok=True)
        return [{"command": "compute", "input": "doc.json", "scale": 0.01 * (i + 1), "weights": [f"out/{i}.csv"]} for i in range(count)]

    def outputs(self):
        return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in (self.folder / "out").iterdir()}

    def fresh(self):
        for path in (self.folder / "out").iterdir(): path.unlink()

    # one run

    def test_the_same_bytes_as_compute_and_render(self):
        self.write("doc.json", DOCUMENT)
        self.write("tokens.txt", "a\nb\nc\nd\n")
        self.manifest([{"command": "compute", "input": "doc.json", "causal": True, "window": [-1, 0], "key-lengths": [3], "title": "T",
                        "weights": ["b.csv", "b.json", "b.png", "b.svg"], "output": "o.npy", "tokens": "@tokens.txt"},
                       {"input": "doc.json", "command": "render", "output": ["r.pdf", "r.html"], "colormap": "magma", "dpi": 50}])
        done = self.batch("m.jsonl", "--jobs", "2")
        self.assertEqual([r["exit"] for r in done.results], [0, 0])
        self.assertEqual([f["path"] for f in done.by_job[1]["outputs"]], ["o.npy", "b.csv", "b.json", "b.png", "b.svg"])
        self.assertEqual([f["path"] for f in done.by_job[1]["inputs"]], ["doc.json", "tokens.txt"])
        self.assertEqual(done.by_job[1]["outputs"][1]["size"], (self.folder / "b.csv").stat().st_size)
        self.assertRegex(done.err, r"^attn-cli: 2 jobs: 2 done, 0 skipped, 0 failed, [0-9.e-]+ s\n$")
        self.run_cli("compute", "doc.json", "--causal", "--window", "-1,0", "--key-lengths", "3", "--title", "T", "--tokens", "@tokens.txt",
                     *(w for kind in ("csv", "json", "png", "svg") for w in ("-w", f"c.{kind}")), "-o", "p.npy")
        self.run_cli("render", "doc.json", "-o", "s.pdf", "-o", "s.html", "--colormap", "magma", "--dpi", "50")
        for ours, theirs in [*((f"b.{k}", f"c.{k}") for k in ("csv", "json", "png", "svg")), ("o.npy", "p.npy"), ("r.pdf", "s.pdf"), ("r.html", "s.html")]:
            self.assertEqual((self.folder / ours).read_bytes(), (self.folder / theirs).read_bytes(), ours)

    def test_paths_are_relative_to_the_manifest(self):
        (self.folder / "deep").mkdir()
        self.write("deep/doc.json", DOCUMENT)
        self.write("deep/names", "a\nb\nc\nd\n")
        self.manifest([{"command": "compute", "embeddings": "doc.json:embeddings", "key-tokens": "@names", "weights": "w.csv"}], "deep/m.jsonl")
        self.batch("deep/m.jsonl")
        self.assertEqual(self.read("deep/w.csv").splitlines()[0], "query,a,b,c,d")
        self.assertEqual(self.files(), ["deep"])
        self.batch("-", stdin=b'{"command":"compute","input":"deep/doc.json","lse":"here.csv"}')
        self.assertTrue((self.folder / "here.csv").exists())

    def test_notes_are_part_of_the_result(self):
        self.write("doc.json", {**DOCUMENT, "mask": [[0] * 4] * 4})
        self.manifest([{"command": "compute", "input": "doc.json", "weights": "w.csv"}])
        done = self.batch("m.jsonl")
        self.assertEqual(len(done.results[0]["notes"]), 1)
        self.assertNotIn("note", done.err)

    def test_a_thousand_jobs(self):
        self.manifest(self.small_jobs(1000))
        done = self.batch("m.jsonl", "--jobs", "2")
        self.assertEqual(sorted(done.by_job), list(range(1, 1001)))
        self.assertEqual({r["exit"] for r in done.results}, {0})
        self.assertEqual(len({r["hash"] for r in done.results}), 1000)
        for i in (0, 499, 999):
            rows = [line.split(",") for line in self.read(f"out/{i}.csv").splitlines()[1:]]
            e = 2.718281828459045 ** (0.01 * (i + 1))
            self.assertClose([[float(x) for x in row[1:]] for row in rows],
                             [[(e if j == k else 1) / (e + 3) for k in range(4)] for j in range(4)])
        self.assertEqual([p for p in (self.folder / "out").iterdir() if p.name.startswith(".")], [])

    # faults

    def test_every_kind_of_fault(self):
        self.write("doc.json", DOCUMENT)
        self.write("bad.csv", "1,2\n3\n")
        self.write("nan.json", {"query": [["NaN", 1]], "key": [[1, 1]]})
        def compute(**more): return {"command": "compute", "input": "doc.json", **more}
        # each line, its exit code, what the message says
        cases = [
            (compute(weights="ok1.csv"), 0, None),
            ('{"command": "compute", ', 3, r"m\.jsonl:2:\d+: found no valid JSON"),
            ("[1, 2]", 3, r"m\.jsonl:3: found array"),
            ("{" * 40, 3, r"m\.jsonl:4: is nested too deeply"),
            ('{"command": "compute", "scale": 1, "scale": 2, "weights": "x.csv"}', 3, r"m\.jsonl:5: 'scale' stands twice"),
            ('{"command": "compute", "scale": 1e999, "weights": "x.csv"}', 3, r"m\.jsonl:6"),
            ({"input": "doc.json"}, 2, r"m\.jsonl:7: a job needs \"command\""),
            ({"command": "comptue"}, 2, r"found command 'comptue'"),
            ({"command": "diff", "weights": "x.csv"}, 2, r"found command 'diff', expected compute or render"),
            (compute(wieghts="x.csv"), 2, r"'wieghts' is no option of compute"),
            (compute(weights="x.csv", threads=2), 2, r"'threads' is not said of one job"),
            (compute(weights="x.csv", causal="yes"), 2, r"'causal': expected true or false"),
            (compute(weights="x.csv", scale=True), 2, r"'scale': expected a text or a number"),
            (compute(weights="x.csv", scale=None), 2, r"'scale': expected a text or a number"),
            (compute(weights="x.csv", scale="wide"), 2, r"'scale': found 'wide', expected a finite number"),
            (compute(weights="x.csv", align="left"), 2, r"'align': found 'left'"),
            (compute(), 2, r"the job writes nothing"),
            ({"command": "render", "output": "x.png"}, 2, r"render needs \"input\""),
            (compute(weights="-"), 2, r"'-' belongs to the batch"),
            (compute(weights="/dev/stdout"), 2, r"'/dev/stdout' belongs to the batch"),
            ({"command": "compute", "input": "-", "weights": "x.csv"}, 2, r"'-' belongs to the batch"),
            (compute(weights="x.csv", tokens="@-"), 2, r"'-' belongs to the batch"),
            (compute(weights=""), 2, r"found an empty name"),
            (compute(weights="a\0b.csv"), 2, r"NUL"),
            (compute(weights="./ok1.csv"), 2, r"m\.jsonl:25: './ok1\.csv' is written by line 1 already"),
            ({"command": "render", "input": "ok1.csv", "output": "x.png"}, 2, r"m\.jsonl:26: reads 'ok1\.csv', which line 1 writes"),
            (compute(weights=["ok2.csv", "./ok2.csv"]), 2, r"ok2"),
            ({"command": "compute", "input": "missing.json", "weights": "x3.csv"}, 3, r"missing\.json.*No such file"),
            ({"command": "compute", "query": "bad.csv", "key": "bad.csv", "weights": "x4.csv"}, 3, r"bad\.csv"),
            ({"command": "compute", "input": "nan.json", "weights": "x5.csv"}, 4, r"nan\.json"),
            (compute(weights="no/such/folder.csv"), 5, r"no/such/folder"),
            (compute(weights="doc.json/x.csv"), 5, r"doc\.json/x"),
            (compute(weights="ok3.csv", heads=2), 0, None),
        ]
        self.manifest([job for job, _, _ in cases])
        done = self.batch("m.jsonl", expect=5)
        self.assertEqual(sorted(done.by_job), list(range(1, len(cases) + 1)))
        for number, (job, code, message) in enumerate(cases, 1):
            with self.subTest(job=job):
                result = done.by_job[number]
                self.assertEqual(result["exit"], code, result)
                if message: self.assertRegex(result["error"], message)
                else: self.assertNotIn("error", result)
        self.assertEqual(done.by_job[10]["hint"], "did you mean 'weights'?")
        self.assertEqual(done.by_job[8]["hint"], "did you mean 'compute'?")
        self.assertEqual([n for n in self.files() if n.endswith((".csv", ".png"))], ["bad.csv", "ok1.csv", "ok3.csv"])
        # what cannot run is told before anything runs
        faults = {n for n, (_, code, m) in enumerate(cases, 1) if code == 2 and n != 27} | {2, 3, 4, 5, 6}
        self.assertEqual({r["job"] for r in done.results[:len(faults)]}, faults)
        self.assertRegex(done.err, r"33 jobs: 2 done, 0 skipped, 31 failed")

    def test_wrong_use(self):
        self.manifest([])
        self.assertError(self.run_cli("batch", expect=2), "batch needs 1 input")
        self.assertError(self.run_cli("batch", "no.jsonl", expect=3), r"no\.jsonl.*No such file")
        self.assertError(self.run_cli("batch", "m.jsonl", "--resume", "no.jsonl", expect=3), r"no\.jsonl.*No such file")
        self.assertError(self.run_cli("batch", "m.jsonl", "--jobs", "0", expect=2), "--jobs")
        for shard in ("2", "2/2", "-1/2", "a/b", "1/0", "/", "1/2/3"):
            self.assertError(self.run_cli("batch", "m.jsonl", "--shard", shard, expect=2), "--shard: found '.*', expected I/N")
        self.manifest([{"command": "compute", "input": "doc.json", "weights": "w.csv"}], "other.jsonl")
        self.assertError(self.run_cli("batch", "m.jsonl", "--resume", "other.jsonl", expect=3), "holds no results")
        self.assertEqual(self.batch("m.jsonl").results, [])

    def test_results_are_never_replaced_by_an_output(self):
        self.write("doc.json", DOCUMENT)
        self.manifest([{"command": "compute", "input": "doc.json", "weights": "r.json"}])
        with open(self.folder / "r.json", "wb") as results:
            done = subprocess.run([attn_test.BINARY, "batch", "m.jsonl"], cwd=self.folder, stdout=results, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 2)
        self.assertIn("where the results of the batch go", json.loads(self.read("r.json"))["error"])

    def test_memory_is_shared_and_asked_for_again_alone(self):
        # Each job holds two matrices of 4 MB: 12 MB do for one at a time, and never for two.
        values = b"\x93NUMPY\x01\x00" + (header := b"{'descr': '<f8', 'fortran_order': False, 'shape': (8, 65536), }".ljust(117) + b"\n", len(header).to_bytes(2, "little") + header)[1]
        self.write("q.npy", values + b"\0" * (8 * 65536 * 8))
        job = {"command": "compute", "query": "q.npy", "key": "q.npy"}
        self.manifest([{**job, "lse": f"l{i}.csv"} for i in range(6)] + [{**job, "query": "q.npy", "scale": 2, "weights": "w.csv"}])
        done = self.batch("m.jsonl", "--jobs", "4", "--threads", "4", "--max-memory", "12M")
        self.assertEqual({r["exit"] for r in done.results}, {0})
        done = self.batch("m.jsonl", "--jobs", "4", "--threads", "4", "--max-memory", "3M", expect=6)
        self.assertEqual({r["exit"] for r in done.results}, {6})
        self.assertRegex(done.results[0]["error"], r"q\.npy needs 4 MiB of memory, the limit is 3 MiB")

    def test_reader_that_goes_away_ends_it_quietly(self):
        self.manifest(self.small_jobs(300))
        done = subprocess.run(["bash", "-o", "pipefail", "-c", f'"{attn_test.BINARY}" batch m.jsonl | head -n 1'], cwd=self.folder, capture_output=True)
        self.assertEqual((done.returncode, done.stderr, done.stdout.count(b"\n")), (0, b"", 1))

    # shards

    def test_shards_are_disjoint_complete_and_stable(self):
        jobs = self.small_jobs(60) + ["this is no job"]
        self.manifest(jobs)
        parts = [{r["hash"] for r in self.batch("m.jsonl", "--shard", f"{i}/3", expect=(0, 3)).results} for i in range(3)]
        self.assertEqual(sum(len(p) for p in parts), 61)
        self.assertEqual(len(set.union(*parts)), 61)
        for part in parts: self.assertGreater(len(part), 8)
        # other lines, other order, other blanks and order of keys: the same jobs
        moved = ["", *({k: job[k] for k in reversed(job)} for job in reversed(jobs[:60])),
                 {"command": "compute", "input": "doc.json", "scale": 9, "weights": ["out/more.csv"]}]
        self.manifest(moved)
        again = [{r["hash"] for r in self.batch("m.jsonl", "--shard", f"{i}/3").results} for i in range(3)]
        raw = {r["hash"] for r in self.batch("m.jsonl").results}
        self.assertEqual(len(raw), 61)
        for old, new in zip(parts, again): self.assertEqual(old & raw, {h for h in new if h in set.union(*parts)})

    def test_shards_of_schedulers(self):
        self.manifest(self.small_jobs(20))
        want = [sorted(r["job"] for r in self.batch("m.jsonl", "--shard", f"{i}/4").results) for i in range(4)]
        def jobs(*args, **env):
            return sorted(r["job"] for r in self.batch("m.jsonl", *args, env={k: str(v) for k, v in env.items()}).results)
        for i in range(4):
            self.assertEqual(jobs(SLURM_ARRAY_TASK_ID=10 + 5 * i, SLURM_ARRAY_TASK_COUNT=4, SLURM_ARRAY_TASK_MIN=10, SLURM_ARRAY_TASK_MAX=25, SLURM_ARRAY_TASK_STEP=5), want[i])
            self.assertEqual(jobs(SLURM_ARRAY_TASK_ID=i, SLURM_ARRAY_TASK_COUNT=4), want[i])
            self.assertEqual(jobs(JOB_COMPLETION_INDEX=i, JOB_COMPLETION_COUNT=4), want[i])
        self.assertEqual(jobs("--shard", "0/1", SLURM_ARRAY_TASK_ID=3, SLURM_ARRAY_TASK_COUNT=4), list(range(1, 21)))
        for env in ({"JOB_COMPLETION_INDEX": "1"}, {"SLURM_ARRAY_TASK_ID": "1"}, {"SLURM_ARRAY_TASK_ID": "x"},
                    {"SLURM_ARRAY_TASK_ID": "7", "SLURM_ARRAY_TASK_COUNT": "2", "SLURM_ARRAY_TASK_MIN": "3", "SLURM_ARRAY_TASK_MAX": "7", "SLURM_ARRAY_TASK_STEP": "1"}):
            self.assertError(self.run_cli("batch", "m.jsonl", env=env, expect=2), "SLURM_ARRAY|JOB_COMPLETION")

    def test_two_shards_at_once(self):
        self.manifest(jobs := self.small_jobs(200))
        self.batch("m.jsonl")
        want = self.outputs()
        self.fresh()
        with open(self.folder / "r.jsonl", "ab") as results:
            running = [subprocess.Popen([attn_test.BINARY, "batch", "m.jsonl", "-q", "--shard", f"{i}/2"], cwd=self.folder, stdout=results) for i in range(2)]
            self.assertEqual([p.wait(120) for p in running], [0, 0])
        self.assertEqual(sorted(json.loads(line)["job"] for line in self.read("r.jsonl").splitlines()), list(range(1, len(jobs) + 1)))
        self.assertEqual(self.outputs(), want)
        # a path that two shards would write is refused in the shard of the later line, whichever runs first
        self.manifest([{**job, "weights": "out/same.csv"} for job in jobs[:8]])
        codes = {r["job"]: r["exit"] for i in range(2) for r in self.batch("m.jsonl", "--shard", f"{i}/2", expect=(0, 2)).results}
        self.assertEqual(codes, {1: 0, **{n: 2 for n in range(2, 9)}})

    # resume

    def test_resume_skips_what_is_done(self):
        self.manifest(self.small_jobs(5))
        self.write("r.jsonl", self.batch("m.jsonl").out)
        def rerun(expect=0):
            return sorted(r["job"] for r in self.batch("m.jsonl", "--resume", "r.jsonl", expect=expect).results if not r.get("skipped"))
        self.assertEqual(rerun(), [])
        os.utime(self.folder / "out/1.csv", ns=(1, 1))
        self.assertEqual(rerun(), [2])                                   # an output that was touched
        self.write("r.jsonl", self.batch("m.jsonl").out)
        (self.folder / "out/3.csv").unlink()
        self.assertEqual(rerun(), [4])                                   # one that is gone
        self.write("r.jsonl", self.batch("m.jsonl").out.replace('"version":"', '"version":"0-', 1))
        self.assertEqual(len(rerun()), 1)                                # done by another version
        self.write("r.jsonl", self.batch("m.jsonl").out[:-30])
        self.assertEqual(len(rerun()), 1)                                # a last line that was cut off
        self.write("r.jsonl", self.batch("m.jsonl").out.replace("}\n", "}\0}\n", 1))
        self.assertEqual(len(rerun()), 1)                                # a line that goes on behind a zero byte
        self.write("r.jsonl", self.batch("m.jsonl").out)
        os.utime(self.folder / "doc.json", ns=(5, 5))
        self.assertEqual(rerun(), [1, 2, 3, 4, 5])                       # another input
        self.write("r.jsonl", self.batch("m.jsonl", "--resume", "r.jsonl").out)
        chained = self.batch("m.jsonl", "--resume", "r.jsonl")
        self.write("r.jsonl", chained.out)                               # skipped jobs are told again: the newest file is enough
        self.assertEqual(rerun(), [])
        (self.folder / "doc.json").unlink()
        self.assertEqual(rerun(expect=3), [1, 2, 3, 4, 5])

    def killed_and_resumed(self, delay, sent):
        """Ends a run after `delay` seconds, goes on with it; what was done before the kill."""
        self.fresh()
        path = self.folder / "r.jsonl"
        with open(path, "wb") as results:
            process = subprocess.Popen([attn_test.BINARY, "batch", "m.jsonl", "-q", "--jobs", "2"], cwd=self.folder, stdout=results)
            time.sleep(delay)
            process.send_signal(sent)
            process.wait(60)
        for name in self.outputs():
            if not name.startswith("."): self.assertEqual(self.outputs()[name], self.want[name], "a half output")
        if sent != signal.SIGKILL: self.assertEqual([n for n in self.outputs() if n.startswith(".")], [])
        done = path.read_bytes().count(b"\n")
        with open(path, "r+b") as results:  # as if the kill had fallen into the writing of a line
            results.truncate(max(0, path.stat().st_size - random.randrange(60)))
        with open(path, "ab") as results:
            again = subprocess.run([attn_test.BINARY, "batch", "m.jsonl", "-q", "--jobs", "2", "--resume", "r.jsonl"], cwd=self.folder, stdout=results, stderr=subprocess.PIPE)
        self.assertEqual((again.returncode, again.stderr), (0, b""))
        outputs = {name: hash for name, hash in self.outputs().items() if not name.startswith(".")}
        self.assertEqual(outputs, self.want)
        self.assertEqual({result["job"] for result in whole_results(self.read("r.jsonl"))}, set(range(1, self.count + 1)))
        return done

    def test_killed_anywhere_and_resumed(self):
        self.count = 150
        jobs = self.small_jobs(self.count)
        jobs[::10] = [{**job, "weights": [job["weights"][0], job["weights"][0].replace(".csv", ".svg")]} for job in jobs[::10]]
        self.manifest(jobs)
        start = time.monotonic()
        self.batch("m.jsonl", "--jobs", "2")
        length = time.monotonic() - start
        self.want = self.outputs()
        random.seed(20)
        points = 50 if FULL else 8
        done = [self.killed_and_resumed(length * (i + random.random()) / points, signal.SIGKILL) for i in range(points)]
        done += [self.killed_and_resumed(length * (i + random.random()) / 3, signal.SIGTERM) for i in range(3)]
        self.assertTrue(any(0 < d < self.count for d in done), done)


main()
