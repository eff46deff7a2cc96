#!/usr/bin/env python3
"""The newest heading of CHANGELOG.md is the version, headings go down, and pages name the version that there is.

It reads files where they lie in the repository, which BUILD says by the tag "external".
"""

import os
import re
import unittest

ROOT = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../..")


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def version():
    numbers = re.findall(r"^#define FIRN_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$", read("version.h"), re.MULTILINE)
    return tuple(map(int, numbers))


def headings():
    """(version, date) of each."""
    for line in read("CHANGELOG.md").splitlines():
        if line.startswith("## "):
            match = re.fullmatch(r"## (\d+)\.(\d+)\.(\d+) \((\d{4}-\d\d-\d\d)\)", line)
            yield (tuple(map(int, match.groups()[:3])), match[4]) if match else (line, "is no version with a date")


class ChangelogTest(unittest.TestCase):

    def test_the_newest_heading_is_the_version(self):
        self.assertEqual(len(version()), 3)
        self.assertEqual(next(headings())[0], version())

    def test_headings_go_down(self):
        found = list(headings())
        self.assertEqual([heading for heading in found if isinstance(heading[0], str)], [])
        self.assertEqual(found, sorted(found, reverse=True))
        self.assertEqual(len(found), len({number for number, _ in found}))

    def test_packages_are_called_by_it(self):
        major, minor, _ = version()
        self.assertEqual(re.findall(r"`libfirn([\d.]+)`", read("docs/packaging.md")), [f"{major}.{minor}"])


if __name__ == "__main__":
    unittest.main()
