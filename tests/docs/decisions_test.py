#!/usr/bin/env python3
"""Decisions: each has a date and a title, pages are in the order of dates, and the index lists all of them.

It reads files where they lie in the repository, which BUILD says by the tag "external".
"""

import os
import sys
import unittest

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.realpath(__file__)), "../.."))
sys.path.insert(0, os.path.join(ROOT, "tools/scripts"))

import decisions_index  # noqa: E402


class DecisionsTest(unittest.TestCase):

    def test_the_index_lists_them(self):
        with open(os.path.join(ROOT, decisions_index.FOLDER, "README.md"), encoding="utf-8") as page:
            self.assertEqual(page.read(), decisions_index.index(ROOT),
                             "print it anew: tools/scripts/decisions_index.py > docs/decisions/README.md")

    def test_pages_are_in_the_order_of_dates(self):
        count = 0
        for name, text in decisions_index.pages(ROOT):
            dates = [date for date, _ in decisions_index.decisions(text)]
            self.assertEqual(dates, sorted(dates), name)
            count += len(dates)
        self.assertGreater(count, 150)

    def test_paragraphs_belong_to_a_decision(self):
        for name, text in decisions_index.pages(ROOT):
            heading, _, rest = text.partition("\n\n")
            self.assertTrue(heading.startswith(decisions_index.HEADING), name)
            self.assertTrue(rest.startswith("**2"), f"{name} begins with something else")
            bold = [line for line in text.splitlines() if line.startswith("**2")]
            self.assertEqual(len(bold), len(decisions_index.decisions(text)), name)


if __name__ == "__main__":
    unittest.main()
