#!/usr/bin/env python3
"""docs/nnabla_functions.md has a row for everything that NNabla has, and says what the names of io/exchange say.

nnabla_functions_rows_test checks that the page's code computes what NNabla computes. This test reads files where they
lie in the repository, which BUILD says by the tag "external".
"""

import glob
import os
import re
import sys
import unittest

ROOT = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../..")
sys.path.insert(0, os.path.join(ROOT, "tools/scripts"))
from doc_blocks import in_backticks, rows, words  # noqa: E402
from public_api import names  # noqa: E402

PAGE = "docs/nnabla_functions.md"
FUNCTIONS = "tests/io/exchange/nnabla_functions.txt"
OTHERS = "tests/docs/nnabla_names.txt"
VALUES = "tests/docs/nnabla_values.txt"
NOT_YET = "tests/docs/nnabla_not_yet.txt"
NAMES = re.compile(r"^FIRN_NAMES\((\w+),(.*?)\);", re.M | re.S)
NNABLA = re.compile(r"\.nnabla =\s*(?:\"(\w+)\"|\{(.*?)\})", re.S)


def path(name):
    return os.path.join(ROOT, name)


def read(name):
    with open(path(name), encoding="utf-8") as file:
        return file.read()


def name_of(call):
    return call.partition("(")[0]


def registered():
    """(Firn's function, NNabla's) of the pages of names."""
    for page in sorted(glob.glob(path("io/exchange/names/*.cc"))):
        for function, line in NAMES.findall(read(page)):
            for one, several in NNABLA.findall(line):
                for name in [one] if one else re.findall(r"\w+", several):
                    yield function, name


class NnablaTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.rows = list(rows(path(PAGE)))
        cls.calls = [in_backticks(row[0])[0] for _, row in cls.rows]

    def test_everything_has_a_row(self):
        known = words(path(FUNCTIONS)) | words(path(OTHERS))
        self.assertEqual(len(known), 228 + 43 + 12)
        there = set(map(name_of, self.calls))
        self.assertFalse(known - there, f"{PAGE} has no row for them")
        self.assertFalse(there - known, "NNabla has no such things")

    def test_every_row_is_a_call_and_code(self):
        for line, row in self.rows:
            self.assertEqual(len(row), 3, f"{PAGE}:{line}: cells")
            self.assertRegex(row[0], r"^`[\w.]+\(.*\)`$", f"{PAGE}:{line}: one call in backticks")
            self.assertTrue(in_backticks(row[1]), f"{PAGE}:{line}: what to write in Firn, in backticks")

    def test_rows_name_the_functions_that_are_registered(self):
        texts = {}
        for call, (_, row) in zip(self.calls, self.rows):
            texts[name_of(call)] = texts.get(name_of(call), "") + row[1] + row[2]
        pairs = list(registered())
        self.assertGreater(len(pairs), 200)
        for function, name in pairs:
            self.assertRegex(texts.get(name, ""), rf"\b{function}\b",
                             f"{PAGE}: the row of {name} lacks {function}, which io/exchange/names has for it")

    def test_values_are_those_of_the_rows(self):
        lines = [line for line in read(VALUES).splitlines() if not line.startswith("#")]
        known = [line.partition("\t")[0] for line in lines]
        wanted = [call for call in self.calls if not call.startswith("PF.")]
        self.assertEqual(sorted(known), sorted(set(wanted)),
                         f"{VALUES} has a line for each call of a function or an initializer")
        compared = [line for line in lines if "\t-" not in line]
        self.assertGreater(len(compared), 215, "rows that are compared with NNabla's numbers")

    def test_what_is_not_there_yet_is_not_there(self):
        code = " ".join(row[1] for _, row in self.rows)
        there = {name for name, _ in names(ROOT)}
        headers = list(map(read, glob.glob(path("nn/*.h"))))
        for word in words(path(NOT_YET)):
            self.assertIn(word, code, f"{NOT_YET}: no row has it")
            scope, _, name = word.rpartition("::")
            declared = re.compile(rf"^(class|struct|void|using) {name}\b", re.M)
            self.assertFalse(any(f"namespace firn::{scope} {{" in header and declared.search(header)
                                 for header in headers) if scope else name in there,
                             f"{word} is there: take its line out of {NOT_YET}")


if __name__ == "__main__":
    unittest.main()
