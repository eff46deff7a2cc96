#!/usr/bin/env python3
"""Runs what docs/tutorial.md shows as a reader would: the blocks of its steps, its program and its commands.

    tutorial_test.py STEPS PROGRAM FIRN    what was built of the blocks, of the program, and the command line
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.realpath(__file__)), "../.."))
STEPS, PROGRAM, FIRN = (os.path.abspath(path) for path in sys.argv[-3:])
del sys.argv[-3:]


def commands():
    """The lines of the page's blocks of commands."""
    with open(os.path.join(ROOT, "docs/tutorial.md"), encoding="utf-8") as page:
        blocks = re.findall(r"^```sh\n(.*?)^```$", page.read(), re.M | re.S)
    return [line for block in blocks for line in block.splitlines()]


class TutorialTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(dir="/tmp")  # Open MPI's sockets want short names
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = scratch.name
        cls.bin = os.path.join(cls.folder, "bin")
        os.mkdir(cls.bin)
        os.symlink(FIRN, os.path.join(cls.bin, "firn"))
        os.mkdir(os.path.join(cls.folder, "bazel-bin"))
        os.symlink(PROGRAM, os.path.join(cls.folder, "bazel-bin/two"))
        cls.env = dict(os.environ, PATH=f"{cls.bin}:{os.environ['PATH']}", TMPDIR=cls.folder,
                       OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        cls.said = cls.run_in_folder([STEPS])

    @classmethod
    def run_in_folder(cls, command):
        done = subprocess.run(command, cwd=cls.folder, env=cls.env, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise AssertionError(f"{' '.join(command)}: {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def number(self, words, text=None):
        found = re.search(words + r" ([\d.e-]+)", text or self.said)
        self.assertTrue(found, f"nothing says '{words}'")
        return float(found[1])

    def test_the_network_learns(self):
        """297 test images; a network that has learnt nothing gets 0.1 of ten classes right, 0.5 of two."""
        self.assertGreater(self.number("accuracy"), 0.9)
        self.assertGreater(self.number("accuracy of the zoo's"), 0.9)
        self.assertGreater(self.number("accuracy tuned"), 0.8)
        self.assertIn("1500 images of 10 classes", self.said)

    def test_the_run_goes_on_where_it_was(self):
        """1500 images in batches of 50, three epochs."""
        self.assertEqual(self.number("went on at step"), 3 * 30)

    def test_the_frozen_network_gives_the_same_bits(self):
        self.assertEqual(self.number("frozen differs by"), 0)

    def test_what_was_kept_is_loaded(self):
        self.assertIn("2 misshaped (fc.weight: file [10, 64], net [2, 64]; fc.bias: file [10], net [2])", self.said)

    def test_commands(self):
        made = {"firn monitor": "run/monitor.html", "firn plot-series": "loss.svg", "firn forward": "results.csv"}
        seen = set()
        for line in commands():
            if not line.startswith("firn "):
                continue
            with self.subTest(line):
                self.assertTrue(self.run_in_folder(line.split()) or any(line.startswith(name) for name in made))
                seen.add(" ".join(line.split()[:2]))
        for name, path in made.items():
            self.assertIn(name, seen)
            self.assertGreater(os.path.getsize(os.path.join(self.folder, path)), 500, path)
        with open(os.path.join(self.folder, "results.csv"), encoding="utf-8") as results:
            self.assertEqual(len(results.readlines()), 1 + 297)

    def test_the_program_of_one_process(self):
        said = self.run_in_folder(["bazel-bin/two"])
        self.assertIn("on 1 ranks", said)
        self.assertGreater(self.number("accuracy", said), 0.8)

    @unittest.skipUnless(shutil.which("mpirun"), "no mpirun here (Debian's openmpi-bin)")
    def test_the_program_of_two_processes(self):
        line = next(line for line in commands() if line.startswith("mpirun"))
        said = self.run_in_folder(["mpirun", "--oversubscribe", *line.split()[1:]])
        self.assertIn("on 2 ranks", said)
        self.assertGreater(self.number("accuracy", said), 0.8)

    def test_no_command_is_left_out(self):
        for line in commands():
            self.assertRegex(line, r"^(firn|mpirun) ")


if __name__ == "__main__":
    unittest.main()
