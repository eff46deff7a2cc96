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
