#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains the bundled sample model on rendered digits and writes resources/sample/digits.

usage: train_sample.py [--epochs N] [--out DIR]      needs python3-numpy; minutes on two cores
"""
import argparse
import json
import os

import numpy as np

import onnx_writer
from sample import digits
from sample.network import (BatchNorm, Chain, Conv3x3, Dense, Depthwise3x3, GlobalAverage, Relu,
                            adam_step, softmax)
from source_tree import ROOT

TRAIN_SEED, TEST_SEED, TRAIN_COUNT, TEST_COUNT = 1, 2, 20000, 4000


def separable(inputs, outputs, stride, rng):
    layers = [Depthwise3x3(inputs, stride, rng), BatchNorm(inputs), Relu(),
              Dense(inputs, outputs, False, rng), BatchNorm(outputs), Relu()]
    return Chain(layers, residual=inputs == outputs and stride == 1)


def build(rng):
    return Chain([
        Chain([Conv3x3(1, 16, 2, rng), BatchNorm(16), Relu()]),
        separable(16, 32, 1, rng),
        separable(32, 64, 2, rng),
        separable(64, 64, 1, rng),
        separable(64, 96, 2, rng),
        GlobalAverage(),
        Dense(96, 10, True, rng),
    ])


def train(network, images, labels, epochs, rng):
    batch, step = 100, 0
    total = epochs * (len(images) // batch)
    for epoch in range(epochs):
        order, loss = rng.permutation(len(images)), 0.0
        for start in range(0, len(images) - batch + 1, batch):
            pick = order[start:start + batch]
            p = softmax(network.forward(images[pick], True))
            loss -= np.log(p[np.arange(batch), labels[pick]] + 1e-12).mean()
            p[np.arange(batch), labels[pick]] -= 1
            network.backward((p / batch).astype(np.float32))
            step += 1
            rate = 3e-3 * (.5 + .5 * np.cos(np.pi * step / total))
            adam_step(network.parameters, step, rate)
        print(f"epoch {epoch + 1}: loss {loss * batch / len(images):.4f}", flush=True)


def accuracy(network, images, labels):
    right = 0
    for start in range(0, len(images), 500):
        logits = network.forward(images[start:start + 500], False)
        right += int((logits.argmax(1) == labels[start:start + 500]).sum())
    return right / len(images)


def tensor(name, array):
    return onnx_writer.tensor(name, array.shape, array.tobytes())


class GraphWriter:
    """Turns the trained layers into ONNX nodes whose names carry the hierarchy."""

    def __init__(self):
        self.nodes, self.weights = [], []

    def weight(self, name, array):
        self.weights.append(tensor(name, np.ascontiguousarray(array, np.float32)))
        return name

    def add(self, op, scope, inputs, **attributes):
        name = f"{scope}/{op}"
        output = f"{name}_output_0"
        self.nodes.append(onnx_writer.node(op, name, inputs, [output], **attributes))
        return output

    def conv(self, scope, x, weight, stride, group, kernel):
        pad = kernel // 2
        key = scope.strip("/").replace("/", ".")
        return self.add("Conv", scope, [x, self.weight(f"{key}.weight", weight)], group=group,
                        dilations=[1, 1], kernel_shape=[kernel, kernel], pads=[pad] * 4,
                        strides=[stride, stride])

    def batch_norm(self, scope, x, layer):
        key = scope.strip("/").replace("/", ".")
        names = [self.weight(f"{key}.{n}", a) for n, a in (
            ("weight", layer.scale.value), ("bias", layer.shift.value),
            ("running_mean", layer.mean), ("running_var", layer.variance))]
        return self.add("BatchNormalization", scope, [x] + names, epsilon=layer.epsilon,
                        momentum=.9)

    def separable(self, scope, x, chain):
        depthwise, bn1, _, pointwise, bn2, _ = chain.layers
        filters = depthwise.weight.value.transpose(2, 0, 1)[:, None]
        y = self.conv(f"{scope}/depthwise/conv", x, filters, depthwise.stride, len(filters), 3)
        y = self.batch_norm(f"{scope}/depthwise/bn", y, bn1)
        y = self.add("Relu", f"{scope}/depthwise/act", [y])
        y = self.conv(f"{scope}/pointwise/conv", y, pointwise.weight.value.T[:, :, None, None],
                      1, 1, 1)
        y = self.batch_norm(f"{scope}/pointwise/bn", y, bn2)
        y = self.add("Relu", f"{scope}/pointwise/act", [y])
        return self.add("Add", scope, [x, y]) if chain.residual else y


def export(network):
    stem, *blocks, _, head = network.layers
    writer = GraphWriter()
    x = writer.conv("/stem/conv", "image", stem.layers[0].weight.value.transpose(3, 2, 0, 1),
                    stem.layers[0].stride, 1, 3)
    x = writer.batch_norm("/stem/bn", x, stem.layers[1])
    x = writer.add("Relu", "/stem/act", [x])
    for number, block in enumerate(blocks, 1):
        x = writer.separable(f"/features/block{number}", x, block)
    x = writer.add("GlobalAveragePool", "/head/pool", [x])
    x = writer.add("Flatten", "/head/flatten", [x], axis=1)
    x = writer.add("Gemm", "/head/classifier",
                   [x, writer.weight("head.classifier.weight", head.weight.value.T),
                    writer.weight("head.classifier.bias", head.bias.value)],
                   alpha=1.0, beta=1.0, transB=1)
    writer.nodes.append(onnx_writer.node("Softmax", "/head/Softmax", [x], ["probabilities"],
                                         axis=1))
    return onnx_writer.model("digits", writer.nodes, writer.weights,
                             [("image", [1, 1, digits.SIZE, digits.SIZE])],
                             [("probabilities", [1, 10])], "tenon train_sample")


def write(path, content):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(content)


def write_test_data(network, out, images, labels, measured):
    """Three held-back digits; reference outputs are evaluated in double precision."""
    sets = []
    for index, digit in enumerate((3, 7, 8)):
        pick = int(np.flatnonzero(labels == digit)[0])
        image = images[pick:pick + 1]
        p = softmax(network.forward(image.astype(np.float64), False)).astype(np.float32)
        folder = os.path.join(out, f"test_data_set_{index}")
        write(os.path.join(folder, "input_0.pb"),
              tensor("image", np.ascontiguousarray(image.transpose(0, 3, 1, 2))))
        write(os.path.join(folder, "output_0.pb"), tensor("probabilities", p))
        sets.append({"set": index, "desc": f"a rendered {digit}; expect argmax {digit}",
                     "outputs": [{"name": "probabilities", "dtype": "float32", "shape": [1, 10],
                                  "absmax": float(p.max()), "suggested_atol": 1e-5,
                                  "suggested_rtol": 1e-3}]})
    meta = {"name": "digits", "license": "Apache-2.0", "producer": "packaging/dev/train_sample.py",
            "reference": "the script's own evaluation in double precision",
            "labels": [str(d) for d in range(10)],
            "held_back_accuracy": measured, "held_back_images": len(images), "sets": sets}
    write(os.path.join(out, "meta.json"), (json.dumps(meta, indent=1) + "\n").encode())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--out", default=os.path.join(ROOT, "resources/sample/digits"))
    arguments = parser.parse_args()
    rng = np.random.default_rng(7)
    images, labels = digits.data_set(TRAIN_COUNT, TRAIN_SEED)
    held_images, held_labels = digits.data_set(TEST_COUNT, TEST_SEED)
    network = build(rng)
    train(network, images, labels, arguments.epochs, rng)
    measured = accuracy(network, held_images, held_labels)
    print(f"held-back accuracy {measured:.4f} on {TEST_COUNT} renders")
    content = export(network)
    write(os.path.join(arguments.out, "model.onnx"), content)
    write_test_data(network, arguments.out, held_images, held_labels, measured)
    print(f"wrote {arguments.out}: model.onnx, {len(content)} bytes")


if __name__ == "__main__":
    main()
