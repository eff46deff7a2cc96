#!/usr/bin/env python3
"""What firn.h brings beside Firn's own headers: every source of every program compiles it.

g++ 12 reads firn.h in less than 1.8 times what <string>, <vector>, <memory> and <functional> take,
which bring half of the standard library; absl/status/statusor.h alone would add as much again. So adding a
header to this list is a decision: measure it first,

    time g++ -std=c++20 -fsyntax-only -x c++ - <<<'#include <HEADER>'

It reads the headers where they lie in the repository, which BUILD says by the tag "external".
"""

import os
import sys
import unittest

ROOT = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../..")
sys.path.insert(0, os.path.join(ROOT, "tools/scripts"))
from public_api import brought, chain, reached  # noqa: E402

# What each adds to those four, in percent of them (instructions of g++ 12, valgrind); 0: below 2.
PERCENT = {
    "absl/base/config.h": 0, "absl/container/inlined_vector.h": 16,
    "absl/functional/function_ref.h": 0, "absl/types/span.h": 10,  # both by <algorithm>
    "any": 0, "array": 0, "bit": 0, "concepts": 0, "cstddef": 0, "cstdint": 0,
    "cstring": 0, "functional": 0, "initializer_list": 0, "iosfwd": 0, "iterator": 0, "limits": 2,
    "memory": 0, "new": 0, "optional": 2, "ostream": 0, "stdexcept": 0, "string": 0,
    "string_view": 0, "tuple": 0, "type_traits": 0, "typeinfo": 0, "unordered_map": 0,
    "utility": 0, "vector": 0,
}


class HeadersTest(unittest.TestCase):

    def test_firn_h_brings_what_is_listed_and_no_more(self):
        found, by = brought(ROOT), reached(ROOT)
        new = {header: chain(by, path) for header, path in found.items() if header not in PERCENT}
        self.assertFalse(new, "what firn.h did not bring before, and by which way it does now")
        self.assertFalse(PERCENT.keys() - found.keys(), "listed here, brought no more")


if __name__ == "__main__":
    unittest.main()
