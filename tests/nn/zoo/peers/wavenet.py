"""The network of nn/zoo/wavenet.h."""
from make_references import Peer
from torch import nn
from torch.nn import functional as F


class Unit(nn.Module):
    def __init__(self, channels, skip, dilation):
        super().__init__()
        self.dilation = dilation
        self.filter = nn.Conv1d(channels, channels, 2, dilation=dilation)
        self.gate = nn.Conv1d(channels, channels, 2, dilation=dilation)
        self.residual = nn.Conv1d(channels, channels, 1)
        self.skip = nn.Conv1d(channels, skip, 1)

    def forward(self, x):
        padded = F.pad(x, (self.dilation, 0))
        gated = self.filter(padded).tanh() * self.gate(padded).sigmoid()
        return x + self.residual(gated), self.skip(gated)


class Wavenet(nn.Module):
    def __init__(self, levels=256, residual=64, skip=256):
        super().__init__()
        self.embedding = nn.Embedding(levels, residual)
        self.causal = nn.Conv1d(residual, residual, 2)
        self.units = nn.ModuleList(Unit(residual, skip, 2 ** (i % 10)) for i in range(30))
        self.head1 = nn.Conv1d(skip, skip, 1)
        self.head2 = nn.Conv1d(skip, levels, 1)

    def forward(self, ids):
        x, total = self.causal(F.pad(self.embedding(ids).transpose(1, 2), (1, 0))), 0
        for unit in self.units:
            x, skipped = unit(x)
            total = total + skipped
        return self.head2(self.head1(total.relu()).relu())


NETWORKS = {"wavenet": Peer(make=Wavenet, inputs=[(1, 600)], counts=[256], classifies=False)}
