#!/usr/bin/env python3
"""Each file that NNabla saves holds one function, and Firn gives the outputs that NNabla computes. Skipped where
Python has no nnabla (1.39 needs Python 3.8 to 3.10):

    bazel build //tests/io/nnabla_network:nnabla_outputs
    VENV/bin/python tests/io/nnabla_network/nnabla_outputs_test.py bazel-bin/tests/io/nnabla_network/nnabla_outputs
"""

import os
import subprocess
import sys
import tempfile
import unittest

try:
    import nnabla

    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import make_cases
except ImportError:
    nnabla = None

OUTPUTS = os.path.abspath(sys.argv.pop(1))


@unittest.skipIf(nnabla is None, "Python has no nnabla")
class NnablaOutputsTest(unittest.TestCase):

    def test_functions_compute_what_nnabla_computes(self):
        with tempfile.TemporaryDirectory() as folder:
            cases = make_cases.make(folder)
            self.assertGreater(len(cases), 200)
            run = subprocess.run([OUTPUTS] + cases, stdout=subprocess.PIPE, text=True, check=False)
            self.assertEqual(run.returncode, 0, run.stdout)


if __name__ == "__main__":
    unittest.main()
