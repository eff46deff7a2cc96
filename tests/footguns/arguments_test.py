#!/usr/bin/env python3
"""A number never becomes a flag, and a flag never a number: Mean(x, 2, 3) and Dropout(x, true) do not compile.

    tests/footguns/arguments_test.py COMPILER

Reads which public functions take a flag or a number (Flag, Integer, Real of device/arguments.h), writes
for each such parameter what it must and must not take, and has the compiler check it. It reads the headers
where they lie in the repository, which BUILD says by the tag "external".
"""

import os
import re
import subprocess
import sys
import unittest

ROOT = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../..")
sys.path.insert(0, os.path.join(ROOT, "tools/scripts"))
import public_api  # noqa: E402

COMPILER = sys.argv.pop(1)
# What each kind of parameter takes and refuses.
TAKES = {"Flag": ["bool", "std::vector<bool>::reference", "std::true_type"],
         "Integer": ["int", "int64_t", "size_t", "std::integral_constant<int, 1>"],
         "Real": ["int", "float", "double"], "Number": ["int", "uint64_t", "double"],
         "Element": ["bool", "int", "double"]}
REFUSES = {"Flag": ["int", "int64_t", "double"], "Integer": ["bool", "std::true_type", "double"],
           "Real": ["bool", "std::true_type"],
           "Number": ["bool"], "Element": ["const char*"]}
PLAIN = {"bool": "Flag", "double": "Real", "float": "Real", "int64_t": "Integer"}
# Functions that may take plain numbers: those with no other argument, or whose number counts
# something that no caller would mean by a flag.
MAY = {
    # Called by kernels for each piece of work.
    "NumChunks", "ParallelFor", "ParallelForChunks",
}


def kind(argument):
    """"Flag" for "inner :: Flag"; a plain type's name."""
    return re.sub(r"^inner :: |\bconst ", "", argument)


def public_functions():
    """Functions, and methods of Tensor, that a program which includes firn.h can call by name."""
    for path in public_api.reached(ROOT):
        if path in public_api.WRITTEN:
            continue
        for d in public_api.api(ROOT, [path]):
            scopes = d.name.split("::")
            if d.access != "public" or d.deleted or d.override or d.template or \
                    "inner" in scopes or "internal" in scopes:
                continue
            if d.kind == "function" or \
                    d.kind == "method" and (scopes[:-1] == ["firn", "Tensor"] or any(
                        kind(a) in TAKES for a in d.arguments)):
                yield d


def check(number, d, at):
    """C++ that holds what argument `at` of `d` takes."""
    scope, _, name = d.name.rpartition("::")
    # The other arguments are of plain types: with a class of namespace inner the call would find
    # more functions.
    plain = {name: types[0] for name, types in TAKES.items()}
    values = [f"Made<{'V' if k == at else plain.get(kind(argument), argument)}>()"
              for k, argument in enumerate(d.arguments)]
    call = f"{name}({', '.join(values)})"
    if d.kind == "method":
        scope, _, own = scope.rpartition("::")
        call = f"Made<{own}&&>().{call}"
    wants = kind(d.arguments[at])
    lines = [f"namespace {scope} {{", f"template <class V> concept Takes{number} = requires {{ {call}; }};"]
    for wanted, types in (("", TAKES[wants]), ("!", REFUSES[wants])):
        lines += [f'static_assert({wanted}Takes{number}<{t}>, "{d.name}, argument {at + 1}, {wants}: {t}");'
                  for t in types]
    return "\n".join(lines + [f"}}  // {d.path}:{d.line}"])


class ArgumentsTest(unittest.TestCase):

    def test_no_public_function_takes_a_plain_flag(self):
        found = [f"{d.path}:{d.line} {d.name}({', '.join(d.arguments)})" for d in public_functions()
                 if "bool" in map(kind, d.arguments)]
        self.assertFalse(found, "Flag (device/arguments.h) in place of bool keeps numbers out:\n" +
                         "\n".join(found))

    def test_no_public_operation_takes_a_plain_number(self):
        found = [f"{d.path}:{d.line} {d.name}({', '.join(d.arguments)})" for d in public_functions()
                 if d.path.startswith("tensor/ops/") and d.name.split("::")[-1] not in MAY and
                 PLAIN.keys() & set(map(kind, d.arguments))]
        self.assertFalse(found, "Integer and Real (device/arguments.h) keep flags out:\n" +
                         "\n".join(found))

    def test_what_every_parameter_takes(self):
        lines = ['#include "firn/firn.h"', "#include <vector>",
                 "template <class T> T Made();"]
        number = 0
        for d in public_functions():
            for at, argument in enumerate(d.arguments):
                if kind(argument) in TAKES:
                    lines.append(check(number, d, at))
                    number += 1
        self.assertGreater(number, 150)
        # Where each package has the links to its headers (tools/bazel/includes.bzl).
        includes = subprocess.run(["find", "-L", ".", "-type", "d", "-name", "_include"],
                                  text=True, capture_output=True, check=True).stdout.split()
        run = subprocess.run([COMPILER, "-std=c++20", "-fsyntax-only", "-xc++", "-"] +
                             [f"-I{folder}" for folder in includes], input="\n".join(lines),
                             text=True, capture_output=True, check=False, env={"LC_ALL": "C", **os.environ})
        self.assertEqual(run.returncode, 0, "\n".join(
            line for line in run.stderr.splitlines() if "error" in line) or run.stderr)


if __name__ == "__main__":
    unittest.main()
