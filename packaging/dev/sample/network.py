# SPDX-License-Identifier: Apache-2.0
"""A tiny training framework (NHWC): convolutions, batch norm, ReLU, pooling, dense, Adam."""
import numpy as np


class Parameter:
    """A trained array with its gradient and Adam moments."""

    def __init__(self, value):
        self.value = value.astype(np.float32)
        self.grad = np.zeros_like(self.value)
        self.first = np.zeros_like(self.value)
        self.second = np.zeros_like(self.value)


class Layer:
    """forward(x, training) remembers what backward(grad), which sets gradients, needs."""

    parameters = ()


def padded(x):
    return np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))


def taps(stride, height, width):
    """The nine slices of a padded image that a 3x3 window of this stride reads."""
    for i in range(3):
        for j in range(3):
            yield (i, j, slice(i, i + stride * (height - 1) + 1, stride),
                   slice(j, j + stride * (width - 1) + 1, stride))


class Conv3x3(Layer):
    """Dense 3x3 convolution, padding 1; weight [3, 3, inputs, outputs]."""

    def __init__(self, inputs, outputs, stride, rng):
        self.stride = stride
        self.weight = Parameter(rng.normal(0, np.sqrt(2 / (9 * inputs)), (3, 3, inputs, outputs)))
        self.parameters = (self.weight,)

    def forward(self, x, training):
        n, h, w, _ = x.shape
        h, w = (h - 1) // self.stride + 1, (w - 1) // self.stride + 1
        self.wide = padded(x)
        y = 0
        for i, j, rows, columns in taps(self.stride, h, w):
            y = y + self.wide[:, rows, columns] @ self.weight.value[i, j].astype(x.dtype)
        return y

    def backward(self, grad):
        wide = np.zeros_like(self.wide)
        _, h, w, outputs = grad.shape
        flat = grad.reshape(-1, outputs)
        for i, j, rows, columns in taps(self.stride, h, w):
            patch = self.wide[:, rows, columns]
            self.weight.grad[i, j] = patch.reshape(-1, patch.shape[-1]).T @ flat
            wide[:, rows, columns] += grad @ self.weight.value[i, j].T
        return wide[:, 1:-1, 1:-1]


class Depthwise3x3(Layer):
    """One 3x3 filter per channel, padding 1; weight [3, 3, channels]."""

    def __init__(self, channels, stride, rng):
        self.stride = stride
        self.weight = Parameter(rng.normal(0, np.sqrt(2 / 9), (3, 3, channels)))
        self.parameters = (self.weight,)

    def forward(self, x, training):
        _, h, w, _ = x.shape
        h, w = (h - 1) // self.stride + 1, (w - 1) // self.stride + 1
        self.wide = padded(x)
        y = 0
        for i, j, rows, columns in taps(self.stride, h, w):
            y = y + self.wide[:, rows, columns] * self.weight.value[i, j].astype(x.dtype)
        return y

    def backward(self, grad):
        wide = np.zeros_like(self.wide)
        _, h, w, _ = grad.shape
        for i, j, rows, columns in taps(self.stride, h, w):
            self.weight.grad[i, j] = (self.wide[:, rows, columns] * grad).sum((0, 1, 2))
            wide[:, rows, columns] += grad * self.weight.value[i, j]
        return wide[:, 1:-1, 1:-1]


class Dense(Layer):
    """y = x w (+ b) over the last axis; also the 1x1 convolution."""

    def __init__(self, inputs, outputs, bias, rng):
        self.weight = Parameter(rng.normal(0, np.sqrt(2 / inputs), (inputs, outputs)))
        self.bias = Parameter(np.zeros(outputs)) if bias else None
        self.parameters = (self.weight, self.bias) if bias else (self.weight,)

    def forward(self, x, training):
        self.x = x
        y = x @ self.weight.value.astype(x.dtype)
        return y + self.bias.value if self.bias else y

    def backward(self, grad):
        flat = grad.reshape(-1, grad.shape[-1])
        self.weight.grad[...] = self.x.reshape(-1, self.x.shape[-1]).T @ flat
        if self.bias:
            self.bias.grad[...] = flat.sum(0)
        return grad @ self.weight.value.T


class BatchNorm(Layer):
    """Normalises each channel over the batch; keeps running statistics for inference."""

    epsilon = 1e-5

    def __init__(self, channels):
        self.scale, self.shift = Parameter(np.ones(channels)), Parameter(np.zeros(channels))
        self.mean, self.variance = np.zeros(channels, np.float32), np.ones(channels, np.float32)
        self.parameters = (self.scale, self.shift)

    def forward(self, x, training):
        mean, variance = self.mean.astype(x.dtype), self.variance.astype(x.dtype)
        if training:
            mean, variance = x.mean((0, 1, 2)), x.var((0, 1, 2))
            self.mean = .9 * self.mean + .1 * mean
            self.variance = .9 * self.variance + .1 * variance
        self.inverse = 1 / np.sqrt(variance + x.dtype.type(self.epsilon))
        self.normal = (x - mean) * self.inverse
        return self.normal * self.scale.value + self.shift.value

    def backward(self, grad):
        self.scale.grad[...] = (grad * self.normal).sum((0, 1, 2))
        self.shift.grad[...] = grad.sum((0, 1, 2))
        count = grad.size // grad.shape[-1]
        centred = grad - (self.shift.grad + self.normal * self.scale.grad) / count
        return centred * (self.scale.value * self.inverse)


class Relu(Layer):
    def forward(self, x, training):
        self.mask = x > 0
        return x * self.mask

    def backward(self, grad):
        return grad * self.mask


class GlobalAverage(Layer):
    def forward(self, x, training):
        self.shape = x.shape
        return x.mean((1, 2))

    def backward(self, grad):
        area = self.shape[1] * self.shape[2]
        return np.broadcast_to(grad[:, None, None] / area, self.shape).astype(grad.dtype)


class Chain(Layer):
    """Layers one after the other; `residual` adds the input to the result."""

    def __init__(self, layers, residual=False):
        self.layers, self.residual = layers, residual
        self.parameters = [p for layer in layers for p in layer.parameters]

    def forward(self, x, training):
        y = x
        for layer in self.layers:
            y = layer.forward(y, training)
        return x + y if self.residual else y

    def backward(self, grad):
        down = grad
        for layer in reversed(self.layers):
            down = layer.backward(down)
        return down + grad if self.residual else down


def softmax(logits):
    shifted = np.exp(logits - logits.max(1, keepdims=True))
    return shifted / shifted.sum(1, keepdims=True)


def adam_step(parameters, step, rate):
    for p in parameters:
        p.first = .9 * p.first + .1 * p.grad
        p.second = .999 * p.second + .001 * p.grad ** 2
        scale = rate * np.sqrt(1 - .999 ** step) / (1 - .9 ** step)
        p.value -= (scale * p.first / (np.sqrt(p.second) + 1e-7)).astype(np.float32)
