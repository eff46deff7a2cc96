#!/usr/bin/env python3
"""Processes that MPI starts do together what mpi_ranks_check says, and hear of those that fail.

Each launcher of MPI that is installed takes its turn: Open MPI's mpirun, MPICH's mpiexec.hydra.
Without any the test is skipped, and says so.
"""

import os
import re
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import mpi_launch  # noqa: E402

CHECK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "mpi_ranks_check")


def run(launcher, count, what, shared, **variables):
    """What the processes print, a line each, sorted; environment variables reach all of them."""
    with mpi_launch.scratch() as folder:
        env = mpi_launch.environment(folder, FIRN_SHARED_RANKS=str(int(shared)), **variables)
        done = subprocess.run([*launcher, str(count), CHECK, *what], env=env, capture_output=True,
                              text=True, timeout=240, check=False)
    said = [line for line in done.stdout.splitlines() if line.startswith(("rank ", "this is"))]
    return sorted(said), done.stdout + done.stderr


class MpiRanksTest(unittest.TestCase):

    def check(self, count, what, *want, shared=(True, False), **variables):
        """Whether the processes say `want`, among other things, under each launcher.

        Once with memory that all of them see, and once through MPI alone.
        """
        for name, launcher in mpi_launch.launchers().items():
            for way in shared:
                with self.subTest(launcher=name, count=count, what=what, shared=way):
                    said, text = run(launcher, count, what.split(), way, **variables)
                    self.assertLessEqual(set(want), set(said), text)

    def check_all(self, count, what, **options):
        """Starts the processes once; all of them must find that each of `what` holds, one after the other."""
        self.check(count, what, *(f"rank {rank} of {count}: {each} ok"
                                  for rank in range(count) for each in what.split()), **options)

    def test_one_rank(self):
        self.check_all(1, "collectives operations")

    def test_two_ranks(self):
        self.check_all(2, "collectives operations small overlap fork")
        self.check_all(2, "in_order", shared=[True])

    def test_three_ranks(self):
        self.check_all(3, "collectives")
        self.check_all(3, "in_order", shared=[True])

    def test_four_ranks(self):
        self.check_all(4, "collectives operations split")

    def test_checked_calls_do_the_same(self):
        self.check_all(3, "collectives operations split", FIRN_CHECK_COLLECTIVES="1")

    def test_calls_that_do_not_fit_are_named(self):
        self.check(2, "unlike", *(f"rank {r} of 2: both calls are named" for r in range(2)),
                   shared=[True])

    def test_a_rank_that_stops_in_a_call_is_named(self):
        self.check(2, "stopped", "rank 0 of 2: all_reduce of 16777216 f32 (sum) on rank 0 "
                   "waited 1s for rank 1")

    def test_a_rank_that_ends_by_an_exception_is_named(self):
        self.check(3, "exception", "rank 1 has found no data",
                   "rank 0 of 3: rank 1 gave up: it ends by an exception",
                   shared=(True,))

    def test_a_rank_that_gives_up_is_named(self):
        self.check(3, "abort", "rank 2 of 3: rank 1 gave up: the disk is full",
                   "rank 2 of 3: heard that rank 1 gave up: the disk is full",
                   shared=(True,))

    def test_a_rank_that_does_not_come_is_named(self):
        self.check(2, "late", "rank 0 of 2: barrier on rank 0 waited 1s for rank 1",
                   "rank 0 again: calls of MPI have failed in this process before; start it again",
                   shared=(True,))

    def test_a_rank_that_comes_late_to_a_split_hears_of_it(self):
        self.check(2, "late_split", "rank 0 of 2: barrier on rank 0 waited 1s for rank 1",
                   "rank 1 of 2: rank 0 gave up: barrier on rank 0 waited 1s for rank 1",
                   shared=(True,))

    def test_a_rank_ends_though_another_does_not(self):
        self.check(2, "alone", "rank 0 has ended",
                   shared=(True,))

    def test_calls_that_differ_are_named_on_all_ranks(self):
        differ = ("call 0: rank 0 called all_reduce of 10 f32 (sum), "
                  "rank 1 all_reduce of 11 f32 (sum)")
        for name, launcher in mpi_launch.launchers().items():
            with self.subTest(launcher=name):
                for way in (True, False):
                    said, text = run(launcher, 3, ["differ"], way, FIRN_CHECK_COLLECTIVES="1")
                    self.assertEqual([line.endswith(differ) for line in said], [True] * 3, text)

    def test_calls_that_differ_in_a_part_are_named_on_all_ranks(self):
        differ = ("call 0: rank 0 (1 before Split) called all_reduce of 10 f32 (sum), "
                  "rank 1 (2 before Split) all_reduce of 11 f32 (sum)")
        for name, launcher in mpi_launch.launchers().items():
            with self.subTest(launcher=name):
                said, text = run(launcher, 4, ["differ_in_part"], False,
                                 FIRN_CHECK_COLLECTIVES="1")
                self.assertEqual([differ in line for line in said], [True] * 4, text)


class WithoutMpiTest(unittest.TestCase):

    def test_a_launched_process_says_that_there_is_no_library(self):
        with mpi_launch.scratch() as folder:
            # The loader looks here first, and gives up at a file that is no library: so installed
            # ones are not found either.
            for name in ("libmpi.so.40", "libmpich.so.12", "libmpi.so.12"):
                with open(os.path.join(folder, name), "w", encoding="utf-8"):
                    pass
            env = {"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2",
                   "LD_LIBRARY_PATH": folder}
            done = subprocess.run([CHECK, "collectives"], env=env, capture_output=True, text=True,
                                  check=False)
        self.assertRegex(done.stdout, re.compile(
            "^this is process 1 of 2 of a launcher, but there is no MPI library: looked for "))
        self.assertEqual(done.returncode, 1)

    def test_a_task_of_srun_without_mpi_says_so(self):
        env = {"SLURM_PROCID": "1", "SLURM_STEP_NUM_TASKS": "2"}
        done = subprocess.run([CHECK, "collectives"], env=env, capture_output=True, text=True,
                              check=False)
        self.assertRegex(done.stdout, "^srun has started this as task 1 of 2 without MPI, ")
        self.assertEqual(done.returncode, 1)

    def test_a_process_of_its_own_is_the_only_rank(self):
        # The second is what a batch script of Slurm sees.
        for env in ({}, {"SLURM_PROCID": "0", "SLURM_NTASKS": "4"},
                    {"SLURM_PROCID": "0", "SLURM_NTASKS": "1", "SLURM_STEP_NUM_TASKS": "1"}):
            with self.subTest(env=env):
                self.check_alone(env)

    def check_alone(self, env):
        done = subprocess.run([CHECK, "collectives"], env=env, capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.stdout.strip().splitlines()[-1], "rank 0 of 1: collectives ok")


if __name__ == "__main__":
    if not mpi_launch.launchers():
        print("no launcher of MPI here (Debian's openmpi-bin or mpich): what needs one is skipped",
              file=sys.stderr)
    unittest.main()
