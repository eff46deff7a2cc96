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
    def __init__(self, wide, width, stride):
        super().__init__()
        out = 4 * width
        self.conv1, self.bn1 = nn.Conv2d(wide, width, 1, stride, bias=False), nn.BatchNorm2d(width)
        self.conv2, self.bn2 = nn.Conv2d(width, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width)
        self.conv3, self.bn3 = nn.Conv2d(width, out, 1, bias=False), nn.BatchNorm2d(out)
        self.se_module = Gate(out)
        self.downsample = None
        if stride > 1 or wide != out:
            self.downsample = nn.Sequential(nn.Conv2d(wide, out, 1, stride, bias=False), nn.BatchNorm2d(out))

    def forward(self, x):
        h = F.relu(self.bn1(self.conv1(x)))
        h = F.relu(self.bn2(self.conv2(h)))
        h = self.se_module(self.bn3(self.conv3(h)))
        return F.relu(h + (x if self.downsample is None else self.downsample(x)))


class SeResnet(nn.Module):
    def __init__(self, units):
        super().__init__()
        self.layer0 = nn.Sequential()
        self.layer0.add_module("conv1", nn.Conv2d(3, 64, 7, 2, 3, bias=False))
        self.layer0.add_module("bn1", nn.BatchNorm2d(64))
        self.layer0.add_module("relu1", nn.ReLU())
        self.layer0.add_module("pool", nn.MaxPool2d(3, 2, ceil_mode=True))
        wide = 64
        for stage, count in enumerate(units):
            made, width = [], 64 << stage
            for i in range(count):
                made.append(Unit(wide, width, 2 if stage > 0 and i == 0 else 1))
                wide = 4 * width
            self.add_module(f"layer{stage + 1}", nn.Sequential(*made))
        self.last_linear = nn.Linear(2048, 1000)

    def forward(self, x):
        h = self.layer0(x)
        for layer in (self.layer1, self.layer2, self.layer3, self.layer4):
            h = layer(h)
        return self.last_linear(h.mean((2, 3)))


NETWORKS = {"se_resnet50": Peer(make=functools.partial(SeResnet, [3, 4, 6, 3]))}
