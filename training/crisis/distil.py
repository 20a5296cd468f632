"""Makes the product's model: large teachers learn the corpus, a small student learns from them.

    python distil.py TEACHER PROGRAM OUT [SECONDS] [trial | smoke]

TEACHER: folders, with commas between, that hold what teacher.py made; PROGRAM: the product's own reader of texts (`cargo build --release -p
countersign-crisis --example crisis_features`); OUT: a folder. One model learns from all authors: OUT/network.npz.
Beside it, one for each fold of authors who are left out of both teacher and student answers their texts:
OUT/held_out.json. No author is scored by a model that has seen a text of theirs.

Teachers rewrite texts; the rewritten ones are read by PROGRAM, so that a student sees what the product will see.
OUT/answers.npz and OUT/texts*.z keep what the teachers said, so that students can be made again without them.

Needs an accelerator and torch; SECONDS say how long it may take. `trial` does everything once on next to nothing, on any machine; `smoke` tries
the way on an accelerator, with made-up numbers for what TEACHER lacks.
"""

import json
import lzma
import math
import os
import pathlib
import random
import stat
import subprocess
import sys
import tempfile
import time
import zlib
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch
import torch.nn.functional as F

import cased
import data
import pack
import teacher as archive
from stacks import EMBEDDED, SLOTS, Guesses, Students, Teachers

TEACHER_PIECES, STUDENT_PIECES = 124, 96  # of a training text; longer ones are cut
HAS_DEVICE = torch.cuda.is_available()
DEVICE = "cuda" if HAS_DEVICE else "cpu"
START = time.time()


class Settings:
    layers = 12
    teachers = 2  # for each fold; their answers are averaged
    teacher_batch, teacher_epochs, teacher_seconds = 64, 5, 190
    teacher_rate, teacher_falls = 1e-4, 0.85
    rewritten, rewritten_seconds = 8, 45
    answer_batch = 1024
    answer_seconds, student_seconds = 75, 100
    student_batch, student_steps = 512, 14_000
    linear_rate, linear_decay, linear_epsilon, linear_drop = 4e-3, 0.0, 1e-5, 0.3
    # What is left for scoring and writing when the student is made.
    last_seconds = 25
    rows = None


class Trial(Settings):
    layers, teachers, teacher_batch, teacher_epochs = 2, 2, 8, 1
    rewritten, answer_batch, student_batch, student_steps = 2, 16, 16, 12
    rows = 160


class Smoke(Settings):
    teacher_epochs, teacher_seconds, rewritten, student_steps, rows = 1, 10, 2, 200, 4000


def log(*what):
    print(f"[{time.time() - START:.0f} s]", *what, flush=True)


def seed(number):
    torch.manual_seed(number)
    random.seed(number)
    np.random.seed(number)


def narrow():
    return torch.autocast(DEVICE, torch.bfloat16, enabled=HAS_DEVICE)


class Reader:
    """Reads texts with the product's program."""

    def __init__(self, program):
        if program.suffix == ".xz":
            folder = tempfile.mkdtemp()
            unpacked = pathlib.Path(folder) / "features"
            unpacked.write_bytes(lzma.decompress(program.read_bytes()))
            unpacked.chmod(unpacked.stat().st_mode | stat.S_IXUSR)
            program = unpacked
        self.program = str(program.resolve())

    def read(self, texts, mode):
        """Returns for each part of each text: which text, begin, end, groups (letters first), how many are letters, pieces."""
        share = max(1, math.ceil(len(texts) / max(1, (os.cpu_count() or 2) - 1)))
        chunks = [texts[it : it + share] for it in range(0, len(texts), share)]

        def run(chunk):
            lines = "".join(json.dumps(it, ensure_ascii=False) + "\n" for it in chunk)
            done = subprocess.run([self.program, mode], input=lines.encode(), capture_output=True, check=True)
            return np.frombuffer(done.stdout, "<u4")

        found = []
        with ThreadPoolExecutor(len(chunks) or 1) as pool:
            for index, numbers in enumerate(pool.map(run, chunks)):
                at = 0
                while at < len(numbers):
                    row, begin, end, letters, singles, pieces = map(int, numbers[at : at + 6])
                    at += 6
                    groups = numbers[at : at + letters + singles]
                    at += letters + singles
                    found.append((row + index * share, begin, end, groups, letters, numbers[at : at + pieces]))
                    at += pieces
        return found


