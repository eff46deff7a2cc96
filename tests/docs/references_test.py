#!/usr/bin/env python3
"""docs/reference says what the registries, the headers and the sources say, and every row says what its thing is.

It reads the sources where they lie in the repository, which BUILD says by the tag "external".
"""

import os
import re
import subprocess
import sys
import unittest

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.realpath(__file__)), "../.."))
sys.path.insert(0, os.path.join(ROOT, "tools/scripts"))
from environment_variables import LIBRARY, read_in, said_in, variables  # noqa: E402
from header_docs import Structs, first, options_cell  # noqa: E402
from public_api import public_headers, read, sources  # noqa: E402
from reference_kinds import OTHER_CODES  # noqa: E402
from reference_pages import COMMAND, FOLDER, PAGES, printed  # noqa: E402

LIST = sys.argv.pop()


def rows(page):
    """The cells of all rows of a page, without heads."""
    lines = [line for line in page.splitlines() if line.startswith("| ")]
    heads = {line for line, after in zip(page.splitlines(), page.splitlines()[1:]) if after.startswith("| ---")}
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            for line in lines if line not in heads and not line.startswith("| ---")]


class ReferencesTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.listed = subprocess.run([LIST], check=True, capture_output=True, text=True).stdout
        cls.pages = printed(ROOT, cls.listed)

    def test_the_pages_are_what_would_be_printed(self):
        there = {f"{FOLDER}/{name}" for name in os.listdir(os.path.join(ROOT, FOLDER))}
        self.assertEqual(there, set(self.pages), "pages of other kinds belong elsewhere")
        changed = [path for path, text in self.pages.items() if read(ROOT, path) != text]
        self.assertEqual(changed, [], f"print them anew: {COMMAND}")

    def test_every_row_says_what_its_thing_is(self):
        where = {"optimizers": 2, "formats": 1, "commands": -1}
        for name in PAGES:
            found = rows(self.pages[f"{FOLDER}/{name}.md"])
            self.assertGreater(len(found), 4, name)
            for row in found:
                if name != "optimizers" or len(row) == 5:
                    self.assertTrue(row[where.get(name, 1)], f"{name}: {row[0]} needs a sentence above it")

    def test_registries_are_there_as_a_whole(self):
        kinds = {"layer": ("layers", "losses"), "optimizer": ("optimizers",), "format": ("formats",),
                 "command": ("commands",)}
        for kind, pages in kinds.items():
            text = "".join(self.pages[f"{FOLDER}/{page}.md"] for page in pages)
            names = re.findall(rf"^{kind}\t([^\t\n]+)", self.listed, re.M)
            self.assertGreater(len(names), 15, kind)
            for name in names:
                row = rf"(?m)^(\| `?{re.escape(name)}`? \||.*\| `{re.escape(name)}` \||## firn {name}$)"
                self.assertRegex(text, row)

    def test_no_layer_is_explained_by_anothers_comment(self):
        text = self.pages[f"{FOLDER}/losses.md"]
        self.assertRegex(text, r"\| `HuberLoss` \| (?!.*Called with \(mean)")
        self.assertRegex(text, r"\| `TripletMarginLoss` \| .*Called with \(anchor, positive, negative\)")

    def test_every_variable_that_is_read_says_what_it_does(self):
        found = variables(ROOT)
        self.assertGreater(sum(any(p.split("/")[0] in LIBRARY for p in paths) for paths, _ in found.values()), 8)
        for name, (paths, words) in found.items():
            self.assertTrue(words, f"{paths[0]} reads {name}: a comment there has to begin with '{name}: '")
        # Whatever way a variable is read in the library, its name stands there in quotes.
        quoted = {name for path in sources(ROOT) for name in re.findall(r'"(FIRN_[A-Z_0-9]+)"', read(ROOT, path))}
        self.assertLessEqual(quoted, set(found))

    def test_every_code_of_an_error_has_a_row(self):
        codes = {row[0].strip("`") for row in rows(self.pages[f"{FOLDER}/errors.md"])}
        used = {"k" + code for path in sources(ROOT) for code in re.findall(r"absl::(\w+)Error\(", read(ROOT, path))}
        used |= {code for path in sources(ROOT) for code in re.findall(r"StatusCode::(k\w+)", read(ROOT, path))}
        self.assertLessEqual(used - {"kOk", "k"}, codes)
        self.assertGreater(len(used), 10)
        for code in OTHER_CODES:
            name = code[1:]
            self.assertTrue(any(re.search(rf"\b(k?{name}|{name}Error)\b", read(ROOT, path)) for path in sources(ROOT)),
                            f"{code} is used nowhere")

    def test_what_commands_end_with(self):
        text = self.pages[f"{FOLDER}/commands.md"]
        self.assertIn(" Example:\n\n    firn onnx info net.onnx\n", text)
        self.assertNotIn("\x1f", text)

    def test_what_a_source_reads_and_says(self):
        text = ('# FIRN_ROUNDS: how many\n# there are; 3.\n# FIRN_OTHER: one.\n\nx = os.environ.get("FIRN_ROUNDS")\n')
        self.assertEqual(read_in(text), {"FIRN_ROUNDS"})
        self.assertEqual(said_in(text), {"FIRN_ROUNDS": "how many there are; 3.", "FIRN_OTHER": "one."})
        self.assertEqual(read_in('getenv("FIRN_A") ReadNumber(\n  "FIRN_B", 0, 1) ${FIRN_C:-x} ${FIRN_D}'),
                         {"FIRN_A", "FIRN_B", "FIRN_C"})

    def test_sentences_end_before_code(self):
        self.assertEqual(first(["// A metric: as Fit takes:", "//", "//   Fit(net);"]), "A metric: as Fit takes")
        self.assertEqual(first(["// A mean. B."]), "A mean")

    def test_fields_of_options(self):
        structs = Structs(ROOT, public_headers(ROOT))
        cell = options_cell(structs.fields("OneCycleLrOptions"))
        self.assertTrue(cell.startswith("`max_lr = 0` 0: base_lr<br>`steps = 1` of all<br>`pct_start = 0.3`<br>"), cell)
        self.assertIn("`div_factor = 25`<br>`final_div_factor = 1e4`", cell)
        self.assertIn(("decay", "0.999"), [f[:2] for f in structs.fields("WeightAverageOptions")])


if __name__ == "__main__":
    unittest.main()
