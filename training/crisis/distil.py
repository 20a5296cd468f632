"""Makes the network of the model: a large teacher learns the corpus, a small student learns from it.

    python distil.py TEACHER FEATURES OUT [SECONDS] [MODE]

TEACHER: a folder with what teacher.py made; FEATURES: what `train.py features` made; OUT: a folder. First a
network is made from all authors: OUT/network.npz. Then, as far as SECONDS reach, one for each fold of
authors who are left out of both teacher and student, and OUT/held_out.json gets its answers to their
texts: no author is scored by a network that has seen a text of theirs.

Needs an accelerator and torch; minutes. MODE `plain` makes a student without a teacher, on any machine;
`trial` runs everything once on next to nothing.
"""

import copy
import gzip
import json
import math
import pathlib
import random
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

import teacher as archive
from data import FOLDS

PIECES_MAX = 96  # of a training text; longer ones are cut
EMBEDDED, CHANNELS, HIDDEN = 96, 128, 64
WIDE, HEADS = 768, 12
UNKNOWN = 0
HAS_DEVICE = torch.cuda.is_available()
DEVICE = "cuda" if HAS_DEVICE else "cpu"
START = time.time()


class Settings:
    layers = 12
    teacher_epochs, teacher_batch = 4, 64
    rewritten = 12  # times every text is rewritten
    student_steps, student_batch = 10_000, 512
    answer_batch = 1024
    rows = None
    folds = FOLDS


class Plain(Settings):
    layers = teacher_epochs = rewritten = 0
    student_steps, student_batch = 2_500, 128


class Trial(Settings):
    layers, teacher_epochs, teacher_batch = 1, 1, 16
    rewritten, student_steps, student_batch = 2, 12, 16
    answer_batch, rows = 16, 60


def log(*what):
    print(f"[{time.time() - START:.0f} s]", *what, flush=True)


def seed(number):
    torch.manual_seed(number)
    random.seed(number)
    np.random.seed(number)


def narrow():
    return torch.autocast(DEVICE, torch.bfloat16, enabled=HAS_DEVICE)


class Data:
    """Texts as rows of pieces, on the device."""

    def __init__(self, sequences, empty):
        width = max(3, max(map(len, sequences)))
        table = np.full((len(sequences), width), empty, np.int32)
        for row, sequence in zip(table, sequences):
            row[: len(sequence)] = sequence
        self.x = torch.tensor(table, device=DEVICE)
        self.n = torch.tensor([len(it) for it in sequences], device=DEVICE)


