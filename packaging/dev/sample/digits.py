# SPDX-License-Identifier: Apache-2.0
"""Renders digits from strokes of our own: random slant, size, place, pen, waviness and noise."""
import numpy as np

SIZE = 32


def arc(cx, cy, rx, ry, start, end, steps=14):
    """Points of an ellipse from `start` to `end` degrees; y grows downwards."""
    angles = np.radians(np.linspace(start, end, steps))
    return [(cx + rx * np.cos(a), cy + ry * np.sin(a)) for a in angles]


# Each digit has variants; a variant is a list of strokes; points lie in [-1, 1] x [-1, 1].
GLYPHS = [
    [[arc(0, 0, .62, .95, 0, 360, 26)], [arc(0, 0, .5, .95, 0, 360, 26)]],
    [[[(-.35, -.6), (.1, -.95), (.1, .95)]],
     [[(0, -.95), (0, .95)]],
     [[(-.35, -.55), (.1, -.95), (.1, .95)], [(-.4, .95), (.55, .95)]]],
    [[arc(0, -.45, .58, .5, 190, 375) + [(.3, .25), (-.6, .95), (.65, .95)]],
     [arc(0, -.45, .55, .5, 180, 400) + [(-.2, .6), (-.6, .9), (-.2, .8), (.3, .95), (.7, .85)]]],
    [[arc(-.02, -.47, .5, .47, 200, 450) + arc(-.05, .47, .6, .48, 270, 520)],
     [[(-.55, -.95), (.5, -.95), (-.05, -.2)] + arc(-.05, .38, .6, .57, 270, 510)]],
    [[[(.3, .95), (.3, -.95), (-.65, .35), (.7, .35)]],
     [[(-.45, -.95), (-.55, .1), (.6, .1)], [(.35, -.6), (.3, .95)]]],
    [[[(.55, -.95), (-.45, -.95), (-.5, -.1)] + arc(-.05, .35, .6, .57, 235, 510)],
     [[(-.45, -.95), (-.5, -.1)] + arc(-.05, .35, .6, .57, 235, 500), [(-.45, -.95), (.6, -.9)]]],
    [[[(.4, -.95), (-.2, -.35), (-.52, .3)] + arc(0, .45, .53, .5, 190, 545)],
     [arc(.1, 0, .68, .95, 285, 120) + arc(0, .45, .5, .5, 120, -200)]],
    [[[(-.6, -.95), (.6, -.95), (-.15, .95)]],
     [[(-.6, -.95), (.6, -.95), (-.05, .95)], [(-.35, 0), (.5, 0)]],
     [[(-.6, -.7), (-.6, -.95), (.6, -.95), (.05, .1), (-.1, .95)]]],
    [[arc(0, -.48, .45, .46, 90, 450, 20) + arc(0, .48, .58, .47, 270, 630, 22)],
     [arc(0, -.45, .5, .48, 300, 90) + arc(0, .48, .55, .46, 270, 630) + [(.45, -.8)]]],
    [[arc(0, -.42, .53, .52, 0, 360, 22) + [(.53, -.42), (.45, .35), (.15, .95)]],
     [arc(-.05, -.42, .5, .52, 0, 360, 22) + [(.47, -.5), (.45, .95)]]],
]


def segments_of(digit, rng):
    """Line segments [n, 2, 2] of one random variant, wavy by a smooth random displacement."""
    variants = GLYPHS[digit]
    strokes = variants[rng.integers(len(variants))]
    phase = rng.uniform(0, 2 * np.pi, 4)
    waviness = rng.uniform(0, .09)
    parts = []
    for stroke in strokes:
        points = np.array(stroke, np.float64)
        x, y = points[:, 0], points[:, 1]
        dx = waviness * (np.sin(2.1 * y + phase[0]) + np.sin(3.7 * x + phase[1]))
        dy = waviness * (np.sin(2.3 * x + phase[2]) + np.sin(3.1 * y + phase[3]))
        points = points + np.stack([dx, dy], 1)
        parts.append(np.stack([points[:-1], points[1:]], 1))
    return np.concatenate(parts)


def random_affine(rng):
    """Matrix and offset from glyph space to pixels."""
    angle = np.radians(rng.uniform(-14, 14))
    scale = rng.uniform(8, 12.5)
    aspect = rng.uniform(.75, 1.15)
    shear = rng.uniform(-.28, .28)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    matrix = turn @ np.array([[1, shear], [0, 1]]) @ np.diag([scale * aspect, scale])
    return matrix, SIZE / 2 - .5 + rng.uniform(-2.5, 2.5, 2)


def render(digit, rng):
    """One image [SIZE, SIZE] in [0, 1]: ink is 1, anti-aliased by distance to the nearest stroke."""
    matrix, offset = random_affine(rng)
    segments = segments_of(digit, rng) @ matrix.T + offset
    start, along = segments[:, 0], segments[:, 1] - segments[:, 0]
    ys, xs = np.mgrid[0:SIZE, 0:SIZE]
    pixels = np.stack([xs.ravel(), ys.ravel()], 1).astype(np.float64)
    from_start = pixels[:, None, :] - start[None]
    length2 = np.maximum((along ** 2).sum(1), 1e-9)
    t = np.clip((from_start * along).sum(2) / length2, 0, 1)
    distance = np.sqrt(((from_start - t[:, :, None] * along) ** 2).sum(2).min(1))
    pen, softness = rng.uniform(.7, 2.0), rng.uniform(.6, 1.4)
    ink = np.clip(.5 + (pen - distance) / (2 * softness), 0, 1) * rng.uniform(.65, 1)
    paper = rng.uniform(0, .15)
    image = paper + (1 - paper) * ink + rng.normal(0, rng.uniform(.01, .09), ink.shape)
    return np.clip(image, 0, 1).reshape(SIZE, SIZE)


def data_set(count, seed):
    """`count` images [count, SIZE, SIZE, 1] float32 and labels; equal seeds give equal sets."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(count) % 10)
    images = np.stack([render(int(d), rng) for d in labels])
    return images[..., None].astype(np.float32), labels