class Items:
    """Texts that are learnt from: what the student reads in them, what the teacher reads, and whose they are."""

    def __init__(self):
        self.texts, self.pieces, self.groups, self.letters, self.of_teacher = [], [], [], [], []
        self.sources, self.labels = [], []

    def add(self, text, read, of_teacher, sources, label=-1.0):
        _, _, _, groups, letters, pieces = read
        self.texts.append(text)
        self.pieces.append(pieces[:STUDENT_PIECES] if len(pieces) else np.zeros(1, np.uint32))
        self.groups.append(groups)
        self.letters.append(letters)
        self.of_teacher.append(of_teacher[:TEACHER_PIECES])
        self.sources.append(sources)
        self.labels.append(label)

    def cut(self, count):
        for kept in (self.texts, self.pieces, self.groups, self.letters, self.of_teacher, self.sources, self.labels):
            del kept[count:]

    def __len__(self):
        return len(self.texts)


def table(sequences, empty, begin=None, end=None):
    """Returns sequences as rows of one table, and their lengths."""
    more = 0 if begin is None else 2
    lengths = np.array([len(it) + more for it in sequences])
    found = np.full((len(sequences), max(3, lengths.max())), empty, np.int32)
    for row, sequence in zip(found, sequences):
        if more:
            row[0], row[1 : 1 + len(sequence)], row[1 + len(sequence)] = begin, sequence, end
        else:
            row[: len(sequence)] = sequence
    return torch.tensor(found, device=DEVICE), lengths


class Ragged:
    """Groups of texts on the device, and how much each counts."""

    def __init__(self, groups, letters):
        lengths = np.array([len(it) for it in groups])
        self.lengths = torch.tensor(lengths, device=DEVICE)
        self.begins = torch.tensor(np.cumsum(lengths) - lengths, device=DEVICE)
        flat = np.concatenate(groups).astype(np.int64)
        letters = np.array(letters)
        place = np.arange(len(flat)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        flat[place >= np.repeat(letters, lengths)] += pack.LETTER_SLOTS
        self.slots = torch.tensor(flat.astype(np.int32), device=DEVICE)
        self.letters = torch.tensor(letters, device=DEVICE)

    def of(self, rows, models, drop=0.0):
        """Returns slots, rows and votes for `rows` [models, some]."""
        flat = rows.reshape(-1)
        lengths = self.lengths[flat]
        row = torch.repeat_interleave(torch.arange(len(flat), device=DEVICE), lengths)
        place = torch.arange(len(row), device=DEVICE) - (torch.cumsum(lengths, 0) - lengths)[row]
        of_letters = self.letters[flat]
        votes = torch.where(place < of_letters[row], of_letters.clamp_min(1).rsqrt()[row], (lengths - of_letters).clamp_min(1).rsqrt()[row])
        slots = self.slots[self.begins[flat][row] + place].long() + (row // rows.shape[1]) * SLOTS
        if drop:
            votes = F.dropout(votes, drop)
        return slots, row, votes


MARK = [0.0, 0]


def clock(done):
    """Returns how long a step takes, measured since this was asked before: the first steps take longer."""
    if HAS_DEVICE:
        torch.cuda.synchronize()
    step = (time.time() - MARK[0]) / max(1, done - MARK[1])
    MARK[:] = time.time(), done
    return step


def rate_at(share):
    """How much of the rate counts when this share of the steps is done."""
    return min(1.0, share / 0.06) * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * min(1.0, share))))


