#!/usr/bin/env python3
"""Training an imported network in Firn gives the same losses in ten steps as training the original in PyTorch. Skipped
where Python has no torch or no onnx:

    python -m venv VENV && VENV/bin/pip install torch onnx onnxscript safetensors
    bazel build //tests/io/onnx:onnx_tune
    VENV/bin/python tests/io/onnx/onnx_tune_test.py bazel-bin/tests/io/onnx/onnx_tune
"""

import os
import subprocess
import sys
import tempfile
import unittest
import warnings

try:
    import onnx  # noqa: F401
    import safetensors.torch
    import torch
    from torch import nn
except ImportError:
    torch = None

TUNE = os.path.abspath(sys.argv.pop(1))
STEPS, LR = 10, 0.05


def networks():
    class Residual(nn.Module):
        def __init__(self):
            super().__init__()
            self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU())
            self.unit = nn.Sequential(nn.Conv2d(8, 8, 3, padding=1, groups=2), nn.BatchNorm2d(8), nn.SiLU())
            self.head = nn.Linear(8, 5)

        def forward(self, x):
            y = self.stem(x)
            return self.head((y + self.unit(y)).mean((2, 3)))

    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.patches = nn.Conv2d(3, 16, 4, stride=4)
            self.layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True, activation="gelu")
            self.head = nn.Linear(16, 5)

        def forward(self, x):
            return self.head(self.layer(self.patches(x).flatten(2).transpose(1, 2)).mean(1))

    return {"residual": Residual, "attention": Attention}


def torch_losses(net, images, labels):
    optimizer = torch.optim.SGD(net.parameters(), lr=LR)
    losses = []
    for _ in range(STEPS):
        loss = nn.functional.cross_entropy(net(images), labels)
        losses.append(loss.item())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return losses


@unittest.skipIf(torch is None, "Python has no torch, onnx and safetensors")
class TuneTest(unittest.TestCase):
    def test_the_losses_are_pytorchs(self):
        for name, make in networks().items():
            for dynamo in (False, True):
                with self.subTest(network=name, dynamo=dynamo), tempfile.TemporaryDirectory() as folder:
                    torch.manual_seed(1)
                    net = make().eval()
                    with torch.no_grad():  # the older exporter makes one tensor of equal ones
                        for tensor in net.state_dict().values():
                            if tensor.is_floating_point():
                                tensor.add_(0.1 * torch.rand_like(tensor))
                    images, labels = torch.randn(6, 3, 8, 8), torch.arange(6) % 5
                    data, model = folder + "/data.safetensors", folder + "/net.onnx"
                    safetensors.torch.save_file({"images": images, "labels": labels}, data)
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        # The exporter merges nothing into weights, since that would change what is
                        # trained.
                        options = {"optimize": False} if dynamo else {
                            "do_constant_folding": False, "training": torch.onnx.TrainingMode.PRESERVE}
                        torch.onnx.export(net, (images,), model, dynamo=dynamo, verbose=False, **options)
                    run = subprocess.run([TUNE, model, data, str(LR), str(STEPS)], capture_output=True, text=True)
                    self.assertEqual(run.returncode, 0, run.stderr)
                    got = [float(line) for line in run.stdout.split()]
                    want = torch_losses(net, images, labels)
                    self.assertGreater(want[0] - want[-1], 0.02)  # it learns
                    for a, b in zip(got, want, strict=True):
                        self.assertLess(abs(a - b), 1e-4, f"{got} and {want}")


if __name__ == "__main__":
    unittest.main()
