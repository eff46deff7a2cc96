"""Which public functions and methods are called, and which are defined, judged by the text.

A *call* counts where it stands in tests/, in examples/, in the samples of operations, which the
conformance suite calls, or in a code block of a page that tests/docs/BUILD compiles; comments and
strings do not count.

A free function is called by its name before ( or <...>(, not after . or ->, and qualified by nothing
but its own namespaces. A declaration (`Tensor Mean(`) is no call. A name that is passed as an argument
(`Freeze(Relu, x)`, `&Relu`) counts as a call.

A method is called after . or ->, as Class::Method, or by its bare name in a file with a subclass of its
class. If the receiver's class is known (from a variable's declaration, the result of a function, or an
object made on the spot), that class must have the method, or be derived from or a base of a class that
has it. Otherwise the file must name the class, a class derived from it, or a function or variable of the
library whose type names it. A file that includes nn/layer_types.inc names every layer.

In the library's own sources, where receivers are mostly template parameters, a method is called by
its name alone.

Limits: overloads count as one, and so do variables of one name in one file. Methods of one name share
calls if the receiver is unknown and the file knows both classes. An override counts as called when its
class is named, because callers see the base. Pure virtual functions are called through their overrides.
Some functions are not checked: operators, constructors, destructors, begin() and end() are called by
syntax, and a method Visit by code that prints, compares or stores attributes and options. Constants,
types and macros are not called at all.
"""

import fnmatch
import os
import re
from collections import defaultdict

from cpp_declarations import declarations
from cpp_tokens import tokenize
from doc_blocks import blocks
from public_api import api, public_headers, read, sources

_KEYWORDS = {"return", "else", "case", "throw", "new", "co_return", "co_await", "co_yield", "do",
             "and", "or", "not", "delete", "goto", "requires", "operator", "template"}
_PAGE = re.compile(r'"//([\w/]*):([\w.]+\.md)"')
_METHODS = ("method", "static method")
_NAMESPACES = ("firn", "inner", "nn", "optim", "io", "init", "typename", "const")
_DEFINED = _METHODS + ("function", "operator", "constructor", "destructor")
LAYER_TYPES = "nn/layer_types.inc"  # names every layer, and so does every file that includes it
_BODY_OF_DEFINE = re.compile(r"#\s*define\s+\w+(?:\([^)]*\))?((?:.|\n)*)")


