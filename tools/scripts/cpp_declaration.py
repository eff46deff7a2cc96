"""What cpp_declarations.py finds."""

from dataclasses import dataclass, field


@dataclass
class Declaration:
    """What is declared at one place.

    kind: "namespace", "class", "struct", "union", "enum", "enumerator", "alias", "using",
    "concept", "variable", "function", "method", "static method", "constructor", "destructor",
    "operator" or "macro". `parameters` is (fewest, most) arguments; most is None after `...`.
    `arguments` are their types as they are written, one string each: "const Tensor &". `template` says
    that the parameters may be those of a template.
    `types` are the identifiers in the type of a result or variable, in an alias's target, or in a
    list of bases.
    """
    kind: str
    name: str  # with namespaces and classes: "firn::Tensor::Sum"
    path: str
    line: int
    access: str = "public"
    body: bool = False  # defined here
    forward: bool = False  # a class or enum that is only announced
    deleted: bool = False
    defaulted: bool = False
    pure: bool = False
    override: bool = False
    deprecated: bool = False
    friend: bool = False
    inside: bool = False  # of a class
    outside: bool = False  # a definition with a qualified name: Tensor Tensor::Sum() { ... }
    parameters: tuple = (0, 0)
    arguments: list = field(default_factory=list)
    template: bool = False
    types: list = field(default_factory=list)
