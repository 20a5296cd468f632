"""Makes crates/crisis/weights.bin from the corpus and the model that distil.py made.

    python -m venv env && env/bin/pip install -r requirements.txt
    env/bin/python train.py              the weights; minutes on two cores, the same bytes every time
    env/bin/python train.py after        the model's answers to authors who wrote after it was made, into held_out.json

Every figure it prints is of authors that the model being measured has not seen.
"""

import json
import multiprocessing
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor

import numpy as np
from scipy.sparse import csr_matrix, hstack, vstack
from sklearn.linear_model import LogisticRegression

import data
import pack

HELD, UNSURE, SUPPORTING = 0.02, 0.10, 0.5
TALKS_HELD = 0.04
# A script has a limit of its own if this many texts without a crisis were measured.
OF_SCRIPT_MIN = 300
WEIGHTS = data.ROOT / "crates" / "crisis" / "weights.bin"


def after():
    """Adds the answers of the committed model to the texts of authors it has not seen."""
    path = data.HERE / "held_out.json"
    answers, rows = json.loads(path.read_text()), [it for it in data.rows() if it["author"] in data.AFTER]
    network, linear = read_model(pack.vocabulary(data.HERE / "vocabulary.txt"))
    for row, parts in zip(rows, data.read_by_model([it["text"] for it in rows])):
        halves = zip((network.score(np.array(it[2], np.int64)) / pack.ONE for it in parts), groups(parts) @ linear)
        answers[row["id"]] = [[round(float(it), 2) for it in both] for both in halves]
    path.write_text(json.dumps(answers, separators=(",", ":")))


class Texts:
    """Texts and what the linear half reads in them: their parts, the last of which is the whole text
    unless that is too long."""

    def __init__(self, rows):
        self.rows = rows
        self.authors = np.array([it["author"] for it in rows])
        self.labels = np.array([int(it.get("label") == "crisis") for it in rows])
        read = data.read_by_model([it["text"] for it in rows])
        self.counts = [len(it) for it in read]
        self.owner = np.repeat(np.arange(len(read)), self.counts)
        self.parts = groups([part for it in read for part in it])
        # The script of the most letters of each text, and all that count in each part.
        self.script = np.array([it[-1][3][0] if it[-1][3] else -1 for it in read])
        self.scripts = np.zeros((len(self.owner), pack.SCRIPTS), bool)
        for line, part in zip(self.scripts, (part for it in read for part in it)):
            line[part[3]] = True
        self.whole = self.parts[np.cumsum(self.counts) - 1]

    def most(self, of_parts):
        """Returns the highest score of the parts of each text."""
        total = np.full(len(self.rows), -np.inf)
        np.maximum.at(total, self.owner, of_parts)
        return total

    def of_scripts(self, offsets):
        """Returns what is added to the score of each part: of the scripts that count in it, the most."""
        most = np.where(self.scripts, offsets, -np.inf).max(1)
        return np.where(self.scripts.any(1), most, 0.0)

    def of_model(self, answers):
        """Returns the model's answers to all parts, both halves added; none where no model has left the author out."""
        missing = [[[np.nan]] * it for it in self.counts]
        # A text without words has one part in which there is nothing to read.
        found = [answers.get(row["id"], none) or [[-1e6]] for row, none in zip(self.rows, missing)]
        assert [len(it) for it in found] == self.counts, "held_out.json is of another corpus: run distil.py again"
        return np.array([sum(both) for it in found for both in it])


def groups(parts):
    """Returns the letter and word groups of texts as one sparse table; the groups of each kind share one vote."""
    tables = []
    for kind, slots in ((0, pack.LETTER_SLOTS), (1, pack.WORD_SLOTS)):
        found = [it[kind] for it in parts]
        counts = [len(it) for it in found]
        values = np.repeat([1 / max(1, it) ** 0.5 for it in counts], counts)
        tables.append(csr_matrix((values, np.concatenate(found).astype(np.int64), np.cumsum([0, *counts])), (len(parts), slots)))
    return hstack(tables).tocsr()


def fit(table, labels):
    return LogisticRegression(C=10.0, solver="liblinear", max_iter=300, random_state=0).fit(table, labels)


# What is learnt from, for processes that fit side by side.
LEARNT = []


