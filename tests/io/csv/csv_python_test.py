#!/usr/bin/env python3
"""Tables read by Firn, by Python's csv module and by pandas. A table that Firn takes must hold
what they read; Firn may refuse what they take (an empty line in the middle, say), but not all of it.
What needs pandas is skipped where Python has none.

    bazel build //tests/io/csv:csv_values
    VENV/bin/python tests/io/csv/csv_python_test.py bazel-bin/tests/io/csv/csv_values
"""

import csv
import io
import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile
import unittest

try:
    import pandas
except ImportError:
    pandas = None

PROGRAM = sys.argv.pop(1)
COUNT = 1500
BLANKS = " \t\r"
csv.field_size_limit(1 << 24)


def number(r):
    """The text of a number, of every kind."""
    kind = r.randrange(7)
    if kind == 0:
        return str(r.randrange(-10**6, 10**6))
    if kind == 1:
        return repr(r.uniform(-1e3, 1e3))
    if kind == 2:
        return "%+.3e" % r.uniform(-1e30, 1e30)
    if kind == 3:
        return str(r.choice([2**53 - 1, 2**53, 16777217, 289203891, -2**31, 2**53 + 2]))
    if kind == 4:
        return "0%d.500" % r.randrange(100)
    if kind == 5:
        return r.choice(["0", "-0", "1e-320", "1.", ".5", "+7"])
    return ""


def table(r):
    """A table of numbers, its first column sometimes words, with one line end or a mixture."""
    columns, rows = r.randrange(1, 6), r.randrange(0, 8)
    ends = [r.choice(["\n", "\r\n", "\r"])] if r.random() < 0.8 else ["\n", "\r\n", "\r"]
    words = r.random() < 0.4
    lines = []
    for _ in range(rows):
        cells = [number(r) for _ in range(columns)]
        if columns == 1 and not cells[0]:
            cells[0] = "0"
        if words:
            cells[0] = r.choice(["a", "b c", "say \"x\"", "d,e", "f\ng", "h\r\ni", "", "\u00e9", "5\" disk"])
        for i, cell in enumerate(cells):
            if any(c in cell for c in ",\"\n\r") and not (cell == "5\" disk" and r.random() < 0.5):
                cells[i] = "\"" + cell.replace("\"", "\"\"") + "\""
            elif r.random() < 0.15:
                cells[i] = "\"" + cell.replace("\"", "\"\"") + "\""
            if r.random() < 0.1:
                cells[i] = r.choice([" ", "  "]) + cells[i] + r.choice(["", " "])
        lines.append(",".join(cells) + r.choice(ends))
    text = "".join(lines)
    if lines and r.random() < 0.3:
        text = text.rstrip("\r\n")
    if r.random() < 0.1:
        text = "\ufeff" + text
    return text


def mutated(r, text):
    for _ in range(r.randrange(1, 4)):
        at = r.randrange(len(text) + 1)
        what = r.randrange(3)
        if what == 0:
            text = text[:at] + r.choice(["\"", ",", "\n", "\r", "1", " ", "\"\"", "\r\n"]) + text[at:]
        elif what == 1:
            text = text[:at] + text[at + 1:]
        else:
            text = text[:at]
    return text


def is_ambiguous(text):
    """A line of quotes alone may be a row of one empty cell or an empty line: Python cannot tell which."""
    return re.search("(^|[\r\n\ufeff])[ \"]*\"[ \"]*([\r\n]|$)", text) is not None


def by_csv(text):
    """Rows of cells, and which of them are empty lines."""
    text = text[1:] if text.startswith("\ufeff") else text
    rows = list(csv.reader(io.StringIO(text, newline=""), skipinitialspace=True))
    empty = [not row or (len(row) == 1 and not row[0].strip(BLANKS)) for row in rows]
    return rows, empty


def value(cell):
    cell = cell.strip(BLANKS)
    return math.nan if cell == "" else float(cell)


def same(a, b):
    return (a is None or math.isnan(a)) and math.isnan(b) if a is None or math.isnan(b) else a == b


class CsvPythonTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        r = random.Random(20261127)
        cls.texts = []
        for _ in range(COUNT):
            text = table(r)
            cls.texts.append((text, False))
            cls.texts.append((mutated(r, text), True))
        cls.texts = [case for case in cls.texts if not is_ambiguous(case[0])]
        # Firn reads 2^18 bytes at a time, and 2^17 where it looks for rows. Each byte from the end
        # of the first line to the end of the last one is once the last byte of such a piece.
        for size in (2**17, 2**18):
            for end in ("\n", "\r\n", "\r"):
                for at in range(size - 9, size + 2):
                    head = "\"" + "y" * (at - 2 - len(end)) + "\"" + end
                    for tail in ("\"a" + end + "b\"", "\"a\"\"\"", " \"a" + end + "\"", end + "1"):
                        cls.texts.append((head + tail + end, False))
        with tempfile.TemporaryDirectory() as folder:
            paths = []
            for i, (text, _) in enumerate(cls.texts):
                paths.append(os.path.join(folder, "%d.csv" % i))
                with open(paths[-1], "wb") as file:
                    file.write(text.encode())
            out = subprocess.run([PROGRAM] + paths, check=True, stdout=subprocess.PIPE).stdout
        cls.read = [json.loads(line) for line in out.decode().splitlines()]
        assert len(cls.read) == len(cls.texts)

    def check_table(self, data, got, rows):
        shape, values = got["shape"], [math.nan if v is None else v for v in got["values"]]
        self.assertEqual(shape[0], len(rows), data)
        if not rows:
            return
        self.assertEqual({len(row) for row in rows}, {shape[1]}, data)
        for v, cell in zip(values, (cell for row in rows for cell in row)):
            self.assertTrue(same(v, value(cell)), (data, v, cell))

    def test_what_is_taken_is_what_python_reads(self):
        taken = {"table": 0, "words": 0}
        for (data, is_mutated), got in zip(self.texts, self.read):
            rows, empty = by_csv(data)
            while rows and empty[-1]:
                rows.pop(), empty.pop()
            rows = [row or [""] for row in rows]
            if any(empty):
                self.assertEqual((got["table"], got["words"], got["rows"]), (None, None, None), data)
            if got["table"] is not None:
                self.check_table(data, got["table"], rows)
                taken["table"] += 1
            if got["words"] is not None:
                self.assertEqual({w.strip(BLANKS) for w in got["words"]},
                                 {row[0].strip(BLANKS) for row in rows}, data)
                taken["words"] += 1
            if got["rows"] is not None:
                self.assertEqual(got["rows"], len(rows) - 1, data)
        self.assertGreater(taken["table"], COUNT // 2)
        self.assertGreater(taken["words"], COUNT)

    def test_sound_tables_are_taken(self):
        for (data, is_mutated), got in zip(self.texts, self.read):
            if is_mutated:
                continue
            rows, empty = by_csv(data)
            while rows and empty[-1]:
                rows.pop(), empty.pop()
            if any(empty) or len({len(row) for row in rows}) > 1:
                continue
            self.assertIsNotNone(got["words"], data)
            try:
                for row in rows:
                    for cell in row:
                        value(cell)
            except ValueError:
                continue
            self.assertIsNotNone(got["table"], data)

    @unittest.skipIf(pandas is None, "this Python has no pandas")
    def test_tables_are_what_pandas_reads(self):
        compared = 0
        for (data, is_mutated), got in zip(self.texts, self.read):
            if is_mutated or got["table"] is None or got["table"]["shape"][0] == 0:
                continue
            try:
                frame = pandas.read_csv(io.BytesIO(data.encode()), header=None, skipinitialspace=True,
                                        dtype=float, skip_blank_lines=False)
            except (ValueError, pandas.errors.ParserError):
                continue  # blanks behind numbers in quotes, and the like
            frame = frame.to_numpy()
            if list(frame.shape) != got["table"]["shape"]:
                # pandas keeps empty lines at the end.
                frame = frame[:got["table"]["shape"][0]]
            self.assertEqual(list(frame.shape), got["table"]["shape"], data)
            for v, w in zip(got["table"]["values"], frame.flatten()):
                # pandas rounds some texts to the neighbour of the nearest double; csv above is exact.
                near = v is not None and math.isclose(v, w, rel_tol=2**-52, abs_tol=2**-1073)
                self.assertTrue(near or same(v, w), (data, v, w))
            compared += 1
        self.assertGreater(compared, COUNT // 4)


if __name__ == "__main__":
    unittest.main()
