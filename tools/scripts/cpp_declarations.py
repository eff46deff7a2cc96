"""Declarations of C++ text: enough of the grammar to know what a header of Firn declares.

It understands namespaces, classes and their members, templates, requires-clauses, attributes, default
arguments, operators, friends, `= delete` and definitions outside their class. It skips the bodies of
functions. Other text raises CppError with the place.
"""

import re
from dataclasses import dataclass

from cpp_declaration import Declaration
from cpp_tokens import Cursor, tokenize

_NO_NAMES = {"decltype", "noexcept", "alignas", "__attribute__", "explicit", "requires", "throw",
             "__launch_bounds__"}
_SPECIFIERS = {"inline", "static", "constexpr", "consteval", "constinit", "virtual", "explicit",
               "extern", "friend", "thread_local", "mutable"}
_AFTER_PARAMETERS = {"const", "volatile", "override", "final", "&", "&&", "mutable"}


@dataclass
class _Scope:
    name: str  # "firn::Tensor"
    of_class: bool = False
    access: str = "public"


def _join(scope, name):
    return f"{scope}::{name}" if scope else name


def declarations(text, path="text"):
    """The Declarations in `text`, in order."""
    return _Parser(text, path).run()


class _Parser(Cursor):

    def __init__(self, text, path):
        self.found = []
        tokens = tokenize(text)
        for t in tokens:
            words = t.text.lstrip("# \t").split(None, 2) if t.kind == "directive" else []
            if len(words) > 1 and words[0] == "define" and not words[1].endswith("_H_"):
                self.found.append(Declaration("macro", words[1].split("(")[0], path, t.line))
        super().__init__([t for t in tokens if t.kind != "directive"], path)

    def run(self):
        self._block(0, len(self.t), _Scope(""))
        return self.found

    def _add(self, kind, name, at, scope, **more):
        self.found.append(Declaration(kind, _join(scope.name, name), self.path, self.t[at].line,
                                      access=scope.access,
                                      inside=scope.of_class, outside="::" in name, **more))
        return self.found[-1]

    # --- Declarations

    def _block(self, i, end, scope):
        while i < end:
            text = self.text(i)
            if text == ";" or text.endswith(("_NAMESPACE_BEGIN", "_NAMESPACE_END")):
                i += 1  # macros that open and close a library's inline namespace
            elif text in ("public", "protected", "private") and self.text(i + 1) == ":":
                scope.access = text
                i += 2
            else:
                i = self._one(i, scope)

    def _one(self, i, scope):
        """Parses the declaration at `i`; gives the position after it."""
        deprecated = self.template = False
        while True:  # what stands before: template<...>, requires, attributes
            if self.text(i) == "template":
                self.template = True
                if self.text(i + 1) != "<":
                    return self.past(i, ";")  # an explicit instantiation
                i = self.angles(i + 1)
            elif self.text(i) == "requires":
                i = self.requires(i)
            elif self.attribute(i)[0] != i:
                i, said = self.attribute(i)
                deprecated |= said
            else:
                break
        text, after = self.text(i), self.text(i + 1)
        if text == "extern" and (after == "template" or self.t[i + 1].kind == "string"):
            if after == "template":
                return self.past(i, ";")
            if self.text(i + 2) != "{":
                return self._one(i + 2, scope)
            self._block(i + 3, self.match[i + 2], scope)
            return self.match[i + 2] + 1
        if text == "namespace" or text == "inline" and after == "namespace":
            return self._namespace(i + (text == "inline"), scope)
        if text == "using":
            return self._using(i, scope)
        if text == "typedef":
            end = self.past(i, ";")
            self._add("alias", self.last_id(i, end - 1), i, scope)
            return end
        if text == "static_assert":
            return self.past(i, ";")
        if text == "concept":
            self._add("concept", after, i, scope)
            return self.past(i, ";")
        if text == "friend" and after in ("class", "struct", "union"):
            return self.past(i, ";")
        if text in ("class", "struct", "union", "enum"):
            end = self._type(i, scope, deprecated)
            if end is not None:
                return end
        return self._declarator(i, scope, deprecated)

    def _namespace(self, i, scope):
        parts, at, i = [], i, i + 1
        while self.text(i) not in ("{", "="):
            if self.is_id(i) and self.text(i) != "inline":
                parts.append(self.text(i))
            i = self.attribute(i)[0] if self.attribute(i)[0] != i else i + 1
        inner = scope
        for part in parts or ["(anonymous)"]:
            self._add("namespace", part, at, inner)
            inner = _Scope(_join(inner.name, part))
        if self.text(i) == "=":
            return self.past(i, ";")
        self._block(i + 1, self.match[i], inner)
        return self.match[i] + 1

    def _using(self, i, scope):
        end = self.past(i, ";")
        tokens = self.t[i + 1:end - 1]
        if tokens[0].text == "namespace":
            return end
        if any(t.text == "=" for t in tokens):
            self._add("alias", tokens[0].text, i, scope,
                      types=[t.text for t in tokens[1:] if t.kind == "id"])
            return end
        for k, t in enumerate(tokens):
            if t.kind == "id" and (k + 1 == len(tokens) or tokens[k + 1].text == ","):
                self._add("using", t.text, i, scope, types=[tokens[k - 3].text if k > 2 else ""])
        return end

    def _type(self, i, scope, deprecated):
        """A class or enum at `i`; None where the keyword only begins the type of something else."""
        kind, at, j = self.text(i), i, i + 1
        if kind == "enum" and self.text(j) in ("class", "struct"):
            j += 1
            scoped = True
        else:
            scoped = False
        while self.attribute(j)[0] != j:
            j, said = self.attribute(j)
            deprecated |= said
        name = ""
        while self.is_id(j) and self.text(j) != "final":  # the last of MACRO Outer::Name<T>
            name = f"{name}::{self.text(j)}" if self.text(j - 1) == "::" else self.text(j)
            j += 1
            if self.text(j) == "<":
                j = self.angles(j)
            j += self.text(j) == "::"
        if self.text(j) == "final":
            j += 1
        if self.text(j) == ";":
            self._add(kind, name, at, scope, forward=True, deprecated=deprecated)
            return j + 1
        if self.text(j) not in (":", "{"):
            return None
        bases = []
        while self.text(j) != "{":
            if self.text(j) == "<":
                j = self.angles(j)
                continue
            if self.text(j) == ";":  # enum E : int;
                self._add(kind, name, at, scope, forward=True, deprecated=deprecated)
                return j + 1
            if self.is_id(j) and self.text(j) not in ("public", "protected", "private",
                                                        "virtual"):
                bases.append(self.text(j))
            j = self.match[j] + 1 if self.text(j) == "(" else j + 1
        if name:
            self._add(kind, name, at, scope, body=True, deprecated=deprecated, types=bases)
        inner_name = _join(scope.name, name) if name else scope.name
        if kind == "enum":
            inner = _Scope(inner_name if scoped else scope.name, access=scope.access)
            self._enumerators(j + 1, self.match[j], inner)
        else:
            inside = _Scope(inner_name, of_class=True,
                            access="private" if kind == "class" else "public")
            first = len(self.found)
            self._block(j + 1, self.match[j], inside)
            if scope.access != "public":  # parts of a private class are private
                for declaration in self.found[first:]:
                    declaration.access = scope.access
        return self.past(self.match[j] + 1, ";")

    def _enumerators(self, i, end, scope):
        while i < end:
            if self.is_id(i):
                self._add("enumerator", self.text(i), i, scope)
            while i < end and self.text(i) != ",":
                i = self.match.get(i, i) + 1
            i += 1

    def _declarator(self, i, scope, deprecated):
        """A function or variables at `i`."""
        j = i
        while True:
            text = self.text(j)
            if j >= len(self.t):
                self.fail(i, "a declaration without an end")
            if text == "operator":
                name_at = self._name_begin(j + 1, i)
                j += 3 if self.text(j + 1) == "(" else 2
                while self.text(j) != "(":
                    j = self.angles(j) if self.text(j) == "<" and self.is_id(j - 1) else j + 1
                return self._function(i, name_at, j, scope, deprecated)
            if text in _NO_NAMES and self.text(j + 1) == "(":
                j = self.match[j + 1] + 1
            elif text == "<" and self.is_id(j - 1):
                j = self.angles(j)
            elif text == "[" and self.text(j + 1) == "[":
                j = self.match[j] + 1
            elif text == "(":
                if self.text(j + 1) in ("*", "&"):  # a pointer to a function, or to an array
                    name = self.last_id(j, self.match[j])
                    return self._variables(i, self.match[j] + 1, name, j, scope)
                if self.t[j - 1].kind == "id" and self._is_constant(j):
                    return self._variables(i, j, self.text(j - 1), j - 1, scope)
                return self._function(i, self._name_begin(j, i), j, scope, deprecated)
            elif text in ("=", "{", ";", ",", ":", "["):
                return self._variables(i, j, self.last_id(i, j), j - 1, scope)
            else:
                j += 1

    def _is_constant(self, j):
        """Whether the ( at `j` begins the initializer of a variable, not parameters."""
        name = self.text(j - 1)
        return name[:1] == "k" and name[1:2].isupper() or self.t[j + 1].kind in ("number", "string")

    def _name_begin(self, j, first):
        """Where the possibly qualified name that ends before the ( at `j` begins."""
        k = j - 1
        while k > first:
            if self.text(k) == ">":
                depth, k = 1, k - 1
                while depth and k > first:
                    depth += {">": 1, "<": -1, ">>": 2}.get(self.text(k), 0)
                    k -= 1
            if self.text(k - 1) == "~":
                k -= 1
            if self.text(k - 1) != "::" or not (self.is_id(k - 2) or self.text(k - 2) == ">"):
                break
            k -= 2
        return k

    def _variables(self, begin, j, name, at, scope):
        types = [t.text for t in self.t[begin:at] if t.kind == "id" and t.text not in _SPECIFIERS]
        if name:
            self._add("variable", name, at, scope, body=True, types=types)
        while self.text(j) != ";":
            if j >= len(self.t):
                self.fail(at, "a variable without an end")
            if self.text(j) == "<" and self.is_id(j - 1):
                j = self.angles(j)
            elif self.text(j) == "," and self.is_id(j + 1):
                self._add("variable", self.text(j + 1), j + 1, scope, body=True, types=types)
                j += 2
            else:
                j = self.match.get(j, j) + 1
        return j + 1

    def _function(self, begin, name_at, paren, scope, deprecated):
        name = "".join(t.text for t in self.t[name_at:paren])
        name = re.sub(r"\boperator(?=[A-Za-z_])", "operator ", name)
        head = [t.text for t in self.t[begin:name_at]]
        result = [t.text for t in self.t[begin:name_at]
                  if t.kind == "id" and t.text not in _SPECIFIERS]
        parameters, arguments = self._parameters(paren)
        d = self._add("function", name, name_at, scope, deprecated=deprecated, types=result,
                      friend="friend" in head, parameters=parameters, arguments=arguments,
                      template=self.template)
        d.kind = self._kind(d, head, result, scope)
        if d.friend and scope.of_class:  # a member of the namespace around
            d.name = _join(scope.name.rpartition("::")[0], name)
        return self._after_parameters(d, self.match[paren] + 1)

    def _kind(self, d, head, result, scope):
        parts = d.name.split("::")
        if "operator" in parts[-1]:
            return "operator"
        if parts[-1].startswith("~"):
            return "destructor"
        if len(parts) > 1 and parts[-1] == parts[-2].split("<")[0]:
            return "constructor"
        if not result:
            return "macro"
        if not scope.of_class or d.friend:
            return "function"
        return "static method" if "static" in head else "method"

    def _parameters(self, paren):
        """(fewest, most) arguments, and the types of the parameters without names and defaults."""
        end, i = self.match[paren], paren + 1
        if i == end or self.text(i) == "void" and i + 1 == end:
            return (0, 0), []
        types, words, least, optional, default = [], [], 0, False, False
        while i <= end:
            text, after = self.text(i), i + 1
            if text == "...":
                return (least, None), types
            if i == end or text == ",":
                names = [w for w in words if re.match(r"\w", w) and w != "const"]
                if len(names) > 1 and re.match(r"\w", words[-1]) and words[-2] != "::":
                    words.pop()  # the parameter's name
                types.append(" ".join(words))
                least, words, default = least + (not optional), [], False
            elif text == "<" and self.is_id(i - 1):
                after = self.angles(i)
            else:
                after = self.match.get(i, i) + 1
                default |= text == "="
                optional |= default
            if i < end and text != "," and not default:
                words += [self.text(k) for k in range(i, after)]
            i = after
        return (least, len(types)), types

    def _after_parameters(self, d, j):
        while True:
            text = self.text(j)
            if text == "override":
                d.override = True
            if text == ";":
                return j + 1
            if text == "{":
                d.body = True
                return self.match[j] + 1
            if text == "=":
                word = self.text(j + 1)
                d.deleted, d.defaulted, d.pure = word == "delete", word == "default", word == "0"
                return self.past(j, ";")
            if text == ":":
                j = self._initializers(j + 1)
            elif text == "requires":
                j = self.requires(j)
            elif text == "->":
                j += 1
                while self.text(j) not in ("{", ";", "=", "requires"):
                    if self.text(j) == "<":
                        j = self.angles(j)
                    else:
                        if self.is_id(j):
                            d.types.append(self.text(j))
                        j = self.match.get(j, j) + 1
            elif text in _AFTER_PARAMETERS or self.is_id(j):
                j += 1
            elif text in ("(", "["):
                j = self.match[j] + 1
            elif d.kind == "macro":
                return j
            else:
                self.fail(j, f"{text} after the parameters of {d.name}")

    def _initializers(self, j):
        """The position after a constructor's initializers: that of its body."""
        while True:
            while self.is_id(j) or self.text(j) in ("::", "<"):
                j = self.angles(j) if self.text(j) == "<" else j + 1
            if self.text(j) not in ("(", "{"):
                self.fail(j, "no initializer")
            j = self.match[j] + 1
            while self.text(j) in ("...", ","):
                j += 1
            if self.text(j) == "{":
                return j
