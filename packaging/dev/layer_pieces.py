# SPDX-License-Identifier: Apache-2.0
"""PIECES: what stands before and behind networks: pixels and planes, resizes, reductions."""
import numpy as np

U8 = np.uint8


def moved(shape, perm, dtype=np.float32):
    return lambda n: n.op("Transpose", bytes_or_floats(n, shape, dtype), perm=perm)


def bytes_or_floats(n, shape, dtype):
    return n.input(*shape, dtype=U8, below=256) if dtype == U8 else n.input(*shape)


def normalized_image(n):
    planes = n.op("Transpose", n.input(1, 224, 224, 3, dtype=U8, below=256), perm=[0, 3, 1, 2])
    floats = n.op("Cast", planes, to=1)
    return n.op("Mul", n.op("Sub", floats, n.constant(np.full((1, 3, 1, 1), 120.0))),
                n.constant(np.full((1, 3, 1, 1), 0.017)))


def scaled(shape, scales, mode="linear", dtype=np.float32):
    return lambda n: n.op("Resize", bytes_or_floats(n, shape, dtype), "", n.constant(scales),
                          mode=mode)


def reduced(kind, shape, *axes):
    """ReduceSum takes its axes as an operand, the others as an attribute."""
    if kind == "ReduceSum":
        return lambda n: n.op(kind, n.input(*shape), n.integers(*axes))
    return lambda n: n.op(kind, n.input(*shape), axes=list(axes))


PIECES = {
    "bytes to planes": moved((1, 224, 224, 3), [0, 3, 1, 2], U8),
    "bytes to pixels": moved((1, 3, 224, 224), [0, 2, 3, 1], U8),
    "five bytes to planes": moved((1, 160, 160, 5), [0, 3, 1, 2], U8),
    "five to planes": moved((1, 160, 160, 5), [0, 3, 1, 2]),
    "normalized image": normalized_image,
    "linear of pixels": scaled((1, 40, 40, 64), [1, 2, 2, 1]),
    "linear of bytes": scaled((1, 3, 200, 200), [1, 1, 1.12, 1.12], dtype=U8),
    "linear of volumes": scaled((1, 16, 16, 16, 16), [1, 1, 2, 2, 2]),
    "cubic of pixels": scaled((1, 32, 32, 16), [1, 2, 2, 1], "cubic"),
    "rows of 8": reduced("ReduceSum", (20480, 8), 1),
    "rows of 16": reduced("ReduceSum", (20480, 16), 1),
    "rows of 40": reduced("ReduceMax", (8, 64, 40, 40), 3),
    "rows of 100": reduced("ReduceMean", (5120, 100), 1),
    "rows of 1000": reduced("ReduceMax", (512, 1000), 1),
    "planes of 7x7": reduced("ReduceSum", (8, 640, 7, 7), 2, 3),
    "planes of 40x40": reduced("ReduceMax", (8, 64, 40, 40), 2, 3),
    "all but channels": reduced("ReduceMean", (8, 64, 20, 20), 0, 2, 3),
}
