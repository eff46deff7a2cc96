#!/usr/bin/env python3
"""Every function on tensors has samples, by which the conformance suite runs it and benchmarks time it.

Either an operation or a composite of its name has samples, or those of another function name it in s.Function.
It reads the sources where they lie in the repository, which BUILD says by the tag "external".
"""

import glob
import os
import re
import sys
import unittest

ROOT = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../..")
sys.path.insert(0, os.path.join(ROOT, "tools/scripts"))
from operations_page import FAMILIES, functions, read, stem  # noqa: E402

# Functions without samples, and why they need none.
WITHOUT = {
    "Allclose": "whether Isclose holds everywhere, as a bool",
    "Empty": "nobody promises anything of its elements",
    "Normal": "Randn with the mean and deviation in front",
    "Ones": "Full of 1",
    "RandLike": "Rand of a tensor's shape",
    "RandnLike": "Randn of a tensor's shape",
    "Swapaxes": "Transpose by NumPy's name",
    "Uniform": "Rand with the bounds in front",
    "View": "Reshape where nothing is copied",
    "Zeros": "Full of 0",
}


def in_parentheses(text, at):
    """What stands from the parenthesis at `at` to the one that closes it."""
    depth = 0
    for end in range(at, len(text)):
        depth += (text[end] == "(") - (text[end] == ")")
        if depth == 0:
            return text[at:end]
    raise ValueError(f"not closed: {text[at:at + 40]}")


def sampled(text):
    """(stems that samples are registered for, names in calls of s.Function) of a samples file."""
    stems = set(re.findall(r"^FIRN_REGISTER_(?:SAMPLES|COMPOSITE)\((\w+)\)", text, re.M))
    named = set()
    for call in re.finditer(r"\bs\.Function(<\w+>)?\(", text):
        named.update(re.findall(r"\w+", (call[1] or "") + in_parentheses(text, call.end() - 1)))
    return stems, named


class SamplesTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.stems, cls.named = set(), set()
        for path in glob.glob(os.path.join(ROOT, FAMILIES, "*", "*_samples.cc")):
            stems, named = sampled(read(ROOT, path))
            cls.stems |= stems
            cls.named |= named

    def has_samples(self, function):
        return stem(function) in self.stems or function in self.named

    def test_every_function_has_samples(self):
        for family, found in functions(ROOT).items():
            for function in found:
                self.assertTrue(
                    self.has_samples(function) or function in WITHOUT,
                    f"{function} has no samples: FIRN_REGISTER_COMPOSITE({stem(function)}) goes "
                    f"beside its page in {FAMILIES}/{family} (tensor/ops/README.md)")

    def test_those_without_are_functions_that_have_none(self):
        there = {function for found in functions(ROOT).values() for function in found}
        for function in WITHOUT:
            self.assertIn(function, there)
            self.assertFalse(self.has_samples(function), f"{function} has samples by now")

    def test_what_a_samples_file_says(self):
        self.assertEqual(sampled("FIRN_REGISTER_SAMPLES(add) {\n  s.Function<Add>();\n"
                                 "  s.Function([](In in) { return Plus(in[0]); });\n  Other();"),
                         ({"add"}, {"Add", "In", "in", "return", "Plus", "0"}))


if __name__ == "__main__":
    unittest.main()
