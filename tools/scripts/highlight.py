"""Colours for code: comments, texts, numbers, words of the language, and what the preprocessor takes."""

import html
import re

_CPP = """alignas auto bool break case catch char class concept const constexpr continue default delete do
double else enum explicit extern false final float for friend if inline int int64_t long namespace
new noexcept nullptr operator override private protected public requires return short signed sizeof
size_t static struct switch template this throw true try typedef typename uint8_t union unsigned
using virtual void volatile while"""
_PYTHON = """and as assert break class continue def del elif else except False finally for from if import in is
lambda None not or pass raise return True try while with yield"""
_SHELL = "case do done elif else esac fi for function if in then while"
_WORDS = {
    "cpp": set(_CPP.split()),
    "python": set(_PYTHON.split()),
    "sh": set(_SHELL.split()),
    "json": {"true", "false", "null"},
    "cmake": set(),
}
_HASH = r"(?P<comment>(?:(?<=\s)|^)\#[^\n]*)"
_TEXT = r'(?P<text>"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\')'
_NUMBER = r"(?P<number>\b\d[\d'.]*(?:e[+-]?\d+)?[fuUlL]*\b)"
_WORD = r"(?P<word>[A-Za-z_]\w*)"
_TOKENS = {
    "cpp": re.compile("|".join([r"(?P<comment>//[^\n]*|/\*.*?\*/)", r"(?P<directive>^[ ]*\#[^\n]*)", _TEXT, _NUMBER,
                                _WORD]), re.M | re.S),
    "json": re.compile("|".join([_TEXT, _NUMBER, _WORD]), re.M),
}
_OTHERS = re.compile("|".join([_HASH, _TEXT, _NUMBER, _WORD]), re.M)


def highlighted(text, language):
    """The text as HTML; without colours for a language that is not known."""
    words = _WORDS.get(language)
    if words is None:
        return html.escape(text, quote=False)
    made, at = [], 0
    for token in _TOKENS.get(language, _OTHERS).finditer(text):
        kind = token.lastgroup
        if kind == "word":
            kind = "keyword" if token[0] in words else None
        if kind and not (language == "sh" and kind == "number"):
            made.append(html.escape(text[at:token.start()], quote=False))
            made.append(f'<span class="{kind}">{html.escape(token[0], quote=False)}</span>')
            at = token.end()
    return "".join(made) + html.escape(text[at:], quote=False)
