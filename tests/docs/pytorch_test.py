#!/usr/bin/env python3
"""What PyTorch has is in Firn by its name or stands in docs/pytorch.md, and what that page names of Firn is there.

torch_names.txt lists PyTorch's names. If Python has the PyTorch version named there, the list is compared with it:

    VENV/bin/python tests/docs/pytorch_test.py

This reads files where they lie in the repository, which BUILD says by the tag "external".
"""

import inspect
import os
import re
import sys
import unittest

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.realpath(__file__)), "../.."))
sys.path.insert(0, os.path.join(ROOT, "tools/scripts"))
from doc_blocks import cells  # noqa: E402
from header_docs import declared, short  # noqa: E402
from operations_page import functions  # noqa: E402
from public_api import public_headers, read  # noqa: E402

PAGE = "docs/pytorch.md"
NAMES = "tests/docs/torch_names.txt"


def listed():
    """(PyTorch's version, {section: names}) of torch_names.txt."""
    sections, version = {}, ""
    for line in read(ROOT, NAMES).splitlines():
        if line.startswith("# PyTorch "):
            version = line.split()[2].rstrip(":")
        elif line.startswith("["):
            here = sections.setdefault(line.strip("[]"), [])
        elif line and not line.startswith("#"):
            here.extend(line.split())
    return version, sections


def simple(name):
    return name.replace("_", "").lower()


def in_torch():
    """{section: names} of the PyTorch that is installed."""
    import torch
    from torch import nn, optim

    def classes(module, base):
        return {n for n, c in vars(module).items()
                if inspect.isclass(c) and issubclass(c, base) and not n.startswith("_")}
    return {
        "nn": classes(nn, nn.Module),
        "nn.functional": {n for n, c in vars(nn.functional).items() if callable(c) and not n.startswith("_") and
                          not inspect.isclass(c) and (getattr(c, "__module__", "") or "torch").startswith("torch")},
        "optim": classes(optim, optim.Optimizer),
        "optim.lr_scheduler": {n for n in classes(optim.lr_scheduler, object)
                               if vars(optim.lr_scheduler)[n].__module__.startswith("torch.optim")},
        "nn.init": {n for n, c in vars(nn.init).items() if callable(c) and n.endswith("_") and not n.startswith("_")},
        "Tensor": {n for n in dir(torch.Tensor) if not n.startswith("_") and not n.endswith("_") and
                   callable(getattr(torch.Tensor, n))},
    }


class PytorchTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.page = read(ROOT, PAGE)
        cls.version, cls.sections = listed()
        cls.headers = public_headers(ROOT)
        cls.operations = {name for found in functions(ROOT).values() for name in found}
        cls.declared = {short(d.name) for path in cls.headers for d in declared(ROOT, path)}

    def in_namespace(self, scope, folder):
        return {simple(short(d.name)) for path in self.headers if path.startswith(folder)
                for d in declared(ROOT, path) if d.name.rpartition("::")[0] == scope}

    def test_every_name_is_in_firn_or_on_the_page(self):
        functions_here = set(map(simple, self.operations))
        methods = {simple(short(d.name)) for d in declared(ROOT, "tensor/tensor.h")
                   if d.name.startswith("firn::Tensor::") and d.access == "public"}
        optim = self.in_namespace("firn::optim", "optim/")
        there = {
            "nn": self.in_namespace("firn::nn", "nn/"),
            "nn.functional": functions_here,
            "optim": optim,
            "optim.lr_scheduler": optim,
            "nn.init": self.in_namespace("firn::nn::init", "nn/init.h"),
            "Tensor": functions_here | methods,
        }
        said = {word for text in re.findall(r"`([^`\n]+)`", self.page) for word in re.findall(r"\w+", text)}
        self.assertEqual(set(there), set(self.sections))
        for section, names in self.sections.items():
            left = [name for name in names if simple(name) not in there[section] and name not in said]
            self.assertEqual(left, [], f"{PAGE} has to say what becomes of these of torch's {section}")

    def test_what_is_said_to_be_missing_is(self):
        """The last table has no function or layer that Firn has by now."""
        missing = self.page[self.page.index("## What is not there"):]
        rows = [cells(line) for line in missing.splitlines() if line.startswith("| ")][1:]
        self.assertGreater(len(rows), 10)
        layers = self.in_namespace("firn::nn", "nn/")
        for row in rows:
            for name in re.findall(r"`(\w+)`", row[0]):
                there = {simple(n) for n in self.operations} | (layers if name[0].isupper() else set())
                if name != "multi_head_attention_forward":
                    self.assertNotIn(simple(name), there, f"{PAGE} says that {name} is missing")

    def test_what_the_page_names_of_firn_is_there(self):
        """The words of the second column that begin like one of Firn's names."""
        seen = 0
        for line in self.page.splitlines():
            if line.startswith("| ") and not line.startswith("|---"):
                for text in re.findall(r"`([^`]+)`", cells(line)[1]):
                    for name in re.findall(r"\b(?:nn|io|optim|init|memory|parametrize|parallel)::(\w+)", text) + \
                            re.findall(r"^([A-Z][a-z]\w+)\(", text):
                        seen += 1
                        there = name in self.declared or name in ("parallel", "parametrize", "init", "quantized")
                        self.assertTrue(there, f"{PAGE}: {name} of `{text}`")
        self.assertGreater(seen, 40)

    def test_the_names_are_pytorchs(self):
        try:
            import torch
        except ImportError:
            self.skipTest("no PyTorch here")
        if not torch.__version__.startswith(self.version):
            self.skipTest(f"PyTorch {torch.__version__}, and not {self.version}")
        for section, names in in_torch().items():
            self.assertEqual(sorted(names), sorted(self.sections[section]), f"{NAMES}: [{section}]")


if __name__ == "__main__":
    unittest.main()