def linear(left_out):
    """Returns a linear half that learnt nothing of these authors, nor of those who wrote afterwards."""
    left_out = [*left_out, *data.AFTER]
    chosen = [it.whole[~np.isin(it.authors, left_out)] for it in LEARNT]
    labels = [it.labels[~np.isin(it.authors, left_out)] for it in LEARNT]
    return fit(vstack(chosen).tocsr(), np.concatenate(labels))


def limit(values, share):
    """Returns the least score above which at most `share` of the values lie."""
    values = np.sort(values)
    return int(np.floor(values[min(len(values) - 1, int(np.ceil((1 - share) * len(values))) - 1)])) + 1


def interval(hits, total):
    """Wilson's interval, 95 %."""
    if not total:
        return "-"
    z, p = 1.96, hits / total
    middle, half = (p + z * z / 2 / total), z * (p * (1 - p) / total + z * z / 4 / total**2) ** 0.5
    low, high = (middle - half) / (1 + z * z / total), (middle + half) / (1 + z * z / total)
    return f"{100 * p:.1f} ({100 * low:.1f}–{100 * high:.1f})"


def table_of(title, keys, held, labels):
    print(f"\n| {title} | noticed of crises | alarms of others |\n|---|---|---|")
    for key in ["all", *sorted(set(keys))]:
        chosen = np.array([key in ("all", it) for it in keys])
        crises, others = chosen & (labels == 1), chosen & (labels == 0)
        print(f"| {key} | {interval(held[crises].sum(), crises.sum())} of {crises.sum()} | {interval(held[others].sum(), others.sum())} of {others.sum()} |")


def tables(rows, held, labels, what):
    for title, key in ((f"{what}, language", "lang"), (f"{what}, author", "author")):
        table_of(title, [it[key] for it in rows], held, labels)


def read_model(words):
    """Returns the network, and the weights of the groups."""
    stored = np.load(data.HERE / "network.npz")
    packed = stored["codes"]
    codes = np.stack([packed & 15, packed >> 4], 2).reshape(len(packed), -1).astype(np.int8) - 8
    assert len(codes) == 1 + len(words[0]) + len(words[1])
    network = pack.Network({it: stored[it] for it in stored.files}, codes, stored["scales"].astype(np.float64), stored["largest"])
    return network, stored["linear"] * float(stored["worth"])


def main():
    words = pack.vocabulary(data.HERE / "vocabulary.txt")
    talks = data.talks()
    texts, told, asked = Texts(data.rows()), Texts(data.telling(talks)), Texts(data.asked_of(talks))
    print(f"{len(texts.rows)} texts, {len(talks)} conversations; fitting what groups add", flush=True)

    LEARNT.extend([texts, told])
    folds = [*data.FOLDS, data.AFTER]
    with ProcessPoolExecutor(len(folds), mp_context=multiprocessing.get_context("fork")) as several:
        models = list(several.map(linear, folds))
    of_linear = {id(it): np.zeros(len(it.owner)) for it in (texts, asked)}
    for fold, model in zip(folds, models):
        for some in (texts, asked):
            out = np.isin(some.authors, fold)[some.owner]
            if out.any():
                of_linear[id(some)][out] = model.decision_function(some.parts[out])
    answers = json.loads((data.HERE / "held_out.json").read_text())
    of_model = {id(it): it.of_model(answers) for it in (texts, asked)}

    offsets = np.zeros(pack.SCRIPTS)

    def scores(some, share):
        return some.most(of_model[id(some)] + share * of_linear[id(some)] + some.of_scripts(offsets) / pack.ONE)

    labels = texts.labels
    # Limits and shares are set without the authors who wrote afterwards.
    measured = ~np.isnan(scores(texts, 0.0)) & ~np.isin(texts.authors, data.AFTER)

    def recall(share):
        total = scores(texts, share)
        return (total[measured & (labels == 1)] > np.quantile(total[measured & (labels == 0)], 1 - HELD)).mean()

    shares = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0)
    print("what groups fitted by themselves add:", [(it, round(100 * recall(it), 1)) for it in shares])
    share = max(shares, key=recall)
    total = scores(texts, share) * pack.ONE
    others = measured & (labels == 0)
    # The same share of each script lies beyond the limit.
    for script in range(pack.SCRIPTS - 1):
        of_script = others & (texts.script == script)
        if of_script.sum() >= OF_SCRIPT_MIN:
            offsets[script] = limit(total[others], HELD) - limit(total[of_script], HELD)
    print("added to the scores of each script:", offsets.astype(int).tolist())
    total = scores(texts, share) * pack.ONE
    limits = [limit(total[others], it) for it in (HELD, UNSURE, SUPPORTING)]
    print(f"share {share}, limits {limits}, {measured.sum()} texts measured")
    held = total >= limits[0]
    tables([it for it, is_in in zip(texts.rows, measured) if is_in], held[measured], labels[measured], "texts")
    crises = measured & (labels == 1)
    print(f"beyond the limit of the unsure: {interval((total[crises] >= limits[1]).sum(), crises.sum())} of crises")
    later = np.isin(texts.authors, data.AFTER) & ~np.isnan(total)
    if later.any():
        tables([it for it, is_in in zip(texts.rows, later) if is_in], held[later], labels[later], "texts of later authors")

    (network, weights), model = read_model(words), models[-1]
    weights = weights + share * model.coef_[0]
    scale = np.abs(weights).max() / 127
    rounded = np.round(weights / scale).astype(np.int8)
    # A vote is the sum divided by a root with ten bits behind its point.
    bias = round(share * float(model.intercept_[0]) * pack.ONE)
    half = (rounded[: pack.LETTER_SLOTS], rounded[pack.LETTER_SLOTS :], round(scale * pack.ONE * pack.ONE), bias)
    head = talk_head(talks, asked, scores(asked, share) * pack.ONE, limits[:2])
    size = pack.write(WEIGHTS, words, network, half, [pack.ONE, pack.ONE, *limits], head, offsets.astype(int).tolist())
    print(f"\n{size} bytes of weights")


