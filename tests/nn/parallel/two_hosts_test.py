#!/usr/bin/env python3
"""Ranks of two machines, which are two network namespaces here, joined by a cable (veth).

Each has a name and an address of its own. The test runs in the first one; a script in place of ssh
(plm_rsh_agent of Open MPI) starts the processes of the second. The namespaces disappear with the last
process in them, however the test ends.

If namespaces may not be made or Open MPI's launcher is missing, the test is skipped and says so.
"""

import os
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../device/comm"))
import mpi_launch  # noqa: E402

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
COLLECTIVES = os.path.join(TESTS, "device/comm/mpi_ranks_check")
TRAINING = os.path.join(TESTS, "nn/parallel/data_parallel_check")
ADDRESSES = ("10.77.0.1", "10.77.0.2")
UNSHARE = ["unshare", "--net", "--uts"] if os.getuid() == 0 else [
    "unshare", "--map-root-user", "--net", "--uts"]

# Takes arguments like ssh: the host, and a command for a shell there.
AGENT = """#!/bin/sh
[ "$1" = {address} ] || {{ echo "there is no host $1" >&2; exit 255; }}
shift
exec nsenter --net=/proc/{process}/ns/net --uts=/proc/{process}/ns/uts sh -c "$*"
"""


def reason_to_skip():
    if not mpi_launch.open_mpi():
        return mpi_launch.MISSING
    try:
        made = subprocess.run(
            [*UNSHARE, "sh", "-c",
             "hostname a && ip link add name veth-a type veth peer name veth-b && ip link set lo up"],
            capture_output=True, text=True, check=False)
    except OSError as error:
        return str(error)
    if made.returncode != 0:
        return f"namespaces with a network cannot be made here: {made.stderr.strip()}"
    return None


class TwoHostsTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        # It ends when its input ends, which is when this process ends.
        cls.second = subprocess.Popen(
            ["unshare", "--net", "--uts", "sh", "-c", "hostname firn-b && echo made && exec cat"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        cls.addClassCleanup(cls.end_second)
        assert cls.second.stdout.readline() == "made\n"
        process = cls.second.pid
        there = ["nsenter", f"--net=/proc/{process}/ns/net"]
        for command in (["hostname", "firn-a"],
                        ["ip", "link", "add", "name", "veth-a", "type", "veth",
                         "peer", "name", "veth-b", "netns", str(process)],
                        ["ip", "address", "add", ADDRESSES[0] + "/24", "dev", "veth-a"],
                        [*there, "ip", "address", "add", ADDRESSES[1] + "/24", "dev", "veth-b"],
                        ["ip", "link", "set", "lo", "up"],
                        [*there, "ip", "link", "set", "lo", "up"],
                        ["ip", "link", "set", "veth-a", "up"],
                        [*there, "ip", "link", "set", "veth-b", "up"]):
            subprocess.run(command, check=True)
        scratch = mpi_launch.scratch()
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = scratch.name
        cls.agent = os.path.join(scratch.name, "agent")
        with open(cls.agent, "w", encoding="utf-8") as script:
            script.write(AGENT.format(address=ADDRESSES[1], process=process))
        os.chmod(cls.agent, 0o700)

    @classmethod
    def end_second(cls):
        cls.second.stdin.close()
        cls.second.stdout.close()
        cls.second.wait()

    def run_on(self, first, second, *command):
        """What processes say, by their ranks: `first` of the one host, then `second` of the other."""
        hosts = ",".join(f"{address}:{count}" for address, count in
                         zip(ADDRESSES, (first, second)) if count != 0)
        done = subprocess.run(
            ["mpirun", "--mca", "plm_rsh_agent", self.agent, "--host", hosts,
             "--bind-to", "none", "-n", str(first + second), *command],
            env=mpi_launch.environment(self.folder, FIRN_NUM_THREADS="1"), capture_output=True,
            text=True, timeout=240, check=False)
        return mpi_launch.said_by_ranks(first + second, done.stdout + done.stderr)

    def test_memory_is_shared_within_a_host_alone(self):
        self.assertEqual(self.run_on(2, 2, COLLECTIVES, "hosts"), ["hosts ok"] * 4)

    def test_ranks_of_two_hosts_train_as_one_process(self):
        alone = subprocess.run([TRAINING, "exact"], capture_output=True, text=True, check=True)
        want = mpi_launch.said_by_ranks(1, alone.stdout)
        self.assertRegex(want[0], "^bits [1-9]")
        self.assertEqual(self.run_on(1, 1, TRAINING, "exact"), want * 2)
        self.assertEqual(self.run_on(2, 1, TRAINING, "exact"), want * 3)

    def test_a_frozen_step_gives_the_bits_of_an_eager_one(self):
        said = self.run_on(1, 1, TRAINING, "train")
        self.assertRegex(said[0], "^bits [1-9]")
        self.assertEqual(said, said[:1] * 2)
        self.assertEqual(self.run_on(1, 1, TRAINING, "frozen"), said)

    def test_a_rank_of_the_other_host_that_does_not_come_is_named(self):
        self.assertRegex(self.run_on(1, 1, TRAINING, "absent")[0],
                         "^data_parallel: .* on rank 0 waited 1s for rank 1$")


if __name__ == "__main__":
    if why := reason_to_skip():
        print(f"skipped: {why}", file=sys.stderr)
    # FIRN_FIRST_HOST: 1 in the process that already has namespaces of its own.
    elif os.environ.get("FIRN_FIRST_HOST") != "1":
        os.execvpe(UNSHARE[0], [*UNSHARE, sys.executable, os.path.abspath(__file__), *sys.argv[1:]],
                   dict(os.environ, FIRN_FIRST_HOST="1"))
    else:
        unittest.main()