def quantiles(orders, size):
    """Yields batches [models, size] of an epoch in which all models read texts of about the same length. `orders`: for each
    model its texts from the shortest to the longest."""
    counts = [math.ceil(len(it) / size) for it in orders]
    for place in np.random.permutation(max(counts)):
        batch = []
        for order, count in zip(orders, counts):
            begin = (place * count // max(counts)) * size
            begin = max(0, min(begin, len(order) - size))
            batch.append(np.resize(order[begin : begin + size], size))
        yield np.stack(batch)


def train_teachers(model, x, n, labels, twins, joined, seen, settings, seconds):
    """A text and its near twin stand in one batch, and the crisis should score above its twin. `joined`: for each text
    one in which another follows it or goes before, or -1. `seen`: for each model which texts it may learn."""
    groups = model.groups(settings.teacher_rate, settings.teacher_falls)
    rates = [it["lr"] for it in groups]
    optimiser = torch.optim.AdamW(groups, fused=HAS_DEVICE)
    target = torch.tensor(labels, dtype=torch.float32, device=DEVICE) * 0.96 + 0.02
    size, rows = settings.teacher_batch, len(twins)
    of_model = [np.flatnonzero(it[:rows]) for it in seen]
    epoch_steps = max(math.ceil(len(it) / size) for it in of_model)
    total, done, began = epoch_steps * settings.teacher_epochs, 0, time.time()
    model.train()
    while done < total:
        orders = []
        for own in of_model:
            # Twins stand beside each other.
            length = n[:rows] + 8 * np.random.rand(rows)
            with_twin = np.where(twins >= 0, np.minimum(np.arange(rows), twins), np.arange(rows))
            orders.append(own[np.lexsort((own, length[with_twin[own]]))])
        for batch in quantiles(orders, size):
            if done in (10, 50):
                step = clock(done)
            if done == 50:
                # How many steps fit is known only now.
                total = max(100, min(total, done + int((seconds - (time.time() - began)) / step)))
                log(f"a step of {len(orders)} teachers takes {1000 * step:.0f} ms: {total} steps, {total / epoch_steps:.1f} epochs")
            if done >= total:
                break
            for group, rate in zip(groups, rates):
                group["lr"] = rate * rate_at(done / total)
            ups, downs = [], []
            for of, some in enumerate(batch):
                places = {int(it): place for place, it in enumerate(some)}
                for it, place in places.items():
                    if labels[it] == 1 and twins[it] >= 0 and int(twins[it]) in places:
                        ups.append(of * size + place)
                        downs.append(of * size + places[int(twins[it])])
            # Where another text was put behind, there is no twin any more; few enough not to matter.
            more = joined[batch]
            put = (np.random.rand(*batch.shape) < 0.12) & (more >= 0)
            for of, own in enumerate(seen):
                put[of] &= own[np.maximum(more[of], 0)]
            batch = np.where(put, more, batch)
            rows_of = torch.tensor(batch, device=DEVICE)
            with narrow():
                answers = model(x[rows_of][:, :, : int(n[batch].max())].long())
            answers = answers.float()
            loss = F.binary_cross_entropy_with_logits(answers, target[rows_of], reduction="none").mean(1).sum()
            if ups:
                ups, downs = torch.tensor(ups, device=DEVICE), torch.tensor(downs, device=DEVICE)
                flat, is_put = answers.reshape(-1), torch.tensor(put.reshape(-1), device=DEVICE)
                both = ~(is_put[ups] | is_put[downs])
                loss = loss + 0.5 * len(seen) * (F.softplus(flat[downs] - flat[ups]) * both).sum() / both.sum().clamp_min(1)
            optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), math.sqrt(len(seen)))
            optimiser.step()
            done += 1
    return model.eval()


@torch.no_grad()
def teacher_answers(model, x, n, size, until):
    """Returns the answers of all models [texts, models] to all texts, or to as many as can be answered until then."""
    answers = torch.zeros(len(x), model.models, device=DEVICE)
    block = 40_000
    for begin in range(0, len(x), block):
        if begin and time.time() > until:
            log("no more time for answers after", begin, "of", len(x))
            return answers[:begin]
        order = begin + np.argsort(n[begin : begin + block], kind="stable")
        answer_block(model, x, n, size, order, answers)
        if HAS_DEVICE:
            torch.cuda.synchronize()
    return answers


def answer_block(model, x, n, size, order, answers):
    for batch in np.split(order, range(size, len(order), size)):
        rows = torch.tensor(batch, device=DEVICE)
        seen = x[rows][:, : int(n[batch].max())].long()
        with narrow():
            answers[rows] = model(seen[None].expand(model.models, *seen.shape)).float().T