class Block(nn.Module):
    """One layer of the teacher."""

    def __init__(self, found, layer):
        super().__init__()
        at = f"encoder.layer_{layer}."

        def linear(*names):
            kernel = np.concatenate([found[f"{at}{it}.kernel"] for it in names], 1)
            made = nn.Linear(*kernel.shape)
            made.weight.data = torch.tensor(kernel.T.copy())
            made.bias.data = torch.tensor(np.concatenate([found[f"{at}{it}.bias"] for it in names]))
            return made

        self.seen = linear("attention.self.query", "attention.self.key", "attention.self.value")
        self.out = linear("attention.output.dense")
        self.between = linear("intermediate.dense")
        self.last = linear("output.dense")
        self.norm_seen = norm(found, f"{at}attention.output.LayerNorm")
        self.norm_last = norm(found, f"{at}output.LayerNorm")
        self.drop = nn.Dropout(0.1)

    def forward(self, x, mask):
        rows, width, _ = x.shape
        query, key, value = self.seen(x).view(rows, width, 3, HEADS, WIDE // HEADS).permute(2, 0, 3, 1, 4)
        seen = F.scaled_dot_product_attention(query, key, value, mask, dropout_p=0.1 if self.training else 0.0)
        x = self.norm_seen(x + self.drop(self.out(seen.transpose(1, 2).reshape(rows, width, WIDE))))
        return self.norm_last(x + self.drop(self.last(F.gelu(self.between(x)))))


def norm(found, name):
    made = nn.LayerNorm(WIDE, eps=1e-12)
    made.weight.data, made.bias.data = torch.tensor(found[name + ".gamma"]), torch.tensor(found[name + ".beta"])
    return made


class Encoder(nn.Module):
    """Multilingual BERT."""

    def __init__(self, found, layers, empty):
        super().__init__()
        self.empty = empty
        self.words = nn.Embedding.from_pretrained(torch.tensor(found["embeddings.word_embeddings"]), freeze=False)
        places = found["embeddings.position_embeddings"] + found["embeddings.token_type_embeddings"][:1]
        self.places = nn.Parameter(torch.tensor(places))
        self.norm = norm(found, "embeddings.LayerNorm")
        self.drop = nn.Dropout(0.1)
        self.blocks = nn.ModuleList(Block(found, it) for it in range(layers))

    def forward(self, x, layers=None):
        seen = self.drop(self.norm(self.words(x) + self.places[: x.shape[1]]))
        mask = (x != self.empty)[:, None, None]
        for block in self.blocks[:layers]:
            seen = block(seen, mask)
        return seen


class Guesses:
    """Guesses hidden words, as the encoder was once trained to."""

    def __init__(self, found):
        put = lambda it: torch.tensor(found[it], device=DEVICE)  # noqa: E731
        self.dense, self.bias, self.out = put("transform.dense.kernel"), put("transform.dense.bias"), put("output_bias")
        self.norm = norm(found, "transform.LayerNorm").to(DEVICE)

    def __call__(self, seen, encoder):
        seen = self.norm(F.gelu(seen.float() @ self.dense + self.bias))
        with narrow():
            likely = seen @ encoder.words.weight.T
        return likely.float() + self.out


def load_teacher(folder, layers):
    """Returns the pretrained encoder, its guesses, and the numbers of its special pieces."""
    found = archive.read(folder)
    rows = len(found["embeddings.word_embeddings"])
    special = tuple(range(rows - 4, rows))
    return Encoder(found, layers, special[0]).to(DEVICE).eval(), Guesses(found), special


class Teacher(nn.Module):
    def __init__(self, encoder):
        super().__init__()
        self.encoder, self.drop, self.head = encoder, nn.Dropout(0.1), nn.Linear(2 * WIDE, 1)

    def forward(self, x):
        is_there = x != self.encoder.empty
        seen = self.encoder(x)
        mean = (seen * is_there[..., None]).sum(1) / is_there.sum(1, keepdim=True)
        return self.head(self.drop(torch.cat([seen[:, 0], mean], -1)))[:, 0]


def train_teacher(encoder, rows, special, epochs, size, rate=5e-5):
    """A text and its near twin stand in one batch, and the crisis should score above its twin."""
    empty, begin, end, _ = special
    model = Teacher(copy.deepcopy(encoder)).to(DEVICE)
    sequences = [[begin, *row["pieces"], end] for row in rows]
    twins = {}
    for index, row in enumerate(rows):
        twins.setdefault(row["pair"] or index, []).append(index)
    steps = epochs * (len(rows) // size + 1)
    optimiser = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=0.01, fused=HAS_DEVICE)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, rate, total_steps=steps + 50, pct_start=0.1)
    model.train()
    for _ in range(epochs):
        batches, batch = [], []
        for unit in sorted(twins.values(), key=lambda it: len(sequences[it[0]]) + 8 * random.random()):
            batch += unit
            if len(batch) >= size:
                batches.append(batch)
                batch = []
        random.shuffle(batches)
        for batch in batches:
            texts, labels, is_alone = [], [], []
            for index in batch:
                text, label, alone = sequences[index], rows[index]["y"], True
                if random.random() < 0.12:
                    other = random.randrange(len(rows))
                    before, behind = (text, sequences[other]) if random.random() < 0.5 else (sequences[other], text)
                    text, label, alone = before[:-1] + behind[1:], max(label, rows[other]["y"]), False
                texts.append(text[:160])
                labels.append(float(label))
                is_alone.append(alone)
            width = max(map(len, texts))
            x = torch.tensor([it + [empty] * (width - len(it)) for it in texts], device=DEVICE)
            with narrow():
                answers = model(x)
            answers = answers.float()
            loss = F.binary_cross_entropy_with_logits(answers, torch.tensor(labels, device=DEVICE) * 0.96 + 0.02)
            crises, others, seen = [], [], {}
            for place, index in enumerate(batch):
                pair = rows[index]["pair"]
                if pair and is_alone[place]:
                    if pair in seen and rows[batch[seen[pair]]]["y"] != rows[index]["y"]:
                        one, two = (place, seen[pair]) if rows[index]["y"] else (seen[pair], place)
                        crises.append(one)
                        others.append(two)
                    seen[pair] = place
            if crises:
                loss = loss + 0.5 * F.softplus(answers[others] - answers[crises]).mean()
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            schedule.step()
    return model.eval()


