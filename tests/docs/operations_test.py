#!/usr/bin/env python3
"""docs/operations.md says what the headers and the registries say, and only functions that there are
have names in NNabla and ONNX.

It reads the headers where they lie in the repository, which BUILD says by the tag "external".
"""

import os
import subprocess
import sys
import unittest

ROOT = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../..")
sys.path.insert(0, os.path.join(ROOT, "tools/scripts"))
from operations_page import (NAMES, PAGE, functions, on_cuda, pages_of_names, printed,  # noqa: E402
                             read, rows, sentence, signature, stem)

LIST = sys.argv.pop()


class OperationsTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.listed = subprocess.run([LIST], check=True, capture_output=True, text=True).stdout

    def test_the_page_is_what_would_be_printed(self):
        now, then = printed(ROOT, self.listed).splitlines(), read(ROOT, PAGE).splitlines()
        changed = sorted(set(now) ^ set(then))
        self.assertEqual(now, then, f"{PAGE} has to be printed anew; its head says how. Changed:\n" +
                         "\n".join(("+ " if line in now else "- ") + line for line in changed))

    def test_names_elsewhere_are_of_functions_and_on_their_familys_page(self):
        family = {name: family for family, found in functions(ROOT).items() for name in found}
        pages = pages_of_names(ROOT)
        self.assertEqual(set(pages), set(rows(self.listed, "names")), "a page that is not linked")
        for function, page in pages.items():
            self.assertEqual(page, family.get(function, "no function of this name"),
                             f"{NAMES}/{page}.cc has a line for {function}, whose family is")

    def test_every_function_says_what_it_gives(self):
        for declared in functions(ROOT).values():
            for function, (_, does) in declared.items():
                self.assertTrue(does, f"{function} needs a sentence above it")

    def test_stems(self):
        self.assertEqual(stem("LogSigmoid"), "log_sigmoid")
        self.assertEqual(stem("ConvTranspose2d"), "conv_transpose2d")
        self.assertEqual(stem("MaxPool2dWithIndices"), "max_pool2d_with_indices")
        self.assertEqual(stem("TopKGrad"), "top_k_grad")

    def test_devices_count_kernels_for_all_of_them(self):
        there = on_cuda(ROOT)
        self.assertIn("add", there)     # registered in a .cu
        self.assertIn("concat", there)  # one kernel on every device
        self.assertNotIn("lstm_layer", there)

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
