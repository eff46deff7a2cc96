#!/usr/bin/env python3
"""The model of many ranks, and the page that has its tables: python3 tests/tools/scripts/scaling_model_test.py"""

import contextlib
import io
import os
import sys
import tempfile
import unittest

ROOT = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../..")
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "tools/scripts"))
import scaling_model  # noqa: E402


class ScalingModelTest(unittest.TestCase):

    def test_the_page_has_the_tables(self):
        self.assertEqual(scaling_model.main(["--check"]), 0)

    def test_a_page_with_other_tables_is_refused(self):
        with open(scaling_model.PAGE, encoding="utf-8") as page:
            text = page.read()
        with tempfile.NamedTemporaryFile("w", suffix=".md", encoding="utf-8") as other:
            other.write(text.replace("| deep_cnn, 64 per rank; 10 Gb/s", "| deep_cnn; 10 Gb/s"))
            other.flush()
            with contextlib.redirect_stdout(io.StringIO()) as said:
                self.assertEqual(scaling_model.main(["--check", f"--page={other.name}"]), 1)
        self.assertIn("has other tables", said.getvalue())

    def test_buckets_have_all_bytes(self):
        self.assertEqual(scaling_model.buckets_of(1000), [1000])
        self.assertEqual(scaling_model.buckets_of(2**20 + 5), [2**20, 5])
        self.assertEqual(scaling_model.buckets_of(60 * 2**20),
                         [2**20, 25 * 2**20, 25 * 2**20, 9 * 2**20])

    def test_a_reduction_is_latency_bytes_and_sums(self):
        # Two ranks: one round each way, half of the bytes each way, half of them added.
        want = 2 * 1e-3 + 2 * 500 / 1e3 + 500 * scaling_model.ADD
        self.assertAlmostEqual(scaling_model.reduce_s(1000, 2, 1e-3, 1e3), want)
        self.assertAlmostEqual(scaling_model.reduce_s(0, 1000, 1e-3, 1e3), 20e-3)

    def test_a_step_ends_with_its_last_bucket(self):
        # One bucket begins when the backward pass ends.
        network = (0.0, 1e6)
        alone = scaling_model.reduce_s(1000, 8, *network)
        self.assertAlmostEqual(scaling_model.step_s(1.0, 1000, 8, network), 1.0 + alone)
        # The first of two buckets is hidden if it is done before the second is full.
        second = scaling_model.reduce_s(5, 8, 0.0, 1e9)
        self.assertAlmostEqual(scaling_model.step_s(1.0, 2**20 + 5, 8, (0.0, 1e9)), 1.0 + second)

    def test_shorter_steps_lose_more(self):
        network = scaling_model.NETWORKS["10 Gb/s Ethernet, TCP"]
        shortest = scaling_model.smallest_step_s(1e7, 64, network)
        share = [x / scaling_model.step_s(x, 1e7, 64, network)
                 for x in (shortest / 2, shortest, shortest * 2)]
        self.assertAlmostEqual(share[1], 0.9, places=6)
        self.assertLess(share[0], 0.9)
        self.assertGreater(share[2], 0.9)


if __name__ == "__main__":
    unittest.main()