def wrapped(x, n, special):
    empty, begin, end, _ = special
    y = torch.full((len(x), x.shape[1] + 2), empty, dtype=x.dtype, device=DEVICE)
    y[:, 0], y[:, 1:-1] = begin, x
    y[torch.arange(len(x), device=DEVICE), n + 1] = end
    return y, n + 2


@torch.no_grad()
def teacher_answers(model, x, n, special, size):
    x, n = wrapped(x, n, special)
    answers = torch.zeros(len(x), device=DEVICE)
    for batch in torch.argsort(n).split(size):
        with narrow():
            answers[batch] = model(x[batch][:, : int(n[batch].max())].long()).float()
    return answers


@torch.no_grad()
def rewritten(encoder, guesses, x, n, share, special):
    """Returns texts in which a share of the pieces is replaced by what the encoder finds likely."""
    empty, begin, end, mask = special
    y, lengths = wrapped(x, n, special)
    y = y[:, : int(lengths.max())].long()
    chosen = (y != empty) & (y != begin) & (y != end) & (torch.rand(y.shape, device=DEVICE) < share)
    chosen[0, 1] = True
    with narrow():
        seen = encoder(torch.where(chosen, mask, y))[chosen]
    places = []
    for some in seen.split(8192):
        likely = guesses(some, encoder)
        likely[:, [UNKNOWN, *special]] = -1e9
        values, found = likely.topk(30, 1)
        places.append(found.gather(1, torch.multinomial(F.softmax(values / 1.1, 1), 1))[:, 0])
    y[chosen] = torch.cat(places)
    inner = y[:, 1:-1]
    out = torch.full_like(x, empty)
    out[:, : inner.shape[1]] = torch.where((inner == end) | (inner == begin), empty, inner).int()
    return out


def joined(x, n, empty):
    """Returns pairs of texts put behind each other, as people say two things."""
    one, two = (torch.randperm(len(x), device=DEVICE) for _ in range(2))
    fits = n[one] + n[two] <= x.shape[1]
    one, two = one[fits], two[fits]
    out = x[one].clone()
    for offset in range(x.shape[1]):
        place = n[one] + offset
        rows = ((offset < n[two]) & (place < x.shape[1])).nonzero()[:, 0]
        out[rows, place[rows]] = x[two[rows], offset]
    return one, two, out, n[one] + n[two]