@torch.no_grad()
def rewrite(encoder, words, guesses, x, n, share, special, size):
    """Returns rows in which a share of the pieces is replaced by what the encoder finds likely."""
    empty, begin, end, mask = special
    out = x.clone()
    for batch in np.split(np.argsort(n, kind="stable"), range(size, len(n), size)):
        rows = torch.tensor(batch, device=DEVICE)
        y = x[rows][:, : int(n[batch].max())].long()
        chosen = (y != empty) & (y != begin) & (y != end) & (torch.rand(y.shape, device=DEVICE) < share)
        chosen[0, 1] = True
        with narrow():
            seen = encoder.encode(torch.where(chosen, mask, y)[None])[0][chosen]
        found = []
        for some in seen.split(8192):
            likely = guesses(some, words).float() / 1.1
            likely[:, [0, *special]] = -1e9
            likely[likely < likely.amax(1, keepdim=True) - 4.5] = -1e9
            noise = torch.rand_like(likely).clamp_(1e-9, 1 - 1e-7).log_().neg_().log_().neg_()
            found.append((likely + noise).argmax(1))
        y[chosen] = torch.cat(found)
        out[rows, : y.shape[1]] = y.int()
    return out


@torch.no_grad()
def vectors_of_pieces(encoder, special, of_student, of_teacher):
    """Returns what the encoder makes of each of the student's pieces by itself: before its layers, and half-way through. The
    teacher reads them as words of its own."""
    sequences = [of_teacher.of(it)[0][:8] or [0] for it in of_student]
    x, _ = table(sequences, *special[:3])
    half = encoder.layers // 2
    found = [torch.zeros(len(x), 768, device=DEVICE) for _ in range(1 + bool(half))]
    for rows in torch.arange(len(x), device=DEVICE).split(4096):
        y = x[rows].long()
        is_there = ((y != special[0]) & (y != special[1]) & (y != special[2]))[..., None]
        with narrow():
            for into, layers in zip(found, (0, half)):
                seen = encoder.encode(y[None], layers)[0].float()
                into[rows] = (seen * is_there).sum(1) / is_there.sum(1).clamp_min(1)
    return torch.cat([it / it.std() for it in found], 1)


@torch.no_grad()
def first_embedding(vectors, frequency):
    """Returns the main directions of the vectors, frequent pieces first."""
    share = torch.tensor(frequency, dtype=torch.float32, device=DEVICE).sqrt()[:, None]
    vectors = vectors - (vectors * share).sum(0) / share.sum()
    values, directions = torch.linalg.eigh(((vectors * share).T @ vectors / share.sum()).double().cpu())
    directions, values = directions[:, -EMBEDDED:].flip(1).float().to(DEVICE), values[-EMBEDDED:].flip(0).float().to(DEVICE)
    small = vectors @ directions / values.clamp_min(1e-6) ** 0.25
    return small / small.norm(dim=1).mean() * math.sqrt(EMBEDDED) * 0.3


