"""Writes crates/crisis/weights.bin: the model's weights as whole numbers.

The layout is read by crates/crisis/src/weights.rs. Everything that is rounded is rounded here.
"""

import struct

import numpy as np

EMBEDDED, CHANNELS, HIDDEN, TALK = 96, 128, 128, 12
VALUE_MAX = 4095
FACTOR_BITS = 24
ONE = 1 << 10
LETTER_SLOTS, WORD_SLOTS = 1 << 19, 1 << 17
# The last sign is the version of the layout.
MAGIC = b"CRI2"
SCRIPTS = 7


def vocabulary(path):
    """Returns the pieces that begin words and those that continue them, each in order of bytes."""
    pieces = path.read_text(encoding="utf8").split("\n")[:-1]
    first = sorted((it for it in pieces if not it.startswith("##")), key=str.encode)
    later = sorted((it[2:] for it in pieces if it.startswith("##")), key=str.encode)
    return first, later


def layer(weight, bias, scale_in, scale_out):
    """Returns a layer's bytes. `scale_in`: what one of each input is worth."""
    weight = weight.astype(np.float64) * scale_in
    per_row = np.maximum(np.abs(weight).max(1), 1e-9) / 127
    rounded = np.round(weight / per_row[:, None]).astype(np.int8)
    factor = np.round(per_row / scale_out * 2**FACTOR_BITS).astype(np.int64)
    offset = np.round(bias.astype(np.float64) / scale_out * 2**FACTOR_BITS).astype(np.int64)
    assert np.abs(factor).max() < 2**31
    return rounded, factor, offset


def layer_bytes(rounded, factor, offset):
    return rounded.tobytes() + factor.astype("<i4").tobytes() + offset.astype("<i8").tobytes()


class Network:
    """The network in whole numbers, for writing it down and for computing with it."""

    def __init__(self, weights, codes, scales, activations):
        """`codes`, `scales`: embedding rows, four bits a value. `activations`: the largest value
        each layer gave on the training texts."""
        worth = scales.max() / 255
        self.codes, self.factors = codes, np.round(scales / worth).astype(np.uint8)
        near, wide, hidden = (it / VALUE_MAX for it in activations)
        self.near = layer(weights["c1"], weights["c1b"], worth, near)
        self.wide = layer(weights["c2"], weights["c2b"], near, wide)
        of_inputs = np.repeat([near, wide, wide], CHANNELS)[None]
        self.hidden = layer(weights["o1"], weights["o1b"], of_inputs, hidden)
        last = weights["o2"][0].astype(np.float64) * hidden * ONE
        self.shift = int(14 - np.ceil(np.log2(np.abs(last).max())))
        self.last = np.round(last * 2**self.shift).astype(np.int64)
        assert np.abs(self.last).max() < 2**15
        self.last_bias = int(round(float(weights["o2b"][0]) * ONE * 2**self.shift))

    def embed(self, pieces):
        return self.codes[pieces].astype(np.int64) * self.factors[pieces][:, None].astype(np.int64)

    def answer(self, layer, seen):
        rounded, factor, offset = layer
        total = seen @ rounded.astype(np.int64).T
        return np.clip((total * factor + offset) >> FACTOR_BITS, 0, VALUE_MAX)

    def convolve(self, layer, rows):
        padded = np.pad(rows, ((1, 1), (0, 0)))
        return self.answer(layer, np.hstack([padded[:-2], padded[1:-1], padded[2:]]))

    def score(self, pieces):
        """Returns what crates/crisis/src/network.rs returns."""
        if len(pieces) == 0:
            near = wide = np.zeros((1, CHANNELS), np.int64)
        else:
            near = self.convolve(self.near, self.embed(pieces[:512]))
            wide = self.convolve(self.wide, near)
        mean = wide.sum(0) // max(1, len(pieces))
        seen = np.concatenate([near.max(0), wide.max(0), mean])[None]
        total = int(self.answer(self.hidden, seen)[0] @ self.last)
        return (total + self.last_bias) >> self.shift


def write(path, words, network, linear, limits, talk, scripts):
    """`linear`: weights of letters and of words, their scale and the bias. `limits`: shares of the
    halves, and the scores from which a text is held, unsure, and supports a weak rule.
    `scripts`: what is added to the scores of texts in each script."""
    first, later = words
    texts = [[it.encode() for it in part] for part in (first, later)]
    longest = [max(map(len, part)) for part in texts]
    sizes = [sum(map(len, part)) for part in texts]
    rows = 1 + len(first) + len(later)
    letters, singles, scale, bias = linear
    numbers = [rows, len(first), sizes[0], longest[0], len(later), sizes[1], longest[1]]
    numbers += [len(letters), len(singles), scale, bias, *limits, network.shift, network.last_bias, 0]
    numbers += list(talk) + [0] * (TALK - len(talk)) + list(scripts)
    codes = (network.codes + 8).astype(np.uint8)
    out = MAGIC + struct.pack(f"<{len(numbers)}i", *numbers)
    assert len(scripts) == SCRIPTS and len(out) == (32 + SCRIPTS) * 4, len(out)
    for part in (network.near, network.wide, network.hidden):
        out += layer_bytes(*part)
    out += network.last.astype("<i2").tobytes()
    out += network.factors.tobytes()
    out += (codes[:, 0::2] | (codes[:, 1::2] << 4)).astype(np.uint8).tobytes()
    for part in texts:
        out += np.cumsum([len(it) for it in part]).astype("<u4").tobytes() + b"".join(part)
    out += letters.astype(np.int8).tobytes() + singles.astype(np.int8).tobytes()
    path.write_bytes(out)
    return len(out)


def blank(rows):
    """Returns a network that says nothing, to count the pieces of texts with before training."""
    zero = lambda *shape: np.zeros(shape, np.float32)  # noqa: E731
    weights = {
        "c1": zero(CHANNELS, 3 * EMBEDDED), "c1b": zero(CHANNELS),
        "c2": zero(CHANNELS, 3 * CHANNELS), "c2b": zero(CHANNELS),
        "o1": zero(HIDDEN, 3 * CHANNELS), "o1b": zero(HIDDEN),
        "o2": zero(1, HIDDEN) + 1e-3, "o2b": zero(1),
    }
    return Network(weights, np.zeros((rows, EMBEDDED), np.int8), np.ones(rows), (1.0, 1.0, 1.0))
