#!/usr/bin/env python3
"""Tests of collectives_compare.py: python3 -m unittest collectives_compare_test"""

import contextlib
import io
import json
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import collectives_compare  # noqa: E402

# A launcher under which either side prints the time that it takes; Firn's arguments begin with --.
LAUNCHER = """#!{python}
import json, sys
ranks, program, *arguments = sys.argv[2:]
firn = arguments[0].startswith("--")
sizes = arguments[-1].removeprefix("--bytes=").split(",") if firn else arguments[1:]
for size in sizes:
    print(json.dumps({{"bytes": int(size), "us": {firn_us!r} if firn else {mpi_us!r}}}))
"""
COMPILER = """#!{python}
import sys
if {error!r}:
    sys.exit({error!r})
open(sys.argv[sys.argv.index("-o") + 1], "w")
"""


class FakeSidesTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def script(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as script:
            script.write(text)
        os.chmod(path, 0o755)
        return path

    def compare(self, firn_us, mpi_us, *more, error=""):
        """(exit status, what was printed)"""
        launcher = self.script("mpirun", LAUNCHER.format(python=sys.executable, firn_us=firn_us,
                                                         mpi_us=mpi_us))
        compiler = self.script("mpicc", COMPILER.format(python=sys.executable, error=error))
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            status = collectives_compare.main([f"--mpirun={launcher}", f"--mpicc={compiler}",
                                               "--firn=collectives", "--rounds=3", *more])
        return status, out.getvalue()

    def test_bandwidth_is_that_of_the_bus(self):
        path = os.path.join(self.folder, "out.json")
        status, text = self.compare(1000.0, 500.0, "--ranks=4", "--bytes=2000000",
                                    f"--json={path}")
        self.assertEqual(status, 0, text)
        with open(path, encoding="utf-8") as file:
            (row,) = json.load(file)["rows"]
        self.assertAlmostEqual(row["firn"]["gb_per_s"], 3.0)  # 2 MB x 2 x 3 / 4 in 1 ms
        self.assertAlmostEqual(row["mpi"]["gb_per_s"], 6.0)
        self.assertAlmostEqual(row["share"]["share"], 0.5)

    def test_every_size_has_a_row(self):
        _, text = self.compare(10.0, 10.0)
        for size in (1 << 10, 1 << 16, 1 << 26):
            self.assertRegex(text, rf"(?m)^ *{size} ")

    def test_a_compiler_that_fails_is_named(self):
        status, text = self.compare(1.0, 1.0, error="no mpi.h")
        self.assertEqual(status, 1)
        self.assertIn("no mpi.h", text)

    def test_arguments_without_sense_are_refused(self):
        for wrong in ("--ranks=1", "--rounds=0", "--bytes=1,x", "--bytes=0", "--seconds=0"):
            with self.assertRaises(SystemExit), contextlib.redirect_stderr(io.StringIO()):
                collectives_compare.parse_args([wrong])


if __name__ == "__main__":
    unittest.main()
