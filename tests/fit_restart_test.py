#!/usr/bin/env python3
"""A job of several processes, one of which is killed at any moment, goes on to the bit.

fit_restart_check trains a small network with Fit. A random rank is killed (SIGKILL) at a random moment,
and the same command is given again, until a run comes to its end. Its parameters and optimizer must be
those of an undisturbed run.

FIRN_KILLS: how many times a process is killed, for 2 and for 4 ranks together; 6 when unset.
FIRN_KILL_SEED: the seed of the moments, which a failure prints; any when unset.

Without Open MPI's launcher the test is skipped, and says so.
"""

import os
import random
import re
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "device/comm"))
import mpi_launch  # noqa: E402

CHECK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fit_restart_check")
KILLS = int(os.environ.get("FIRN_KILLS", "6"))
SEED = int(os.environ.get("FIRN_KILL_SEED", random.randrange(1 << 30)))


def is_alive(process):
    """Whether there is a process of that number which is no zombie."""
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@unittest.skipUnless(mpi_launch.open_mpi(), mpi_launch.MISSING)
class FitRestartTest(unittest.TestCase):

    def setUp(self):
        scratch = mpi_launch.scratch()
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name
        self.launchers = os.path.join(self.folder, "launcher")
        os.mkdir(self.launchers)
        # The files that Open MPI would put into /dev/shm go to a folder where the test sees whether
        # they are removed.
        self.env = mpi_launch.environment(self.launchers, FIRN_NUM_THREADS="1",
                                          OMPI_MCA_btl_vader_backing_directory=self.launchers)

    def ranks_of(self, run, count):
        """The process numbers that the ranks have written, when all have."""
        found = []
        end = time.monotonic() + 60
        while len(found) < count and time.monotonic() < end:
            found = []
            for rank in range(count):
                try:
                    with open(f"{run}.{rank}", encoding="utf-8") as file:
                        text = file.read()
                    if text.endswith("\n"):
                        found.append(int(text))
                except FileNotFoundError:
                    pass
            time.sleep(0.005)
        self.assertEqual(len(found), count, "ranks have not begun within 60 s")
        return found

    def start(self, run, count):
        """A job and the process numbers of its ranks."""
        for rank in range(count):
            if os.path.exists(f"{run}.{rank}"):
                os.remove(f"{run}.{rank}")
        job = subprocess.Popen(["mpirun", "--oversubscribe", "-n", str(count), CHECK, run],
                               env=self.env, text=True, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT)
        self.addCleanup(job.stdout.close)
        self.addCleanup(lambda: job.poll() is None and job.kill())
        return job, self.ranks_of(run, count)

    def end(self, job, ranks):
        """What the job has printed, once it is over and nothing is left of it."""
        text = job.communicate(timeout=120)[0]
        end = time.monotonic() + 10
        while any(map(is_alive, ranks)) and time.monotonic() < end:
            time.sleep(0.01)
        self.assertEqual([rank for rank in ranks if is_alive(rank)], [], text)
        left = [os.path.join(where, file) for where, _, files in os.walk(self.launchers)
                for file in files]
        self.assertEqual(left, [], text)
        return text

    def check(self, count, kills):
        """Whether jobs with `kills` kills among them end like one that has none."""
        draw = random.Random(SEED + count)
        job, ranks = self.start(os.path.join(self.folder, "whole"), count)
        begin = time.monotonic()
        said = self.end(job, ranks)
        want = sorted(re.findall(r"^rank \d+ of \d+: bits \d+$", said, re.M))
        takes = time.monotonic() - begin
        self.assertEqual(len(want), count, said)
        killed, jobs = 0, 0
        while killed < kills or jobs == 0:
            run = os.path.join(self.folder, f"job{jobs}")
            jobs += 1
            while True:
                job, ranks = self.start(run, count)
                before = killed
                if killed < kills:
                    time.sleep(draw.uniform(0, 0.9 * takes))
                    if job.poll() is None:
                        victim = draw.choice(ranks)
                        if is_alive(victim):
                            os.kill(victim, signal.SIGKILL)
                            killed += 1
                text = self.end(job, ranks)
                if job.returncode == 0:
                    break
                self.assertGreater(killed, before, f"a job that nobody has killed failed:\n{text}")
            got = sorted(re.findall(r"^rank \d+ of \d+: bits \d+$", text, re.M))
            self.assertEqual(got, want, f"FIRN_KILL_SEED={SEED}, after {killed} kills:\n{text}")
        print(f"{count} ranks: {killed} kills in {jobs} jobs of {takes:.2f} s", file=sys.stderr)

    def test_two_ranks_go_on_to_the_bit(self):
        self.check(2, (KILLS + 1) // 2)

    def test_four_ranks_go_on_to_the_bit(self):
        self.check(4, KILLS // 2)


if __name__ == "__main__":
    if not mpi_launch.open_mpi():
        print("no mpirun of Open MPI here: what needs it is skipped", file=sys.stderr)
    unittest.main()
