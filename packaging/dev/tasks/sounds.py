# SPDX-License-Identifier: Apache-2.0
"""Synthesizes sounds of one second and their mel spectrograms: kinds of signals to be told apart in
noise, and a machine's hum that is as it should be or not."""
import numpy as np

RATE, LENGTH = 8000, 8000
WINDOW, HOP, BANDS = 256, 160, 32
FRAMES = (LENGTH - WINDOW) // HOP + 1
NAMES = ["tone", "chord", "rising chirp", "falling chirp", "siren", "tremolo", "noise burst",
         "clicks", "two beeps", "pluck"]
TIME = np.arange(LENGTH) / RATE


def mel_filters():
    """Triangles [BANDS, bins], evenly spaced in mels."""
    mels = np.linspace(0, 2595 * np.log10(1 + RATE / 2 / 700), BANDS + 2)
    edges = 700 * (10 ** (mels / 2595) - 1) * WINDOW / RATE
    bins = np.arange(WINDOW // 2 + 1)[None]
    low, middle, high = (edges[i:i + BANDS, None] for i in range(3))
    rise = (bins - low) / np.maximum(middle - low, 1)
    fall = (high - bins) / np.maximum(high - middle, 1)
    return np.maximum(0, np.minimum(rise, fall))


FILTERS = mel_filters()


def spectrogram(sound):
    """Natural logarithm of the power [FRAMES, BANDS] in mel bands."""
    frames = np.lib.stride_tricks.sliding_window_view(sound, WINDOW)[::HOP]
    power = np.abs(np.fft.rfft(frames * np.hanning(WINDOW))) ** 2
    return np.log(power @ FILTERS.T + 1e-3).astype(np.float32)


def envelope(start, length, soft=.02):
    """1 for a while, with soft ends."""
    return np.clip((TIME - start) / soft, 0, 1) * np.clip((start + length - TIME) / soft, 0, 1)


def wave(hertz):
    """A sine of this frequency, which may change in time."""
    return np.sin(2 * np.pi * np.cumsum(np.broadcast_to(hertz, (LENGTH,))) / RATE)


def chirp(rng, start, length, direction):
    low = rng.uniform(250, 1500)
    high = low * rng.uniform(1.15, 2.2)
    along = np.clip((TIME - start) / length, 0, 1)
    return wave(low + (high - low) * (along if direction > 0 else 1 - along))


def clicks(rng):
    out = np.zeros(LENGTH)
    period = int(RATE / rng.uniform(8, 30))
    out[rng.integers(period)::period] = rng.uniform(4, 8)
    return np.convolve(out, np.exp(-np.arange(40) / rng.uniform(3, 12)), "same")


def signal(kind, rng):
    """One second of a kind, about as loud as the others."""
    length = rng.uniform(.35, .8)
    start = rng.uniform(0, .98 - length)
    hertz = rng.uniform(250, 2500)
    span = envelope(start, length)
    name = NAMES[kind]
    if name == "tone":
        return wave(hertz) * span
    if name == "chord":
        return (wave(hertz) + wave(hertz * rng.uniform(1.2, 1.6))) / 1.4 * span
    if name == "rising chirp":
        return chirp(rng, start, length, 1) * span
    if name == "falling chirp":
        return chirp(rng, start, length, -1) * span
    if name == "siren":
        swing = 1 + rng.uniform(.08, .3) * np.sin(2 * np.pi * TIME * rng.uniform(2.5, 7))
        return wave(hertz * swing) * span
    if name == "tremolo":
        depth = rng.uniform(.6, 1)
        return wave(hertz) * span * (1 - depth * (.5 + .5 * np.sin(2 * np.pi * TIME *
                                                                   rng.uniform(4, 15))))
    if name == "noise burst":
        return rng.normal(0, rng.uniform(.7, 1.5), LENGTH) * span
    if name == "clicks":
        return clicks(rng) * span
    if name == "two beeps":
        pause = rng.uniform(.05, .2) * length
        beep = (length - pause) / 2
        return wave(hertz) * (envelope(start, beep) + envelope(start + beep + pause, beep))
    return wave(hertz) * 2 * np.exp(-np.maximum(TIME - start, 0) / rng.uniform(.08, .3)) * span


def keyword_set(count, seed):
    """Spectrograms [count, 1, FRAMES, BANDS] of signals in noise, and their kinds."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(count) % len(NAMES))
    out = np.empty((count, 1, FRAMES, BANDS), np.float32)
    for i, kind in enumerate(labels):
        noise = rng.normal(0, 10 ** rng.uniform(-1.6, .25), LENGTH)
        out[i, 0] = spectrogram(signal(kind, rng) * rng.uniform(.5, 1) + noise)
    return out, labels


MACHINE_FRAMES = 5


def machine(rng, is_abnormal):
    """A hum with harmonics whose loudness hangs on the load; abnormal ones rattle, whistle, or
    have a harmonic that is too loud or gone."""
    hertz = rng.uniform(95, 140) * (1 + .01 * np.sin(2 * np.pi * TIME * rng.uniform(.5, 2)))
    load = rng.uniform(0, 1)
    levels = np.array([1, .6, .8, .35, .5, .25, .3, .15]) * np.exp(rng.normal(0, .1, 8))
    levels *= 1 + load * np.array([0, .3, -.4, .8, .2, 1, .4, 1.2])
    fault = rng.integers(4) if is_abnormal else -1
    if fault == 0:
        levels[rng.integers(2, 8)] *= rng.uniform(2, 3.5)
    if fault == 1:
        levels[rng.integers(1, 6)] *= rng.uniform(.05, .3)
    sound = sum(level * wave(hertz * (k + 1)) for k, level in enumerate(levels))
    sound = sound + rng.normal(0, rng.uniform(.1, .35), LENGTH)
    if fault == 2:
        sound = sound + wave(rng.uniform(1300, 3500)) * rng.uniform(.05, .25)
    if fault == 3:
        sound = sound + clicks(rng) * rng.uniform(.04, .2)
    return sound * rng.uniform(.8, 1.25)


def machine_set(count, seed, abnormal=.5):
    """Frames one after the other [count, MACHINE_FRAMES * BANDS] out of a second each, and whether
    the machine is abnormal."""
    rng = np.random.default_rng(seed)
    labels = (rng.permutation(count) < round(count * abnormal)).astype(np.int64)
    out = np.empty((count, MACHINE_FRAMES * BANDS), np.float32)
    for i, is_abnormal in enumerate(labels):
        start = rng.integers(FRAMES - MACHINE_FRAMES)
        frames = spectrogram(machine(rng, is_abnormal))[start:start + MACHINE_FRAMES]
        out[i] = frames.ravel()
    return out, labels
