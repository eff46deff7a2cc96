#!/usr/bin/env python3
"""docs/operations.md says what the headers and the registry say, and knows every function's names
in NNabla and ONNX.

It reads the headers where they lie in the repository, which BUILD says by the tag "external".
"""

import os
import subprocess
import sys
import unittest

ROOT = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../..")
sys.path.insert(0, os.path.join(ROOT, "tools"))
from operations_page import (PAGE, UNNAMED, functions, names_elsewhere, printed, read,  # noqa: E402
                             sentence, signature, stem)

LIST = sys.argv.pop()


class OperationsTest(unittest.TestCase):

    def test_the_page_is_what_would_be_printed(self):
        registry = subprocess.run([LIST], check=True, capture_output=True, text=True).stdout
        page = read(ROOT, PAGE)
        now, then = printed(ROOT, registry, page).splitlines(), page.splitlines()
        changed = sorted(set(now) ^ set(then))
        self.assertEqual(now, then, f"{PAGE} has to be printed anew; its head says how. Changed:\n" +
                         "\n".join(("+ " if line in now else "- ") + line for line in changed))

    def test_names_elsewhere_are_known(self):
        for function, names in names_elsewhere(read(ROOT, PAGE)).items():
            for name in names:
                self.assertNotIn(name, ("", UNNAMED), f"{function}: a name, or - where there is none")

    def test_every_function_says_what_it_gives(self):
        for declared in functions(ROOT).values():
            for function, (_, does) in declared.items():
                self.assertTrue(does, f"{function} needs a sentence above it")

    def test_stems(self):
        self.assertEqual(stem("LogSigmoid"), "log_sigmoid")
        self.assertEqual(stem("ConvTranspose2d"), "conv_transpose2d")
        self.assertEqual(stem("MaxPool2dWithIndices"), "max_pool2d_with_indices")

    def test_signatures(self):
        self.assertEqual(signature("Tensor Sin(const Tensor& x)"), "`Sin(x)`")
        self.assertEqual(signature("inline std::vector<Tensor> Cut(const Tensor& x, const Shape& s = {})"),
                         "`Cut(x, Shape s = {}) -> std::vector<Tensor>`")

    def test_sentences(self):
        self.assertEqual(sentence(["// The sum (empty: all), as Sum et al. do.", "// More."]),
                         "The sum (empty: all), as Sum et al. do")
        self.assertEqual(sentence(["// |x|, so to say", "// x: [n]   y: [n]"]),
                         "\\|x\\|, so to say")


if __name__ == "__main__":
    unittest.main()
