#!/usr/bin/env python3
"""A struct with a Visit shows every field there. A field that Visit leaves out is neither printed, compared
nor stored, so two calls that differ only in it would be taken for one.

It reads the headers where they lie in the repository, which BUILD says by the tag "external".
"""

import os
import sys
import unittest
from collections import defaultdict

ROOT = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../..")
sys.path.insert(0, os.path.join(ROOT, "tools/scripts"))
from cpp_declarations import declarations  # noqa: E402
from cpp_tokens import match_brackets, tokenize  # noqa: E402
from public_api import public_headers, read  # noqa: E402

# Optimizers keep their learning rates in tensors, beside the options; initializers are functions.
BESIDE = {"lr", "weight_init", "bias_init"}


def left_out(text, path):
    """["Struct::field", ...]: fields of the structs in `text` that their Visit does not name."""
    fields, visits = defaultdict(list), {}
    for d in declarations(text, path):
        scope, _, name = d.name.rpartition("::")
        if d.kind == "variable" and d.inside:
            fields[scope].append(name)
        elif name == "Visit" and d.body and d.inside:
            visits[scope] = d.line
    tokens = tokenize(text)
    match = match_brackets(tokens, path)
    found = []
    for scope, line in visits.items():
        at = next(i for i, t in enumerate(tokens) if t.line >= line and t.text == "Visit")
        begin = next(i for i in range(at, len(tokens)) if tokens[i].text == "{")
        named = {t.text for t in tokens[begin:match[begin]]}
        found += [f"{scope}::{f}" for f in fields[scope] if f not in named | BESIDE]
    return found


class VisitedFieldsTest(unittest.TestCase):

    def test_finds_what_is_left_out(self):
        text = """struct A {
          int x = 1, y = 2;
          static void F() {}
          template <class V> void Visit(V& v) { v.Field("x", x); }
        };"""
        self.assertEqual(left_out(text, "a.h"), ["A::y"])

    def test_every_field_is_visited(self):
        structs = 0
        for path in public_headers(ROOT):
            text = read(ROOT, path)
            self.assertEqual(left_out(text, path), [], path)
            structs += text.count(" Visit(V& v)")
        self.assertGreater(structs, 60)


if __name__ == "__main__":
    unittest.main()
