#!/usr/bin/env python3
"""docs/names.txt holds the names that firn.h brings into namespace firn: what a program cannot use
for its own after `using namespace firn`. Functions on tensors stand in docs/operations.md, which
operations_test holds to the headers, and not here a second time.

It reads the headers where they lie in the repository, which BUILD says by the tag "external".
"""

import os
import sys
import unittest

ROOT = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../..")
sys.path.insert(0, os.path.join(ROOT, "tools/scripts"))
from public_api import chain, names_changed, reached, read  # noqa: E402

# Headers that programs include beside firn.h; docs/ and the folders' READMEs show for what.
BESIDE = ("autograd/graph/capture.h", "autograd/graph/dot.h", "autograd/graph/edit.h",
          "autograd/graph/evaluation.h", "autograd/graph/graph.h", "autograd/graph/visit.h",
          "device/memory.h", "io/graph/graph_file_contents.h")


class NamesTest(unittest.TestCase):

    def test_the_list_is_what_the_headers_declare(self):
        changed = names_changed(ROOT, read(ROOT, "docs/names.txt").splitlines())
        self.assertFalse(changed, f"""firn.h brings other names than docs/names.txt lists:
{changed}
A name that programs do not write belongs into namespace inner. If these are right:
    tools/scripts/public_api.py --names > docs/names.txt""")

    def test_what_library_code_sees_is_not_let_out(self):
        for start in ("firn.h",) + BESIDE:
            with self.subTest(start):
                by = reached(ROOT, start)
                self.assertNotIn("device/inner.h", by, "it makes firn::inner and firn one: " +
                                 (chain(by, "device/inner.h") if "device/inner.h" in by else ""))


if __name__ == "__main__":
    unittest.main()