class Text:
    """One file that may call things."""

    def __init__(self, path, text, library=False):
        self.path = path
        self.library = library
        self.names_layers = LAYER_TYPES in text
        tokens = []
        for t in tokenize(text):
            define = _BODY_OF_DEFINE.match(t.text.strip()) if t.kind == "directive" else None
            if define:
                tokens += tokenize(define[1].replace("\\\n", "\n"))
            elif t.kind != "directive":
                tokens.append(t)
        self.t = [t.text if t.kind in ("id", "op") else t.kind for t in tokens]
        self.words = set(self.t)
        self.at = defaultdict(list)
        for i, word in enumerate(self.t):
            self.at[word].append(i)

    def get(self, i):
        return self.t[i] if 0 <= i < len(self.t) else ""

    def after_arguments(self, i):
        """The position after template arguments at `i`, or `i`."""
        if self.get(i) != "<":
            return i
        depth, j = 0, i
        while j < min(len(self.t), i + 200):
            depth += {"<": 1, ">": -1, ">>": -2}.get(self.t[j], 0)
            if self.t[j] in (";", "{", "&&", "||"):
                return i
            j += 1
            if depth <= 0:
                return j
        return i

    def is_call(self, i):
        """Whether the name at `i` stands before an argument list."""
        return self.get(self.after_arguments(i + 1)) == "("

    def is_handed_over(self, i):
        """Whether the name at `i` is an argument: `Freeze(Relu, x)`, `&Relu`, `Binary<Add>`."""
        before, after = self.get(i - 1), self.get(i + 1)
        return before in ("(", ",", "{", "&", "=", "?", ":", "return") and \
            after in (",", ")", "}", ";", ":") or before == "<" and after == ">"

    def declares(self, begin, i):
        """Whether a call at `i` that begins at `begin`, its qualifiers, is a declaration instead."""
        before = self.get(begin - 1)
        if before in ("&", "*"):  # T& F(), but not a + *F()
            before = self.get(begin - 2)
        if re.match(r"[A-Za-z_]", before) and before not in _KEYWORDS or before == "~":
            return True
        j, depth = self.after_arguments(i + 1), 0
        while j < len(self.t):
            depth += {"(": 1, ")": -1}.get(self.t[j], 0)
            j += 1
            if depth == 0:
                break
        while self.get(j) in ("const", "override", "noexcept"):
            j += 1
        return self.get(j) == "{"

    def qualifiers(self, i):
        """The names before ::, outermost first, of the name at `i`; and where all begins."""
        names = []
        while self.get(i - 1) == "::":
            i -= 2
            if self.get(i) == ">":
                depth = 0
                while i > 0:
                    depth += {">": 1, "<": -1}.get(self.t[i], 0)
                    i -= 1
                    if depth == 0:
                        break
            if re.match(r"\w", self.get(i)) and self.get(i) not in _KEYWORDS:
                names.insert(0, self.t[i])
            else:
                i += 1
                break
        return names, i

    def bases(self):
        """(class, base) pairs of classes defined here; the class is "" where it has no name."""
        for word in ("class", "struct"):
            for i in self.at[word]:
                j = i + 1
                while re.match(r"\w", self.get(j)):
                    j += 1
                    j = self.after_arguments(j)
                if self.get(j) != ":":
                    continue
                name = self.get(i + 1)
                while self.get(j) not in ("{", ";", ""):
                    if re.match(r"\w", self.get(j)):
                        yield name, self.get(j)
                    j += 1


def texts(root):
    """Every Text of `root` that may call things."""
    found = []
    for top, endings in (("tests", (".cc", ".h", ".cu", ".cuh")),
                         ("examples", (".cc", ".h", ".cu", ".cuh")),
                         ("tensor/ops", ("_samples.cc", "_samples.h")),
                         ("optim", ("_samples.cc", "_samples.h"))):
        for folder, _, names in os.walk(os.path.join(root, top)):
            for name in sorted(names):
                if name.endswith(endings):
                    path = os.path.relpath(os.path.join(folder, name), root)
                    found.append(Text(path, read(root, path)))
    for folder, page in sorted(set(_PAGE.findall(read(root, "tests/docs/BUILD")))):
        path = os.path.join(folder, page)
        code = "\n".join(text for language, _, text in blocks(os.path.join(root, path))
                         if language == "cpp")
        found.append(Text(path, code))
    return found


