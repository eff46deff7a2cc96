#!/usr/bin/env python3
"""Pages are in plain English, as far as a program can tell, lead to files that exist, and the README is short.

It reads files where they lie in the repository, which BUILD says by the tag "external".
"""

import os
import re
import unittest

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.realpath(__file__)), "../.."))
BLOCK = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
# Where a sentence begins: a paragraph, a cell or an item of a list, or behind the end of another.
BEGIN = r"(?:\A|\n\n|\n(?=[-|*#])|\| |[.!?][)\"*`]*\s+(?=[A-Z]))[\s\-*|#]*(?:\d+\. )?"
# "Of the pages three ..." and "As Sum, but ..." are read twice: a subject comes first, then what it does.
HARD = re.compile(BEGIN + r"((?:Of|As)\b|Null:)[^\n]{0,50}")
# `docs/x.md`, `io/README.md`, and [text](x.md)
# `device/level.h`, from the root; FAMILY and PAGE stand for any.
SOURCE = re.compile(r"`((?:[a-z_]+/)+[a-z_0-9.]+\.(?:h|cc|cu|cuh|py|bzl))`")
MADE = {"tensor/ops.h"}  # while building
HISTORY = ("docs/decisions/", "docs/log/")  # what they name may be gone
PAGE = re.compile(r"`((?:[\w.]+/)+[\w.]+\.md)`|`([A-Z]+\.md)`|\]\(([\w./]+\.(?:md|svg))\)")


def pages():
    """(path, text without blocks of code) of each page of the repository."""
    for folder, below, files in os.walk(ROOT):
        below[:] = sorted(name for name in below if not name.startswith((".", "bazel-")))
        for name in sorted(files):
            if name.endswith(".md"):
                path = os.path.relpath(os.path.join(folder, name), ROOT)
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    yield path, BLOCK.sub("", file.read())


def hard_sentences(text):
    """(line, beginning) of each sentence that does not begin with what it is about."""
    return [(text.count("\n", 0, found.start(1)) + 1, found[0].strip()[-60:]) for found in HARD.finditer(text)]


def lost(path, text):
    """Pages that a page names and that are neither at the root nor beside it."""
    for names in PAGE.findall(text):
        name = next(filter(None, names))
        beside = os.path.join(ROOT, os.path.dirname(path), name)
        if not os.path.exists(os.path.join(ROOT, name)) and not os.path.exists(beside):
            yield f"{path}: {name}"


def lost_sources(path, text):
    """Sources that a page names by a folder of the root, and that do not exist."""
    for name in SOURCE.findall(text):
        beside = os.path.join(ROOT, os.path.dirname(path), name)
        of_the_root = os.path.isdir(os.path.join(ROOT, name.split("/")[0]))
        if of_the_root and name not in MADE and not os.path.exists(os.path.join(ROOT, name)) and not os.path.exists(beside):
            yield f"{path}: {name}"


class PagesTest(unittest.TestCase):

    def test_sentences_begin_with_what_they_are_about(self):
        found = [f"{path}: {begin}" for path, text in pages() for _, begin in hard_sentences(text)]
        self.assertEqual(found, [])

    def test_such_a_sentence_is_found(self):
        text = "Two pages. Of these one is old.\n\nAs said: no.\n| Null: none | as is |\nLong\nAs words. Of\n"
        self.assertEqual([line for line, _ in hard_sentences(text)], [1, 3, 4, 6])
        self.assertEqual(hard_sentences("Often so. Ask Of. It is. `As`\nnever As, Of."), [])

    def test_pages_that_are_named_exist(self):
        self.assertGreater(sum(1 for _ in pages()), 50)
        self.assertEqual([name for path, text in pages() for name in lost(path, text)], [])
        self.assertEqual(list(lost("docs/x.md", "`docs/no.md` `docs/builds.md` [a](no.svg) [b](builds.md)")),
                         ["docs/x.md: docs/no.md", "docs/x.md: no.svg"])

    def test_sources_that_are_named_exist(self):
        found = [name for path, text in pages() if not path.startswith(HISTORY) for name in lost_sources(path, text)]
        self.assertEqual(found, [])
        self.assertEqual(list(lost_sources("x.md", "`device/no.h` `device/level.h` `tensor/ops.h` `peers/x.py`")),
                         ["x.md: device/no.h"])

    def test_the_readme_is_short(self):
        with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as page:
            self.assertLessEqual(len(page.readlines()), 120, "README.md: what is more belongs to a page of docs/")


if __name__ == "__main__":
    unittest.main()
