#!/usr/bin/env python3
"""What tools/scripts/build_times makes of a profile: python3 tests/tools/scripts/build_times_test.py"""

import contextlib
import gzip
import importlib.machinery
import importlib.util
import io
import json
import os
import re
import sys
import tempfile
import unittest
from unittest import mock

TOOL = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../../tools/scripts/build_times")
_loader = importlib.machinery.SourceFileLoader("build_times", TOOL)
sys.dont_write_bytecode = True
build_times = importlib.util.module_from_spec(
    importlib.util.spec_from_loader("build_times", _loader))
_loader.exec_module(build_times)


def event(name, dur, category="action processing", **more):
    return {"cat": category, "name": name, "ph": "X", "ts": 1, "dur": dur, "pid": 1, "tid": 1,
            **more}


# A profile as Bazel 4.2 writes it, with two of the events that surround actions.
PROFILE = {"otherData": {"build_id": "a"}, "traceEvents": [
    {"name": "thread_name", "ph": "M", "pid": 1, "tid": 0, "args": {"name": "Critical Path"}},
    event("Compiling nn/conv.cc", 2500000, args={"target": "//nn:conv"}),
    event("CppCompile", 2400000, "local action execution"),
    event("Compiling nn/linear.cc", 1500000, args={"target": "//nn:linear"}),
    event("Compiling nn/conv.cc", 500000, args={"target": "//nn:conv"}),  # another configuration
    event("Compiling io/csv/csv.cc", 3250000),
    event("Linking examples/mnist", 750000),
    event("Symlinking virtual headers for //nn:conv", 250000),
]}


class BuildTimesTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = folder.name
        self.profile = os.path.join(self.root, "profile.gz")
        with gzip.open(self.profile, "wt") as file:
            json.dump(PROFILE, file)

    def sums(self, by):
        return build_times.sums(build_times.actions(self.profile), by)

    def run_tool(self, *arguments):
        said = io.StringIO()
        with mock.patch.object(build_times, "ROOT", self.root), \
                contextlib.redirect_stdout(said), \
                mock.patch.object(sys, "argv", ["build_times", self.profile, *arguments]):
            build_times.main()
        return said.getvalue().splitlines()

    def test_sources_are_summed_and_the_slowest_stands_first(self):
        self.assertEqual(self.sums("source"), [
            (3.25, 1, "io/csv/csv.cc"), (3.0, 2, "nn/conv.cc"), (1.5, 1, "nn/linear.cc"),
            (0.75, 1, "(link)"), (0.25, 1, "(other)")])

    def test_so_are_folders_and_targets(self):
        self.assertEqual(self.sums("folder")[:2], [(4.5, 3, "nn"), (3.25, 1, "io/csv")])
        self.assertEqual(self.sums("target")[:3], [(3.25, 1, "(no target said)"),
                                                   (3.0, 2, "//nn:conv"), (1.5, 1, "//nn:linear")])

    def test_each_batch_of_cuda_sources_counts_as_a_source(self):
        with open(os.path.join(os.path.dirname(TOOL), "../bazel/cuda.bzl"), encoding="utf-8") as rules:
            said, = re.findall(r'progress_message = "(.*?)" %', rules.read())
        batches = [f"tensor/ops/_batches/cuda_objects_{i}.cu" for i in (0, 1)]
        with open(self.profile, "w", encoding="utf-8") as file:
            json.dump({"traceEvents": [event(said % (batch, 10), 1500000) for batch in batches]}, file)
        self.assertEqual(self.sums("source"), [(1.5, 1, batch) for batch in batches])

    def test_a_profile_may_be_plain_text(self):
        with open(self.profile, "w", encoding="utf-8") as file:
            json.dump(PROFILE, file)
        self.assertEqual(len(self.sums("source")), 5)

    def test_the_longest_lines_are_printed_below_the_sum(self):
        self.assertEqual(self.run_tool("--top", "1"), [
            "7.8 s compiling 4 sources, 1.0 s for all else",
            "     3.25 s     1  io/csv/csv.cc"])
        self.assertEqual(len(self.run_tool("--top", "0")), 6)

    def test_headers_are_the_include_lines_with_their_conditions(self):
        kept = '#include "a.h"\n#if defined(A)\n # include <b>\n#endif\n'
        self.assertEqual(
            build_times.includes_only(f"// text\n{kept}int x;\n#define F \\\n  1\n"), kept)

    def test_the_share_of_headers_is_measured(self):
        os.makedirs(os.path.join(self.root, "io/csv"))
        with open(os.path.join(self.root, "io/csv/csv.cc"), "w", encoding="utf-8") as file:
            file.write('#include "csv.h"\nint x = 1;\n')
        compiler = os.path.join(self.root, "compiler")  # takes time for a whole source alone
        with open(compiler, "w", encoding="utf-8") as file:
            file.write('#!/bin/sh\n[ "$1" = -c ] || exit 0\n'
                       'i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done\n')
        os.chmod(compiler, 0o755)
        said = self.run_tool("--top", "1", "--headers", "1", "--compiler", compiler)[-1]
        self.assertRegex(said, r"^headers +\d+% of +\d+\.\d\d s  io/csv/csv\.cc$")
        share = int(said.split()[1].rstrip("%"))
        self.assertLess(share, 50)
        self.assertEqual(self.run_tool("--headers", "1", "--compiler", "false")[-1].split(),
                         ["headers", "?", "io/csv/csv.cc"])


if __name__ == "__main__":
    unittest.main()
