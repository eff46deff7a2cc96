#!/usr/bin/env python3
"""docs/architecture.svg is what the BUILD files say, and what they say can be drawn.

It reads files where they lie in the repository, which BUILD says by the tag "external".
"""

import os
import sys
import tempfile
import unittest
import xml.dom.minidom

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.realpath(__file__)), "../.."))
sys.path.insert(0, os.path.join(ROOT, "tools/scripts"))

import architecture  # noqa: E402

GROUPS = """# What programs include. More of it.
package_group(name = "outer", packages = ["//", "//examples/..."])
package_group(name = "low_users", includes = [":high_users"], packages = ["//low/...", "//aside/..."])
package_group(name = "high_users", includes = [":outer"], packages = ["//high/..."%s])
package_group(name = "high_part_users", includes = [":high_users"], packages = ["//aside/one", "//aside/two"])
package_group(name = "aside_users", includes = [":outer"], packages = ["//aside/..."%s])
"""
BUILDS = {"low": "# Below.", "high": "# Above, and more. Unsaid.", "high/part": "", "aside": "# Beside.",
          "aside/one": "", "aside/two": "", "examples": "# Programs."}


def picture(high="", aside="", builds=None):
    with tempfile.TemporaryDirectory() as root:
        for folder, text in {"": GROUPS % (high, aside), **(builds or BUILDS)}.items():
            os.makedirs(os.path.join(root, folder), exist_ok=True)
            with open(os.path.join(root, folder, "BUILD"), "w", encoding="utf-8") as file:
                file.write(text + "\n")
        return architecture.drawn(root)


class ArchitectureTest(unittest.TestCase):

    def test_the_picture_is_what_the_builds_say(self):
        with open(os.path.join(ROOT, architecture.PAGE), encoding="utf-8") as page:
            self.assertEqual(page.read(), architecture.drawn(ROOT),
                             f"draw it anew: tools/scripts/architecture.py > {architecture.PAGE}")

    def test_floors_words_and_exceptions(self):
        drawn = picture()
        for said in ("low/", "high/", "aside/", "firn.h", "Above, and more", "2 folders of aside/ use part"):
            self.assertIn(f">{said}<", drawn)
        self.assertNotIn("Unsaid", drawn)
        xml.dom.minidom.parseString(drawn)

    def test_a_new_folder_and_another_right_are_seen(self):
        self.assertNotEqual(picture(), picture(builds={**BUILDS, "low/new": ""}))
        self.assertNotEqual(picture(), picture(high=', "//aside/..."'))

    def test_a_circle_is_refused(self):
        with self.assertRaisesRegex(ValueError, "may use each other: aside, high"):
            picture(high=', "//aside/..."', aside=', "//high/..."')

    def test_a_sentence_that_is_too_long_is_refused(self):
        with self.assertRaisesRegex(ValueError, "low/: the first sentence"):
            picture(builds={**BUILDS, "low": "# " + 200 * "word "})


if __name__ == "__main__":
    unittest.main()
