#!/usr/bin/env python3
"""The command line is written as any program is: it includes nothing that is internal to the library.

What it needs of the library and cannot include is missing there for others too.
It reads the sources where they lie in the repository, which BUILD says by the tag "external".
"""

import os
import re
import unittest

ROOT = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../..")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"(firn/[^"]*\binternal/[^"]*)"', re.MULTILINE)


class ProgramTest(unittest.TestCase):

    def test_the_command_line_includes_nothing_internal(self):
        seen, internal = 0, []
        for folder, _, names in os.walk(os.path.join(ROOT, "tools/firn")):
            for name in sorted(names):
                if not name.endswith((".cc", ".h")):
                    continue
                seen += 1
                path = os.path.join(folder, name)
                with open(path, encoding="utf-8") as file:
                    internal += [f"{os.path.relpath(path, ROOT)}: {header}"
                                 for header in INCLUDE.findall(file.read())]
        self.assertGreater(seen, 50)
        self.assertEqual(internal, [])


if __name__ == "__main__":
    unittest.main()
