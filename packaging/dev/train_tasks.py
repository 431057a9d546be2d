#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains the models of the labelled tasks of `./dev bench quantize --tasks` and writes
tests/benchmarks/tasks/NAME.onnx; the digits are train_sample.py's.

usage: train_tasks.py shapes|keywords|machines [--epochs N] [--out FILE]
Needs Debian's python3-torch; one thread, seeded, minutes each.
"""
import argparse
import os

import numpy as np
import torch
from torch import nn

from tasks import sounds
from tasks.auc import area_under_curve
from tasks.data import TASKS, TEST_SEED, TRAIN_SEED
from tasks.shapes import NAMES as SHAPES

BATCH, TEST_COUNT = 64, 2000


def conv(inputs, outputs, size, stride, groups=1):
    return nn.Sequential(nn.Conv2d(inputs, outputs, size, stride, size // 2, groups=groups,
                                   bias=False), nn.BatchNorm2d(outputs), nn.ReLU())


def separable(inputs, outputs, stride=1):
    return nn.Sequential(conv(inputs, inputs, 3, stride, inputs), conv(inputs, outputs, 1, 1))


def head(channels, classes):
    return nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, classes))


def shape_network():
    """As MobileNet: a strided convolution, then pairs of depthwise and pointwise ones."""
    return nn.Sequential(
        conv(3, 16, 3, 2), separable(16, 32, 2), separable(32, 32), separable(32, 64, 2),
        separable(64, 64), separable(64, 128, 2), separable(128, 128),
        head(128, len(SHAPES)))


def keyword_network():
    """As the DS-CNN of keyword spotting: one convolution, four separable ones of equal width."""
    class Stem(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(1, 48, (10, 4), 2, (4, 1), bias=False)
            self.bn, self.act = nn.BatchNorm2d(48), nn.ReLU()

        def forward(self, x):
            return self.act(self.bn(self.conv(x)))

    return nn.Sequential(Stem(), *(separable(48, 48) for _ in range(4)),
                         head(48, len(sounds.NAMES)))


def machine_network():
    """As the autoencoder of machine sounds: dense layers through a bottleneck."""
    sizes = [sounds.MACHINE_FRAMES * sounds.BANDS, 128, 128, 128, 8, 128, 128, 128]
    layers = [part for inputs, outputs in zip(sizes, sizes[1:])
              for part in (nn.Linear(inputs, outputs), nn.BatchNorm1d(outputs), nn.ReLU())]
    return nn.Sequential(*layers, nn.Linear(sizes[-1], sizes[0]))


# Network, training examples, epochs.
RECIPES = {"shapes": (shape_network, 16000, 14), "keywords": (keyword_network, 12000, 12),
           "machines": (machine_network, 20000, 20)}


def varied(pictures):
    """Turned, mirrored and shifted, with colours exchanged and inverted: a shape stays one."""
    out = torch.rot90(pictures, int(torch.randint(4, ())), (2, 3))
    out = out[:, torch.randperm(3)].roll(torch.randint(-6, 7, (2,)).tolist(), (2, 3))
    out = out.flip(3) if torch.rand(()) < .5 else out
    return 1 - out if torch.rand(()) < .5 else out


def train(network, task, inputs, labels, epochs):
    """`labels` are not read where the network reproduces its input."""
    optimizer = torch.optim.Adam(network.parameters(), 3e-3)
    steps = epochs * (len(inputs) // BATCH)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    loss_of = nn.MSELoss() if task.measure == "auc" else nn.CrossEntropyLoss()
    for epoch in range(epochs):
        network.train()
        order, total = torch.randperm(len(inputs)), 0.0
        for start in range(0, len(inputs) - BATCH + 1, BATCH):
            pick = order[start:start + BATCH]
            x = varied(inputs[pick]) if inputs.shape[1] == 3 else inputs[pick]
            loss = loss_of(network(x), x if task.measure == "auc" else labels[pick])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            total += loss.item()
        print(f"epoch {epoch + 1}: loss {total * BATCH / len(inputs):.4f}", flush=True)


def measured(network, task):
    inputs, labels = task.data_set(TEST_COUNT, TEST_SEED)
    network.eval()
    with torch.no_grad():
        outputs = np.concatenate([network(part).numpy()
                                  for part in torch.from_numpy(inputs).split(250)])
    if task.measure == "auc":
        return area_under_curve(((outputs - inputs) ** 2).mean(1), labels)
    return float((outputs.argmax(1) == labels).mean())


def export(network, example, path):
    """Batch normalization stays a node of its own, as it is behind training."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    torch.onnx.export(network.eval(), example, path, opset_version=13, input_names=["x"],
                      output_names=["y"], do_constant_folding=False,
                      training=torch.onnx.TrainingMode.PRESERVE)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("task", choices=RECIPES)
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--out")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(7)
    task = TASKS[arguments.task]
    build, count, epochs = RECIPES[arguments.task]
    inputs, labels = (torch.from_numpy(part) for part in task.calibration(count, TRAIN_SEED))
    network = build()
    train(network, task, inputs, labels, arguments.epochs or epochs)
    print(f"held-back {task.measure} {measured(network, task):.4f} on {TEST_COUNT}")
    path = arguments.out or task.model
    export(network, inputs[:1], path)
    print(f"wrote {path}: {os.path.getsize(path)} bytes")


if __name__ == "__main__":
    main()
