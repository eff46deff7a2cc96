"""One-token changes of C++ text that a good test should notice; what tools/scripts/mutate tries.

Nothing is changed in comments, strings, directives, static_assert, FIRN_DCHECK (off where tests run),
parameters of templates and the text of errors. Changes that could only cost time or memory are also left
out: calls of reserve() and how much an InlinedVector holds inline.
"""

import os
import re
from collections import namedtuple

from cpp_tokens import match_brackets, tokenize

# text[begin:end] is replaced by `new`.
Mutation = namedtuple("Mutation", "kind line begin end new")

FOLDERS = ("device", "tensor", "autograd", "nn", "optim", "io")
_SWAPS = {
    "comparison": {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="},
    "arithmetic": {"+": "-", "-": "+", "*": "+", "/": "*", "+=": "-=", "-=": "+=", "*=": "+=",
                   "/=": "*="},
    "logic": {"&&": "||", "||": "&&"},
}
_WORDS = {"true": ("constant", "false"), "false": ("constant", "true"),
          "break": ("jump", "continue"), "continue": ("jump", "break")}
_INTEGER = re.compile(r"(0[xX][\da-fA-F']+|[\d']+)([uUlLzZ]*)$")
_KEYWORDS = {"if", "for", "while", "switch", "return", "sizeof", "decltype", "catch", "alignof",
             "requires", "noexcept", "alignas", "throw", "new", "delete", "else", "do", "case",
             "using", "template", "typename", "static_assert", "explicit", "operator", "goto",
             "class", "struct", "enum", "union", "namespace", "friend", "typedef", "constexpr",
             "static", "const", "auto", "default", "break", "continue", "public", "private",
             "protected", "co_return", "co_yield", "__attribute__"}
_ONLY_TEXT = {"static_assert", "FIRN_DCHECK", "FIRN_BARE_DCHECK", "StrCat", "StrAppend",
              "StrFormat", "StrJoin", "InvalidArgument", "FailedPrecondition", "OutOfRange",
              "ResourceExhausted", "DataLoss", "NotFound", "Unimplemented", "Unavailable", "Internal"}
_TEXT_AFTER_FIRST = {"FIRN_RETURN_IF", "FIRN_CHECK"}
# Files that make text for people, and what is built only with --config=cuda or a sanitizer.
_NOT_MUTATED = re.compile(
    r"cuda|nvrtc|/(race_detector|poison)\.|_samples\.|/testing[./]|"
    r"/(text_table|escape|message|describe|format|progress|dot|summary|explain|type_names)\.")


def files(root, folder=None):
    """[(path, number of lines), ...] of what may be changed, sorted."""
    found = []
    for top in FOLDERS:
        for at, _, names in os.walk(os.path.join(root, top)):
            for name in names:
                path = os.path.relpath(os.path.join(at, name), root)
                inside = folder is None or path.startswith(folder.rstrip("/") + "/")
                if inside and name.endswith((".cc", ".h")) and not _NOT_MUTATED.search("/" + path):
                    with open(os.path.join(root, path), encoding="utf-8") as file:
                        found.append((path, sum(1 for _ in file)))
    return sorted(found)


def mutations(text):
    """Every Mutation of `text`, in the order of the text."""
    return _Mutator(text).run()


def apply(text, mutation):
    return text[:mutation.begin] + mutation.new + text[mutation.end:]


def before_and_after(text, mutation):
    """The line of `text` that changes, and what it becomes, without indentation."""
    end = mutation.end + len(mutation.new) - (mutation.end - mutation.begin)
    return (_lines(text, mutation.begin, mutation.end),
            _lines(apply(text, mutation), mutation.begin, end))


def _lines(text, begin, end):
    begin = text.rfind("\n", 0, begin) + 1
    end = text.find("\n", end)
    return " ".join(text[begin:end if end >= 0 else None].split())


class _Mutator:

    def __init__(self, text):
        self.text = text
        self.t = [t for t in tokenize(text) if t.kind != "directive"]
        self.match = match_brackets(self.t)
        self.found = []

    def run(self):
        skipped = self._skipped()
        for i in range(len(self.t)):
            if i not in skipped:
                self._operator(i)
                self._word(i)
                self._integer(i)
                self._statement(i)
                self._arguments(i)
                self._early_return(i)
        return sorted(self.found, key=lambda m: m.begin)

    def _get(self, i):
        return self.t[i].text if 0 <= i < len(self.t) else ""

    def _end(self, i):
        return self.t[i].begin + len(self.t[i].text)

    def _add(self, kind, first, last, new):
        """Replaces the tokens from `first` to `last`, both included."""
        self.found.append(Mutation(kind, self.t[first].line, self.t[first].begin, self._end(last),
                                   new))

    def _skipped(self):
        """Positions that must not be changed."""
        skipped = set()
        for i, end in self.match.items():
            if self._get(i) != "(":
                continue
            if self._get(i - 1) == "reserve":
                skipped.update(range(self._begin_of_statement(i), end))
            elif self._get(i - 1) in _ONLY_TEXT:
                skipped.update(range(i - 1, end))
            elif self._get(i - 1) in _TEXT_AFTER_FIRST:
                arguments = self._split(i)
                if len(arguments) > 1:
                    skipped.update(range(arguments[1][0], end))
        for i, token in enumerate(self.t):
            # template <...>: defaults and sizes of types; template class A<true>: no code of its own
            if token.text == "template":
                ends = (">", ">>") if self._get(i + 1) == "<" else (";", "(")
                while i < len(self.t) and self._get(i) not in ends:
                    skipped.add(i)
                    i += 1
            elif token.text == "InlinedVector" and self._get(i + 1) == "<":
                depth = 1
                while depth > 0:
                    i += 1
                    depth += {"<": 1, ">": -1, ">>": -2}.get(self._get(i + 1), 0)
                    skipped.add(i)
        return skipped

    def _begin_of_statement(self, i):
        while i > 0 and self._get(i - 1) not in (";", "{", "}"):
            i -= 1
        return i

    def _spaced(self, i):
        """Whether the token stands between blanks, as clang-format writes binary operators."""
        begin, end = self.t[i].begin, self._end(i)
        return self.text[begin - 1:begin].isspace() and self.text[end:end + 1].isspace()

    def _operator(self, i):
        text = self._get(i)
        if self.t[i].kind != "op":
            return
        if text == "!" and self._get(i - 1) != "operator":
            self._add("negation", i, i, "")
        declares = text == "&&" and self._get(i - 1) == ")" and self._get(i + 1) in ("{", "=", ";")
        if self._spaced(i) and not declares and self._get(i - 1) != "operator":
            for kind, swaps in _SWAPS.items():
                if text in swaps:
                    self._add(kind, i, i, swaps[text])

    def _word(self, i):
        if self.t[i].kind == "id" and self._get(i) in _WORDS:
            kind, new = _WORDS[self._get(i)]
            self._add(kind, i, i, new)

    def _integer(self, i):
        m = _INTEGER.match(self._get(i)) if self.t[i].kind == "number" else None
        pure = self._get(i - 1) == "=" and self._get(i - 2) in (")", "const", "override", "noexcept")
        if not m or pure:
            return
        digits = m[1].replace("'", "")
        octal = len(digits) > 1 and digits[0] == "0" and digits[1] not in "xX"
        value = int(digits, 8 if octal else 0)
        for new in (value - 1, value + 1):
            if new >= 0:
                self._add("integer", i, i, (hex(new) if "x" in m[1].lower() else str(new)) + m[2])

    def _statement(self, i):
        """A statement that is a call is left out."""
        if self._get(i - 1) not in (";", "{", "}", ")", "else") or self.t[i].kind != "id" or \
                self._get(i) in _KEYWORDS:
            return
        if self._get(i - 1) == ")" and not self._after_condition(i - 1):
            return
        j, called = i, False
        while j < len(self.t) and self._get(j) != ";":
            text = self._get(j)
            if text in ("=", "{", "}", ":", "?", "<<", ")", ",") or text.endswith("=") and j > i:
                return
            if j > i and self.t[j].kind == "id" and \
                    (self.t[j - 1].kind == "id" or self._get(j - 1) in (">", "&", "*")):
                return  # the declaration of a variable
            called = text == "("
            j = self.match[j] + 1 if text in ("(", "[") else j + 1
        if called and self._inside_function(i):
            self._add("statement", i, j, ";")

    def _after_condition(self, closing):
        opening = next((o for o, c in self.match.items() if c == closing), None)
        return opening is not None and self._get(opening - 1) in ("if", "for", "while", "constexpr")

    def _inside_function(self, i):
        """Whether what stands around `i` are statements, not a namespace, a class or arguments."""
        j = max((o for o, c in self.match.items() if o < i < c), default=-1)
        return self._get(j) == "{" and self._get(j - 1) in (
            ")", "else", "do", "const", "override", "noexcept", ";", "{", "}", "mutable", ":")

    def _split(self, paren):
        """[(first, last), ...] of the arguments of the call whose ( is at `paren`."""
        parts, first, i = [], paren + 1, paren + 1
        while i < self.match[paren]:
            if self._get(i) == ",":
                parts.append((first, i - 1))
                first = i + 1
            i = self.match.get(i, i) + 1
        return parts + [(first, self.match[paren] - 1)] if self.match[paren] > paren + 1 else []

    def _source(self, first, last):
        return self.text[self.t[first].begin:self._end(last)]

    def _arguments(self, i):
        """Two neighbouring arguments of a call are exchanged."""
        if self._get(i) != "(" or i == 0 or self.t[i - 1].kind != "id" or \
                self._get(i - 1) in _KEYWORDS or self._get(i - 1) in _TEXT_AFTER_FIRST:
            return
        parts = self._split(i)
        if any(self._is_declaration(*part) for part in parts):
            return
        for (a, b), (c, d) in zip(parts, parts[1:]):
            x, y = self._source(a, b), self._source(c, d)
            if x != y and "\n" not in x + y and "<" not in x + y:
                between = self.text[self._end(b):self.t[c].begin]
                self._add("arguments", a, d, y + between + x)

    def _is_declaration(self, first, last):
        texts = [self._get(k) for k in range(first, last + 1)]
        return any(t in ("const", "auto", "class", "typename") for t in texts) or any(
            self.t[k].kind == "id" and self.t[k + 1].kind == "id" for k in range(first, last))

    def _early_return(self, i):
        """A function with an absl::Status returns OK at once."""
        if self._get(i) != "{" or not self._inside_result(i):
            return
        self.found.append(Mutation("return", self.t[i].line, self._end(i), self._end(i),
                                   " return absl::OkStatus();"))

    def _inside_result(self, i):
        """Whether the { at `i` begins the body of a function with the result absl::Status."""
        j = i - 1
        while self._get(j) in ("const", "override", "noexcept", "final"):
            j -= 1
        opening = next((o for o, c in self.match.items() if c == j), None)
        if self._get(j) != ")" or opening is None:
            return False
        j = opening - 1
        while self._get(j - 1) == "::" and self.t[j].kind == "id":
            j -= 2
        return self.t[j].kind == "id" and self._get(j - 1) == "Status" and \
            self._get(j - 2) == "::" and self._get(j - 3) == "absl"
