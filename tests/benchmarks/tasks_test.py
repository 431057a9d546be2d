#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the labelled tasks are measured with: the area under a curve, and results added to a model.

usage: tasks_test.py SOURCE_DIR
"""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(sys.argv.pop(1), "packaging/dev"))
import onnx_writer  # pylint: disable=wrong-import-position
from tasks.auc import area_under_curve  # pylint: disable=wrong-import-position


class AreaUnderCurve(unittest.TestCase):
    def test_tells_order(self):
        self.assertEqual(area_under_curve([1, 2, 3, 4], [0, 0, 1, 1]), 1)
        self.assertEqual(area_under_curve([4, 3, 2, 1], [0, 0, 1, 1]), 0)
        self.assertEqual(area_under_curve([1, 2, 3, 4], [0, 1, 0, 1]), .75)

    def test_counts_equal_scores_half(self):
        self.assertEqual(area_under_curve([1, 1, 1], [0, 1, 1]), .5)
        self.assertEqual(area_under_curve([1, 2, 2, 3], [0, 0, 1, 1]), 3.5 / 4)

    def test_needs_both_kinds(self):
        with self.assertRaises(ValueError):
            area_under_curve([1, 2], [1, 1])


class WithOutputs(unittest.TestCase):
    def test_appends_to_the_graph(self):
        model = onnx_writer.model("g", [], [], [("x", [1])], [("y", [1])], "test")
        more = onnx_writer.with_outputs(model, ["inner"])
        self.assertTrue(more.startswith(model))
        self.assertIn(onnx_writer.block(1, "inner"), more[len(model):])


if __name__ == "__main__":
    unittest.main()
