# SPDX-License-Identifier: Apache-2.0
"""Renders shapes in colour: random place, size, turn and squeeze, over a gradient, with stray lines,
a covering bar and noise, so that some cannot be told."""
import numpy as np

SIZE = 64
NAMES = ["disc", "ring", "square", "frame", "triangle", "pentagon", "hexagon", "star", "plus",
         "half disc", "crescent", "angle"]


def polygon(u, v, corners):
    """Below 0 inside of a regular polygon whose corners lie on the unit circle."""
    step = 2 * np.pi / corners
    angle = np.mod(np.arctan2(v, u), step) - step / 2
    return np.hypot(u, v) * np.cos(angle) - np.cos(step / 2)


def star(u, v):
    step = 2 * np.pi / 5
    angle = np.abs(np.mod(np.arctan2(v, u), step) - step / 2)
    r = np.hypot(u, v)
    x, y = r * np.cos(angle), r * np.sin(angle)
    tip, dent = np.array([np.cos(step / 2), np.sin(step / 2)]), np.array([.42, 0])
    edge = tip - dent
    return ((x - dent[0]) * edge[1] - y * edge[0]) / np.hypot(*edge)


def box(u, v, half_width, half_height):
    return np.maximum(np.abs(u) - half_width, np.abs(v) - half_height)


# Below 0 inside, about the distance from the edge near it.
FIELDS = [
    lambda u, v: np.hypot(u, v) - .85,
    lambda u, v: np.abs(np.hypot(u, v) - .7) - .2,
    lambda u, v: box(u, v, .75, .75),
    lambda u, v: np.abs(box(u, v, .6, .6)) - .17,
    lambda u, v: polygon(u, v, 3),
    lambda u, v: polygon(u, v, 5),
    lambda u, v: polygon(u, v, 6),
    star,
    lambda u, v: np.minimum(box(u, v, .28, .9), box(u, v, .9, .28)),
    lambda u, v: np.maximum(np.hypot(u, v) - .95, -v - .1),
    lambda u, v: np.maximum(np.hypot(u, v) - .95, .75 - np.hypot(u - .5, v)),
    lambda u, v: np.minimum(box(u + .5, v, .25, .85), box(u, v - .6, .75, .25)),
]


def strokes(rng, count, ys, xs):
    """A stray line through each picture: its distance in pixels."""
    angle = rng.uniform(0, np.pi, (count, 1, 1))
    offset = rng.uniform(-20, 20, (count, 1, 1))
    return np.abs((xs - 31.5) * np.cos(angle) + (ys - 31.5) * np.sin(angle) - offset)


def render(labels, rng):
    """Pictures [n, 3, SIZE, SIZE] in [0, 1]."""
    n = len(labels)

    def draw(low, high, *shape):
        return rng.uniform(low, high, (n, *shape, 1, 1))

    ys, xs = np.mgrid[0:SIZE, 0:SIZE][:, None].astype(np.float64)
    angle, scale = draw(0, 2 * np.pi), draw(14, 25)
    dx, dy = xs - 31.5 - draw(-8, 8), ys - 31.5 - draw(-8, 8)
    squeeze = draw(.75, 1)
    u = (dx * np.cos(angle) + dy * np.sin(angle)) / scale
    v = (dy * np.cos(angle) - dx * np.sin(angle)) / (scale * squeeze)
    field = np.empty_like(u)
    for label in range(len(NAMES)):
        picks = np.flatnonzero(labels == label)
        field[picks] = FIELDS[label](u[picks], v[picks])
    ink = np.clip(.5 - field * scale / draw(1, 2.5), 0, 1)[:, None]
    slope = (xs - 31.5) / 64 * draw(-.4, .4) + (ys - 31.5) / 64 * draw(-.4, .4)
    paper = draw(.2, .8, 3) + slope[:, None]
    colour = paper + draw(.22, .55, 3) * np.where(draw(0, 1, 3) < .5, -1, 1)
    image = paper + (colour - paper) * ink
    line = np.clip(1.5 - strokes(rng, n, ys, xs), 0, 1)[:, None] * (draw(0, 1, 1) < .5)
    image = image + (draw(0, 1, 3) - image) * line
    bar = (np.abs(xs - draw(0, 63)) < draw(0, 3))[:, None] * (draw(0, 1, 1) < .3)
    image = np.where(bar, draw(0, 1, 3), image)
    image = image + rng.normal(0, 1, image.shape) * draw(.02, .13, 1)
    return np.clip(image, 0, 1).astype(np.float32)


def data_set(count, seed):
    """`count` pictures and labels; equal seeds give equal sets."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(count) % len(NAMES))
    parts = [render(labels[i:i + 250], rng) for i in range(0, count, 250)]
    return np.concatenate(parts), labels
