#!/usr/bin/env python3
"""Sentences of comments and docstrings begin with what they are about, as those of pages do (pages_test).

It checks C++, Python, Starlark, shell scripts and CMake.

It reads files where they lie in the repository, which BUILD says by the tag "external".
"""

import io
import os
import re
import tokenize
import unittest

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.realpath(__file__)), "../.."))
CPP = (".h", ".cc", ".cu", ".cuh")
PYTHON = (".py", ".bzl", "BUILD", "WORKSPACE")
SHELL = (".sh", ".cmake", "CMakeLists.txt", ".bazelrc")
# Scripts whose names have no ending.
PYTHON_SCRIPT = re.compile(r"#!.*\bpython3")
SHELL_SCRIPT = re.compile(r"#!.*\b(ba)?sh\b")
# "Of three pages two ..." and "As Sum, but ..." are read twice: a subject comes first, then what it does. "As of 1.39"
# is a date.
HARD = re.compile(r"(?:\A|\n|[.!?][)\"'`]*\s+)((?:Of|As) (?!of \d)|Null:)")
# A comment at the end of a line stands behind code, and a URL has no blank in front of its slashes.
COMMENT = re.compile(r"^(\s*)///? ?(.*)|^.*?[^\s].*?\s// (.*)")
SHELL_COMMENT = re.compile(r"^(\s*)#+(?!!) ?(.*)|^.*?[^\s].*?\s# (.*)")
# Where a comment begins anew: an item of a list, or what is indented.
ITEM = re.compile(r"\s|[-*|] |\d+\. ")


def line_comments(mark, pattern, text):
    """(line, whether it stands alone, comment) of each line with one."""
    for number, line in enumerate(text.split("\n"), 1):
        found = pattern.match(line) if mark in line else None
        if found:
            alone = found[2] is not None
            yield number, alone, (found[2] if alone else found[3]).rstrip()


def python_comments(text):
    """The same of Python and Starlark, with the lines of docstrings."""
    lines = text.split("\n")
    before = tokenize.NEWLINE
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        line, column = token.start
        if token.type == tokenize.COMMENT and not token.string.startswith("#!"):
            alone = not lines[line - 1][:column].strip()
            yield line, alone, re.sub(r"^#+ ?", "", token.string).rstrip()
        elif token.type == tokenize.STRING and before in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT):
            for number, words in enumerate(token.string.strip("rfb\"'").split("\n")):
                yield line + number, True, re.sub(f"^ {{0,{column}}}", "", words).rstrip()
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            before = token.type


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
    if name.endswith(PYTHON) or PYTHON_SCRIPT.match(text):
        comments = python_comments(text)
    else:
        comments = line_comments("//", COMMENT, text) if name.endswith(CPP) else line_comments("#", SHELL_COMMENT, text)
    return [(line, block[found.start(1):][:50]) for line, block in blocks(comments) for found in HARD.finditer(block)]


def sources():
    for folder, below, files in os.walk(ROOT):
        below[:] = sorted(name for name in below if name == ".ci" or not name.startswith((".", "bazel-")))
        for name in sorted(files):
            known = name.endswith(CPP + PYTHON + SHELL)
            if known or "." not in name:
                with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
                    text = file.read()
                if known or PYTHON_SCRIPT.match(text) or SHELL_SCRIPT.match(text):
                    yield os.path.relpath(os.path.join(folder, name), ROOT), text


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
        text = ('"""Of x."""\n\nclass A:\n    """Words\n    go.\n\n    As B.\n    """\n\n'
                '    def f():\n        """Null: no."""\n')
        self.assertEqual([line for line, _ in hard_sentences("x.py", text)], [1, 4, 11])
        self.assertEqual([line for line, _ in hard_sentences("x", "#!/usr/bin/env python3\n" + text)], [2, 5, 12])
        text = '#!/bin/bash\n# Words. Of it.\n#\n# As\n# such.\necho x  # Of x.\n'
        self.assertEqual([line for line, _ in hard_sentences("x", text)], [2, 2, 6])

    def test_others_are_not(self):
        text = '// Words\n// As they go on, "Of" course. See http://x.org/As\n// `As`. Often so. Assets.\nf("a // b");\n'
        self.assertEqual(hard_sentences("x.cc", text), [])
        text = 'x = f("""Of x.""")\ny = ("a"\n     "As b.")\n'
        self.assertEqual(hard_sentences("x.py", text), [])
        self.assertEqual(hard_sentences("x.sh", '#!/bin/sh\n# Words\n# As of 1.39 it is. [[ $x# ]]\nf "Of x."\n'), [])


if __name__ == "__main__":
    unittest.main()