def train_students(model, x, n, groups, soft, hard, twins, seen, settings, seconds):
    """`soft`: the teachers' answers [models, texts]; `hard`: labels, -1 where there is none."""
    rate = 2e-3
    of = lambda *names: [value for name, value in model.named_parameters() if name in names]  # noqa: E731
    inner = [name for name, _ in model.named_parameters() if name not in ("e", "linear")]
    parts = [
        {"params": of("e"), "lr": rate / 2, "weight_decay": 0.0},
        {"params": of(*inner), "lr": rate, "weight_decay": 0.02},
        # A large epsilon: a group that stands in few texts moves little.
        {"params": of("linear"), "lr": settings.linear_rate, "weight_decay": settings.linear_decay, "eps": settings.linear_epsilon},
    ]
    rates = [it["lr"] for it in parts]
    optimiser = torch.optim.AdamW(parts, fused=HAS_DEVICE)
    empty, size = model.empty, settings.student_batch
    known = np.flatnonzero(hard >= 0)
    of_model = [np.concatenate([np.flatnonzero(it), known[it[known]]]) for it in seen]
    total, done, began = settings.student_steps, 0, time.time()
    # Twins of each model by the length of the longer one.
    both = np.array([(it, twins[it]) for it in range(len(twins)) if twins[it] >= 0 and hard[it] == 1], np.int64).reshape(-1, 2)
    longer = n[both].max(1) if len(both) else np.zeros(0)
    order = np.argsort(longer, kind="stable")
    both, longer = both[order], longer[order]
    pairs = [both[it[both].all(1)] for it in seen]
    lengths = [n[it].max(1) if len(it) else np.zeros(0) for it in pairs]
    extra = size // 8
    hard_of = torch.tensor(hard, dtype=torch.float32, device=DEVICE)
    rows_of = torch.arange(len(seen), device=DEVICE)[:, None]
    model.train()
    while done < total:
        noise = n + 6 * np.random.rand(len(n))
        for batch in quantiles([it[np.argsort(noise[it])] for it in of_model], size):
            if done in (30, 130):
                step = clock(done)
            if done == 130:
                total = max(150, min(total, done + int((seconds - (time.time() - began)) / step)))
                log(f"a step of {len(seen)} students takes {1000 * step:.1f} ms: {total} steps")
            if done >= total:
                break
            for part, own in zip(parts, rates):
                part["lr"] = own * rate_at(done / total)
            width = max(3, int(n[batch].max()))
            fitting = [int(np.searchsorted(it, width, "right")) for it in lengths]
            if min(fitting) > 0:
                chosen = np.stack([it[np.random.randint(0, count, extra)] for it, count in zip(pairs, fitting)])
                batch = np.concatenate([batch, chosen[:, :, 0], chosen[:, :, 1]], 1)
            rows = torch.tensor(batch, device=DEVICE)
            texts = x[rows][:, :, :width]
            forgotten = (torch.rand(texts.shape, device=DEVICE) < 0.08) & (texts != empty)
            answers = model.network(torch.where(forgotten, 0, texts)) + model.groups(*groups.of(rows, len(seen), settings.linear_drop), *rows.shape)
            wanted = soft[rows_of, rows]
            main, label = answers[:, :size], hard_of[rows[:, :size]]
            loss = F.binary_cross_entropy_with_logits(main, torch.sigmoid(wanted[:, :size]), reduction="none").mean(1).sum()
            loss = loss + 0.1 * F.smooth_l1_loss(main, wanted[:, :size], reduction="none").mean(1).sum()
            is_known = label >= 0
            each = F.binary_cross_entropy_with_logits(main, label.clamp_min(0) * 0.96 + 0.02, reduction="none")
            loss = loss + 0.5 * ((each * is_known).sum(1) / is_known.sum(1).clamp_min(1)).sum()
            if answers.shape[1] > size:
                up, down = answers[:, size : size + extra], answers[:, size + extra :]
                loss = loss + 0.25 * F.softplus(down - up).mean(1).sum()
            optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), math.sqrt(len(seen)))
            optimiser.step()
            done += 1
    return model.eval()


@torch.no_grad()
def student_answers(model, parts):
    """Returns what each model's halves say to parts of texts: two tables [parts, models]."""
    found = [np.zeros((len(parts), model.models), np.float32) for _ in range(2)]
    sizes = np.array([len(it[5]) for it in parts])
    order = np.argsort(sizes, kind="stable")
    for batch in np.split(order, range(1024, len(order), 1024)):
        some = [parts[it] for it in batch]
        x, _ = table([it[5][:512] if len(it[5]) else [0] for it in some], model.empty)
        groups = Ragged([it[3] for it in some], [it[4] for it in some])
        rows = torch.arange(len(some), device=DEVICE)[None].expand(model.models, -1)
        found[0][batch] = model.network(x[None].expand(model.models, *x.shape)).float().T.cpu().numpy()
        found[1][batch] = model.groups(*groups.of(rows, model.models), *rows.shape).T.cpu().numpy()
    return found


