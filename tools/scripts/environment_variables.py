"""The environment variables FIRN_... that sources read, and what they say of them.

Beside where one is read, or in the header of that, is a comment with a paragraph that begins with the name and a colon:

    # FIRN_ROUNDS: how many damaged copies there are of each file; 300 when unset.
"""

import os
import re

LIBRARY = ("device", "tensor", "autograd", "nn", "optim", "io")
_NAME = r"(FIRN_[A-Z][A-Z0-9_]*)"
_READS = re.compile(rf'(?:getenv|ReadNumber)\(\s*"{_NAME}"|environ(?:\.get\(|\[)"{_NAME}"')
_SHELL_READS = re.compile(r"\$\{" + _NAME + r":-")
_SAYS = re.compile(rf"^\W*{_NAME}: (.+)")
_MARK = re.compile(r"^\s*(//|#|\*)?\s?")
# Files whose text has such names without reading them.
_NOT_READ = ("tools/scripts/environment_variables.py", "tests/docs/references_test.py")
_SOURCES = (".cc", ".h", ".cu", ".cuh", ".py", ".sh", ".bzl", "")


def files(root):
    """Paths of all sources and scripts, from the root."""
    for folder, below, names in os.walk(root):
        below[:] = sorted(b for b in below if not b.startswith(("bazel-", ".")) or b == ".ci")
        for name in sorted(names):
            if os.path.splitext(name)[1] in _SOURCES and not name.startswith("."):
                path = os.path.relpath(os.path.join(folder, name), root)
                if os.path.isfile(os.path.join(root, path)) and os.path.getsize(os.path.join(root, path)) < 1 << 20:
                    yield path


def text_of(root, path):
    with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
        return file.read()


def read_in(text):
    """The names that a source reads."""
    found = {name for groups in _READS.findall(text) for name in groups if name}
    return found | set(_SHELL_READS.findall(text))


def said_in(text):
    """{name: the paragraph of a comment that begins with it}"""
    found, lines = {}, text.splitlines()
    for i, line in enumerate(lines):
        says = _SAYS.match(line)
        if not says:
            continue
        words, mark = [says[2].strip()], _MARK.match(line)[1]
        for following in lines[i + 1:]:
            rest = _MARK.sub("", following).rstrip('"').strip()
            if _MARK.match(following)[1] != mark or not rest or _SAYS.match(following):
                break
            words.append(rest)
        found.setdefault(says[1], " ".join(words).removesuffix('"""').strip())
    return found


def variables(root):
    """{name: ([paths that read it], what is said of it or "")}"""
    found, said = {}, {}
    for path in files(root):
        text = text_of(root, path)
        if "FIRN_" not in text or path in _NOT_READ:
            continue
        for name in read_in(text):
            found.setdefault(name, []).append(path)
        for name, words in said_in(text).items():
            said.setdefault(name, words)
    return {name: (paths, said.get(name, "")) for name, paths in sorted(found.items())}


def page(root, table, cell, linked):
    """(the two tables, how many rows)"""
    library, others = [], []
    for name, (paths, words) in variables(root).items():
        own = any(path.split("/")[0] in LIBRARY for path in paths)
        where = "device/environment.h" if own else paths[0]
        (library if own else others).append((f"`{name}`", cell(words), linked(where)))
    head = ("variable", "what it does", "where")
    return (table(head, library) + "## In tests, benchmarks and scripts\n\n" + table(head, others),
            len(library) + len(others))
