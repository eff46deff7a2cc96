"""Squeeze-and-excitation networks with the strides of their authors."""
import functools

import torch
from torch import nn
from torch.nn import functional as F

from make_references import Peer


class Gate(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.fc1, self.fc2 = nn.Conv2d(channels, channels // 16, 1), nn.Conv2d(channels // 16, channels, 1)

    def forward(self, x):
        return x * torch.sigmoid(self.fc2(F.relu(self.fc1(x.mean((2, 3), keepdim=True)))))


class Unit(nn.Module):
    def __init__(self, wide, width, stride, groups, shortcut):
        super().__init__()
        out, strides = 4 * width, (stride, 1) if groups == 1 else (1, stride)
        a, b = (width, width) if groups == 1 else (2 * width, out)
        self.conv1, self.bn1 = nn.Conv2d(wide, a, 1, strides[0], bias=False), nn.BatchNorm2d(a)
        self.conv2 = nn.Conv2d(a, b, 3, strides[1], 1, groups=groups, bias=False)
        self.bn2 = nn.BatchNorm2d(b)
        self.conv3, self.bn3 = nn.Conv2d(b, out, 1, bias=False), nn.BatchNorm2d(out)
        self.se_module = Gate(out)
        self.downsample = None
        if stride > 1 or wide != out:
            self.downsample = nn.Sequential(
                nn.Conv2d(wide, out, shortcut, stride, shortcut // 2, bias=False), nn.BatchNorm2d(out))

    def forward(self, x):
        h = F.relu(self.bn1(self.conv1(x)))
        h = F.relu(self.bn2(self.conv2(h)))
        h = self.se_module(self.bn3(self.conv3(h)))
        return F.relu(h + (x if self.downsample is None else self.downsample(x)))


class SeResnet(nn.Module):
    def __init__(self, units, groups=1):
        super().__init__()
        self.layer0 = nn.Sequential()
        stem = [(3, 64, 7, 2)] if groups == 1 else [(3, 64, 3, 2), (64, 64, 3, 1), (64, 128, 3, 1)]
        for i, (a, wide, kernel, stride) in enumerate(stem):
            self.layer0.add_module(f"conv{i + 1}", nn.Conv2d(a, wide, kernel, stride, kernel // 2, bias=False))
            self.layer0.add_module(f"bn{i + 1}", nn.BatchNorm2d(wide))
            self.layer0.add_module(f"relu{i + 1}", nn.ReLU())
        self.layer0.add_module("pool", nn.MaxPool2d(3, 2, ceil_mode=True))
        for stage, count in enumerate(units):
            made, width = [], 64 << stage
            for i in range(count):
                made.append(Unit(wide, width, 2 if stage > 0 and i == 0 else 1, groups,
                                 3 if stage > 0 and groups > 1 else 1))
                wide = 4 * width
            self.add_module(f"layer{stage + 1}", nn.Sequential(*made))
        self.last_linear = nn.Linear(2048, 1000)

    def forward(self, x):
        h = self.layer0(x)
        for layer in (self.layer1, self.layer2, self.layer3, self.layer4):
            h = layer(h)
        return self.last_linear(h.mean((2, 3)))


NETWORKS = {"se_resnet50": Peer(make=functools.partial(SeResnet, [3, 4, 6, 3])),
            # Fifty gates that are neither open nor shut make a rounding grow: 10^12 times with
            # 64x64 pixels, too much for f64, and 10^8 times with 48x48.
            "senet154": Peer(make=functools.partial(SeResnet, [3, 8, 36, 3], 64), inputs=[(2, 3, 48, 48)])}
