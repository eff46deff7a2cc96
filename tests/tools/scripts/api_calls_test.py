#!/usr/bin/env python3
"""Every public function, method and layer class is defined, and called by a test, an example or a
block of the documentation. tools/scripts/api_uses.py says what counts as a call, and what it cannot tell.

It reads the sources where they lie in the repository, which BUILD says by the tag "external".
"""

import os
import sys
import unittest

ROOT = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../..")
LIST = "tests/tools/scripts/called_by_library.txt"
sys.path.insert(0, os.path.join(ROOT, "tools/scripts"))
import api_uses  # noqa: E402
import public_api  # noqa: E402


def lines(declarations):
    return [f"{d.path}:{d.line}: {d.kind} {d.name}" for d in declarations]


class ApiCallsTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.declared = public_api.api(ROOT, public_api.public_headers(ROOT))
        cls.uncalled = api_uses.uncalled(cls.declared, api_uses.texts(ROOT))
        cls.patterns = api_uses.patterns(public_api.read(ROOT, LIST))

    def assert_none(self, found, what):
        if found:
            self.fail(f"{what}:\n" + "\n".join(found))

    def listed(self, declaration):
        return any(api_uses.matches(pattern, declaration) for pattern, _ in self.patterns)

    def test_what_is_declared_is_defined(self):
        defined = public_api.api(ROOT, public_api.sources(ROOT))
        self.assert_none(lines(api_uses.undefined(self.declared, defined)),
                         "declared and nowhere defined")

    def test_what_programs_write_is_called(self):
        self.assert_none(lines(d for d in self.uncalled if not self.listed(d)),
                         "called by no test, example or documentation (what programs do not write"
                         f" belongs into an inner namespace, or {LIST})")

    def test_what_the_library_is_to_call_is_called_by_it(self):
        unused = {d.name for d in api_uses.uncalled(self.declared, api_uses.library_texts(ROOT))}
        self.assert_none(lines(d for d in self.uncalled if self.listed(d) and d.name in unused),
                         "called by nobody")

    def test_the_list_holds_nothing_that_tests_call(self):
        self.assert_none([f"{LIST}:{number}: {pattern}" for pattern, number in self.patterns
                          if not any(api_uses.matches(pattern, d) for d in self.uncalled)],
                         "tests call all of it, take it out")


if __name__ == "__main__":
    unittest.main()
