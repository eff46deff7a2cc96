#!/usr/bin/env python3
"""docs/operations.md: what functions on tensors there are.

    tools/scripts/operations_page.py LIST             prints the page
    tools/scripts/operations_page.py LIST --write     writes it

LIST is what `bazel run //tests/docs:list_operations` prints from the registries: operations, and the names
of functions in NNabla and ONNX (io/exchange). The name of a function and what it does come from its header.
"""

import argparse
import glob
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from public_api import FAMILIES, OPS_H, declarations, includes, is_operation, read  # noqa: E402

PAGE = "docs/operations.md"
NAMES = "io/exchange/names"  # pages, one a family

INTRO = """\
# Operations

Every function on tensors, grouped by the folder of its code below `tensor/ops/`. This page is printed from the headers
and the registry, and a test compares it. To print it again:

    bazel run //tests/docs:list_operations > /tmp/operations && tools/scripts/operations_page.py /tmp/operations --write

An argument without a type is a `const Tensor&`; a function without a result type returns a `Tensor`. *Dtypes* are those
of the first tensor, *devices* those that have a kernel for the function (views need none), and *gradient* says whether
it is differentiable. A function marked `composed` calls other operations, and has their dtypes, devices and gradients.
The last two columns are the names in NNabla (`nnabla.functions`) and ONNX, from `io/exchange/names`; `-` means that
there is no counterpart.
"""


def stem(function):
    """The operation that a function is named for: "LogSigmoid" and "Conv2d" are log_sigmoid, conv2d."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", function)
    return words.lower()


def sentence(comment, ends=(".", ":")):
    """The first sentence of a comment above a declaration, where one of `ends` closes it."""
    lines = [line.strip()[2:].strip() for line in comment]
    shapes = next((i for i, line in enumerate(lines) if i and re.match(r"\w+: +\[", line)), None)
    text, depth = "", 0
    for character in " ".join(lines[:shapes]):
        if text.endswith(ends) and character == " " and depth == 0 and \
                not text.endswith(("al.", "i.e.", "e.g.", "..")) and not re.search(r"\b[A-Z]\.$", text):
            break
        depth += (character == "(") - (character == ")")
        text += character
    return text.rstrip(".: ").replace("|", "\\|")


def declared_at(lines, line):
    """The text of the declaration that starts at `line`, from 1, up to its body or semicolon."""
    text, depth = "", 0
    for character in "\n".join(lines[line - 1:]):
        depth += (character == "(") - (character == ")")
        if depth == 0 and (character == ";" or character == "{" and ")" in text):
            break
        text += character
    return " ".join(text.split())


def signature(text):
    """The declaration as the page shows it: `Sum(x, int64_t dim)`."""
    text = re.sub(r"^(inline|template <[^>]*>) ", "", text)
    text = re.sub(r"^requires\(.*?\) (?=Tensor )", "", text)
    found = re.match(r"(?:(.+?) )?(\w+)\((.*)\)$", text)
    if not found:
        raise ValueError(f"no declaration of a function: {text}")
    result, name, parameters = found.groups("Tensor")
    parameters = re.sub(r"const Tensor& (\w+)", r"\1", parameters)
    parameters = re.sub(r"const ([\w:<>]+)& ", r"\1 ", parameters)
    parameters = re.sub(r"inner::|absl::", "", parameters)
    arrow = "" if result == "Tensor" else f" -> {result}"
    return f"`{name}({parameters}){arrow}`"


def comment_above(lines, line):
    """The comment that belongs to the declaration at `line`: its own or, in a group, the first's."""
    at = line - 2
    while at >= 0 and lines[at].strip() and not lines[at].startswith("//"):
        at -= 1
    end = at + 1
    while at >= 0 and lines[at].startswith("//"):
        at -= 1
    return lines[at + 1:end]


def functions(root):
    """{family: {function: ([signatures], what it does)}}, in the order of the headers."""
    found = {}
    for path in includes(root, OPS_H):
        lines = read(root, path).splitlines()
        for d in declarations("\n".join(lines), path):
            if not is_operation(d):
                continue
            name = d.name.rpartition("::")[2]
            family = found.setdefault(path.split("/")[2], {})
            signatures, does = family.get(name, ([], ""))
            signatures.append(signature(declared_at(lines, d.line)))
            family[name] = (signatures, does or sentence(comment_above(lines, d.line)))
    return found


def on_cuda(root):
    """The operations with kernels for CUDA: those registered for it, and those for every device."""
    found = set()
    for path in glob.glob(os.path.join(root, FAMILIES, "*", "*")):
        if path.endswith((".cu", "_cuda.cc")):
            found.update(re.findall(r"^FIRN_REGISTER_KERNELS\((\w+)\)", read(root, path), re.M))
        elif path.endswith(".cc"):
            found.update(name for name, body in re.findall(
                r"^FIRN_REGISTER_OP\((\w+)\)(.*?)^}", read(root, path), re.M | re.S)
                if "OnEveryDevice" in body)
    return found


def rows(listed, kind):
    """{name: what the list says of it} of one kind of its lines."""
    found = [line.split("\t")[1:] for line in listed.splitlines() if line.startswith(kind + "\t")]
    return {name: tuple(facts) for name, *facts in found}


def pages_of_names(root):
    """{function: family}: on which page of io/exchange/names it has a line."""
    return {function: os.path.splitext(name)[0]
            for name in sorted(os.listdir(os.path.join(root, NAMES)))
            for function in re.findall(r"^FIRN_NAMES\((\w+)", read(root, f"{NAMES}/{name}"), re.M)}


def printed(root, listed):
    """The page that should be."""
    ops, cuda, elsewhere = rows(listed, "operation"), on_cuda(root), rows(listed, "names")
    text = INTRO
    for family, declared in sorted(functions(root).items()):
        text += (f"\n## {family}\n\n| function | what it gives | dtypes | devices | gradient | NNabla "
                 "| ONNX |\n|---|---|---|---|---|---|---|\n")
        for name, (signatures, does) in declared.items():
            op = ops.get(stem(name))
            facts = ("composed", "", "")
            if op:
                gradient, view, dtypes = op
                devices = "all" if view == "view" else "cpu, cuda" if stem(name) in cuda else "cpu"
                facts = (dtypes, devices, gradient)
            cells = ("<br>".join(signatures), does, *facts, *elsewhere.get(name, ("-", "-")))
            text += "| " + " | ".join(cells) + " |\n"
    return text


def main():
    parser = argparse.ArgumentParser(description="The page of all operations.")
    parser.add_argument("list", help="what //tests/docs:list_operations printed")
    parser.add_argument("--write", action="store_true", help=f"into {PAGE}")
    arguments = parser.parse_args()
    root = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../..")
    with open(arguments.list, encoding="utf-8") as file:
        page = printed(root, file.read())
    if arguments.write:
        with open(os.path.join(root, PAGE), "w", encoding="utf-8") as file:
            file.write(page)
    else:
        sys.stdout.write(page)


if __name__ == "__main__":
    main()
