"""The Transformer of nn/zoo/transformer.h and the models of nn/zoo/lstm_language_model.h."""
import math

import torch
from make_references import Peer
from torch import nn


class Transformer(nn.Module):
    def __init__(self, vocabulary=37000, hidden=512):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, hidden)
        self.dropout = nn.Dropout(0.1)
        self.transformer = nn.Transformer(hidden, batch_first=True)
        self.generator = nn.Linear(hidden, vocabulary, bias=False)
        self.generator.weight = self.embedding.weight

    def embedded(self, ids):
        x = self.embedding(ids)
        width = x.shape[-1]
        angle = torch.arange(ids.shape[1]).double()[:, None] / 10000 ** (torch.arange(0, width, 2).double() / width)
        at = torch.stack([angle.sin(), angle.cos()], -1).flatten(1)
        return self.dropout(x * math.sqrt(width) + at.to(x.dtype))

    def forward(self, src, tgt):
        later = torch.ones(tgt.shape[1], tgt.shape[1], dtype=torch.bool).triu(1)
        return self.generator(self.transformer(self.embedded(src), self.embedded(tgt), tgt_mask=later))


class LstmLanguageModel(nn.Module):
    def __init__(self, hidden, vocabulary=10000):
        super().__init__()
        self.encoder = nn.Embedding(vocabulary, hidden)
        self.rnn = nn.LSTM(hidden, hidden, 2, batch_first=True)
        self.decoder = nn.Linear(hidden, vocabulary)

    def forward(self, ids):
        return self.decoder(self.rnn(self.encoder(ids))[0])


def _lstm(hidden):
    return Peer(make=lambda: LstmLanguageModel(hidden), inputs=[(2, 12)], counts=[10000], classifies=False)


NETWORKS = {
    "transformer": Peer(make=Transformer, inputs=[(2, 12), (2, 9)], counts=[37000, 37000], classifies=False),
    "lstm_lm_small": _lstm(200),
    "lstm_lm_medium": _lstm(650),
}
