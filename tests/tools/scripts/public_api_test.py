#!/usr/bin/env python3
"""Which headers are public and what they bring: python3 tests/tools/scripts/public_api_test.py"""

import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../../tools/scripts"))
import public_api  # noqa: E402

FILES = {
    "firn.h": '#include "firn/nn/a.h"\n#include "absl/x.h"\n#include "firn/tensor/ops.h"\n'
              '#include "firn/optim/optimizers.h"\n',
    "nn/a.h": '// #include "firn/nn/b.h"\n#include <vector>\n #include "firn/tensor/t.h"\n'
              "namespace firn { class Tensor; namespace nn { class A; } }",
    "nn/b.h": "namespace firn { int Unreached(); }",
    "nn/internal/c.h": "",
    "optim/sgd.h": "namespace firn { int Sgd(); }",
    "optim/sgd.cc": "FIRN_REGISTER_RULE(sgd, SgdRule);\n",
    "optim/clip.h": "namespace firn { int Clip(); }",
    "optim/clip.cc": "// FIRN_REGISTER_RULE(clip, ...) would make it one.\n",
    "tensor/t.h": "namespace firn { class Tensor { int Inner(); };\n"
                  "inline Tensor operator+(const Tensor&, const Tensor&) { return {}; }\n"
                  "inline int Tensor::Inner() { return 1; }\nusing other::Used; }",
    "tensor/testing/samples.h": "",
    "tensor/ops/elementwise/arithmetic.h": "namespace firn {\nint Add(); }",
    "tensor/ops/elementwise/arithmetic_fn.h": "namespace firn { struct AddFn {}; }",
    "tensor/ops/elementwise/add_samples.h": "",
    "tensor/ops/elementwise/rules.h": '#include "firn/tensor/op.h"\nnamespace firn { int Rule(); }',
}


class PublicApiTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = folder.name
        for name in public_api.FOLDERS + ("nn/internal", "tensor/ops/elementwise", "tensor/testing"):
            os.makedirs(os.path.join(self.root, name), exist_ok=True)
        for path, text in FILES.items():
            with open(os.path.join(self.root, path), "w", encoding="utf-8") as file:
                file.write(text)

    def test_public_headers_are_neither_internal_nor_samples(self):
        self.assertEqual(public_api.public_headers(self.root),
                         ["nn/a.h", "nn/b.h", "optim/clip.h", "optim/sgd.h",
                          "tensor/ops/elementwise/arithmetic.h",
                          "tensor/ops/elementwise/arithmetic_fn.h",
                          "tensor/ops/elementwise/rules.h", "tensor/t.h", "firn.h"])

    def test_includes_are_followed_through_the_header_that_the_build_writes(self):
        by = public_api.reached(self.root)
        self.assertEqual(sorted(by), ["firn.h", "nn/a.h", "optim/optimizers.h", "optim/sgd.h",
                                      "tensor/ops.h", "tensor/ops/elementwise/arithmetic.h",
                                      "tensor/t.h"],
                         "functors and what operations are written with are not for programs,"
                         " what registers no optimizer is included by name")
        self.assertEqual(public_api.chain(by, "tensor/t.h"), "firn.h -> nn/a.h -> tensor/t.h")

    def test_the_written_header_of_layers_brings_its_whole_folder(self):
        with open(os.path.join(self.root, "firn.h"), "a", encoding="utf-8") as file:
            file.write('#include "firn/nn/layers.h"\n')
        by = public_api.reached(self.root)
        self.assertEqual(public_api.chain(by, "nn/b.h"), "firn.h -> nn/layers.h -> nn/b.h")
        self.assertNotIn("nn/internal/c.h", by)
        self.assertIn(("Unreached", "function"), public_api.names(self.root))

    def test_headers_of_others_are_told_from_ones_own(self):
        self.assertEqual(public_api.brought(self.root), {"absl/x.h": "firn.h", "vector": "nn/a.h"})

    def test_names_are_what_stands_directly_in_the_namespace(self):
        found = public_api.names(self.root)
        self.assertEqual(sorted(found), [("Add", "function"), ("Sgd", "function"),
                                         ("Tensor", "class"),
                                         ("Used", "using"), ("nn", "namespace")])
        self.assertEqual(found["Tensor", "class"].path, "tensor/t.h", "the definition counts")

    def test_changes_are_told_with_place_and_way(self):
        listed = ["Sgd function", "Used using", "nn namespace", "Gone struct"]
        self.assertEqual(
            public_api.names_changed(self.root, listed),
            "added: Tensor class, tensor/t.h:1 (firn.h -> nn/a.h -> tensor/t.h)\n"
            "gone: Gone struct")
        listed = [" ".join(key) for key in public_api.listed_names(self.root)]
        self.assertEqual(public_api.names_changed(self.root, listed), "")

    def test_functions_on_tensors_are_listed_by_the_page_of_operations(self):
        left_out = public_api.names(self.root).keys() - public_api.listed_names(self.root).keys()
        self.assertEqual(left_out, {("Add", "function")}, "and Sgd, a function elsewhere, is listed")
        self.assertIn("gone: Add function",
                      public_api.names_changed(self.root, ["Add function"]).splitlines())


if __name__ == "__main__":
    unittest.main()
