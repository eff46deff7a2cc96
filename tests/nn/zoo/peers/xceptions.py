"""Xception as PyTorch's collections name it."""
from torch import nn
from torch.nn import functional as F

from make_references import Peer


class Separable(nn.Module):
    def __init__(self, wide, out):
        super().__init__()
        self.conv1 = nn.Conv2d(wide, wide, 3, padding=1, groups=wide, bias=False)
        self.pointwise = nn.Conv2d(wide, out, 1, bias=False)

    def forward(self, x):
        return self.pointwise(self.conv1(x))


class Unit(nn.Module):
    def __init__(self, wide, out, count, stride=1, starts_relu=True, grows_first=True):
        super().__init__()
        layers = []
        for i in range(count):
            a = wide if i == 0 or not grows_first else out
            b = out if grows_first or i + 1 == count else wide
            layers += ([nn.ReLU()] if i > 0 or starts_relu else []) + [Separable(a, b), nn.BatchNorm2d(b)]
        if stride > 1:
            layers.append(nn.MaxPool2d(3, stride, 1))
        self.rep, self.skip = nn.Sequential(*layers), None
        if stride > 1 or wide != out:
            self.skip, self.skipbn = nn.Conv2d(wide, out, 1, stride, bias=False), nn.BatchNorm2d(out)

    def forward(self, x):
        return self.rep(x) + (x if self.skip is None else self.skipbn(self.skip(x)))


class Xception(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, 32, 3, 2, bias=False), nn.BatchNorm2d(32)
        self.conv2, self.bn2 = nn.Conv2d(32, 64, 3, bias=False), nn.BatchNorm2d(64)
        units = [Unit(64, 128, 2, 2, starts_relu=False), Unit(128, 256, 2, 2), Unit(256, 728, 2, 2)]
        units += [Unit(728, 728, 3) for _ in range(8)] + [Unit(728, 1024, 2, 2, grows_first=False)]
        for i, unit in enumerate(units):
            self.add_module(f"block{i + 1}", unit)
        self.conv3, self.bn3 = Separable(1024, 1536), nn.BatchNorm2d(1536)
        self.conv4, self.bn4 = Separable(1536, 2048), nn.BatchNorm2d(2048)
        self.dropout, self.last_linear = nn.Dropout(0.5), nn.Linear(2048, 1000)

    def forward(self, x):
        h = F.relu(self.bn1(self.conv1(x)))
        h = F.relu(self.bn2(self.conv2(h)))
        for i in range(12):
            h = getattr(self, f"block{i + 1}")(h)
        h = F.relu(self.bn3(self.conv3(h)))
        h = F.relu(self.bn4(self.conv4(h)))
        return self.last_linear(self.dropout(h.mean((2, 3))))


NETWORKS = {"xception": Peer(make=Xception)}