@torch.no_grad()
def write_network(path, model, x, rows):
    """Writes the first of the models. Its last row stands for nothing and is left out."""
    largest = []
    for batch in torch.tensor(rows, device=DEVICE).split(2048):
        texts = x[batch]
        model.network(texts[None].expand(model.models, *texts.shape), largest)
    state = {key: value[0].cpu().numpy() for key, value in model.named_parameters() if key != "linear"}
    linear = model.linear.detach().view(model.models, SLOTS)[0].cpu().numpy()
    codes = state.pop("e")[:-1]
    scale = np.maximum(np.abs(codes).max(1), 1e-6) / 7
    codes = np.clip(np.round(codes / scale[:, None]), -7, 7).astype(np.int8) + 8
    packed = (codes[:, 0::2].astype(np.uint8) | (codes[:, 1::2].astype(np.uint8) << 4)).astype(np.uint8)
    # In the layout of the product: a row for each answer, neighbours one behind the other.
    small = {key: value.T.astype(np.float16) if value.ndim > 1 else value.astype(np.float16) for key, value in state.items()}
    worth = np.abs(linear).max() / 127
    small |= {"linear": np.round(linear / max(worth, 1e-9)).astype(np.int8), "worth": np.array(worth)}
    np.savez_compressed(path, codes=packed, scales=scale.astype(np.float16), largest=np.max(largest, 0), **small)
    log(path.name, path.stat().st_size, "bytes")


def report(name, labels, answers):
    crises, others = answers[labels == 1], answers[labels == 0]
    if len(crises) and len(others):
        shares = [f"{100 * (crises > np.quantile(others, 1 - it)).mean():.1f} % at {100 * it:.0f} %" for it in (0.02, 0.03, 0.05, 0.1)]
        log(f"{name}: {len(crises)} crises, {len(others)} others:", ", ".join(shares))


def main():
    folders = [pathlib.Path(it) for it in sys.argv[1].split(",")]
    reader, out = Reader(pathlib.Path(sys.argv[2])), pathlib.Path(sys.argv[3])
    seconds = float(sys.argv[4]) if len(sys.argv) > 4 else 540
    settings = {"trial": Trial, "smoke": Smoke}.get(sys.argv[5] if len(sys.argv) > 5 else "", Settings)
    torch.set_float32_matmul_precision("high")
    seed(7)
    log("on", torch.cuda.get_device_name() if HAS_DEVICE else "the processor", "torch", torch.__version__)
    Maker(folders, reader, out, seconds, settings).make()


