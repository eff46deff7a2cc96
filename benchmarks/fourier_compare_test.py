#!/usr/bin/env python3
"""Tests of fourier_compare.py: python3 -m unittest fourier_compare_test"""

import contextlib
import io
import json
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import fourier_compare  # noqa: E402

# Stands for either side: prints a line for each length; fft takes `us` and rfft half of that.
FAKE = """#!{python}
import json, sys
if {error!r}:
    sys.exit({error!r})
for length in sys.argv[{skip}:]:
    print(json.dumps({{"length": int(length), "fft_us": {us!r}, "rfft_us": {us!r} / 2}}))
"""


class FakeSidesTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def fake(self, name, us, error="", skip=1):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as script:
            script.write(FAKE.format(python=sys.executable, us=us, error=error, skip=skip))
        os.chmod(path, 0o755)
        return path

    def compare(self, firn, peer, *more):
        """(exit status, what was printed)"""
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            status = fourier_compare.main([f"--firn={firn}", f"--peer={peer}",
                                           f"--python={sys.executable}", "--rounds=2", *more])
        return status, out.getvalue()

    def test_ratios_are_firns_time_over_pocketffts(self):
        path = os.path.join(self.folder, "out.json")
        status, text = self.compare(self.fake("firn", 2.0), self.fake("peer", 8.0),
                                    "--lengths=64,127", f"--json={path}")
        self.assertEqual(status, 0, text)
        with open(path, encoding="utf-8") as file:
            rows = json.load(file)["rows"]
        self.assertEqual([row["length"] for row in rows], [64, 127])
        self.assertAlmostEqual(rows[1]["rfft"]["ratio"], 0.25)
        self.assertAlmostEqual(rows[1]["rfft"]["firn_us"], 1.0)
        self.assertIn("0.25 (0.25..0.25)", text)

    def test_what_fails_or_times_something_else_is_named(self):
        status, text = self.compare(self.fake("firn", 1.0), self.fake("peer", 1.0, "no scipy"))
        self.assertEqual(status, 1)
        self.assertIn("no scipy", text)
        status, text = self.compare(self.fake("firn", 1.0), self.fake("less", 1.0, skip=2))
        self.assertEqual(status, 1)
        self.assertIn("scipy timed other lengths", text)

    def test_arguments_without_sense_are_refused(self):
        for wrong in ("--rounds=0", "--lengths=64,x", "--lengths=0"):
            with self.assertRaises(SystemExit), contextlib.redirect_stderr(io.StringIO()):
                fourier_compare.parse_args([wrong])


if __name__ == "__main__":
    unittest.main()
