#!/usr/bin/env python3
"""Processes that MPI starts train one network: data_parallel_check says what each of them does.

Without Open MPI's launcher the test is skipped, and says so.
"""

import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../device/comm"))
import mpi_launch  # noqa: E402

CHECK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data_parallel_check")


def run(count, what):
    """What `count` processes print, by their ranks; one that nobody launched for 1."""
    with mpi_launch.scratch() as folder:
        launched = mpi_launch.launchers()["Open MPI"]
        command = [CHECK, what] if count == 1 else [*launched, str(count), CHECK, what]
        done = subprocess.run(command, env=mpi_launch.environment(folder), capture_output=True,
                              text=True, timeout=240, check=False)
    return mpi_launch.said_by_ranks(count, done.stdout + done.stderr)


@unittest.skipUnless(mpi_launch.open_mpi(), mpi_launch.MISSING)
class DataParallelMpiTest(unittest.TestCase):

    def test_any_number_of_ranks_gives_the_parameters_of_one(self):
        alone = run(1, "exact")
        self.assertRegex(alone[0], "^bits [1-9]")
        for count in (2, 3):
            self.assertEqual(run(count, "exact"), alone * count)

    def test_all_ranks_have_the_same_parameters(self):
        for count in (2, 3):
            said = run(count, "train")
            self.assertRegex(said[0], "^bits [1-9]")
            self.assertEqual(said, said[:1] * count)
            self.assertEqual(run(count, "train"), said)  # and again, in another run
            self.assertEqual(run(count, "frozen"), said)

    def test_ranks_drop_different_elements(self):
        said = run(3, "dropout")
        self.assertEqual(len(set(" ".join(said).split())), 6, said)  # two masks of each
        self.assertEqual(said[:1], run(1, "dropout"))  # rank 0 goes on as it would alone
        self.assertEqual(run(3, "dropout"), said)  # and again, in another run

    def test_ranks_that_differ_are_told_so(self):
        self.assertEqual(run(2, "differ"), [
            'data_parallel: ranks differ: rank 0 has "parameter fc1.weight f32 [8, 2] on cpu", '
            'rank 1 has "parameter fc1.weight f32 [9, 2] on cpu"'] * 2)

    def test_a_rank_that_does_not_come_is_named(self):
        self.assertRegex(run(2, "absent")[0], "^data_parallel: .* on rank 0 waited 1s for rank 1$")

    def test_a_pass_that_fails_is_an_error_on_all(self):
        said = run(3, "throws")
        self.assertEqual(said[1], "no")
        for rank in (0, 2):
            self.assertEqual(said[rank], "data_parallel: rank 1 gave up: its backward pass failed")


if __name__ == "__main__":
    if not mpi_launch.open_mpi():
        print("no mpirun of Open MPI here: what needs it is skipped", file=sys.stderr)
    unittest.main()
