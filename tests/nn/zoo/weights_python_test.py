#!/usr/bin/env python3
"""Files of weights that torchvision and transformers write load into the zoo's networks without a map.

    weights_python_test.py LOAD_WEIGHTS

The networks have random weights from a seed. Every tensor of the network must be in the file, and every tensor of the
file in the network. The result must agree with PyTorch's, computed in f64 from the same numbers, within 1e-5 of its
largest element. Skips itself where Python has no torchvision or no safetensors, and skips BERT where it has no
transformers.
"""
import os
import subprocess
import sys
import tempfile
import unittest

try:
    import safetensors.torch
    import torch
    import torchvision
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(0)
try:
    import transformers
except ImportError as error:
    print(f"BERT is skipped: {error}")
    transformers = None

LOAD_WEIGHTS = os.path.abspath(sys.argv.pop())


class WeightsTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        torch.manual_seed(1)

    def path(self, name):
        return os.path.join(self.folder, name)

    def run_firn(self, name, weights, x):
        safetensors.torch.save_file({"in.0": x}, self.path("data.safetensors"))
        return subprocess.run([LOAD_WEIGHTS, name, weights, self.path("data.safetensors"), self.path("out.safetensors")],
                              capture_output=True, text=True, check=False)

    def expect_same(self, name, weights, x, want, tensors):
        done = self.run_firn(name, weights, x)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.strip(), f"all {tensors} loaded")
        got = safetensors.torch.load_file(self.path("out.safetensors"))["out.0"].double()
        self.assertEqual(got.shape, want.shape)
        largest = want.abs().max().item()
        self.assertGreater(largest, 0)
        self.assertLess((got - want).abs().max().item(), 1e-5 * largest)

    def squeezenet(self):
        net = torchvision.models.squeezenet1_1(weights=None).eval()
        x = torch.rand(2, 3, 64, 64)
        return net, net.state_dict(), x

    def result(self, net, x):
        with torch.no_grad():
            return net.double()(x.double())

    def test_pt(self):
        net, weights, x = self.squeezenet()
        torch.save(weights, self.path("net.pt"))
        self.expect_same("squeezenet1_1", self.path("net.pt"), x, self.result(net, x), len(weights))

    def test_safetensors(self):
        net, weights, x = self.squeezenet()
        safetensors.torch.save_file(weights, self.path("net.safetensors"))
        self.expect_same("squeezenet1_1", self.path("net.safetensors"), x, self.result(net, x), len(weights))

    def test_weights_of_another_network_are_refused(self):
        net, weights, x = self.squeezenet()
        torch.save(weights, self.path("net.pt"))
        done = self.run_firn("alexnet", self.path("net.pt"), x)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("missing", done.stderr)

    @unittest.skipUnless(transformers, "no transformers")
    def test_bert(self):
        config = transformers.BertConfig(hidden_size=128, num_hidden_layers=2, num_attention_heads=2,
                                         intermediate_size=512)
        net = transformers.BertModel(config).eval()
        net.save_pretrained(self.folder)  # model.safetensors
        tensors = len(safetensors.torch.load_file(self.path("model.safetensors")))
        ids = torch.randint(0, config.vocab_size, (2, 16))
        with torch.no_grad():
            want = net.double()(ids).last_hidden_state
        self.expect_same("bert_tiny", self.path("model.safetensors"), ids, want, tensors)


if __name__ == "__main__":
    unittest.main()
