#!/usr/bin/env python3
"""h5py reads checkpoints, without Firn. Skipped where Python has no h5py:

    python -m venv VENV && VENV/bin/pip install h5py
    bazel build //tests/io/checkpoints:train_and_checkpoint
    VENV/bin/python tests/io/checkpoints/h5py_test.py bazel-bin/tests/io/checkpoints/train_and_checkpoint
"""

import os
import subprocess
import sys
import tempfile
import unittest

try:
    import h5py
    import numpy
except ImportError:
    h5py = None

TRAIN = sys.argv.pop(1)


@unittest.skipIf(h5py is None, "this Python has no h5py")
class H5pyTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        path = os.path.join(cls.folder.name, "final.h5")
        # 20 steps over 40 samples in batches of 4: two epochs.
        subprocess.run([TRAIN, os.path.join(cls.folder.name, "run"), "20", "ordinary", path],
                       check=True)
        cls.file = h5py.File(path)

    @classmethod
    def tearDownClass(cls):
        cls.file.close()
        cls.folder.cleanup()

    def test_parts_are_groups(self):
        self.assertEqual(set(self.file), {"model", "optimizer", "scheduler", "data", "random",
                                          "values", "firn_checkpoint"})

    def test_parameters_and_states_are_arrays(self):
        weight = self.file["model/in/weight"]
        self.assertEqual((weight.shape, weight.dtype), ((64, 8), numpy.dtype("float32")))
        self.assertGreater(numpy.abs(weight[:]).max(), 0.01)
        self.assertTrue(numpy.isfinite(weight[:]).all())
        average = self.file["optimizer/state/in/weight/exp_avg_sq"][:]
        self.assertEqual(average.shape, weight.shape)
        self.assertTrue((average > 0).all())
        self.assertEqual(self.file["model/norm/num_batches_tracked"][()], 20)

    def test_numbers_are_numbers(self):
        self.assertEqual(self.file["optimizer/state/in/weight/step"][()], 20)
        self.assertAlmostEqual(self.file["optimizer/groups/0/lr"][()], 0.009)
        self.assertEqual(self.file["data/epoch"][()], 2)
        self.assertEqual(self.file["firn_checkpoint/step"][()], 20)
        self.assertTrue(numpy.isfinite(self.file["values/loss"][()]))


if __name__ == "__main__":
    unittest.main()
