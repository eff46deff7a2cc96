"""What a header says of a declaration: its comment, its signature, and the options it takes."""

import functools
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from operations_page import declared_at, sentence, signature  # noqa: E402,F401
from public_api import declarations, read  # noqa: E402

_COMMENT = re.compile(r"\s*//")
_KINDS = ("class", "struct", "function", "alias")


@functools.lru_cache(maxsize=None)
def lines_of(root, path):
    return read(root, path).splitlines()


@functools.lru_cache(maxsize=None)
def declared(root, path):
    return declarations(read(root, path), path)


def short(name):
    return name.rpartition("::")[2]


def things(root, paths, scope, kinds=_KINDS):
    """The declarations of these kinds that stand in namespace `scope` itself, in order."""
    return [d for path in paths for d in declared(root, path)
            if d.kind in kinds and d.name.rpartition("::")[0] == scope and not d.forward]


def comment_of(lines, line):
    """The comment right above the declaration at `line`, from 1; [] where there is none."""
    at = line - 2
    while at >= 0 and re.match(r"template|\s*requires", lines[at]):
        at -= 1
    end = at + 1
    while at >= 0 and _COMMENT.match(lines[at]):
        at -= 1
    return lines[at + 1:end]


def file_comment(lines):
    """The comment that tells what a header is for: it stands alone, before the namespace."""
    for i, line in enumerate(lines):
        if line.startswith("namespace"):
            return []
        if line.startswith("//") and not lines[i - 1].strip():
            end = i
            while end < len(lines) and lines[end].startswith("//"):
                end += 1
            return lines[i:end]
    return []


def first(comment):
    """The first sentence of a comment, which ends where a blank line, code or a formula begins."""
    end = next((i for i, line in enumerate(comment)
                if not line.strip(" /") or re.match(r"\s*//  ", line)), len(comment))
    return sentence(comment[:end], (".",)).rstrip(":,;")


def said(root, declaration):
    """The first sentence of its own comment."""
    return first(comment_of(lines_of(root, declaration.path), declaration.line))


def _statement(lines, line):
    """(the text of the declaration of a field at `line` without comments, its last line)."""
    text, depth = "", 0
    for at in range(line - 1, len(lines)):
        for character in lines[at].split("//")[0] + " ":
            depth += (character in "({[") - (character in ")}]")
            if character == ";" and depth == 0:
                return " ".join(text.split()), at
            text += character
    raise ValueError(f"a field without an end: {lines[line - 1]}")


def _field_comment(lines, line, last):
    """The comment of a field: it begins after the field on its line, or it is above it."""
    behind = lines[last].partition("//")[2].strip()
    if behind:
        column = lines[last].index("//")
        while last + 1 < len(lines) and _COMMENT.match(lines[last + 1]) and \
                lines[last + 1].index("//") == column:
            last += 1
            behind += " " + lines[last].strip()[2:].strip()
        return first(["// " + behind])
    return first([text for text in comment_of(lines, line) if text.index("//") < 5])


def _default(text, name):
    """The initial value of the field `name` of a statement; "" where there is none."""
    found = re.search(rf"\b{name}\s*(?:=\s*(.*?))?(?=,\s*\w+\s*(?:=|,|$)|$)", text)
    return (found[1] or "").strip() if found else ""


def fields(root, path, struct):
    """[(name, default, comment)] of the struct called so, with namespaces, in a header."""
    lines, found, before = lines_of(root, path), [], None
    for d in declared(root, path):
        if d.kind != "variable" or d.name.rpartition("::")[0] != struct or d.access != "public":
            continue
        text, last = _statement(lines, d.line)
        if text.startswith("static"):
            continue
        if found and before == last:  # several in one statement: the last one has the comment
            found[-1] = (*found[-1][:2], "")
        before = last
        found.append((short(d.name), _default(text, short(d.name)),
                      _field_comment(lines, d.line, last)))
    return found


class Structs:
    """Structs of options and aliases of them, by their short names, of these headers."""

    def __init__(self, root, paths):
        self._root, self._structs, self._aliases = root, {}, {}
        for path in paths:
            for d in declared(root, path):
                if d.kind in ("struct", "class") and d.body:
                    self._structs.setdefault(short(d.name), d)
                elif d.kind == "alias":
                    self._aliases.setdefault(short(d.name), d.types)

    def find(self, name):
        """The declaration of a struct, or of what its name stands for; None: there is none."""
        for _ in range(4):
            if name in self._structs:
                return self._structs[name]
            name = next((t for t in self._aliases.get(name, ()) if t in self._structs or t in self._aliases), None)
        return None

    def fields(self, name):
        struct = self.find(name)
        return fields(self._root, struct.path, struct.name) if struct else []


def options_cell(options):
    """A cell of a table: each option, its default and what it is."""
    return "<br>".join((f"`{name} = {default}`" if default else f"`{name}`") + (f" {text}" if text else "")
                       for name, default, text in options)
