#!/usr/bin/env python3
"""The attributes that io/onnx/internal/onnx_attributes.cc gives each operator are those of ONNX's schemas, in every
opset. Skipped where Python has no onnx:

    python -m venv VENV && VENV/bin/pip install onnx
    VENV/bin/python tests/io/onnx/onnx_attributes_test.py io/onnx/internal/onnx_attributes.cc

With --write it prints the table as onnx has it."""

import re
import sys
import unittest

try:
    from onnx import defs
except ImportError:
    defs = None

SOURCE = sys.argv.pop(1)
NEWEST = 28


def schemas():
    """By operator: its attributes from each version on."""
    versions = {}
    for schema in defs.get_all_schemas_with_history():
        if schema.domain == "":
            versions.setdefault(schema.name, {})[schema.since_version] = set(schema.attributes)
    return versions


def table():
    with open(SOURCE, encoding="utf-8") as file:
        text = file.read()
    rows = text[text.index("kRows[] = {"):]
    rows = rows[:rows.index("\n};\n")]
    found = re.findall(r'\{"(\w+)",\s*((?:"[^"]*"\s*)+)\}', rows)
    return {name: "".join(re.findall(r'"([^"]*)"', words)).split() for name, words in found}


def word(attribute, versions):
    """An attribute of the versions of an operator, as the table has it."""
    order = sorted(versions)
    have = [v for v in order if attribute in versions[v]]
    first, last = order.index(have[0]), order.index(have[-1])
    assert have == order[first:last + 1], attribute
    until = f"<{order[last + 1]}" if last + 1 < len(order) else ""
    return attribute + (f"@{have[0]}" if first else "") + until


def expected():
    rows = {}
    for name, versions in sorted(schemas().items()):
        versions = {v: a for v, a in versions.items() if v <= NEWEST}
        words = [word(a, versions) for a in sorted(set().union(*versions.values()))]
        if words:
            rows[name] = words
    return rows


@unittest.skipIf(defs is None, "this Python has no onnx")
class OnnxAttributesTest(unittest.TestCase):

    def test_table(self):
        if defs.onnx_opset_version() != NEWEST:
            self.skipTest(f"onnx has opset {defs.onnx_opset_version()}, the table is of {NEWEST}")
        rows = table()
        self.assertEqual(rows, expected())
        self.assertEqual(list(rows), sorted(rows))


if __name__ == "__main__":
    if "--write" in sys.argv:
        for op, words in expected().items():
            print(f'    {{"{op}", "{" ".join(words)}"}},')
    else:
        unittest.main()
