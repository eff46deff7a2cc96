"""The workloads of recurrent networks and attention, as benchmarks/sequences.cc and gpt.cc have them.

A model says what its batches and its loss are: see torch_workload.Workload.
"""

import torch
from torch import nn
from torch.nn import functional as F

import hash_values
from torch_workload import Workload

STEPS, IN, HIDDEN = 64, 128, 256
HEADS, LENGTH, WIDTH = 8, 2048, 64
LAYERS, EMBED, GPT_HEADS, TOKENS, TRAINED, CONTEXT = 4, 256, 8, 256, 128, 256


class Square(Workload):
    """The loss is the mean square of what comes out."""

    def batch(self, step, size):
        shape = (STEPS, size, IN)
        x, _ = hash_values.batch(step, shape[0], shape[1:])
        return torch.from_numpy(x), torch.zeros(0, dtype=torch.int64)

    def loss(self, x, y):
        out = self(x)
        return (out * out).mean()


class Lstm(Square):
    """x (64, B, 128)"""

    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(IN, HIDDEN)

    def forward(self, x):
        return self.lstm(x)[0]


class LstmLoop(Square):
    """The same by operations."""

    def __init__(self):
        super().__init__()
        for name, parameter in nn.LSTM(IN, HIDDEN).named_parameters():
            self.register_parameter(name, parameter)

    def forward(self, x):
        h = c = x.new_zeros(x.shape[1], HIDDEN)
        out = []
        for row in x:
            sums = (F.linear(row, self.weight_ih_l0, self.bias_ih_l0) +
                    F.linear(h, self.weight_hh_l0, self.bias_hh_l0))
            i, f, g, o = sums.chunk(4, 1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
            out.append(h)
        return torch.stack(out)


class Attention(Square):
    """q, k and v are parameters, of which there are gradients alone."""

    kind = "differentiate"

    def __init__(self, batch):
        super().__init__()
        for name in "qkv":
            self.register_parameter(name, nn.Parameter(torch.zeros(batch, HEADS, LENGTH, WIDTH)))

    def batch(self, step, size):
        x, _ = hash_values.batch(step, size, (1,))
        return torch.from_numpy(x), torch.zeros(0, dtype=torch.int64)

    def forward(self, x):
        return F.scaled_dot_product_attention(self.q, self.k, self.v)


class Cache:
    """Keys and values in place, and how many there are: a number, or for torch.compile a tensor."""

    def __init__(self, batch):
        shape = (batch, GPT_HEADS, CONTEXT, EMBED // GPT_HEADS)
        self.keys, self.values = torch.zeros(shape), torch.zeros(shape)


class Block(nn.Module):
    """x (B, T, 256)"""

    def __init__(self):
        super().__init__()
        self.norm1 = nn.LayerNorm(EMBED)
        self.qkv = nn.Linear(EMBED, 3 * EMBED)
        self.proj = nn.Linear(EMBED, EMBED)
        self.norm2 = nn.LayerNorm(EMBED)
        self.up = nn.Linear(EMBED, 4 * EMBED)
        self.down = nn.Linear(4 * EMBED, EMBED)

    def attend(self, x, cache, place):
        batch, length, _ = x.shape
        q, k, v = (t.view(batch, length, GPT_HEADS, -1).transpose(1, 2)
                   for t in self.qkv(x).split(EMBED, 2))
        if cache is None:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        elif isinstance(place, int):  # attends to the keys in the cache
            cache.keys[:, :, place] = k[:, :, 0]
            cache.values[:, :, place] = v[:, :, 0]
            y = F.scaled_dot_product_attention(q, cache.keys[:, :, :place + 1],
                                               cache.values[:, :, :place + 1])
        else:  # shapes stay
            cache.keys.index_copy_(2, place, k)
            cache.values.index_copy_(2, place, v)
            mask = (torch.arange(CONTEXT) <= place)[None]
            y = F.scaled_dot_product_attention(q, cache.keys, cache.values, attn_mask=mask)
        return y.transpose(1, 2).reshape(batch, length, EMBED)

    def forward(self, x, cache=None, place=0):
        x = x + self.proj(self.attend(self.norm1(x), cache, place))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Gpt(Workload):
    """Tokens (B, T) to logits (B, T, 256); learns sequences of 128 tokens."""

    def __init__(self):
        super().__init__()
        self.token = nn.Embedding(TOKENS, EMBED)
        self.place = nn.Embedding(CONTEXT, EMBED)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm = nn.LayerNorm(EMBED)
        self.head = nn.Linear(EMBED, TOKENS, bias=False)

    def batch(self, step, size):
        tokens = torch.from_numpy(hash_values.tokens(step, (size, TRAINED + 1), TOKENS))
        return tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous()

    def forward(self, tokens):
        x = self.token(tokens) + self.place(torch.arange(tokens.shape[1], device=tokens.device))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))

    def loss(self, x, y):
        return F.cross_entropy(self(x).flatten(0, 1), y.flatten())


class Decode(Gpt):
    """The same network generates 256 tokens, each the likeliest, with a cache for each layer."""

    kind = "run"
    calls = CONTEXT

    def __init__(self, batch):
        super().__init__()
        self.caches = [Cache(batch) for _ in range(LAYERS)]
        self.said = torch.zeros(batch, 1, dtype=torch.int64)
        self.at = torch.zeros(1, dtype=torch.int64)

    def batch(self, step, size):
        tokens = hash_values.tokens(step, (size, 1), TOKENS)
        return torch.from_numpy(tokens), torch.zeros(0, dtype=torch.int64)

    def begin_step(self, x, compiled):
        self.said.copy_(x)
        self.at.zero_()
        self.count = 0
        self.compiled = compiled

    def loss(self, x, y):
        place = self.at if self.compiled else self.count
        x = self.token(self.said) + (self.place(place) if self.compiled else
                                     self.place.weight[place])
        for block, cache in zip(self.blocks, self.caches):
            x = block(x, cache, place)
        logits = self.head(self.norm(x))
        self.said.copy_(logits.argmax(2))
        if self.compiled:
            self.at.add_(1)
        else:
            self.count += 1
        return (logits * logits).mean()


MAKERS = {"lstm": lambda batch: Lstm(), "lstm_loop": lambda batch: LstmLoop(),
          "attention": Attention, "gpt": lambda batch: Gpt(), "decode": Decode}
