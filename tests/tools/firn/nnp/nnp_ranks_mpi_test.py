#!/usr/bin/env python3
"""`mpirun -n 2 firn nnp train FILE` trains what one process trains with batches of twice the size.

    bazel build //tools/firn
    tests/tools/firn/nnp/nnp_ranks_mpi_test.py bazel-bin/tools/firn/firn

Without Open MPI's launcher the test is skipped, and says so.
"""

import os
import subprocess
import sys
import time
import unittest

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../../device/comm"))
import mpi_launch  # noqa: E402

FIRN = os.path.abspath(sys.argv.pop())
ROWS = 12

# The gradient of an absolute error is the mean of inputs times signs, and targets are far above the
# network's results: sums of 4 or 2 whole numbers are not rounded in any order.
TEXT = """
training_config {{ max_epoch: {epochs} iter_per_epoch: {iterations} save_best: true }}
dataset {{ name: "train" uri: "{rows}" batch_size: {batch} variable: "x" variable: "y" }}
dataset {{ name: "test" uri: "{rows}" batch_size: {test_batch} variable: "x" variable: "y" }}
network {{ name: "n" batch_size: {batch} {network} }}
network {{ name: "v" batch_size: {test_batch} {test_network} }}
{optimizers}
monitor {{
  name: "valid_error" network_name: "v" dataset_name: "test"
  data_variable {{ variable_name: "x" data_name: "x" }}
  data_variable {{ variable_name: "y" data_name: "y" }}
  monitor_variable {{ variable_name: "loss" type: "Error" }}
}}
"""
OPTIMIZER = """
optimizer {{
  name: "of {parameter}" network_name: "n" dataset_name: "train" {more}
  solver {{ type: "Momentum" momentum_param {{ lr: 0.5 momentum: 0.5 }} {schedule} }}
  data_variable {{ variable_name: "x" data_name: "x" }}
  data_variable {{ variable_name: "y" data_name: "y" }}
  loss_variable {{ variable_name: "loss" }}
  parameter_variable {{ variable_name: "{parameter}" learning_rate_multiplier: 1 }}
}}
"""
NETWORK = """
  variable { name: "x" type: "Buffer" shape { dim: -1 dim: 2 } }
  variable { name: "y" type: "Buffer" shape { dim: -1 dim: 1 } }
  variable { name: "fc/W" type: "Parameter" shape { dim: 2 dim: 1 }
             initializer { type: "Constant" multiplier: 0 } }
  variable { name: "fc/b" type: "Parameter" shape { dim: 1 }
             initializer { type: "Constant" multiplier: 0 } }
  variable { name: "h" type: "Buffer" shape { dim: -1 dim: 1 } }
  variable { name: "loss" type: "Buffer" shape { dim: -1 dim: 1 } }
  function { name: "h" type: "Affine" input: "x" input: "fc/W" input: "fc/b" output: "h"
             affine_param { base_axis: 1 } }
  function { name: "l" type: "AbsoluteError" input: "h" input: "y" output: "loss" }
"""


def normalized(batch_stat):
    """The network after a batch norm, whose statistics no optimizer changes."""
    statistics = "".join(
        f'variable {{ name: "bn/{name}" type: "Parameter" shape {{ dim: 1 dim: 2 }} '
        f'initializer {{ type: "Constant" multiplier: {value} }} }}'
        for name, value in {"beta": 0, "gamma": 1, "mean": 0, "var": 1}.items())
    # A weight of 0 would stay 0: the inputs of each batch have the mean 0.
    rest = NETWORK.replace("multiplier: 0", "multiplier: 1").replace('input: "x"', 'input: "z"')
    return statistics + rest + f"""
  variable {{ name: "z" type: "Buffer" shape {{ dim: -1 dim: 2 }} }}
  function {{ name: "bn" type: "BatchNormalization" input: "x" input: "bn/beta" input: "bn/gamma"
             input: "bn/mean" input: "bn/var" output: "z" batch_normalization_param {{ axes: 1
             decay_rate: 0.5 eps: 0.001 batch_stat: {batch_stat} }} }}
"""


