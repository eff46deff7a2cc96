#!/usr/bin/env python3
"""An optimizer of PyTorch continues in Firn, and the other way round. After a step of either the parameters are the
same except for rounding, and PyTorch takes the state dict that Firn writes. Skipped where Python has no torch:

    bazel build //tests/io/torch:torch_optimizer_steps
    VENV/bin/python tests/io/torch/torch_optimizer_python_test.py bazel-bin/tests/io/torch/torch_optimizer_steps
"""

import os
import subprocess
import sys
import tempfile
import unittest

try:
    import torch
except ImportError:
    torch = None

STEPS = sys.argv.pop(1)
# Options other than Firn's defaults, which the file has to bring.
KINDS = [
    ("SGD", dict(lr=0.05)),
    ("SGD", dict(lr=0.05, momentum=0.9, dampening=0.1, weight_decay=0.01)),
    ("SGD", dict(lr=0.05, momentum=0.8, nesterov=True)),
    ("Adam", dict(lr=0.02, betas=(0.8, 0.95), eps=1e-6, weight_decay=0.1)),
    ("Adam", dict(lr=0.02, amsgrad=True)),
    ("AdamW", dict(lr=0.02, weight_decay=0.2)),
    ("RMSprop", dict(lr=0.02, alpha=0.9, momentum=0.5, centered=True)),
    ("RMSprop", dict(lr=0.02)),
    ("Adagrad", dict(lr=0.05, lr_decay=0.1, initial_accumulator_value=0.5)),
    ("Adadelta", dict(lr=0.5, rho=0.8, eps=1e-4, weight_decay=0.1)),
    ("Adamax", dict(lr=0.02, betas=(0.8, 0.95), eps=1e-6, weight_decay=0.1)),
    ("NAdam", dict(lr=0.02, betas=(0.8, 0.95), momentum_decay=0.01, weight_decay=0.1)),
    ("NAdam", dict(lr=0.02, weight_decay=0.1, decoupled_weight_decay=True)),
    ("RAdam", dict(lr=0.02, betas=(0.8, 0.7), weight_decay=0.1)),
    ("RAdam", dict(lr=0.02, betas=(0.8, 0.7), weight_decay=0.1, decoupled_weight_decay=True)),
    ("Rprop", dict(lr=0.02, etas=(0.4, 1.3), step_sizes=(1e-3, 0.02))),
    ("Adafactor", dict(lr=0.02, beta2_decay=-0.7, d=1.5, weight_decay=0.1)),
    ("Adafactor", dict(lr=0.02, eps=(1e-4, 0.5))),
]


@unittest.skipUnless(torch, "Python has no torch")
class TorchOptimizerTest(unittest.TestCase):

    def step(self, optimizer, parameters, gradients):
        for p, g in zip(parameters, gradients):
            p.grad = g.clone()
        optimizer.step()

    def check(self, kind, options, folder):
        torch.manual_seed(3)
        parameters = [torch.randn(2, 3).requires_grad_(), torch.randn(4).requires_grad_()]
        gradients = [torch.randn(2, 3), torch.randn(4)]
        optimizer = getattr(torch.optim, kind)(parameters, **options)
        for scale in (1, -0.5, 2):
            self.step(optimizer, parameters, [g * scale for g in gradients])
        names = ("p0", "p1", "g0", "g1")
        tensors = [p.detach() for p in parameters] + gradients
        torch.save(dict(zip(names, tensors)), os.path.join(folder, "tensors.pt"))
        torch.save({"optimizer": optimizer.state_dict(), "epoch": 3}, os.path.join(folder, "state.pt"))
        subprocess.run([STEPS, kind, folder], check=True)
        self.step(optimizer, parameters, gradients)
        stepped = torch.load(os.path.join(folder, "stepped.pt"), weights_only=True)
        for p, name in zip(parameters, names):
            torch.testing.assert_close(stepped[name], p.detach())
        # Firn's optimizer goes on here.
        again = [p.detach().clone().requires_grad_() for p in parameters]
        back = getattr(torch.optim, kind)(again)
        back.load_state_dict(torch.load(os.path.join(folder, "firn_state.pt"), weights_only=True))
        self.step(optimizer, parameters, gradients)
        self.step(back, again, gradients)
        for p, q in zip(parameters, again):
            torch.testing.assert_close(p, q)

    def test_each_kind_goes_on(self):
        for kind, options in KINDS:
            with self.subTest(kind=kind, options=options), tempfile.TemporaryDirectory() as folder:
                self.check(kind, options, folder)


if __name__ == "__main__":
    unittest.main()
