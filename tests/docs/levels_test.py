#!/usr/bin/env python3
"""One header asks the compiler which instructions it may use: device/level.h.

A source that asks for itself becomes different code on the next machine, where nobody has seen it compile.
Code for instructions that are in no level is in a function with a target of its own (CONTRIBUTING.md).
It reads the sources where they lie in the repository, which BUILD says by the tag "external".
"""

import os
import re
import sys
import unittest

ROOT = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../..")
sys.path.insert(0, os.path.join(ROOT, "tools/scripts"))
from public_api import read, sources  # noqa: E402

ASKS = re.compile(r"\b__(AVX|AMX|F16C|FMA|SSE|BMI|VAES|GFNI)\w*")
ALLOWED = ["device/level.h"]


class LevelsTest(unittest.TestCase):

    def test_only_one_header_asks_the_compiler(self):
        outer = [os.path.relpath(os.path.join(folder, name), ROOT)
                 for top in ("tools", "tests", "benchmarks", "examples")
                 for folder, _, names in os.walk(os.path.join(ROOT, top)) for name in names
                 if re.search(r"\.(cc|h|cu|cuh)$", name)]
        library = sources(ROOT)
        self.assertGreater(len(library), 500)
        asking = [path for path in library + outer if ASKS.search(read(ROOT, path))]
        self.assertEqual(asking, ALLOWED)


if __name__ == "__main__":
    unittest.main()
