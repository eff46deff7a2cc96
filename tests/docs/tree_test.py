#!/usr/bin/env python3
"""Rules of the tree that no compiler knows: where files of data come from, and how full folders may be.

It reads files where they lie in the repository, which BUILD says by the tag "external".
"""

import glob
import os
import re
import unittest

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.realpath(__file__)), "../.."))
SOURCES = (".cc", ".h", ".cu", ".cuh", ".py", "BUILD", ".md")
# AT_MOST limits the files that stand in a folder itself, README and BUILD not counted.
STATUS_FUNCTION = re.compile(r"^absl::Status(?:Or<.*>)?\s+(\w+)\(", re.M)
# The same, also as a member. `friend` and pointers to functions are not looked for.
GIVES_STATUS = re.compile(r"^ *(?:(?:static|virtual) )*absl::Status(?:Or<.*>)?\s+(?:\w+::)?\w+\(", re.M)
OF_SEVERAL_FORMATS = {"data", "monitors"}  # of data sets, of records, events and series
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

    def test_what_gives_a_status_is_called_try(self):
        """Public functions of io throw; the twin with a status is Try..., in the one *_status.h of its format."""
        headers = sorted(glob.glob(os.path.join(ROOT, "io/*/*_status.h")))
        self.assertGreater(len(headers), 10)
        others, declared = [], 0
        for header in headers:
            names = STATUS_FUNCTION.findall(read(header))
            declared += len(names)
            others += [f"{os.path.relpath(header, ROOT)}: {name}" for name in names if not name.startswith("Try")]
        self.assertGreater(declared, 30)
        self.assertFalse(others, "called otherwise than Try...")
        folders = [os.path.basename(os.path.dirname(header)) for header in headers]
        several = {folder for folder in folders if folders.count(folder) > 1}
        self.assertLessEqual(several, OF_SEVERAL_FORMATS, "one *_status.h is enough for a format")

    def test_only_twins_and_parts_give_a_status(self):
        """Other public headers of io throw. io/README.md lists the parts that give statuses to readers."""
        [parts] = re.findall(r"\*\*Parts\.\*\*.*?\n\n", read(os.path.join(ROOT, "io/README.md")), re.S)
        listed = re.findall(r"`([\w/]+\.h)`", parts)
        headers = [os.path.relpath(header, os.path.join(ROOT, "io"))
                   for header in glob.glob(os.path.join(ROOT, "io/**/*.h"), recursive=True)]
        public = [h for h in headers if "internal/" not in h and not h.endswith("_status.h")]
        self.assertGreater(len(public), 60)
        giving = sorted(h for h in public if GIVES_STATUS.search(read(os.path.join(ROOT, "io", h))))
        self.assertEqual(giving, sorted(listed), "only Try... in a *_status.h, or a part in io/README.md's list")

    def test_folders_are_not_too_full(self):
        for folder, most in AT_MOST.items():
            path = os.path.join(ROOT, folder)
            files = [f for f in os.listdir(path) if os.path.isfile(os.path.join(path, f)) and f.endswith((".cc", ".h"))]
            self.assertLessEqual(len(files), most, folder)


if __name__ == "__main__":
    unittest.main()