class Student(nn.Module):
    """The network of crates/crisis/src/network.rs, with numbers that have a point."""

    def __init__(self, embedding, empty, drop=0.2):
        super().__init__()
        self.empty, self.drop = empty, drop
        self.e = nn.Embedding.from_pretrained(embedding.clone(), freeze=False)
        self.c1 = nn.Conv1d(EMBEDDED, CHANNELS, 3, padding=1)
        self.c2 = nn.Conv1d(CHANNELS, CHANNELS, 3, padding=1)
        self.o1, self.o2 = nn.Linear(3 * CHANNELS, HIDDEN), nn.Linear(HIDDEN, 1)

    def forward(self, x, largest=None):
        is_there = (x != self.empty)[:, None]
        value = self.e(x.long())
        scale = value.detach().abs().amax(-1, keepdim=True).clamp_min(1e-6) / 7
        # Four bits a value, as in the product; the gradient passes as if nothing were rounded.
        value = value + ((value / scale).round() * scale - value).detach()
        value = F.dropout(value, self.drop, self.training).transpose(1, 2) * is_there
        near = F.relu(self.c1(value)) * is_there
        wide = F.relu(self.c2(F.dropout(near, self.drop, self.training))) * is_there
        mean = wide.sum(2) / is_there.sum(2).clamp_min(1)
        seen = torch.cat([near.amax(2), wide.amax(2), mean], 1)
        hidden = F.relu(self.o1(F.dropout(seen, self.drop, self.training)))
        if largest is not None:
            largest.append([float(torch.quantile(it.flatten()[:4_000_000], 0.9999)) for it in (near.amax(2), wide.amax(2), hidden)])
        return self.o2(hidden)[:, 0]


def train_student(embedding, empty, x, n, soft, hard, steps, size, rate=2e-3):
    model = Student(embedding, empty).to(DEVICE)
    others = [value for name, value in model.named_parameters() if name != "e.weight"]
    groups = [{"params": [model.e.weight], "lr": rate / 2, "weight_decay": 0.0}, {"params": others, "lr": rate, "weight_decay": 0.02}]
    optimiser = torch.optim.AdamW(groups, fused=HAS_DEVICE)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda it: min(1, (it + 1) / 200) * (0.5 + 0.5 * math.cos(math.pi * min(1, it / steps))))
    target = torch.sigmoid(soft)
    model.train()
    done = 0
    while done < steps:
        order = torch.argsort(n + 6 * torch.rand(len(x), device=DEVICE)).split(size)
        widths = [int(n[it].max()) for it in order] if not HAS_DEVICE else torch.stack([n[it].max() for it in order]).tolist()
        for place in torch.randperm(len(order)).tolist()[: steps - done]:
            batch = order[place]
            texts = x[batch][:, : max(3, widths[place])]
            forgotten = (torch.rand(texts.shape, device=DEVICE) < 0.08) & (texts != empty)
            answers = model(torch.where(forgotten, UNKNOWN, texts))
            loss = F.binary_cross_entropy_with_logits(answers, target[batch])
            label = hard[batch]
            known = label >= 0
            each = F.binary_cross_entropy_with_logits(answers, label.clamp_min(0) * 0.96 + 0.02, reduction="none")
            loss = loss + 0.5 * (each * known).sum() / known.sum().clamp_min(1)
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            schedule.step()
            done += 1
    return model.eval()


@torch.no_grad()
def vectors_of_pieces(encoder, special):
    """Returns what the encoder makes of each piece by itself: before its layers, and half-way through."""
    rows = encoder.words.num_embeddings
    half = len(encoder.blocks) // 2
    found = [torch.zeros(rows, WIDE, device=DEVICE) for _ in range(1 + bool(half))]
    for start in range(0, rows, 4096):
        piece = torch.arange(start, min(rows, start + 4096), device=DEVICE)
        x = torch.stack([torch.full_like(piece, special[1]), piece, torch.full_like(piece, special[2])], 1)
        with narrow():
            for table, layers in zip(found, (0, half)):
                table[start : start + len(piece)] = encoder(x, layers)[:, 1].float()
    return torch.cat([it / it.std() for it in found], 1)