def talk_head(talks, asked, scores, limits):
    """Returns bias and weights that bring conversations onto the scale of texts."""
    of_talk = {}
    for row, score in zip(asked.rows, scores):
        of_talk.setdefault(row["id"].rpartition("/")[0], []).append(score)
    talks = [it for it in talks if not np.isnan(of_talk[it["id"]]).any()]
    # What has no words has the least score of all.
    whole = lambda it: int(np.clip(it, -(1 << 30), 1 << 30))  # noqa: E731
    lines = [{"roles": [turn["role"] for turn in it["context"]], "scores": [whole(score) for score in of_talk[it["id"]]]} for it in talks]
    command = "cargo run --quiet --release --locked -p countersign-crisis --example crisis_talks".split()
    given = "".join(json.dumps(it) + "\n" for it in lines)
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=True, cwd=data.ROOT)
    table = np.array([json.loads(it) for it in done.stdout.splitlines()]) / pack.ONE
    labels = np.array([int(it["label"] == "crisis") for it in talks])
    authors = np.array([it["author"] for it in talks])
    total = np.zeros(len(talks))
    for author in sorted(set(authors)):
        out = authors == author
        total[out] = head_of(table[~out], labels[~out]).decision_function(table[out])
    held = total >= np.quantile(total[labels == 0], 1 - TALKS_HELD)
    tables(talks, held, labels, "conversations")
    most = table[:, :6].max(1)
    plain = (most >= np.quantile(most[labels == 0], 1 - TALKS_HELD))[labels == 1].mean()
    print(f"the most telling turn alone: {100 * plain:.1f} at the same alarms")
    # One scale for all: what is held and unsure among conversations lies where it lies among texts.
    model = head_of(table, labels)
    marks = [np.quantile(total[labels == 0], 1 - it) for it in (TALKS_HELD, UNSURE)]
    stretch = (limits[0] - limits[1]) / pack.ONE / (marks[0] - marks[1])
    weights = np.round(model.coef_[0] * stretch * pack.ONE).astype(int)
    bias = limits[0] + round((float(model.intercept_[0]) - marks[0]) * stretch * pack.ONE)
    return [bias, *map(int, weights)]


def head_of(table, labels):
    return LogisticRegression(random_state=0, max_iter=1000).fit(table, labels)


if __name__ == "__main__":
    if sys.argv[1:] == ["after"]:
        after()
    else:
        main()
