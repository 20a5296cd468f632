"""Several models of one shape, trained side by side as one: their weights are stacked.

One after the other, each would wait for the machine that hands out the work; stacked, six cost little more than
one. No number of one model touches another.
"""

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

import pack

WIDE, HEADS = 768, 12
EMBEDDED, CHANNELS, HIDDEN = pack.EMBEDDED, pack.CHANNELS, pack.HIDDEN
SLOTS = pack.LETTER_SLOTS + pack.WORD_SLOTS


def times(weight, bias, x):
    """Multiplies: weight [models, in, out], x [models, rows, width, in]."""
    models, rows, width, _ = x.shape
    return torch.baddbmm(bias[:, None], x.reshape(models, rows * width, -1), weight).view(models, rows, width, -1)


class Teachers(nn.Module):
    """Multilingual BERT with one answer, so many times."""

    def __init__(self, found, layers, empty, models):
        super().__init__()
        self.empty, self.models, self.layers = empty, models, layers
        self.kept = nn.ParameterDict()
        put = self.put
        put("words", found["embeddings.word_embeddings"])
        put("places", found["embeddings.position_embeddings"] + found["embeddings.token_type_embeddings"][:1])
        self.put_norm("first", found, "embeddings.LayerNorm")
        for layer in range(layers):
            at = f"encoder.layer_{layer}."
            parts = [f"{at}attention.self.{it}" for it in ("query", "key", "value")]
            put(f"{layer}.seen", np.concatenate([found[f"{it}.kernel"] for it in parts], 1))
            put(f"{layer}.seen.b", np.concatenate([found[f"{it}.bias"] for it in parts]))
            for name, of in (("out", "attention.output.dense"), ("between", "intermediate.dense"), ("last", "output.dense")):
                put(f"{layer}.{name}", found[f"{at}{of}.kernel"])
                put(f"{layer}.{name}.b", found[f"{at}{of}.bias"])
            self.put_norm(f"{layer}.norm_seen", found, f"{at}attention.output.LayerNorm")
            self.put_norm(f"{layer}.norm_last", found, f"{at}output.LayerNorm")
        self.kept["head"] = nn.Parameter(torch.randn(models, 2 * WIDE, 1) * 0.02)
        self.kept["head/b"] = nn.Parameter(torch.zeros(models, 1))

    def put(self, name, value):
        value = torch.tensor(np.asarray(value, np.float32))
        self.kept[name.replace(".", "/")] = nn.Parameter(value[None].repeat(self.models, *[1] * value.dim()))

    def put_norm(self, name, found, of):
        self.put(f"{name}.g", found[f"{of}.gamma"])
        self.put(f"{name}.b", found[f"{of}.beta"])

    def get(self, name):
        return self.kept[name.replace(".", "/")]

    def norm(self, name, x):
        x = F.layer_norm(x, (WIDE,), eps=1e-12)
        return x * self.get(f"{name}.g")[:, None, None] + self.get(f"{name}.b")[:, None, None]

    def drop(self, x):
        return F.dropout(x, 0.1, self.training)

    def encode(self, x, layers=None):
        """x: numbers of pieces [models, rows, width]."""
        models, rows, width = x.shape
        table = self.get("words")
        offset = (torch.arange(models, device=x.device) * table.shape[1])[:, None, None]
        seen = F.embedding(x + offset, table.reshape(-1, WIDE)) + self.get("places")[:, None, :width]
        seen = self.drop(self.norm("first", seen))
        mask = (x != self.empty).view(models * rows, 1, 1, width)
        for layer in range(self.layers if layers is None else layers):
            of = lambda name: (self.get(f"{layer}.{name}"), self.get(f"{layer}.{name}.b"))  # noqa: B023, E731
            parts = times(*of("seen"), seen).view(models * rows, width, 3, HEADS, WIDE // HEADS).permute(2, 0, 3, 1, 4)
            mixed = F.scaled_dot_product_attention(*parts, mask, dropout_p=0.1 if self.training else 0.0)
            mixed = mixed.transpose(1, 2).reshape(models, rows, width, WIDE)
            seen = self.norm(f"{layer}.norm_seen", seen + self.drop(times(*of("out"), mixed)))
            between = F.gelu(times(*of("between"), seen))
            seen = self.norm(f"{layer}.norm_last", seen + self.drop(times(*of("last"), between)))
        return seen

    def forward(self, x):
        is_there = (x != self.empty)[..., None]
        seen = self.encode(x)
        mean = (seen * is_there).sum(2) / is_there.sum(2).clamp_min(1)
        seen = self.drop(torch.cat([seen[:, :, 0], mean], -1))
        return times(self.get("head"), self.get("head.b"), seen[:, :, None])[:, :, 0, 0]

    def groups(self, rate, falls):
        """Returns parameters with rates that fall from the answer towards the text."""
        found = []
        for name, value in self.kept.items():
            first = name.split("/")[0]
            depth = 0 if first.startswith("head") else self.layers - int(first) if first.isdigit() else self.layers + 1
            found.append({"params": [value], "lr": rate * falls**depth, "weight_decay": 0.01 if value.dim() > 2 else 0.0})
        return found


class Guesses:
    """Guesses hidden words, as the encoder was once trained to."""

    def __init__(self, found, device):
        put = lambda it: torch.tensor(np.asarray(found[it], np.float32), device=device)  # noqa: E731
        self.dense, self.bias, self.out = put("transform.dense.kernel"), put("transform.dense.bias"), put("output_bias")
        self.gamma, self.beta = put("transform.LayerNorm.gamma"), put("transform.LayerNorm.beta")

    def __call__(self, seen, words):
        """Returns how likely every piece is where `seen` was seen."""
        seen = F.gelu(seen.float() @ self.dense + self.bias)
        seen = F.layer_norm(seen, (WIDE,), self.gamma, self.beta, 1e-12)
        return torch.addmm(self.out.to(words.dtype), seen.to(words.dtype), words.T)


class Students(nn.Module):
    """The product's model (crates/crisis) with numbers that have a point, so many times: both halves, added."""

    def __init__(self, embedding, empty, models, drop=0.2, channels=CHANNELS, hidden=HIDDEN):
        super().__init__()
        self.empty, self.drop, self.models = empty, drop, models
        put = lambda *shape: nn.Parameter(torch.empty(models, *shape))  # noqa: E731
        self.e = nn.Parameter(embedding[None].repeat(models, 1, 1))
        self.c1, self.c1b = put(3 * EMBEDDED, channels), put(channels)
        self.c2, self.c2b = put(3 * channels, channels), put(channels)
        self.o1, self.o1b = put(3 * channels, hidden), put(hidden)
        self.o2, self.o2b = put(hidden, 1), put(1)
        for weight, bias in ((self.c1, self.c1b), (self.c2, self.c2b), (self.o1, self.o1b), (self.o2, self.o2b)):
            bound = 1 / math.sqrt(weight.shape[1])
            nn.init.uniform_(weight, -bound, bound)
            nn.init.uniform_(bias, -bound, bound)
        self.linear = nn.Parameter(torch.zeros(models * SLOTS))

    def convolve(self, weight, bias, x, is_there):
        near = F.pad(x, (0, 0, 1, 1))
        near = torch.cat([near[:, :, :-2], near[:, :, 1:-1], near[:, :, 2:]], -1)
        return F.relu(times(weight, bias, near)) * is_there

    def dropped(self, x):
        return F.dropout(x, self.drop, self.training)

    def network(self, x, largest=None):
        """x: numbers of pieces [models, rows, width]."""
        is_there = (x != self.empty)[..., None]
        offset = (torch.arange(self.models, device=x.device) * self.e.shape[1])[:, None, None]
        value = F.embedding(x.long() + offset, self.e.reshape(-1, EMBEDDED))
        scale = value.detach().abs().amax(-1, keepdim=True).clamp_min(1e-6) / 7
        # Four bits a value, as in the product; the gradient passes as if nothing were rounded.
        value = value + ((value / scale).round() * scale - value).detach()
        value = self.dropped(value) * is_there
        near = self.convolve(self.c1, self.c1b, value, is_there)
        wide = self.convolve(self.c2, self.c2b, self.dropped(near), is_there)
        mean = wide.sum(2) / is_there.sum(2).clamp_min(1)
        seen = torch.cat([near.amax(2), wide.amax(2), mean], -1)
        hidden = F.relu(times(self.o1, self.o1b, self.dropped(seen)[:, :, None]))
        if largest is not None:
            largest.append([float(torch.quantile(it.flatten()[:4_000_000].float(), 0.9999)) for it in (near.amax(2), wide.amax(2), hidden)])
        return times(self.o2, self.o2b, hidden)[:, :, 0, 0]

    def groups(self, slots, row, votes, models, rows):
        """Adds the weights of groups: `slots`, the row of each in [models * rows], and how much it counts there."""
        sums = torch.zeros(models * rows, device=slots.device)
        return sums.index_add(0, row, self.linear.index_select(0, slots) * votes).view(models, rows)