class Uses:
    """Relations between `declared`, the library's declarations, and `callers`, the Texts."""

    def __init__(self, declared, callers):
        self.declared = declared
        self.callers = callers
        self.bases = defaultdict(set)  # class -> its direct bases, by last name
        self.methods = defaultdict(set)  # method -> classes that declare it
        self.made_by = defaultdict(set)  # function, variable or alias -> identifiers in its type
        classes = set()
        for d in declared:
            parts = d.name.split("::")
            if d.kind in ("class", "struct") and d.body:
                classes.add(parts[-1])
                self.bases[parts[-1]].update(d.types)
            elif d.kind in _METHODS:
                self.methods[parts[-1]].add(parts[-2])
            if d.kind in _METHODS + ("function", "variable", "alias"):
                self.made_by[parts[-1]].update(d.types)
        for text in callers:
            for name, base in text.bases():
                if base in classes and name != base:
                    self.bases[name].add(base)
                    classes.add(name)
        self.bases["LayerWithOptions"].add("Layer")  # by the default of a parameter
        aliases = [d for d in declared if d.kind == "alias" and d.types]
        for d in aliases + aliases:  # twice: one may name another that comes later
            name = d.name.split("::")[-1]
            target = next((t for t in d.types if t not in _NAMESPACES), "")
            if target in classes and name != target:
                self.bases[name].add(target)
                classes.add(name)
        self.classes = classes
        self.family = {c: self._with_bases(c) for c in classes}
        self.derived = defaultdict(set)
        for c, family in self.family.items():
            for base in family:
                self.derived[base].add(c)
        self._known = {}

    def _with_bases(self, name):
        found, waiting = {name}, [name]
        while waiting:
            for base in self.bases.get(waiting.pop(), ()):
                if base not in found:
                    found.add(base)
                    waiting.append(base)
        return found

    def _knows(self, text):
        """The classes that `text` knows, see above."""
        if text.path not in self._known:
            named = text.words & self.classes
            if text.names_layers:
                named |= self.derived["Module"] & self.classes
            for word in text.words & self.made_by.keys():
                named |= self.made_by[word] & self.classes
            self._known[text.path] = set().union(*(self.family[c] for c in named)) if named else set()
        return self._known[text.path]

    def _types_of(self, text, name, depth=0):
        """The library's classes that a variable or a result of a function `name` may have, as far as the text tells."""
        found = set(self.made_by.get(name, ())) & self.classes
        if name in self.classes:
            found.add(name)
        for i in text.at[name]:
            j = i - 1
            while text.get(j) in ("&", "*", "const", "&&"):
                j -= 1
            if text.get(j) in (">", ">>"):  # std::vector<Tensor> name
                begin = j
                while begin > 0 and text.get(begin) not in (";", "{", "}", "("):
                    begin -= 1
                found |= set(text.t[begin:j]) & self.classes
            elif text.get(j) in self.classes and j < i:
                found.add(text.get(j))
            elif text.get(j) == "auto" and text.get(i + 1) == "=" and depth < 2:
                k = i + 2
                while text.get(k) not in ("(", ";", ""):
                    k = text.after_arguments(k + 1)
                if text.get(k) == "(":
                    found |= self._types_of(text, text.get(k - 1), depth + 1)
        return found

    def _receiver(self, text, i):
        """The classes that the object before the . or -> at `i` may have; empty if unknown."""
        j = i - 1
        while text.get(j) in (")", "]"):
            depth = 0
            while j >= 0:
                depth += {")": 1, "]": 1, "(": -1, "[": -1}.get(text.t[j], 0)
                j -= 1
                if depth == 0:
                    break
        return self._types_of(text, text.get(j)) if re.match(r"[A-Za-z_]", text.get(j)) else set()

    def is_called(self, d):
        """Whether the function or method `d` is called in one of the texts."""
        parts = d.name.split("::")
        if d.kind == "function":
            return any(self._calls_function(text, parts) for text in self.callers)
        if any(self._calls_method(text, parts[-2], parts[-1]) for text in self.callers):
            return True
        # An override is called through its base.
        return (d.override or d.pure) and any(map(self.is_named, self.derived[parts[-2]]))

    def is_named(self, name):
        layer = name in self.derived["Module"]
        return any(name in text.words or layer and text.names_layers for text in self.callers)

    def _calls_function(self, text, parts):
        scope, name = parts[:-1], parts[-1]
        for i in text.at[name]:
            qualifiers, begin = text.qualifiers(i)
            if text.get(i - 1) in (".", "->") or \
                    qualifiers != scope[len(scope) - len(qualifiers):]:
                continue
            of_samples = text.get(i - 2) == "Function"  # s.Function<Relu>(), not a layer
            if text.is_handed_over(i) and (qualifiers or of_samples or name not in self.classes):
                return True
            if text.is_call(i) and not text.declares(begin, i):
                return True
        return False

    def _calls_method(self, text, owner, name):
        relatives = self.derived[owner] | self.family.get(owner, {owner})
        for i in text.at[name]:
            if text.library and text.is_call(i) and not text.declares(text.qualifiers(i)[1], i):
                return True
            before = text.get(i - 1)
            dot = i - 2 if before == "template" else i - 1
            if text.get(dot) in (".", "->"):
                receiver = self._receiver(text, dot) & self._declarers(name)
                if text.is_call(i) and (receiver & relatives if receiver
                                        else owner in self._knows(text)):
                    return True
            elif before == "::":
                qualifiers, begin = text.qualifiers(i)
                if qualifiers and qualifiers[-1] in relatives and not text.declares(begin, i):
                    return True
            elif text.is_call(i) and not text.declares(i, i) and self._has_subclass(text, owner):
                return True
        return False

    def _has_subclass(self, text, owner):
        return any(owner in self.family.get(base, ()) for _, base in text.bases())

    def _declarers(self, name):
        """Every class that has a method `name`, its own or inherited."""
        return set().union(*(self.derived[c] | {c} for c in self.methods[name])) \
            if self.methods[name] else set()


