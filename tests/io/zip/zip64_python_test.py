#!/usr/bin/env python3
"""Archives with zip64 fields are read by zipfile and, where Python has it, by NumPy:

    bazel build //tests/io/zip:zip64_files
    VENV/bin/python tests/io/zip/zip64_python_test.py bazel-bin/tests/io/zip/zip64_files
"""

import os
import subprocess
import sys
import tempfile
import unittest
import zipfile

try:
    import numpy
except ImportError:
    numpy = None

FILES = sys.argv.pop(1)


class Zip64Test(unittest.TestCase):

    def test_others_read_them(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.npz")
            for limit in (0, 1, 100, 150, 300, 600, 800, 1000, 2**32 - 1):
                subprocess.run([FILES, path, str(limit)], check=True)
                with self.subTest(limit=limit), zipfile.ZipFile(path) as file:
                    self.assertIsNone(file.testzip())
                    self.assertEqual(file.namelist(), ["counted.npy", "ones.npy", "again.npy"])
                    if numpy is None:
                        continue
                    with numpy.load(path) as arrays:
                        self.assertEqual(list(arrays["counted"]), list(range(10)))
                        self.assertEqual(list(arrays["again"]), list(range(10)))
                        self.assertEqual(arrays["ones"].sum(), 100)


if __name__ == "__main__":
    unittest.main()
