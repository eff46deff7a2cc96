#!/usr/bin/env python3
"""Sentences of comments begin with what they are about, as those of pages do (pages_test).

It reads files where they lie in the repository, which BUILD says by the tag "external".
"""

import io
import os
import re
import tokenize
import unittest

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.realpath(__file__)), "../.."))
CPP = (".h", ".cc", ".cu", ".cuh")
PYTHON = (".py", ".bzl", "BUILD")
# "Of three pages two ..." and "As Sum, but ..." are read twice: a subject comes first, then what it does. "As of 1.39"
# is a date.
HARD = re.compile(r"(?:\A|\n|[.!?][)\"'`]*\s+)((?:Of|As) (?!of \d)|Null:)")
# A comment at the end of a line stands behind code, and a URL has no blank in front of its slashes.
COMMENT = re.compile(r"^(\s*)///? ?(.*)|^.*?[^\s].*?\s// (.*)")
# Where a comment begins anew: an item of a list, or what is indented.
ITEM = re.compile(r"\s|[-*|] |\d+\. ")


def cpp_comments(text):
    """(line, whether it stands alone, comment) of each line with one."""
    for number, line in enumerate(text.split("\n"), 1):
        found = COMMENT.match(line) if "//" in line else None
        if found:
            alone = found[2] is not None
            yield number, alone, (found[2] if alone else found[3]).rstrip()


def python_comments(text):
    lines = text.split("\n")
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            alone = not lines[token.start[0] - 1][:token.start[1]].strip()
            yield token.start[0], alone, re.sub(r"^#+ ?", "", token.string).rstrip()


def blocks(comments):
    """(line, text) of each comment: lines below each other are one text, in which a line feed begins anew."""
    block = None
    last = 0
    for number, alone, text in comments:
        if block and alone and number == last + 1 and block[2]:
            new = not text or ITEM.match(text) or block[1].endswith("\n")
            block[1] += "\n" + text.lstrip(" -*|0123456789.") if new else " " + text
        else:
            if block:
                yield block[0], block[1]
            block = [number, text, alone]
        last = number
    if block:
        yield block[0], block[1]


def hard_sentences(name, text):
    """(line of the comment, beginning) of each sentence of a comment that does not begin with what it is about."""
    comments = (cpp_comments if name.endswith(CPP) else python_comments)(text)
    return [(line, block[found.start(1):][:50]) for line, block in blocks(comments) for found in HARD.finditer(block)]


def sources():
    for folder, below, files in os.walk(ROOT):
        below[:] = sorted(name for name in below if not name.startswith((".", "bazel-")))
        for name in sorted(files):
            if name.endswith(CPP + PYTHON):
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    yield os.path.relpath(os.path.join(folder, name), ROOT), file.read()


class CommentsTest(unittest.TestCase):

    def test_sentences_begin_with_what_they_are_about(self):
        found = []
        count = 0
        for path, text in sources():
            count += 1
            found += [f"{path}:{line}: {begin}" for line, begin in hard_sentences(path, text)]
        self.assertGreater(count, 1000)
        self.assertEqual(found, [], "\n" + "\n".join(found))

    def test_such_a_sentence_is_found(self):
        text = "\n".join(("// Of three two.", "int x;  // As before", "// Two. As", "// words go on.", "//", "// - Of one.",
                          "// As of 1.39 it is so.", "/// Null: none.", "// (So.) Of it."))
        self.assertEqual([line for line, _ in hard_sentences("x.h", text)], [1, 2, 3, 3, 3, 3])
        text = 'x = "# Of"  # Of x.\n# Words\n# As they are. As\n# of old.\n#\n# Of it.\n'
        self.assertEqual([line for line, _ in hard_sentences("BUILD", text)], [1, 2, 2])

    def test_others_are_not(self):
        text = '// Words\n// As they go on, "Of" course. See http://x.org/As\n// `As`. Often so. Assets.\nf("a // b");\n'
        self.assertEqual(hard_sentences("x.cc", text), [])


if __name__ == "__main__":
    unittest.main()