@torch.no_grad()
def first_embedding(vectors, rows):
    """Returns the main directions of the vectors, frequent pieces first."""
    frequency = np.full(len(vectors), 0.2, np.float32)
    for row in rows:
        np.add.at(frequency, row["pieces"], 1)
    share = torch.tensor(frequency, device=DEVICE).sqrt()[:, None]
    vectors = vectors - (vectors * share).sum(0) / share.sum()
    values, directions = torch.linalg.eigh(((vectors * share).T @ vectors / share.sum()).double().cpu())
    values, directions = values.to(DEVICE), directions.to(DEVICE)
    directions, values = directions[:, -EMBEDDED:].flip(1).float(), values[-EMBEDDED:].flip(0).float()
    small = vectors @ directions / values.clamp_min(1e-6) ** 0.25
    return small / small.norm(dim=1).mean() * math.sqrt(EMBEDDED) * 0.3


def report(name, rows, answers):
    crises = np.array([a for r, a in zip(rows, answers) if r["y"] == 1])
    others = np.array([a for r, a in zip(rows, answers) if r["y"] == 0])
    log(name, [f"{100 * (crises > np.quantile(others, 1 - it)).mean():.1f} % at {100 * it:.0f} %" for it in (0.02, 0.05, 0.1)])


class Makes:
    """Makes networks; what no fold changes is made once."""

    def __init__(self, settings, folder, rows):
        self.settings, self.rows = settings, rows
        self.encoder, guesses, self.special = load_teacher(folder, settings.layers)
        log("teacher loaded")
        self.vectors = vectors_of_pieces(self.encoder, self.special)
        log("pieces read")
        # The longest row is as long as rows may be, so that two texts fit into one.
        longest = [UNKNOWN] * PIECES_MAX
        data = Data([*(it["pieces"] for it in rows), longest], self.special[0])
        self.x, self.n = data.x[:-1], data.n[:-1]
        self.more, self.sources = [], []
        for time_ in range(settings.rewritten):
            share = 0.12 + 0.4 * time_ / max(1, settings.rewritten - 1)
            for batch in torch.argsort(self.n).split(settings.answer_batch):
                self.more.append((rewritten(self.encoder, guesses, self.x[batch], self.n[batch], share, self.special), self.n[batch]))
                self.sources.append(batch)
        log("texts rewritten", sum(map(len, self.sources)))
        parts = [(index, part) for index, row in enumerate(rows) for part in row["parts"][:-1] if part]
        if parts:
            data = Data([*(it[:PIECES_MAX] for _, it in parts), longest], self.special[0])
            self.more.append((data.x[:-1], data.n[:-1]))
            self.sources.append(torch.tensor([index for index, _ in parts], device=DEVICE))

    def network(self, left_out):
        """Returns a student that saw no text of the authors left out."""
        settings, empty = self.settings, self.special[0]
        is_seen = [it["author"] not in left_out for it in self.rows]
        seen = [row for row, is_in in zip(self.rows, is_seen) if is_in]
        kept = torch.tensor(is_seen, device=DEVICE)
        x, n = self.x[kept], self.n[kept]
        label = torch.tensor([float(it["y"]) for it in seen], device=DEVICE)
        one, two, texts, lengths = joined(x, n, empty)
        if settings.teacher_epochs:
            teacher = train_teacher(self.encoder, seen, self.special, settings.teacher_epochs, settings.teacher_batch)
            log("teacher trained on", len(seen), "without", left_out)
            self.report_teacher(teacher, left_out)
            chosen = [kept[it] for it in self.sources]
            more = [texts, *(part[0][it] for part, it in zip(self.more, chosen))]
            of_more = [lengths, *(part[1][it] for part, it in zip(self.more, chosen))]
            more, of_more = torch.cat(more), torch.cat(of_more)
            soft, soft_more = (teacher_answers(teacher, *it, self.special, settings.answer_batch) for it in ((x, n), (more, of_more)))
            hard = torch.full((len(more),), -1.0, device=DEVICE)
            log("teacher answered", len(more))
        else:
            more, of_more = texts, lengths
            hard = torch.maximum(label[one], label[two])
            soft, soft_more = label * 7 - 3.5, hard * 7 - 3.5
        inputs = [torch.cat(it) for it in ((x, x, more), (n, n, of_more), (soft, soft, soft_more), (label, label, hard))]
        student = train_student(first_embedding(self.vectors, seen), empty, *inputs, settings.student_steps, settings.student_batch)
        log("student trained")
        return student, x

    def report_teacher(self, teacher, left_out):
        held = [index for index, row in enumerate(self.rows) if row["author"] in left_out]
        if held:
            at = torch.tensor(held, device=DEVICE)
            answers = teacher_answers(teacher, self.x[at], self.n[at], self.special, self.settings.answer_batch)
            report(f"teacher, {left_out}", [self.rows[it] for it in held], answers.cpu().numpy())


