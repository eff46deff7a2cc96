"""C++ source as tokens, for the tools that read the library's text without a compiler.

Comments are dropped; strings, characters and preprocessor lines are single tokens. Nothing is
expanded: both branches of an #if are there.
"""

import re
from collections import namedtuple

# kind: "id" (keywords too), "number", "string", "char", "directive" or "op"; begin: the offset in
# the text, line: counted from 1.
Token = namedtuple("Token", "kind text line begin")

_TOKEN = re.compile(
    r"""
      (?P<directive>^[ \t]*\#(?:\\\n|/\*.*?\*/|[^\n])*)
    | (?P<space>\n+|[^\S\n]+|\\\n)
    | (?P<comment>//[^\n]*|/\*.*?\*/)
    | (?P<string>(?:u8|[uUL])?R"(?P<fence>[^()\\\s]{0,16})\(.*?\)(?P=fence)"
                |(?:u8|[uUL])?"(?:[^"\\\n]|\\.)*")
    | (?P<number>\.?\d(?:[eEpP][+-](?=\d)|'(?=\w)|[\w.])*)
    | (?P<char>(?:u8|[uUL])?'(?:[^'\\\n]|\\.)*')
    | (?P<id>[A-Za-z_]\w*)
    | (?P<op><<=|>>=|<=>|\.\.\.|->\*|::|->|\+\+|--|<<|>>|[<>=!]=|&&|\|\||[-+*/%&|^]=|.)
    """, re.VERBOSE | re.DOTALL | re.MULTILINE)

_CLOSER = {"(": ")", "[": "]", "{": "}"}


class CppError(ValueError):
    """Text that is not understood; says where."""


def tokenize(text):
    """The tokens of `text`, in order."""
    tokens, line, at = [], 1, 0
    while at < len(text):
        m = _TOKEN.match(text, at)
        kind = m.lastgroup if m.lastgroup != "fence" else "string"
        if kind not in ("space", "comment"):
            tokens.append(Token(kind, m[0], line, at))
        line += m[0].count("\n")
        at = m.end()
    return tokens


def match_brackets(tokens, where="text"):
    """{position of an opening bracket: position of its closing one} for ( [ and {."""
    matches, stack = {}, []
    for i, token in enumerate(tokens):
        if token.kind != "op":
            continue
        if token.text in _CLOSER:
            stack.append(i)
        elif token.text in (")", "]", "}"):
            if not stack or _CLOSER[tokens[stack[-1]].text] != token.text:
                raise CppError(f"{where}:{token.line}: {token.text} closes nothing")
            matches[stack.pop()] = i
    if stack:
        opener = tokens[stack[-1]]
        raise CppError(f"{where}:{opener.line}: {opener.text} is not closed")
    return matches


def skip_angles(tokens, matches, i):
    """The position after the template arguments that start with the < at `i`; None if it is none."""
    depth = 0
    while i < len(tokens):
        text = tokens[i].text if tokens[i].kind == "op" else ""
        if text in _CLOSER:
            i = matches[i]
        elif text == "<":
            depth += 1
        elif text in (">", ">>"):
            depth -= len(text)
            if depth <= 0:
                return i + 1
        elif text in (";", "}", ")", "]", "||"):
            return None
        i += 1
    return None


class Cursor:
    """Steps over the tokens of a file; positions are indices of `t`."""

    def __init__(self, tokens, path):
        self.path = path
        self.t = tokens
        self.match = match_brackets(tokens, path)

    def text(self, i):
        return self.t[i].text if i < len(self.t) else ""

    def is_id(self, i):
        return i < len(self.t) and self.t[i].kind == "id"

    def fail(self, i, what):
        line = self.t[min(i, len(self.t) - 1)].line
        raise CppError(f"{self.path}:{line}: {what}")

    def angles(self, i):
        end = skip_angles(self.t, self.match, i)
        return i + 1 if end is None else end

    def past(self, i, stop):
        """The position after the next `stop` that is in no brackets."""
        while self.text(i) != stop:
            if i >= len(self.t):
                self.fail(i, f"the text ends before a {stop}")
            i = self.match.get(i, i) + 1
        return i + 1

    def requires(self, i):
        """The position after the requires-clause at `i`."""
        i += 1
        while True:
            while self.text(i) == "!":
                i += 1
            if self.text(i) == "requires":
                i += 1
                if self.text(i) == "(":
                    i = self.match[i] + 1
                i = self.match[i] + 1
            elif self.text(i) == "(":
                i = self.match[i] + 1
            else:
                i += 1
                while self.text(i) in ("::", "<"):
                    i = self.angles(i) if self.text(i) == "<" else i + 2
            if self.text(i) not in ("&&", "||"):
                return i
            i += 1

    def attribute(self, i):
        """(position after an attribute at `i`, whether it says deprecated); `i` if there is none."""
        if self.text(i) == "[" and self.text(i + 1) == "[":
            end = self.match[i] + 1
        elif self.text(i) in ("__attribute__", "alignas") and self.text(i + 1) == "(":
            end = self.match[i + 1] + 1
        else:
            return i, False
        return end, any(t.text == "deprecated" for t in self.t[i:end])

    def last_id(self, begin, end):
        return next((t.text for t in reversed(self.t[begin:end]) if t.kind == "id"), "")
