"""The network of nn/zoo/tacotron.h."""
import torch
from make_references import Peer
from torch import nn
from torch.nn import functional as F


class ConvNorm(nn.Module):
    def __init__(self, inner, out, kernel, relu):
        super().__init__()
        self.conv = nn.Conv1d(inner, out, kernel, padding="same", bias=False)
        self.norm = nn.BatchNorm1d(out)
        self.relu = relu

    def forward(self, x):
        y = self.norm(self.conv(x))
        return y.relu() if self.relu else y


class Highway(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.transform = nn.Linear(size, size)
        self.gate = nn.Linear(size, size)

    def forward(self, x):
        gate = self.gate(x).sigmoid()
        return gate * self.transform(x).relu() + (1 - gate) * x


class Prenet(nn.Module):
    def __init__(self, inner, hidden):
        super().__init__()
        self.fc1 = nn.Linear(inner, 2 * hidden)
        self.fc2 = nn.Linear(2 * hidden, hidden)
        self.dropout = nn.Dropout(0.5)

    def forward(self, x):
        return self.dropout(self.fc2(self.dropout(self.fc1(x).relu())).relu())


class Cbhg(nn.Module):
    def __init__(self, inner, widest, projected, hidden):
        super().__init__()
        self.bank = nn.ModuleList(ConvNorm(inner, hidden, k, True) for k in range(1, widest + 1))
        self.project1 = ConvNorm(widest * hidden, projected, 3, True)
        self.project2 = ConvNorm(projected, inner, 3, False)
        self.highways = nn.ModuleList(Highway(hidden) for _ in range(4))
        self.fit = nn.Linear(inner, hidden, bias=False) if inner != hidden else nn.Identity()
        self.gru = nn.GRU(hidden, hidden, batch_first=True, bidirectional=True)

    def forward(self, x):
        found = torch.cat([conv(x.transpose(1, 2)) for conv in self.bank], 1)
        pooled = F.max_pool1d(F.pad(found, (0, 1), "replicate"), 2, 1)
        y = self.fit(x + self.project2(self.project1(pooled)).transpose(1, 2))
        for highway in self.highways:
            y = highway(y)
        return self.gru(y)[0]


class Decoder(nn.Module):
    def __init__(self, hidden, mels, reduction):
        super().__init__()
        width = 2 * hidden
        self.prenet = Prenet(mels, hidden)
        self.attention_rnn = nn.GRUCell(hidden + width, width)
        self.query = nn.Linear(width, width, bias=False)
        self.memory = nn.Linear(width, width)
        self.score = nn.Linear(width, 1, bias=False)
        self.project = nn.Linear(2 * width, width)
        self.rnn1 = nn.GRUCell(width, width)
        self.rnn2 = nn.GRUCell(width, width)
        self.mel = nn.Linear(width, mels * reduction)

    def forward(self, memory, before):
        keys, context = self.memory(memory), torch.zeros_like(memory[:, 0])
        attention, first, second, made = None, None, None, []
        for x in self.prenet(before).unbind(1):
            attention = self.attention_rnn(torch.cat([x, context], 1), attention)
            weights = self.score((self.query(attention)[:, None] + keys).tanh()).softmax(1)
            context = (weights * memory).sum(1)
            x = self.project(torch.cat([attention, context], 1))
            first = self.rnn1(x, first)
            second = self.rnn2(x + first, second)
            made.append(self.mel(x + first + second))
        return torch.stack(made, 1)


class Tacotron(nn.Module):
    def __init__(self, characters=70, mels=80, frequencies=1025, reduction=2, hidden=128):
        super().__init__()
        self.reduction = reduction
        self.embedding = nn.Embedding(characters, 2 * hidden)
        self.prenet = Prenet(2 * hidden, hidden)
        self.encoder = Cbhg(hidden, 16, hidden, hidden)
        self.decoder = Decoder(hidden, mels, reduction)
        self.post = Cbhg(mels, 8, 2 * hidden, hidden)
        self.linear = nn.Linear(2 * hidden, frequencies)

    def forward(self, ids, mels):
        memory = self.encoder(self.prenet(self.embedding(ids)))
        before = torch.cat([torch.zeros_like(mels[:, :1]), mels[:, self.reduction - 1:-1:self.reduction]], 1)
        return self.decoder(memory, before).reshape(mels.shape)


NETWORKS = {"tacotron": Peer(make=Tacotron, inputs=[(2, 14), (2, 12, 80)], counts=[70, 0], classifies=False)}