def lines_of(text, start):
    return [line for line in text.splitlines() if line.startswith(start)]


@unittest.skipUnless(mpi_launch.open_mpi(), mpi_launch.MISSING)
class NnpRanksTest(unittest.TestCase):

    def setUp(self):
        scratch = mpi_launch.scratch()
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name
        self.env = mpi_launch.environment(self.folder, FIRN_NUM_THREADS="1")
        with open(self.path("rows.csv"), "w", encoding="utf-8") as rows:
            rows.write("x__0,x__1,y\n")
            for i in range(ROWS):
                rows.write(f"{i * 5 % 9 - 4},{i * 7 % 11 % 9 - 4},{1000 + i * i % 10}\n")

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, batch, epochs=4, ranks=1, interval=1, layer="fc", **networks):
        """A training in whose epochs so many ranks go through the rows once each."""
        optimizers = OPTIMIZER.format(
            parameter=layer + "/W", more=f"update_interval: {interval}",
            schedule=f'lr_scheduler_type: "Step" step_scheduler_param {{ gamma: 0.5 iter_steps: '
                     f'{5 * ranks} }} lr_warmup_scheduler_type: "Linear" '
                     f'linear_warmup_scheduler_param {{ warmup_iter: {2 * ranks} }}')
        optimizers += OPTIMIZER.format(
            parameter=layer + "/b", schedule="",
            more=f"start_iter: {2 * ranks} end_iter: {11 * ranks}")
        networks = {"network": NETWORK, "test_network": NETWORK, "test_batch": 3, **networks}
        with open(self.path(name + ".nntxt"), "w", encoding="utf-8") as file:
            file.write(TEXT.format(rows=self.path("rows.csv"), batch=batch, epochs=epochs,
                                   iterations=ROWS // batch, optimizers=optimizers, **networks))
        return self.path(name + ".nntxt")

    def start(self, *command):
        return subprocess.run(command, env=self.env, capture_output=True, text=True, timeout=240,
                              check=False)

    def train(self, ranks, file, out, *more):
        launched = [] if ranks == 1 else [*mpi_launch.launchers()["Open MPI"], str(ranks)]
        return self.start(*launched, FIRN, "nnp", "train", file, "-o", self.path(out), "--allow-outside", *more)

    def trained(self, ranks, file, out, *more):
        done = self.train(ranks, file, out, *more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def parameters(self, out, epochs=4):
        unpacked = self.start(FIRN, "nnp", "unpack",
                              self.path(f"{out}/results_current_{epochs}.nnp"),
                              self.path(out + "_unpacked"))
        self.assertEqual(unpacked.returncode, 0, unpacked.stderr)
        with open(self.path(out + "_unpacked/parameter.h5"), "rb") as file:
            return file.read()

    def report(self, out):
        with open(self.path(out + "/monitoring_report.yml"), encoding="utf-8") as file:
            return [line.split(":") for line in file]

    def check_same(self, ranks, interval=1):
        whole = self.write("whole", 4, interval=interval)
        # An iteration of one process is one iteration of each rank.
        part = self.write("part", 4 // ranks, ranks=ranks, interval=interval)
        self.trained(1, whole, "alone")
        said = self.trained(ranks, part, "several")
        self.assertEqual(self.parameters("several"), self.parameters("alone"))
        self.assertEqual(len(lines_of(said.stderr, "epoch ")), 4, said.stderr)
        self.assertEqual(len(said.stdout.splitlines()), 1)
        self.assertEqual(sorted(os.listdir(self.path("several"))),
                         sorted(os.listdir(self.path("alone"))))
        several, alone = self.report("several"), self.report("alone")
        self.assertEqual([key for key, _ in several], [key for key, _ in alone])
        for (key, a), (_, b) in zip(several, alone):
            # Losses are f32 up to 2^10. Three roundings of their sums, of up to 2^12, and one of up
            # to 2^11 make up to 2^-13 in means; the cost is the sum of two.
            if a.strip():
                self.assertAlmostEqual(float(a), float(b), delta=2**-12, msg=key)

    def test_ranks_train_as_one_with_larger_batches(self):
        self.check_same(2)

    def test_gradients_that_are_summed_are_those_of_all(self):
        self.check_same(2, interval=3)

    def test_several_go_on_with_what_one_has_left(self):
        self.trained(1, self.write("whole", 4), "alone")
        self.trained(1, self.write("half", 4, epochs=2), "parts")
        done = self.trained(2, self.write("part", 2, ranks=2), "parts", "--resume")
        self.assertEqual(len(lines_of(done.stderr, "epoch ")), 2, done.stderr)
        self.assertEqual(self.parameters("parts"), self.parameters("alone"))

    def test_errors_are_those_of_what_is_saved(self):
        evaluated = normalized("false")
        file = self.write("norm", 2, ranks=2, network=normalized("true"), test_network=evaluated)
        self.trained(2, file, "several")
        # Trains other parameters, and evaluates the same.
        apart = self.write("apart", 4, epochs=1, layer="own", test_network=evaluated,
                           network=NETWORK.replace("fc/", "own/"))
        self.trained(1, apart, "alone", "-p", self.path("several/results_current_4.nnp"))
        several, alone = self.report("several")[-1], self.report("alone")[-1]
        self.assertEqual([several[0], alone[0]], ["  valid_error"] * 2)
        # Means of four and of two f32 numbers up to 2^10 differ by a few roundings of f64.
        self.assertAlmostEqual(float(several[1]), float(alone[1]), delta=2**-40)

    def test_names_may_differ_by_how_a_slash_is_written_alone(self):
        def both(path):  # one optimizer for two parameters
            with open(path, encoding="utf-8") as file:
                text = file.read().replace("fc/b", "fc%2FW")
            second = text[text.index('optimizer {\n  name: "of fc%2FW"'):text.index("monitor {")]
            moved = [line for line in second.splitlines() if "parameter_variable" in line]
            text = text.replace(second, "").replace("  parameter_variable", moved[0] +
                                                    "\n  parameter_variable")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            return path

        self.trained(1, both(self.write("whole", 4)), "alone")
        self.trained(2, both(self.write("part", 2, ranks=2)), "several")
        self.assertEqual(self.parameters("several"), self.parameters("alone"))

    def test_few_rows_to_evaluate_are_evaluated_once(self):
        file = self.write("few", 2, ranks=2, test_batch=8)
        self.trained(2, file, "out")
        errors = [float(value) for key, value in self.report("out") if "valid_error" in key]
        self.assertEqual(len(errors), 4)
        self.assertTrue(all(500 < error < 1100 for error in errors), errors)

    def test_ranks_of_other_files_are_told_so(self):
        files = [self.write("first", 2), self.write("second", 2, epochs=7)]
        commands = [["-n", "1", FIRN, "nnp", "train", file, "-o", self.path("out"), "--allow-outside"]
                    for file in files]
        done = self.start("mpirun", "--oversubscribe", *commands[0], ":", *commands[1])
        self.assertNotEqual(done.returncode, 0)
        self.assertIn('ranks differ: rank 0 has "max_epoch: 4", rank 1 has "max_epoch: 7"',
                      done.stderr)
        self.assertFalse(os.path.exists(self.path("out")))

    def test_a_rank_that_cannot_write_ends_the_others(self):
        with open(self.path("taken"), "w", encoding="utf-8"):
            pass
        began = time.monotonic()
        done = self.train(2, self.write("part", 2, ranks=2), "taken", "--timeout", "100")
        self.assertLess(time.monotonic() - began, 60)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("rank 0 gave up: ", done.stderr)

    def test_more_ranks_than_iterations_are_refused(self):
        file = self.write("short", ROWS)
        done = self.train(2, file, "out")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("training_config.iter_per_epoch: expected at least 2, one for each process, "
                      "got 1", done.stderr)


if __name__ == "__main__":
    if not mpi_launch.open_mpi():
        print(mpi_launch.MISSING + ": what needs it is skipped", file=sys.stderr)
    unittest.main()
