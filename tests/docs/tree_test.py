#!/usr/bin/env python3
"""Rules of the tree that no compiler knows: where files of data come from, and how full folders may be.

It reads files where they lie in the repository, which BUILD says by the tag "external".
"""

import os
import unittest

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.realpath(__file__)), "../.."))
SOURCES = (".cc", ".h", ".cu", ".cuh", ".py", "BUILD", ".md")
# Files that stand in a folder itself, README and BUILD not counted.
AT_MOST = {"io": 40, "io/internal": 20}


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def folders_of_data():
    """Folders below tests that are called data and have no sources, with what is in them."""
    for folder, _, files in os.walk(os.path.join(ROOT, "tests")):
        inside = sorted(os.listdir(folder))
        if os.path.basename(folder) == "data" and not any(f.endswith(SOURCES) for f in files):
            yield folder, inside


def readmes_above(folder):
    """Texts of README.md beside a folder and above it, below tests, with what that folder is called there."""
    at = os.path.dirname(folder)
    while len(at) > len(ROOT):
        path = os.path.join(at, "README.md")
        if os.path.exists(path):
            yield os.path.relpath(folder, at), read(path)
        at = os.path.dirname(at)


def is_told(folder, entry):
    for called, text in readmes_above(folder):
        named = f"`{called}/`" in text or f"`{called}/{entry}`" in text or f"`{entry}`" in text
        if named and "LICENSE" in text:
            return True
    return False


class TreeTest(unittest.TestCase):

    def test_data_of_tests_has_an_origin_and_a_licence(self):
        folders = list(folders_of_data())
        self.assertGreater(len(folders), 4)
        untold = [os.path.relpath(os.path.join(folder, entry), ROOT)
                  for folder, entries in folders for entry in entries if not is_told(folder, entry)]
        self.assertFalse(untold, "no README.md beside or above says where they come from, and the licence")

    def test_folders_are_not_too_full(self):
        for folder, most in AT_MOST.items():
            path = os.path.join(ROOT, folder)
            files = [f for f in os.listdir(path) if os.path.isfile(os.path.join(path, f)) and f.endswith((".cc", ".h"))]
            self.assertLessEqual(len(files), most, folder)


if __name__ == "__main__":
    unittest.main()
