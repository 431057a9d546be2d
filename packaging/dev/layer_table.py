# SPDX-License-Identifier: Apache-2.0
"""LAYERS: networks of one or two layers, of shapes that nobody tuned for, by name."""
import math

import numpy as np

from layer_pieces import PIECES

U8, I8, I64 = np.uint8, np.int8, np.int64


def conv(n, x, inputs, outputs, kernel=3, stride=1, pad=None, dilation=1, groups=1, then="Relu",
         rank=2):
    """A convolution whose padding keeps sizes where `pad` is not given, and an activation."""
    kernel = [kernel] * rank if isinstance(kernel, int) else list(kernel)
    pads = [(k - 1) * dilation // 2 if pad is None else pad for k in kernel]
    y = n.op("Conv", x, n.weight(outputs, inputs // groups, *kernel), n.weight(outputs),
             kernel_shape=kernel, strides=[stride] * rank, pads=pads * 2,
             dilations=[dilation] * rank, group=groups)
    return n.op(then, y) if then else y


def twice(first, second):
    """Two layers, each a tuple of conv()'s arguments behind the shape of the input."""
    def make(n):
        shape, *rest = first
        return conv(n, conv(n, n.input(*shape), *rest[:-1], **rest[-1]), *second[:-1], **second[-1])
    return make


def once(shape, *sizes, **options):
    return lambda n: conv(n, n.input(*shape), *sizes, **options)


def deconv(shape, outputs, kernel, stride, pad, extra=0, groups=1, rank=2):
    def make(n):
        y = n.op("ConvTranspose", n.input(*shape),
                 n.weight(shape[1], outputs // groups, *[kernel] * rank), n.weight(outputs),
                 kernel_shape=[kernel] * rank, strides=[stride] * rank, pads=[pad] * 2 * rank,
                 output_padding=[extra] * rank, group=groups)
        return n.op("Relu", y)
    return make


def dense(n, x, depth, columns):
    weight = n.constant(n.random.randn(depth, columns) / math.sqrt(depth))
    return n.op("Add", n.op("MatMul", x, weight), n.weight(columns))


def mlp(shape, *sizes):
    def make(n):
        x, depth = n.input(*shape), shape[-1]
        for i, size in enumerate(sizes):
            x = dense(n, n.op("Relu", x) if i else x, depth, size)
            depth = size
        return x
    return make


def product(a, b):
    return lambda n: n.op("MatMul", n.input(*a), n.input(*b))


def heads(n, x, batch, length, count, size, axes):
    return n.op("Transpose", n.op("Reshape", x, n.integers(batch, length, count, size)), perm=axes)


def attend(n, query, key, value, count, size, lengths, batch=1, mask=None):
    """`lengths` of the queries and of the keys."""
    scores = n.op("MatMul", heads(n, query, batch, lengths[0], count, size, [0, 2, 1, 3]),
                  heads(n, key, batch, lengths[1], count, size, [0, 2, 3, 1]))
    scores = n.op("Mul", scores, n.constant(1 / math.sqrt(size)))
    if mask:
        scores = n.op("Add", scores, mask)
    mixed = n.op("MatMul", n.op("Softmax", scores, axis=-1),
                 heads(n, value, batch, lengths[1], count, size, [0, 2, 1, 3]))
    return n.op("Reshape", n.op("Transpose", mixed, perm=[0, 2, 1, 3]),
                n.integers(batch, lengths[0], count * size))


def attention(count, size, length, batch=1, masked=False):
    def make(n):
        width = count * size
        x = n.input(batch, length, width)
        mask = n.input(1, 1, length, length) if masked else None
        y = attend(n, dense(n, x, width, width), dense(n, x, width, width),
                   dense(n, x, width, width), count, size, (length, length), batch, mask)
        return dense(n, y, width, width)
    return make


def one(kind, *shapes, **attributes):
    """A single operator of inputs of these shapes."""
    return lambda n: n.op(kind, *[n.input(*shape) for shape in shapes], **attributes)


def pool(kind, shape, kernel, stride=1, pad=0):
    rank = len(shape) - 2
    return one(kind, shape, kernel_shape=[kernel] * rank, strides=[stride] * rank,
               pads=[pad] * 2 * rank)


def recurrent(kind, gates, length, batch, inputs, units, **attributes):
    directions = 2 if attributes.get("direction") == "bidirectional" else 1
    return lambda n: n.op(kind, n.input(length, batch, inputs),
                          n.weight(directions, gates * units, inputs),
                          n.weight(directions, gates * units, units),
                          results=3 if kind == "LSTM" else 2, hidden_size=units, **attributes)


def resize(shape, to, mode, **attributes):
    return lambda n: n.op("Resize", n.input(*shape), "", "", n.integers(*shape[:2], *to),
                          mode=mode, **attributes)


def quantized(n, x, scale, zero, dtype=U8):
    point = n.constant(zero, dtype)
    integers = n.op("QuantizeLinear", x, n.constant(scale), point)
    return n.op("DequantizeLinear", integers, n.constant(scale), point)


def quantized_weight(n, *shape, axis=0):
    scale = np.full(shape[axis], 0.02 / math.sqrt(np.prod(shape[1:]) / 9 + 1))
    values = n.random.randint(-127, 128, size=shape)
    return n.op("DequantizeLinear", n.constant(values, I8), n.constant(scale),
                n.constant(np.zeros(shape[axis]), I8), axis=axis)


def quantized_conv(n, x, inputs, outputs, kernel, stride=1, groups=1, dtype=U8):
    y = n.op("Conv", x, quantized_weight(n, outputs, inputs // groups, kernel, kernel),
             kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[kernel // 2] * 4, group=groups)
    return quantized(n, n.op("Relu", y), 0.05, 0 if dtype == I8 else 128, dtype)


def quantized_dense(shape, columns):
    return lambda n: quantized(n, n.op(
        "MatMul", quantized(n, n.input(*shape), 0.03, 128),
        quantized_weight(n, shape[-1], columns, axis=1)), 0.1, 128)


def dynamic_dense(shape, columns):
    """As ONNX Runtime quantizes layers whose ranges a run decides."""
    def make(n):
        integers, scale, zero = n.op("DynamicQuantizeLinear", n.input(*shape), results=3)
        weight = n.constant(n.random.randint(-127, 127, (shape[-1], columns)), I8)
        sums = n.op("Cast", n.op("MatMulInteger", integers, weight, zero), to=1)
        return n.op("Mul", sums, n.op("Mul", scale, n.constant(0.01)))
    return make


def gated(n, x):
    return n.op("Mul", x, n.op("Sigmoid", x))


def root_mean_square(n, x, width):
    mean = n.op("ReduceMean", n.op("Pow", x, n.constant(2.0)), axes=[-1], keepdims=1)
    scale = n.op("Reciprocal", n.op("Sqrt", n.op("Add", mean, n.constant(1e-6))))
    return n.op("Mul", n.op("Mul", x, scale), n.weight(width))


def gated_mlp(n):
    x = n.input(1, 64, 256)
    y = root_mean_square(n, x, 256)
    return n.op("Add", x, dense(n, n.op("Mul", gated(n, dense(n, y, 256, 688)),
                                        dense(n, y, 256, 688)), 688, 256))


def group_norm(n):
    x = n.op("InstanceNormalization", n.op("Reshape", n.input(1, 64, 32, 32), n.integers(0, 8, -1)),
             n.constant(np.ones(8)), n.constant(np.zeros(8)))
    x = n.op("Reshape", x, n.integers(1, 64, 32, 32))
    x = n.op("Add", n.op("Mul", x, n.weight(64, 1, 1)), n.weight(64, 1, 1))
    return conv(n, gated(n, x), 64, 64, then=None)


def norm_of_channels(n):
    x = n.op("Transpose", n.input(1, 96, 56, 56), perm=[0, 2, 3, 1])
    x = n.op("LayerNormalization", x, n.weight(96), n.weight(96), axis=-1)
    return n.op("Transpose", x, perm=[0, 3, 1, 2])


def squeeze_excite(n):
    x = n.input(1, 120, 28, 28)
    y = conv(n, n.op("GlobalAveragePool", x), 120, 32, 1)
    return n.op("Mul", x, n.op("HardSigmoid", conv(n, y, 32, 120, 1, then=None)))


def cross_attention(n):
    x, y = n.input(1, 64, 256), n.input(1, 300, 256)
    return attend(n, dense(n, x, 256, 256), dense(n, y, 256, 256), dense(n, y, 256, 256), 8, 32,
                  (64, 300))


def cached_attention(n):
    return attend(n, dense(n, n.input(1, 1, 512), 512, 512), n.input(1, 512, 512),
                  n.input(1, 512, 512), 8, 64, (1, 512))


def suppression(n):
    return n.op("NonMaxSuppression", n.op("Abs", n.input(1, 1000, 4)),
                n.op("Abs", n.input(1, 10, 1000)), n.integers(50), n.constant(0.5),
                n.constant(0.3))


def scatter_tuples(n):
    tuples = np.stack([n.random.randint(0, 64, 500), n.random.randint(0, 64, 500)], 1)
    return n.op("ScatterND", n.input(64, 64, 16), n.constant(tuples, I64), n.input(500, 16))


def focus(n):
    x = n.input(1, 3, 320, 320)
    parts = [n.op("Slice", x, n.integers(i, j), n.integers(9999, 9999), n.integers(2, 3),
                  n.integers(2, 2)) for j in (0, 1) for i in (0, 1)]
    return conv(n, n.op("Concat", *parts, axis=1), 12, 32)


IMAGE = (1, 64, 56, 56)

CONVOLUTIONS = {
    "3x3 odd": twice(((1, 19, 37, 53), 19, 45, {}), (45, 45, {})),
    "5x5 s2": twice(((1, 31, 65, 65), 31, 48, 5, 2, {}), (48, 96, 5, 2, {})),
    "7x7": once((1, 64, 28, 28), 64, 64, 7),
    "9x9 of 3": once((1, 3, 128, 128), 3, 64, 9),
    "11x11 s4": once((1, 3, 224, 224), 3, 64, 11, 4, 2),
    "1x7 7x1": twice(((1, 160, 17, 17), 160, 160, (1, 7), {}), (160, 192, (7, 1), {})),
    "3x3 s3": once((1, 48, 96, 96), 48, 96, 3, 3),
    "patches 2": once((1, 96, 56, 56), 96, 192, 2, 2, 0, then=None),
    "patches 4": once((1, 3, 224, 224), 3, 96, 4, 4, 0, then=None),
    "patches 16": once((1, 3, 224, 224), 3, 192, 16, 16, 0, then=None),
    "3x3 d2 d4": twice(((1, 40, 45, 45), 40, 72, {"dilation": 2}), (72, 72, {"dilation": 4})),
    "1x1 odd": twice(((1, 37, 40, 40), 37, 113, 1, {}), (113, 51, 1, {})),
    "1x1 wide": twice(((1, 512, 7, 7), 512, 2048, 1, {}), (2048, 512, 1, {})),
    "1x1 s2": once((1, 256, 56, 56), 256, 512, 1, 2),
    "3x3 batch 8": twice(((8, 64, 28, 28), 64, 64, {}), (64, 64, {})),
    "3x3 gray": twice(((1, 1, 512, 512), 1, 8, {}), (8, 1, {"then": None})),
    "3x3 colour": twice(((1, 3, 360, 640), 3, 16, {}), (16, 3, {"then": None})),
    "3x3 512": once((1, 512, 14, 14), 512, 512),
    "3x3 s2 512": once((1, 256, 28, 28), 256, 512, 3, 2),
    "12 groups": twice(((1, 96, 28, 28), 96, 96, {"groups": 12}), (96, 96, 1, {})),
    "2 groups": once((1, 96, 27, 27), 96, 256, 5, groups=2),
    "3 groups odd": once((1, 75, 30, 30), 75, 75, groups=3),
    "dw two each": once((1, 48, 56, 56), 48, 96, groups=48),
    "dw odd": twice(((1, 61, 57, 57), 61, 61, {"groups": 61}), (61, 61, 5, {"groups": 61})),
    "dw 7x7": once((1, 96, 56, 56), 96, 96, 7, groups=96, then=None),
    "dw 9x9 s2": once((1, 64, 56, 56), 64, 64, 9, 2, groups=64),
    "dw d3": once((1, 80, 33, 33), 80, 80, dilation=3, groups=80),
    "dw 1-D 31": once((1, 144, 400), 144, 144, 31, groups=144, rank=1),
    "1-D 7 d3": once((1, 64, 1000), 64, 128, 7, dilation=3, rank=1),
    "1-D 10 s5": once((1, 1, 16000), 1, 512, 10, 5, 0, rank=1),
    "1-D odd": once((2, 25, 777), 25, 50, 5, rank=1),
    "3-D": once((1, 4, 16, 32, 32), 4, 16, rank=3),
    "3-D 1": once((1, 32, 8, 28, 28), 32, 64, 1, rank=3),
    "up k4 s2": deconv((1, 128, 16, 16), 64, 4, 2, 1),
    "up k2 s2": deconv((1, 128, 28, 28), 64, 2, 2, 0),
    "up k3 s2 odd": deconv((1, 64, 40, 40), 33, 3, 2, 1, 1),
    "up k5 s1": deconv((1, 32, 32, 32), 32, 5, 1, 2),
    "up k9 s3 to 1": deconv((1, 56, 60, 60), 1, 9, 3, 4, 2),
    "up dw": deconv((1, 64, 28, 28), 64, 4, 2, 1, groups=64),
    "up 1-D": deconv((1, 128, 200), 64, 16, 8, 4, rank=1),
    "up 3-D": deconv((1, 32, 8, 16, 16), 16, 2, 2, 0, rank=3),
    "focus": focus,
    "squeeze": squeeze_excite,
}

PRODUCTS = {
    "512 to 1000": mlp((1, 512), 1000),
    "4096 to 1024": mlp((1, 4096), 1024),
    "784 300 10": mlp((32, 784), 300, 10),
    "100 333 33": mlp((7, 100), 333, 33),
    "768 3072": mlp((1, 128, 768), 3072, 768),
    "192 577": mlp((1, 197, 192), 577, 192),
    "256 cube": product((256, 256), (256, 256)),
    "batch odd": product((12, 77, 50), (12, 50, 77)),
    "broadcast": product((8, 1, 64, 40), (5, 40, 64)),
    "rows of batch": product((64, 1, 128), (64, 128, 128)),
    "outer": product((1000, 1), (1, 1000)),
    "transposed A": one("Gemm", (300, 200), (300, 150), transA=1),
    "einsum heads": one("Einsum", (2, 60, 4, 32), (2, 60, 4, 32), equation="bqhd,bkhd->bhqk"),
    "einsum batch": one("Einsum", (4, 60, 60), (4, 60, 30), equation="bij,bjk->bki"),
    "attention 5x40": attention(5, 40, 77),
    "attention 3x64": attention(3, 64, 197),
    "attention 8x16": attention(8, 16, 256, batch=2),
    "attention mask": attention(4, 80, 512, masked=True),
    "attention cross": cross_attention,
    "attention cache": cached_attention,
    "gated mlp": gated_mlp,
    "group norm": group_norm,
    "channel norm": norm_of_channels,
    "lstm 96": recurrent("LSTM", 4, 100, 1, 40, 96),
    "lstm 100": recurrent("LSTM", 4, 60, 1, 50, 100),
    "lstm both": recurrent("LSTM", 4, 50, 8, 64, 64, direction="bidirectional"),
    "lstm 512": recurrent("LSTM", 4, 30, 1, 256, 512),
    "gru 77": recurrent("GRU", 3, 60, 2, 33, 77, linear_before_reset=1),
    "gru 64": recurrent("GRU", 3, 60, 1, 64, 64),
    "rnn 100": recurrent("RNN", 1, 80, 4, 32, 100),
}

MOVES = {
    **{kind.lower(): one(kind, IMAGE) for kind in (
        "Erf", "Tanh", "Sigmoid", "Exp", "Softplus", "Sin", "Floor", "Sign", "HardSwish", "Elu")},
    "softmax rows": one("Softmax", (1000, 100)),
    "softmax channels": one("Softmax", (1, 21, 128, 128), axis=1),
    "log softmax": one("LogSoftmax", (16, 30522)),
    "argmax": one("ArgMax", (1, 21, 256, 256), axis=1),
    "topk": lambda n: n.op("TopK", n.input(10, 8400), n.integers(100), results=2),
    "topk many": lambda n: n.op("TopK", n.input(1, 20000), n.integers(1000), results=2),
    "topk sort": lambda n: n.op("TopK", n.input(4, 2048), n.integers(2048), results=2),
    "suppression": suppression,
    "cumsum outer": lambda n: n.op("CumSum", n.input(200, 300), n.constant(0, I64)),
    "cumsum": lambda n: n.op("CumSum", n.input(100, 2000), n.constant(1, I64)),
    "mean of planes": one("ReduceMean", (1, 256, 56, 56), axes=[2, 3]),
    "mean of 7x7": one("GlobalAveragePool", (1, 512, 7, 7)),
    "max of channels": one("ReduceMax", (1, 256, 56, 56), axes=[1]),
    "max 3 s2": pool("MaxPool", (1, 64, 112, 112), 3, 2, 1),
    "max 5": pool("MaxPool", (1, 128, 20, 20), 5, 1, 2),
    "max 2 of 20": pool("MaxPool", (4, 20, 65, 65), 2, 2),
    "max 1-D": pool("MaxPool", (1, 128, 4000), 4, 4),
    "max 3-D": pool("MaxPool", (1, 32, 16, 32, 32), 2, 2),
    "mean 3": pool("AveragePool", (1, 192, 35, 35), 3, 1, 1),
    "mean of 14x14": one("GlobalAveragePool", (8, 96, 14, 14)),
    "mean 5 s3": pool("AveragePool", (1, 128, 17, 17), 5, 3),
    "mean 7 s7": pool("AveragePool", (1, 64, 56, 56), 7, 7),
    "mean 11": pool("AveragePool", (1, 16, 128, 128), 11, 1, 5),
    "mean 2": pool("AveragePool", (1, 96, 56, 56), 2, 2),
    "instance norm": lambda n: n.op("InstanceNormalization", n.input(1, 64, 64, 64), n.weight(64),
                                    n.weight(64)),
    "layer norm odd": lambda n: n.op("LayerNormalization", n.input(400, 101), n.weight(101),
                                     n.weight(101)),
    "nearest x2": resize((1, 64, 40, 40), (80, 80), "nearest", nearest_mode="floor",
                         coordinate_transformation_mode="asymmetric"),
    "linear up": resize((1, 21, 33, 33), (257, 257), "linear",
                        coordinate_transformation_mode="align_corners"),
    "linear down": resize((1, 3, 480, 640), (224, 224), "linear"),
    "linear 0.7": resize((1, 64, 40, 40), (28, 28), "linear",
                         coordinate_transformation_mode="align_corners"),
    "nearest 1.5": resize((1, 32, 40, 40), (60, 60), "nearest"),
    "depth to space": one("DepthToSpace", (1, 144, 60, 60), blocksize=2, mode="CRD"),
    "rows to columns": one("Transpose", (1, 96, 56, 56), perm=[0, 2, 3, 1]),
    "image to planes": one("Transpose", (1, 224, 224, 3), perm=[0, 3, 1, 2]),
    "heads": one("Transpose", (8, 100, 12, 64), perm=[0, 2, 1, 3]),
    "all reversed": one("Transpose", (30, 40, 50, 6), perm=[3, 2, 1, 0]),
    "concat": one("Concat", (500, 30), (500, 50), (500, 7), axis=1),
    "pad zeros": lambda n: n.op("Pad", n.input(1, 32, 128, 128),
                                n.integers(0, 0, 1, 1, 0, 0, 1, 1)),
    "pad mirrored": lambda n: n.op("Pad", n.input(1, 32, 128, 128),
                                   n.integers(0, 0, 3, 3, 0, 0, 3, 3), mode="reflect"),
    "tile": lambda n: n.op("Tile", n.input(1, 64, 28, 28), n.integers(1, 2, 2, 2)),
    "gather rows": lambda n: n.op("Gather", n.weight(30000, 256),
                                  n.input(1, 384, dtype=I64, below=30000)),
    "gather": lambda n: n.op("GatherElements", n.input(100, 500),
                             n.input(100, 200, dtype=I64, below=500), axis=1),
    "scatter tuples": scatter_tuples,
    "one hot": lambda n: n.op("OneHot", n.input(1000, dtype=I64, below=200), n.constant(200, I64),
                              n.constant([0, 1])),
    "grid sample": one("GridSample", (1, 32, 64, 64), (1, 64, 64, 2)),
    "where": lambda n: n.op("Where", n.input(*IMAGE, dtype=np.bool_), n.input(*IMAGE),
                            n.constant(0.0)),
}

QUANTIZED = {
    "conv 3x3": lambda n: quantized_conv(n, quantized(n, n.input(1, 64, 28, 28), 0.05, 128), 64,
                                         64, 3),
    "conv 1x1 odd": lambda n: quantized_conv(n, quantized(n, n.input(1, 37, 28, 28), 0.05, 128),
                                             37, 111, 1),
    "conv dw": lambda n: quantized_conv(n, quantized(n, n.input(1, 96, 56, 56), 0.05, 128), 96, 96,
                                        3, groups=96),
    "conv 8 groups": lambda n: quantized_conv(n, quantized(n, n.input(1, 64, 28, 28), 0.05, 128),
                                              64, 64, 3, groups=8),
    "dense rows": quantized_dense((64, 512), 512),
    "dense rank 3": quantized_dense((1, 128, 256), 1024),
    "dense odd": quantized_dense((16, 256), 333),
    "dense one row": quantized_dense((1, 1024), 1000),
    "dense dynamic": dynamic_dense((32, 256), 256),
    "dense dynamic 3": dynamic_dense((1, 128, 256), 512),
    "mean": lambda n: quantized(n, n.op("GlobalAveragePool", quantized(
        n, n.input(1, 256, 14, 14), 0.05, 128)), 0.01, 128),
    "sigmoid": lambda n: quantized(n, n.op("Sigmoid", quantized(n, n.input(*IMAGE), 0.05, 128)),
                                   1 / 256, 0),
}

FAMILIES = (("conv", CONVOLUTIONS), ("product", PRODUCTS), ("move", MOVES), ("piece", PIECES),
            ("int8", QUANTIZED))
LAYERS = {f"{family} {name}": make for family, layers in FAMILIES
          for name, make in layers.items()}
