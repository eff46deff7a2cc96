#!/usr/bin/env python3
"""The command line is written as any program is: it includes nothing that is internal to the library,
and no header of io that a program may include brings any of it along.

If it needs something of the library that it may not include, other programs lack that too.
It reads the sources where they lie in the repository, which BUILD says by the tag "external".
"""

import os
import re
import unittest

ROOT = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../..")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"(firn/[^"]*\binternal/[^"]*)"', re.MULTILINE)


def sources(folder, ends):
    for path, _, names in os.walk(os.path.join(ROOT, folder)):
        for name in sorted(names):
            if name.endswith(ends):
                yield os.path.relpath(os.path.join(path, name), ROOT)


def includes(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return [f"{path}: {header}" for header in INCLUDE.findall(file.read())]


class ProgramTest(unittest.TestCase):

    def test_the_command_line_includes_nothing_internal(self):
        paths = list(sources("tools/firn", (".cc", ".h")))
        self.assertGreater(len(paths), 50)
        self.assertEqual([found for path in paths for found in includes(path)], [])

    def test_public_headers_of_io_include_nothing_internal(self):
        paths = [path for path in sources("io", ".h") if "internal" not in path.split(os.sep)]
        self.assertGreater(len(paths), 100)
        self.assertEqual([found for path in paths for found in includes(path)], [])

    def test_such_an_include_is_found(self):
        self.assertEqual(INCLUDE.findall('#include "firn/io/internal/byte_source.h"\n'),
                         ["firn/io/internal/byte_source.h"])



if __name__ == "__main__":
    unittest.main()
