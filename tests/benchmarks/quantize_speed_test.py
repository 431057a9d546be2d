#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which models `./dev bench quantize --speed` measures, and where it says that integers are not faster.

usage: quantize_speed_test.py SOURCE_DIR
"""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(sys.argv.pop(1), "packaging/dev"))
import quantize_speed  # pylint: disable=wrong-import-position


class Networks(unittest.TestCase):
    def test_are_those_with_more_convolutions_than_other_layers(self):
        self.assertTrue(quantize_speed.is_convolutional({"nn.conv2d": 5, "nn.dense": 1, "add": 9}))
        self.assertTrue(quantize_speed.is_convolutional({"nn.conv2d_transpose": 1}))
        self.assertFalse(quantize_speed.is_convolutional({"nn.conv2d": 1, "nn.dense": 12}))
        self.assertFalse(quantize_speed.is_convolutional({"add": 3}))


class Rows(unittest.TestCase):
    def test_tell_where_integers_are_not_faster(self):
        row = {"here": {"ratio": .4}, "cortex-a72": {"ratio": 1.0}, "cortex-m4": {"reason": "large"}}
        self.assertEqual(quantize_speed.slower(row), ["cortex-a72"])

    def test_show_times_and_millions_of_instructions(self):
        cell = {"float": 2e6, "int8": 1e6, "ratio": .5}
        self.assertEqual(quantize_speed.text_of("cortex-m4", cell).split(), ["2.00", "1.00", "0.50"])
        self.assertEqual(quantize_speed.text_of("here", {"reason": "no"}).split(), ["–"] * 3)


if __name__ == "__main__":
    unittest.main()
