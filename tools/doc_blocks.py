#!/usr/bin/env python3
"""Takes the code blocks out of a Markdown file, so that what a page shows is built and run.

    doc_blocks.py FILE.md --write FOLDER     blocks that have a file name: ```cpp own/main.cc
    doc_blocks.py FILE.md --program OUT.cc   the one ```cpp block with an `int main`
    doc_blocks.py FILE.md --test OUT.cc      the other ```cpp blocks, in order, as one GoogleTest

The blocks of --test follow each other in one function: a later one may use what an earlier one
made. Those that have the name of a header stand before it, and so do lines that include a header.
A page without blocks of the wanted kind is an error.
"""

import argparse
import os
import re
import sys

INCLUDE = re.compile(r"^#include .*\n", re.MULTILINE)
BLOCK = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MAIN = re.compile(r"^int main\(", re.MULTILINE)

TEST = """// Made from {page} by tools/doc_blocks.py.
#include <gtest/gtest.h>

#include <iostream>

#include "firn/firn.h"
{headers}
namespace {{
using namespace firn;

TEST(Documentation, {name}) {{
{body}}}

}}  // namespace
"""


def blocks(path):
    """(language, file name or "", text) of each block."""
    with open(path, encoding="utf-8") as page:
        return [(m[1], m[2].strip(), m[3]) for m in BLOCK.finditer(page.read())]


def write_named(path, folder):
    named = [(name, text) for _, name, text in blocks(path) if name]
    for name, text in named:
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
    return len(named)


def write_program(path, out_path):
    programs = [text for language, _, text in blocks(path) if language == "cpp" and MAIN.search(text)]
    if len(programs) == 1:
        with open(out_path, "w", encoding="utf-8") as out:
            out.write(programs[0])
    return len(programs) == 1


def write_test(path, out_path):
    cpp = [(file, text) for language, file, text in blocks(path) if language == "cpp"]
    headers = [text for file, text in cpp if file.endswith(".h")]
    bodies = [(file, text) for file, text in cpp
              if not file.endswith(".h") and not MAIN.search(text)]
    headers += [line for _, text in bodies for line in INCLUDE.findall(text)]
    parts = [INCLUDE.sub("", text) for _, text in bodies]
    name = re.sub(r"\W+", " ", os.path.splitext(path)[0]).title().replace(" ", "")
    with open(out_path, "w", encoding="utf-8") as out:
        out.write(TEST.format(page=path, name=name, headers="\n".join(headers), body="\n".join(parts)))
    return len(parts)


def main():
    parser = argparse.ArgumentParser(description="Takes the code blocks out of a Markdown file.")
    parser.add_argument("page")
    parser.add_argument("--write", metavar="FOLDER")
    parser.add_argument("--program", metavar="OUT.cc")
    parser.add_argument("--test", metavar="OUT.cc")
    args = parser.parse_args()
    for action, target in ((write_named, args.write), (write_program, args.program),
                           (write_test, args.test)):
        if target and not action(args.page, target):
            sys.exit(f"{args.page}: no block for {action.__name__}")


if __name__ == "__main__":
    main()
