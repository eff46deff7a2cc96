#!/usr/bin/env python3
"""Tests of ranks_compare.py: python3 -m unittest ranks_compare_test"""

import contextlib
import io
import json
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import ranks_compare  # noqa: E402

# Stands for a side, started as `mpirun -n R FIRN ...` or as `python PEER ...`; keeps its arguments.
FAKE = """#!{python}
import json, sys
with open({log!r}, "a") as log:
    log.write(json.dumps(sys.argv) + chr(10))
print("a library's own line")
if {times!r} is None:
    sys.exit("no network")
print(json.dumps({times!r}))
"""


class FakeSidesTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def fake(self, name, times):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as script:
            script.write(FAKE.format(python=sys.executable, times=times, log=path + ".log"))
        os.chmod(path, 0o755)
        return path

    def told(self, path):
        with open(path + ".log", encoding="utf-8") as log:
            return [json.loads(line) for line in log]

    def compare(self, firn, torch, *more):
        """(exit status, what was printed)"""
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            status = ranks_compare.main([
                f"--mpirun={self.fake('mpirun', firn)} --quiet", "--firn=data_parallel",
                f"--python={sys.executable}", f"--peer={self.fake('peer', torch)}", "--rounds=3",
                "--workloads=gpt:8", *more])
        return status, out.getvalue()

    def test_ratio_is_of_steps_together_and_scaling_of_steps_alone(self):
        path = os.path.join(self.folder, "out.json")
        status, text = self.compare({"alone_ms": [9.0, 9.0], "together_ms": [10.0, 10.0]},
                                    {"alone_ms": [10.0], "together_ms": [20.0]}, f"--json={path}")
        self.assertEqual(status, 0, text)
        with open(path, encoding="utf-8") as file:
            row = json.load(file)["rows"][0]
        self.assertEqual(row["workload"], "gpt:8")
        self.assertAlmostEqual(row["ratio"]["ratio"], 0.5)
        self.assertAlmostEqual(row["firn"]["scaling"], 0.9)
        self.assertAlmostEqual(row["torch"]["scaling"], 0.5)
        self.assertIn("0.50 (0.50..0.50)", text)

    def test_both_train_the_same(self):
        times = {"alone_ms": [1.0], "together_ms": [1.0]}
        self.compare(times, times, "--ranks=3", "--steps=4")
        firn = self.told(os.path.join(self.folder, "mpirun"))
        torch = self.told(os.path.join(self.folder, "peer"))
        self.assertEqual((len(firn), len(torch)), (3, 3))
        self.assertEqual(firn[0][1:], ["--quiet", "-n", "3", "data_parallel", "--workload=gpt",
                                       "--batch=8", "--rounds=4", "--threads=1", "--json"])
        self.assertEqual(torch[0][1:], ["--workload=gpt", "--batch=8", "--rounds=4", "--threads=1",
                                        "--ranks=3"])

    def test_a_side_that_fails_is_named(self):
        status, text = self.compare({"alone_ms": [1.0], "together_ms": [1.0]}, None)
        self.assertEqual(status, 1)
        self.assertIn("peer", text)
        self.assertIn("no network", text)

    def test_a_workload_without_a_batch_is_refused(self):
        for wrong in ("gpt", "gpt:", ":8", "gpt:0", "gpt:x"):
            with self.assertRaises(SystemExit), contextlib.redirect_stderr(io.StringIO()) as err:
                ranks_compare.parse_args([f"--workloads={wrong}"])
            self.assertIn("NAME:BATCH", err.getvalue())


if __name__ == "__main__":
    unittest.main()