class Maker:
    def __init__(self, folders, reader, out, seconds, settings):
        self.reader, self.out, self.seconds, self.settings = reader, out, seconds, settings
        out.mkdir(parents=True, exist_ok=True)
        talks = data.talks()
        self.rows, self.asked = data.rows() + data.telling(talks) + data.own(), data.asked_of(talks)
        if settings.rows:
            self.rows = random.sample(self.rows, settings.rows)
            self.asked = random.sample(self.asked, settings.rows)
        authors = {it["author"] for it in self.rows}
        # The first model learns from everybody.
        self.folds = [[], *(it for it in data.FOLDS if authors & set(it))]
        unknown = authors - {it for fold in data.FOLDS for it in fold} - {"own"}
        assert not unknown, f"in no fold: {unknown}"
        self.found, pieces = archive.read(folders)
        if settings is Smoke:
            self.found = archive.filled(self.found, pieces)
        self.pieces = cased.Pieces(pieces)
        self.special = tuple(pieces.index(it) for it in archive.SPECIAL)
        log(len(self.rows), "texts to learn from,", len(pieces), "pieces of the teacher")

    def left(self):
        return self.seconds - (time.time() - START)

    def make(self):
        settings = self.settings
        items = self.items()
        rows = len(self.rows)
        empty, begin, end, _ = self.special
        encoder = Teachers(self.found, settings.layers, empty, 1).to(DEVICE).eval()
        guesses = Guesses(self.found, DEVICE)
        log("teacher loaded")
        first, later = pack.vocabulary(data.HERE / "vocabulary.txt")
        vectors = vectors_of_pieces(encoder, self.special, ["[UNK]", *first, *later], self.pieces)
        log("pieces read")
        self.rewrite(items, encoder, guesses)
        del encoder, guesses
        x, n = table(items.of_teacher, *self.special[:3])
        labels = np.array(items.labels)
        seen = self.seen(items)
        models = [seen[fold] for fold in range(len(self.folds)) for _ in range(settings.teachers)]
        teachers = Teachers(self.found, settings.layers, empty, len(models)).to(DEVICE)
        joined = np.full(rows, -1)
        for index, sources in enumerate(items.sources):
            if len(sources) == 2:
                joined[sources[0]] = index
        # Answers and students need their time, too.
        spare = self.left() - settings.answer_seconds - settings.student_seconds - settings.last_seconds
        train_teachers(teachers, x, n, labels, self.twins(), joined, np.stack(models), settings, min(settings.teacher_seconds, spare))
        log("teachers trained")
        answers = self.answers(items, teachers, x, n, labels)
        del teachers, x
        torch.cuda.empty_cache()
        width = 1 + len(first) + len(later)
        frequency = np.full(width, 0.2)
        for pieces in items.pieces[:rows]:
            np.add.at(frequency, pieces, 1)
        table_of_pieces = torch.cat([first_embedding(vectors, frequency), torch.zeros(1, EMBEDDED, device=DEVICE)])
        labels, seen = labels[: len(items)], [it[: len(items)] for it in seen]
        self.students(items, answers, labels, seen, table_of_pieces, width)
        log("done")

    def items(self):
        """Returns all texts, their parts where they have several, and texts put together by chance."""
        items = Items()
        parts = self.reader.read([it["text"] for it in self.rows], "numbers")
        of_row = [[] for _ in self.rows]
        for part in parts:
            of_row[part[0]].append(part)
        nothing = (0, 0, 0, np.zeros(0, np.uint32), 0, np.zeros(0, np.uint32))
        texts = [it["text"] for it in self.rows]
        for index, (row, own) in enumerate(zip(self.rows, of_row)):
            items.add(row["text"], own[-1] if own else nothing, self.pieces.of(row["text"])[0], (index,), float(row["label"] == "crisis"))
        for index, own in enumerate(of_row):
            for part in own[:-1]:
                text = texts[index].encode()[part[1] : part[2]].decode()
                items.add(text, part, self.pieces.of(text)[0], (index,))
        other = np.random.permutation(len(texts))
        pairs = [(it, int(other[it])) for it in range(len(texts)) if len(texts[it]) + len(texts[other[it]]) < 400]
        both = [texts[two] + "\n" + texts[one] if random.random() < 0.5 else texts[one] + " " + texts[two] for one, two in pairs]
        for (one, two), text, read in zip(pairs, both, self.reader.read(both, "whole")):
            label = max(items.labels[one], items.labels[two])
            items.add(text, read, self.pieces.of(text)[0], (one, two), label)
        log(len(items), "texts, parts and pairs")
        return items

    def rewrite(self, items, encoder, guesses):
        settings, rows, began = self.settings, len(self.rows), time.time()
        x, n = table(items.of_teacher[:rows], *self.special[:3])
        cut = [self.pieces.of(it["text"]) for it in self.rows]
        words = encoder.get("words")[0].detach().to(torch.bfloat16 if HAS_DEVICE else torch.float32)
        texts, sources, pieces = [], [], []
        for time_ in range(settings.rewritten):
            if time.time() - began > settings.rewritten_seconds:
                log("no more time for rewriting after", time_)
                break
            share = 0.12 + 0.4 * time_ / max(1, settings.rewritten - 1)
            found = rewrite(encoder, words, guesses, x, n, share, self.special, 2048).cpu().numpy()
            for index, (numbers, letters, apart) in enumerate(cut):
                count = min(len(numbers), TEACHER_PIECES)
                texts.append(self.pieces.rewritten(letters[:count], apart, numbers, found[index, 1 : 1 + count]))
                sources.append(index)
                pieces.append(found[index, 1 : 1 + count])
        log(len(texts), "texts rewritten")
        for read in self.reader.read(texts, "whole"):
            index = read[0]
            items.add(texts[index], read, pieces[index], (sources[index],))
        log("rewritten texts read")

    def seen(self, items):
        """Returns for each model which texts it may learn: those of which no author is left out."""
        first = np.array([it[0] for it in items.sources])
        last = np.array([it[-1] for it in items.sources])
        found = []
        for fold in self.folds:
            kept = np.array([it["author"] not in fold for it in self.rows])
            found.append(kept[first] & kept[last])
        return found

    def twins(self):
        """Returns for each text the number of its near twin with the other label, or -1."""
        twins, by_pair = np.full(len(self.rows), -1), {}
        for index, row in enumerate(self.rows):
            if row.get("pair"):
                # Of conversations, the person's words and the quoted ones are texts of their own.
                role = row["id"].rpartition(":")[2] if "context" in row else ""
                by_pair.setdefault((row["pair"], role), []).append(index)
        for both in by_pair.values():
            if len(both) == 2 and self.rows[both[0]]["label"] != self.rows[both[1]]["label"]:
                twins[both[0]], twins[both[1]] = both[1], both[0]
        return twins

    def answers(self, items, teachers, x, n, labels):
        """Returns the answers of the teachers of each fold, averaged [folds, texts], and keeps them."""
        until = START + self.seconds - self.settings.student_seconds - self.settings.last_seconds
        each = teacher_answers(teachers, x, n, self.settings.answer_batch, until)
        items.cut(len(each))
        answers = each.view(len(each), len(self.folds), self.settings.teachers).mean(2).T.contiguous()
        log("teachers answered", len(each))
        rows = len(self.rows)
        authors = np.array([it["author"] for it in self.rows])
        kept = answers.cpu().numpy()
        for fold, own in zip(self.folds[1:], kept[1:]):
            out = np.isin(authors, fold)
            report(f"teachers, {fold}", labels[:rows][out], own[:rows][out])
        np.savez_compressed(self.out / "answers.npz", answers=kept.astype(np.float16), sources=np.array([it[-1] for it in items.sources], np.int32))
        (self.out / "rows.json").write_text(json.dumps([it["id"] for it in self.rows]))
        more = [json.dumps(it, ensure_ascii=False) for it in items.texts[rows:]]
        for half, lines in enumerate((more[: len(more) // 2], more[len(more) // 2 :])):
            (self.out / f"texts{half}.z").write_bytes(zlib.compress("\n".join(lines).encode(), 6))
        log("answers kept")
        return answers

    def students(self, items, answers, labels, seen, embedding, empty):
        settings, rows = self.settings, len(self.rows)
        x, n = table(items.pieces, empty)
        groups = Ragged(items.groups, items.letters)
        # Pairs put together have the teachers' answers only.
        hard = np.where(np.arange(len(labels)) < rows, labels, -1.0)
        twins = np.full(len(labels), -1)
        twins[:rows] = self.twins()
        parts = self.reader.read([it["text"] for it in self.rows + self.asked], "numbers")
        log("student begins")
        seed(7)
        model = Students(embedding, empty, len(self.folds)).to(DEVICE)
        train_students(model, x, n, groups, answers, hard, twins, np.stack(seen), settings, self.left() - settings.last_seconds)
        log("student trained")
        write_network(self.out / "network.npz", model, x, np.arange(rows))
        self.held_out(model, parts)

    def held_out(self, model, parts):
        network, linear = student_answers(model, parts)
        every = self.rows + self.asked
        fold_of = {author: fold for fold, own in enumerate(self.folds) for author in own}
        found = {it["id"]: [] for it in every}
        for part, one, other in zip(parts, network, linear):
            row = every[part[0]]
            fold = fold_of.get(row["author"], 0)
            found[row["id"]].append([round(float(one[fold]), 2), round(float(other[fold]), 2)])
        (self.out / "held_out.json").write_text(json.dumps(found, separators=(",", ":")))
        most = np.array([max((sum(it) for it in found[row["id"]]), default=-9) for row in self.rows])
        authors, labels = np.array([it["author"] for it in self.rows]), np.array([it["label"] == "crisis" for it in self.rows])
        labels = np.where(authors == "own", -1, labels)
        for fold in self.folds[1:]:
            out = np.isin(authors, fold)
            report(f"student, {fold}", labels[out], most[out])
        report("student, all left out", labels, most)


if __name__ == "__main__":
    main()
