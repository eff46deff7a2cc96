#!/usr/bin/env python3
"""Takes the code blocks out of a Markdown file, so that what a page shows is built and run.

    doc_blocks.py FILE.md --write FOLDER     blocks that have a file name: ```cpp own/main.cc
    doc_blocks.py FILE.md --program OUT.cc   the one ```cpp block with an `int main`
    doc_blocks.py FILE.md --test OUT.cc      the other ```cpp blocks, in order, as one GoogleTest
    doc_blocks.py FILE.md --rows OUT.cc      them, and behind them the code in tables
        --without FILE                       but for rows with a word of that file

The blocks of --test follow each other in one function: a later one may use what an earlier one made. Blocks
with the name of a header stand before that function, and so do lines that include a header. A page without
blocks of the wanted kind is an error.

--rows takes tables whose second column is called "Firn". Each text in backticks there is code: statements or an
expression, which may use what the blocks made. Row (tests/docs/rows.h) gets the call in the first column, and the first
text of the row as a function that returns what its last statement computes or declares; the other texts are only run.
"""

import argparse
import os
import re
import sys

INCLUDE = re.compile(r"^#include .*\n", re.MULTILINE)
BLOCK = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MAIN = re.compile(r"^int main\(", re.MULTILINE)

ROWS = """// Made from {page} by tools/scripts/doc_blocks.py.
#include "tests/docs/rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "firn/firn.h"

namespace firn::testing {{
namespace {{

TEST(Documentation, {name}) {{
{body}
{rows}}}

}}  // namespace
}}  // namespace firn::testing
"""

TEST = """// Made from {page} by tools/scripts/doc_blocks.py.
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


def cells(line):
    """The cells of a line of a table."""
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line.strip())[1:-1]]


def rows(path):
    """(line, cells) of each row of a table whose second column is called Firn."""
    wanted = False
    with open(path, encoding="utf-8") as page:
        for number, line in enumerate(page, 1):
            if not line.startswith("|"):
                wanted = False
            elif wanted:
                if not line.startswith("|---"):
                    yield number, cells(line)
            else:
                wanted = cells(line)[1:2] == ["Firn"]


def in_backticks(cell):
    return re.findall(r"`([^`]+)`", cell)


def statements(code):
    """The parts between semicolons that are outside all brackets."""
    parts, depth = [""], 0
    for character in code:
        depth += (character in "([{") - (character in ")]}")
        if character == ";" and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]


def as_function(code):
    *before, last = statements(code)
    names = re.match(r"(?:const )?auto \[([\w, ]+)\] = |(?:const )?\w+ (\w+) = ", last)
    if names:
        before.append(last)
        last = f"Results({names[1] or names[2]})"
    return "[&] { " + "".join(f"{statement}; " for statement in before) + f"return {last}; }}"


def write_rows(path, out_path, without):
    calls, count = "", 0
    for number, row in rows(path):
        codes = in_backticks(row[1])
        if any(word in without for code in codes for word in re.findall(r"[\w:]*\w", code)):
            continue
        count += len(codes)
        for i, code in enumerate(codes):
            call = "" if i else in_backticks(row[0])[0]
            calls += f"  Row({number}, R\"({call})\", {as_function(code)});\n"
    body = "\n".join(text for language, _, text in blocks(path) if language == "cpp")
    name = re.sub(r"\W+", " ", os.path.splitext(path)[0]).title().replace(" ", "")
    with open(out_path, "w", encoding="utf-8") as out:
        out.write(ROWS.format(page=path, name=name, body=body, rows=calls))
    return count


def words(path):
    """The words of a list; its lines may end in a remark after #."""
    with open(path, encoding="utf-8") as lines:
        return {word for line in lines for word in line.split("#")[0].split()}


def main():
    parser = argparse.ArgumentParser(description="Takes the code blocks out of a Markdown file.")
    parser.add_argument("page")
    parser.add_argument("--write", metavar="FOLDER")
    parser.add_argument("--program", metavar="OUT.cc")
    parser.add_argument("--test", metavar="OUT.cc")
    parser.add_argument("--rows", metavar="OUT.cc")
    parser.add_argument("--without", metavar="FILE")
    args = parser.parse_args()
    for action, target in ((write_named, args.write), (write_program, args.program),
                           (write_test, args.test)):
        if target and not action(args.page, target):
            sys.exit(f"{args.page}: no block for {action.__name__}")
    if args.rows and not write_rows(args.page, args.rows, words(args.without) if args.without else set()):
        sys.exit(f"{args.page}: no rows")


if __name__ == "__main__":
    main()