def undefined(declared, defined):
    """Those of `declared` that have no body: neither in `declared` nor in `defined`.

    Overloads are told apart by how many arguments they take. A member of a class in firn::inner may
    be defined in firn, which names both alike (device/inner.h).
    """
    def name_of(d):
        owner = d.name.rpartition("::")[0].rpartition("::")[2]
        of_class = d.kind != "function" or owner[:1].isupper()
        return d.name.replace("firn::inner::", "firn::", 1) if of_class else d.name

    bodies = defaultdict(int)
    for d in defined:
        if (d.body or d.defaulted) and not d.inside:
            bodies[re.sub(r"<[^<>]*>", "", name_of(d)), d.parameters[1]] += 1
    wanted = defaultdict(list)  # of one header: another may declare the same function again
    for d in declared:
        if d.kind in _DEFINED and not (d.body or d.defaulted or d.deleted or d.pure or d.friend):
            wanted[name_of(d), d.parameters[1], d.path].append(d)
    return [group[-1] for (name, most, _), group in wanted.items()
            if bodies[name, most] < len(group)]


def uncalled(declared, callers):
    """Those of `declared` that `callers`, Texts, do not call; see the top of this file.

    A layer is called when its class is named; so is the Call of the function that it is made of.
    """
    uses = Uses(declared, callers)
    layers = {t: d.name.split("::")[-1] for d in declared
              if d.kind == "alias" and any(t.startswith("FunctionLayer") for t in d.types)
              for t in d.types if t.endswith("Function")}
    missing, seen = [], set()
    for d in declared:
        parts = d.name.split("::")
        if d.name in seen or d.access == "private" or d.deleted or d.friend or d.outside or \
                "internal" in parts:
            continue
        if d.kind in _METHODS + ("function",):
            if d.kind != "function" and parts[-2] in layers:
                called = uses.is_named(layers[parts[-2]])
            elif d.kind == "method" and parts[-1] in ("Visit", "begin", "end"):
                called = True
            else:
                called = uses.is_called(d)
        elif d.kind in ("class", "alias") and "Module" in uses.family.get(parts[-1], ()):
            called = any(map(uses.is_named, uses.derived[parts[-1]]))
        else:
            continue
        seen.add(d.name)
        if not called:
            missing.append(d)
    return missing


def library_texts(root):
    """The library's own sources as Texts."""
    return [Text(path, read(root, path), library=True) for path in sources(root)]


def patterns(text):
    """[(pattern, line number), ...] of a file like tests/tools/scripts/called_by_library.txt."""
    return [(line.split()[0], number) for number, line in enumerate(text.splitlines(), 1)
            if line.strip() and not line.startswith("#")]


def matches(pattern, d):
    return fnmatch.fnmatchcase(d.path if pattern.endswith(".h") else d.name, pattern)
