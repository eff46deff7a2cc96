#!/usr/bin/env python3
"""Files for NNabla's C runtime equal, byte for byte, those that NNabla's converter writes for the same networks. Skips
itself where Python has no nnabla (1.39 needs Python 3.8 to 3.10):

    bazel build //tests/io/nnabla_model:nnb_files
    VENV/bin/python tests/io/nnabla_model/nnb_python_test.py bazel-bin/tests/io/nnabla_model/nnb_files
"""

import os
import subprocess
import sys
import tempfile
import unittest

try:
    import nnabla as nn
    import nnabla.functions as F
    import nnabla.parametric_functions as PF
    from nnabla.utils.save import save
except ImportError:
    nn = None

FILES = os.path.abspath(sys.argv.pop(1))


def mlp(x):
    h = F.relu(PF.affine(x, 16, name="a"))
    return F.softmax(PF.affine(F.tanh(h), 4, name="b"))


def convolutions(x):
    h = F.reshape(x, (2, 1, 6, 6))
    h = F.relu(PF.batch_normalization(PF.convolution(h, 3, (3, 3), pad=(1, 1), name="c"), batch_stat=False, name="n"))
    h = F.max_pooling(h, (2, 2), ignore_border=False)
    h = F.average_pooling(PF.deconvolution(h, 2, (2, 2), name="d"), (2, 2))
    return PF.affine(F.leaky_relu(F.transpose(h, (0, 2, 3, 1)), 0.2), 5, name="f")


# The converter puts functions of branches into an order of its own.
def lists(x):
    c = F.concatenate(x, F.elu(F.sigmoid(x) * 2 + 1), axis=1)
    d = F.minimum_scalar(F.slice(c, (0, 3), (2, 39), (1, 1)), 0.5)
    return F.flip(F.sum(F.reshape(d, (2, 6, 6)), axis=1), (1,)) ** 2


def binary_weights(x):
    h = F.reshape(x, (2, 1, 6, 6))
    h = PF.binary_connect_convolution(h, 4, (3, 3), pad=(1, 1), name="c")
    h = PF.binary_weight_convolution(F.binary_tanh(h), 2, (3, 3), stride=(2, 2), quantize_zero_to=-1.0, name="d")
    h = PF.binary_connect_affine(F.binary_sigmoid(h), 5, name="e")
    return PF.binary_weight_affine(h, 3, name="f")


@unittest.skipIf(nn is None, "Python has no nnabla")
class NnbTest(unittest.TestCase):

    def test_files_are_those_of_nnablas_converter(self):
        for network in (mlp, convolutions, lists, binary_weights):
            with self.subTest(network.__name__), tempfile.TemporaryDirectory() as folder:
                nn.clear_parameters()
                x = nn.Variable((2, 36))
                y = network(x)
                y.forward()  # binary weights become plain ones
                path = os.path.join(folder, "net")
                contents = {"networks": [{"name": "net", "batch_size": 2, "outputs": {"y": y}, "names": {"x": x}}],
                            "executors": [{"name": "run", "network": "net", "data": ["x"], "output": ["y"]}]}
                save(path + ".nnp", contents, variable_batch_size=False)
                subprocess.run([sys.executable, "-m", "nnabla.utils.cli.cli", "convert", path + ".nnp",
                                path + ".want.nnb"], check=True, capture_output=True)
                subprocess.run([FILES, path + ".nnp", path + ".got.nnb"], check=True)
                with open(path + ".want.nnb", "rb") as want, open(path + ".got.nnb", "rb") as got:
                    self.assertEqual(want.read(), got.read())


if __name__ == "__main__":
    unittest.main()
