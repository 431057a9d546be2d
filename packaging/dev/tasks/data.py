# SPDX-License-Identifier: Apache-2.0
"""The labelled tasks on which quantization is measured: their models and the seeds of their data."""
import os
from dataclasses import dataclass
from typing import Callable

from sample import digits
from source_tree import ROOT
from tasks import shapes, sounds

TRAIN_SEED, TEST_SEED, CALIBRATION_SEED = 11, 12, 13
MODELS = os.path.join(ROOT, "tests/benchmarks/tasks")


def digit_set(count, seed):
    """Renders as the sample model takes them: channels first."""
    images, labels = digits.data_set(count, seed)
    return images.transpose(0, 3, 1, 2).copy(), labels


@dataclass(frozen=True)
class Task:
    """`data_set(count, seed)` gives inputs and labels; a measure is "accuracy" (labels are classes)
    or "auc" (labels say whether the input is abnormal, the score is the error of its
    reconstruction)."""

    model: str
    measure: str
    data_set: Callable
    calibration: Callable

    def examples(self, count):
        """To calibrate with: no labels, nothing abnormal, none of those that are tested."""
        return self.calibration(count, CALIBRATION_SEED)[0]

    def test(self, count):
        return self.data_set(count, TEST_SEED)


def normal_machines(count, seed):
    return sounds.machine_set(count, seed, 0)


TASKS = {
    "digits": Task(os.path.join(ROOT, "resources/sample/digits/model.onnx"), "accuracy",
                   digit_set, digit_set),
    "shapes": Task(os.path.join(MODELS, "shapes.onnx"), "accuracy", shapes.data_set,
                   shapes.data_set),
    "keywords": Task(os.path.join(MODELS, "keywords.onnx"), "accuracy", sounds.keyword_set,
                     sounds.keyword_set),
    "machines": Task(os.path.join(MODELS, "machines.onnx"), "auc", sounds.machine_set,
                     normal_machines),
}