@torch.no_grad()
def answers_to(student, rows, empty):
    """Returns the answers to every part of every text."""
    parts = [(row["id"], part or [UNKNOWN]) for row in rows for part in row["parts"]]
    found = {row["id"]: [] for row in rows}
    for start in range(0, len(parts), 2048):
        some = parts[start : start + 2048]
        data = Data([part[:512] for _, part in some], empty)
        for (name, _), answer in zip(some, student(data.x).tolist()):
            found[name].append(round(answer, 3))
    return found


@torch.no_grad()
def write_network(path, student, x):
    largest = []
    for batch in x.split(4096):
        student(batch, largest)
    state = {key: value.cpu().numpy() for key, value in student.state_dict().items()}
    table = state.pop("e.weight")[:-4]
    scale = np.maximum(np.abs(table).max(1), 1e-6) / 7
    codes = np.clip(np.round(table / scale[:, None]), -7, 7).astype(np.int8) + 8
    packed = (codes[:, 0::2].astype(np.uint8) | (codes[:, 1::2].astype(np.uint8) << 4)).astype(np.uint8)
    small = {key: value.astype(np.float16) for key, value in state.items()}
    np.savez_compressed(path, codes=packed, scales=scale.astype(np.float16), largest=np.max(largest, 0), **small)
    log(path.name, path.stat().st_size, "bytes")


def read_rows(path, most):
    with gzip.open(path, "rt", encoding="utf8") as lines:
        rows = [json.loads(it) for it in lines]
    if most:
        random.shuffle(rows)
        rows = rows[:most]
    for row in rows:
        row["pieces"] = (row["parts"][-1] or [UNKNOWN])[:PIECES_MAX]
    return rows


def main():
    folder, features, out = (pathlib.Path(it) for it in sys.argv[1:4])
    seconds = float(sys.argv[4]) if len(sys.argv) > 4 else 420
    settings = {"trial": Trial, "plain": Plain}.get(sys.argv[5] if len(sys.argv) > 5 else "", Settings)
    torch.set_float32_matmul_precision("high")
    seed(7)
    log("on", torch.cuda.get_device_name() if HAS_DEVICE else "the processor", "torch", torch.__version__)
    asked = read_rows(features, settings.rows)
    rows = [it for it in asked if it["y"] >= 0]
    log(len(rows), "texts to learn from")
    makes = Makes(settings, folder, rows)
    began = time.time()
    seed(7)
    student, x = makes.network([])
    write_network(out / "network.npz", student, x)
    took, answers = time.time() - began, {}
    for fold in settings.folds:
        if not any(it["author"] in fold for it in rows):
            continue
        if time.time() - START + took > seconds:
            log("no time is left for", fold)
            continue
        began = time.time()
        seed(7)
        student, _ = makes.network(fold)
        # The first one took longer: it warms everything up.
        took = time.time() - began
        held = [it for it in asked if it["author"] in fold]
        of_fold = answers_to(student, held, makes.special[0])
        answers |= of_fold
        (out / "held_out.json").write_text(json.dumps(answers, separators=(",", ":")))
        texts = [it for it in held if it["y"] >= 0]
        report(f"student, {fold}", texts, [max(of_fold[it["id"]]) for it in texts])
    log("done")


main()
