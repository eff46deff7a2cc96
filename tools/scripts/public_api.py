#!/usr/bin/env python3
"""What Firn's headers declare, read from their text; no compiler is needed.

    tools/scripts/public_api.py                 every declaration of the public headers, one a line
    tools/scripts/public_api.py --names         the names in namespace firn after #include "firn.h", as
                                        docs/names.txt holds them: all but the functions on
                                        tensors, which docs/operations.md has

Public headers are those that a program can include: all headers at the root and in the library's folders,
except those below internal/, kernels/, passes/ or tape/ and those with samples.

Limits: nothing is expanded, so what a macro declares is not seen, and both branches of an #if are.
"""

import argparse
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from cpp_declarations import declarations  # noqa: E402

FOLDERS = ("device", "tensor", "tensor/problems", "autograd", "autograd/graph", "nn", "optim", "io")
# ... and each family of operations and each kind of file, which has a folder below one of these.
FAMILIES = "tensor/ops"
ROOMS = "io"
_NOT_PUBLIC = ("internal", "exchange")
NAMESPACE = "firn"
# tensor/ops.h is written while building (tensor/BUILD): it includes the headers of the families,
# except functors and headers that include one, which are for authors of operations.
OPS_H = "tensor/ops.h"
# nn/layers.h is written while building, too (nn/BUILD): it includes the headers of its folder.
LAYERS_H = "nn/layers.h"
# optim/optimizers.h (optim/BUILD) includes the headers of sources that register optimizers.
OPTIMIZERS_H = "optim/optimizers.h"
_OPTIMIZER = re.compile(r"^FIRN_REGISTER_(OPTIMIZER|RULE)\(", re.MULTILINE)
WRITTEN = (OPS_H, LAYERS_H, OPTIMIZERS_H)
AUTHORS = {"firn/tensor/op.h", "firn/device/inner.h"}
PREFIX = "firn/"  # of all headers as they are included
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+["<]([^">]+)[">]', re.MULTILINE)


def folders(root):
    """The folders of the library that hold public headers."""
    found = []
    for top in (FAMILIES, ROOMS):
        for folder, below, names in os.walk(os.path.join(root, top)):
            below[:] = sorted(name for name in below if name not in _NOT_PUBLIC)
            path = os.path.relpath(folder, root)
            if path != top and any(name.endswith(".h") for name in names):
                found.append(path)
    return FOLDERS + tuple(found)


def public_headers(root):
    """Paths of the public headers, from the root of the repository, sorted."""
    top = sorted(name for name in os.listdir(root) if name.endswith(".h"))
    return sorted(f"{folder}/{name}" for folder in folders(root)
                  for name in os.listdir(os.path.join(root, folder))
                  if name.endswith(".h") and not re.search(r"(^|_)samples\.h$", name)) + top


def sources(root):
    """Paths of everything that is compiled into the library and may define what headers declare."""
    found = [name for name in os.listdir(root) if re.search(r"\.(cc|h)$", name)]
    for top in sorted({folder.split("/")[0] for folder in FOLDERS}):
        for folder, _, names in os.walk(os.path.join(root, top)):
            found += [os.path.relpath(os.path.join(folder, name), root) for name in names
                      if re.search(r"\.(cc|cuh?|h)$", name) and not re.search(r"_samples\.", name)]
    return sorted(found)


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as file:
        return file.read()


def api(root, paths):
    """The declarations of each of `paths`, in order."""
    return [d for path in paths for d in declarations(read(root, path), path)]


def includes(root, path, own=True):
    """Firn's headers that `path` includes itself, in order; those of others unless `own`."""
    if path == OPS_H:
        return own * [p for p in public_headers(root)
                      if p.startswith(FAMILIES + "/") and not p.endswith(("_fn.h", "_body.h"))
                      and AUTHORS.isdisjoint(_INCLUDE.findall(read(root, p)))]
    if path == OPTIMIZERS_H:
        return own * [p for p in public_headers(root) if p.startswith("optim/")
                      and os.path.exists(os.path.join(root, p[:-2] + ".cc"))
                      and _OPTIMIZER.search(read(root, p[:-2] + ".cc"))]
    if path == LAYERS_H:
        return own * [p for p in public_headers(root) if os.path.dirname(p) == "nn"]
    found = _INCLUDE.findall(read(root, path))
    if own:
        return [p[len(PREFIX):] for p in found if p.startswith(PREFIX)]
    return [p for p in found if not p.startswith(PREFIX)]


def reached(root, start="firn.h"):
    """{header: who includes it first} of all that `start` leads to; itself has None."""
    by, waiting = {start: None}, [start]
    for path in waiting:
        for included in includes(root, path):
            if included not in by:
                by[included] = path
                waiting.append(included)
    return by


def brought(root, start="firn.h"):
    """{header of others, such as "vector" or "absl/types/span.h": who includes it first}."""
    found = {}
    for path in reached(root, start):
        for included in includes(root, path, own=False):
            found.setdefault(included, path)
    return found


def chain(by, path):
    """firn.h -> ... -> path, as `reached` found it."""
    steps = []
    while path is not None:
        steps.append(path)
        path = by[path]
    return " -> ".join(reversed(steps))


def names(root, start="firn.h"):
    """{(name, kind): declaration} of what stands directly in namespace firn after `start`.

    Operators are left out, for they are found by their operands and clash with nothing. A name that
    is declared and defined counts once, as what it is defined as.
    """
    found = {}
    for declaration in api(root, [p for p in reached(root, start) if p not in WRITTEN]):
        scope, _, name = declaration.name.rpartition("::")
        if scope != NAMESPACE or declaration.friend or declaration.outside or \
                declaration.kind in ("operator", "macro"):
            continue
        key = (name, declaration.kind)
        if key not in found or found[key].forward and not declaration.forward:
            found[key] = declaration
    return found


def is_operation(declaration):
    """Whether it is a function on tensors, which has a row in docs/operations.md."""
    scope, _, name = declaration.name.rpartition("::")
    # WordsOf is for the words of enumerators, and no function on tensors.
    return (declaration.kind == "function" and scope == NAMESPACE and name[0].isupper() and
            name != "WordsOf" and declaration.path.startswith(FAMILIES + "/"))


def listed_names(root):
    """What docs/names.txt lists of `names`: a function that has a row elsewhere needs no second."""
    return {key: d for key, d in names(root).items() if not is_operation(d)}


def names_changed(root, listed):
    """What must change in `listed`, the lines of docs/names.txt: a message, or "" if nothing."""
    now = listed_names(root)
    by = reached(root)
    listed = {tuple(line.split()) for line in listed if line.strip()}
    lines = []
    for key in sorted(now.keys() - listed):
        d = now[key]
        lines.append(f"added: {' '.join(key)}, {d.path}:{d.line} ({chain(by, d.path)})")
    lines += [f"gone: {' '.join(key)}" for key in sorted(listed - now.keys())]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description="What Firn's headers declare.")
    parser.add_argument("--names", action="store_true", help="names in namespace firn, and kinds")
    parser.add_argument("--root", help="the repository; this one if not given",
                        default=os.path.realpath(os.path.join(os.path.dirname(os.path.realpath(__file__)), "../..")))
    args = parser.parse_args()
    if args.names:
        for name, kind in sorted(listed_names(args.root)):
            print(name, kind)
        return
    for d in api(args.root, public_headers(args.root)):
        marks = [m for m in ("body", "deleted", "defaulted", "pure", "override", "deprecated",
                             "friend", "forward") if getattr(d, m)]
        print(f"{d.path}:{d.line}: {d.access} {d.kind} {d.name}", *marks)


if __name__ == "__main__":
    main()
