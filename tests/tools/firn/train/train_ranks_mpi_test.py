#!/usr/bin/env python3
"""`mpirun -n 2 firn train CONFIG` trains what one process trains; one rank writes the same files.

    bazel build //tools/firn
    tests/tools/firn/train/train_ranks_mpi_test.py bazel-bin/tools/firn/firn

Without Open MPI's launcher what needs it is skipped, and says so.
"""

import json
import os
import re
import subprocess
import sys
import time
import unittest

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../../device/comm"))
import mpi_launch  # noqa: E402

FIRN = os.path.abspath(sys.argv.pop())
BATCH = 8


def lines_of(text, start):
    return [line for line in text.splitlines() if line.startswith(start)]


@unittest.skipUnless(mpi_launch.open_mpi(), mpi_launch.MISSING)
class TrainRanksTest(unittest.TestCase):

    def setUp(self):
        scratch = mpi_launch.scratch()
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name
        self.env = mpi_launch.environment(self.folder, FIRN_NUM_THREADS="1")

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, samples=27, **more):
        """A configuration of a linear network on whole numbers, a quarter of them the validation.

        The gradient of an L1 loss is the mean of inputs times signs, and targets are far above
        what the network says: of 8 or 4 samples no sum is rounded, whatever its order.
        """
        with open(self.path(f"{samples}.csv"), "w", encoding="utf-8") as table:
            for i in range(samples):
                table.write(f"{i * 5 % 9 - 4},{i * 7 % 11 % 9 - 4},{1000 + i * i % 10}\n")
        config = {"data": {"kind": "csv", "file": f"{samples}.csv", "target": 2, "task": "numbers"},
                  "validation_share": 0.25, "model": {"name": "mlp", "hidden": []}, "loss": "l1",
                  "optimizer": {"name": "sgd", "lr": 0.5}, "epochs": 3, "batch": BATCH,
                  "output": "run_" + name, **more}
        with open(self.path(name + ".json"), "w", encoding="utf-8") as file:
            json.dump(config, file)
        return name

    def start(self, command):
        return subprocess.run(command, env=self.env, capture_output=True, text=True, timeout=240,
                              check=False)

    def command(self, name):
        return [FIRN, "train", self.path(name + ".json"), "--json"]

    def on_ranks(self, ranks, name, *more):
        """The process when it is over; of 1 rank without a launcher."""
        launched = [] if ranks == 1 else ["mpirun", "--oversubscribe", "-n", str(ranks)]
        return self.start([*launched, *self.command(name), *more])

    def trained(self, ranks, name):
        done = self.on_ranks(ranks, name)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)  # of one alone

    def read(self, name, file="parameters.h5"):
        with open(self.path(f"run_{name}/{file}"), "rb") as content:
            return content.read()

    def difference(self, a, b, bound):
        """What `firn compare` finds between two runs' parameters; "" within the bound."""
        done = self.start([FIRN, "compare", self.path(f"run_{a}/parameters.h5"),
                           self.path(f"run_{b}/parameters.h5"), "--atol", str(bound)])
        return done.stdout + done.stderr if done.returncode else ""

    def test_two_ranks_train_as_one(self):
        for frozen in (False, True):
            alone = self.trained(1, self.write(f"alone{frozen}", frozen=frozen))
            two = self.trained(2, self.write(f"two{frozen}", frozen=frozen))
            self.assertEqual(self.read(f"two{frozen}"), self.read(f"alone{frozen}"))
            self.assertEqual(two["step"], alone["step"])
            # Means of up to 8 f32 numbers below 2^10, either of them within 8 * 2^-14 of the right
            # one. The means of either rank's half, which has other targets, are farther away.
            for key in ("loss", "validation_loss"):
                self.assertAlmostEqual(two[key], alone[key], delta=16 * 2**-14, msg=key)

    def test_an_uneven_last_batch_is_weighted(self):
        # 28 samples leave 21 to train with, in batches of 8, 8 and 5. The last one gives the ranks
        # 3 and 2 samples.
        self.trained(1, self.write("alone", samples=28))
        self.trained(2, self.write("two", samples=28))
        # The weights, 6/5 and 4/5, the means and their sum: at most 4 roundings of up to 4 (the
        # largest input) in each of 3 steps, times the rate; and one of a parameter below
        # 1 + 9 * 0.5 * 4 = 19 in each of 9 steps.
        bound = 3 * 4 * 0.5 * 4 * 2**-24 + 9 * 19 * 2**-24
        self.assertEqual(self.difference("two", "alone", bound), "")
        done = self.on_ranks(2, self.write("uneven", samples=28, frozen=True))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn('"frozen" with 2 ranks: the last batch of an epoch has 5 samples', done.stderr)

    def test_batch_norms_see_the_whole_batch(self):
        more = {"model": {"name": "layers", "layers": [{"layer": "BatchNorm1d"},
                                                      {"layer": "Linear", "out": 1}]},
                "optimizer": {"name": "sgd", "lr": 0.0625}, "epochs": 1}
        self.trained(1, self.write("alone", **more))
        self.trained(2, self.write("two", **more))
        # The running statistics of half a batch would differ. Numbers are below 2^4. A step rounds
        # them at most 20 times and enlarges a difference at most by a factor of 1.2: this makes
        # 7e-5 in three steps.
        self.assertEqual(self.difference("two", "alone", 1e-4), "")

    def test_one_rank_prints_and_writes(self):
        done = self.on_ranks(2, self.write("two"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([json.loads(line)["epoch"] for line in lines_of(done.stderr, "{")],
                         [0, 1, 2])
        self.trained(1, self.write("alone"))
        self.assertEqual(sorted(os.listdir(self.path("run_two"))),
                         sorted(os.listdir(self.path("run_alone"))))
        self.assertEqual(len(self.read("two", "epochs.csv").splitlines()), 1 + 3)
        self.assertEqual(len(self.read("two", "training-loss.series.txt").splitlines()), 9)
        self.assertEqual(self.read("two", "config.json").replace(b"run_two", b"run_alone"),
                         self.read("alone", "config.json"))

    def test_any_number_of_ranks_goes_on(self):
        self.trained(1, self.write("alone", epochs=6))
        for ranks, epochs, begin in ((2, 2, 0), (1, 4, 6), (2, 6, 12)):
            done = self.trained(ranks, self.write("parts", epochs=epochs))
            self.assertEqual(done["resumed_at"], begin)
        self.assertEqual(self.read("parts"), self.read("alone"))

    def test_a_bad_configuration_is_one_error(self):
        for more, ranks, said in (({"epohcs": 3}, 2, 'there is no key "epohcs"'),
                                  ({"optimizer": {"name": "adma"}}, 2, 'got the text "adma"'),
                                  ({}, 3, '"batch" is 8 for 3 ranks together')):
            done = self.on_ranks(ranks, self.write("bad", **more))
            self.assertNotEqual(done.returncode, 0)
            # A rank that has not come so far gets the first rank's error in place of its own.
            errors = {re.sub("^firn: .*rank [0-9]+ gave up: ", "firn: ", line)
                      for line in lines_of(done.stderr, "firn: ")}
            self.assertEqual(len(errors), 1, done.stderr)
            self.assertIn(said, errors.pop())
            self.assertEqual(done.stdout.count("{"), 0)

    def test_checking_prints_once(self):
        done = self.on_ranks(2, self.write("check"), "--check")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("output", json.loads(done.stdout))
        self.assertFalse(os.path.exists(self.path("run_check")))

    def pair(self, first, second):
        return self.start(["mpirun", "--oversubscribe", "-n", "1", *self.command(first), ":",
                           "-n", "1", *self.command(second)])

    def test_ranks_that_differ_are_told_so(self):
        done = self.pair(self.write("first"), self.write("second", epochs=4))
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r'ranks differ: rank 0 has .*epochs.*3.*, rank 1 has .*epochs.*4')

    def test_a_rank_that_fails_ends_the_others(self):
        begin = time.monotonic()
        done = self.pair(self.write("first"), "missing")
        self.assertLess(time.monotonic() - begin, 50)  # and not the 60 s of the timeout
        self.assertNotEqual(done.returncode, 0)
        errors = lines_of(done.stderr, "firn: ")
        self.assertTrue(errors, done.stderr)
        for error in errors:
            self.assertIn("missing.json", error)

    def test_info_names_the_library_and_the_ranks(self):
        done = self.start(["mpirun", "--oversubscribe", "-n", "2", FIRN, "info"])
        self.assertEqual(done.returncode, 0, done.stderr)
        said = lines_of(done.stdout, "MPI ")
        self.assertEqual(len(said), 2, done.stdout)
        for line in said:
            self.assertIn(f"Open MPI v{mpi_launch.open_mpi()} (libmpi.so.", line)
        self.assertEqual(sorted(re.findall(r"process (\d) of 2", "".join(said))), ["0", "1"])


if __name__ == "__main__":
    if not mpi_launch.open_mpi():
        print("no mpirun of Open MPI here: what needs it is skipped", file=sys.stderr)
    unittest.main()
