#!/usr/bin/env python3
"""TensorBoard's own reader sees what EventWriter writes. Skipped where Python has no tensorboard:

    python -m venv VENV && VENV/bin/pip install tensorboard
    bazel build //tests/io/monitors:write_events
    VENV/bin/python tests/io/monitors/tensorboard_test.py bazel-bin/tests/io/monitors/write_events
"""

import math
import subprocess
import sys
import tempfile
import unittest

try:
    from tensorboard.backend.event_processing import event_accumulator
    from tensorboard.util import tensor_util
except ImportError:
    event_accumulator = None

WRITE_EVENTS = sys.argv.pop(1)


@unittest.skipIf(event_accumulator is None, "this Python has no tensorboard")
class TensorBoardTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        subprocess.run([WRITE_EVENTS, cls.folder.name], check=True)
        cls.events = event_accumulator.EventAccumulator(cls.folder.name)
        cls.events.Reload()

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_scalars_of_both_sessions_without_what_was_done_again(self):
        loss = [(e.step, e.value) for e in self.events.Scalars("loss")]
        self.assertEqual([step for step, _ in loss], [0, 1, 2, 3])
        self.assertAlmostEqual(loss[2][1], 1 / 3, places=6)
        self.assertEqual(loss[3][1], 30)
        self.assertTrue(math.isnan(self.events.Scalars("bad")[0].value))
        self.assertNotIn("cut off", self.events.Tags()["scalars"])

    def test_histograms(self):
        value = self.events.Histograms("weights")[0].histogram_value
        self.assertEqual((value.min, value.max, value.num, value.sum), (0, 60, 61, 1830))
        self.assertEqual(sum(value.bucket), 61)
        self.assertEqual(len(value.bucket_limit), 30)
        self.assertEqual(sum(self.events.Histograms("empty")[0].histogram_value.bucket), 0)

    def test_images(self):
        image = self.events.Images("image")[0]
        self.assertEqual((image.width, image.height), (6, 4))
        self.assertTrue(image.encoded_image_string.startswith(b"\x89PNG"))

    def test_text(self):
        event = self.events.Tensors("note/text_summary")[0]
        self.assertEqual(tensor_util.make_ndarray(event.tensor_proto).tolist(), [b"hello *world*"])

    def test_graph(self):
        nodes = {node.name: node for node in self.events.Graph().node}
        self.assertEqual(list(nodes["net/relu"].input), ["x"])
        shape = nodes["x"].attr["_output_shapes"].list.shape[0]
        self.assertEqual([d.size for d in shape.dim], [2, 3])


if __name__ == "__main__":
    unittest.main()
