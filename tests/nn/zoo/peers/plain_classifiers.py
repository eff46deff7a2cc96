"""Classifiers that torchvision lacks: LeNet-5, NIN, MobileNet v1, PreAct ResNet."""
import functools

import torch
from torch import nn
from torch.nn import functional as F

from make_references import Peer


class Lenet5(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 6, 5, padding=2), nn.Conv2d(6, 16, 5)
        self.fc1, self.fc2, self.fc3 = nn.Linear(400, 120), nn.Linear(120, 84), nn.Linear(84, 10)

    def forward(self, x):
        h = F.avg_pool2d(torch.tanh(self.conv1(x)), 2)
        h = F.avg_pool2d(torch.tanh(self.conv2(h)), 2)
        return self.fc3(torch.tanh(self.fc2(torch.tanh(self.fc1(h.flatten(1))))))


class Nin(nn.Module):
    STAGES = [(3, 96, 11, 4, 0, 96), (96, 256, 5, 1, 2, 256), (256, 384, 3, 1, 1, 384), (384, 1024, 3, 1, 1, 1000)]

    def __init__(self):
        super().__init__()
        for i, (wide, out, kernel, stride, padding, last) in enumerate(self.STAGES):
            self.add_module(f"conv{i + 1}", nn.Conv2d(wide, out, kernel, stride, padding))
            self.add_module(f"cccp{2 * i + 1}", nn.Conv2d(out, out, 1))
            self.add_module(f"cccp{2 * i + 2}", nn.Conv2d(out, last, 1))
        self.drop = nn.Dropout(0.5)

    def forward(self, x):
        for i in range(4):
            if i > 0:
                x = F.max_pool2d(x, 3, 2, ceil_mode=True)
            if i == 3:
                x = self.drop(x)
            for name in (f"conv{i + 1}", f"cccp{2 * i + 1}", f"cccp{2 * i + 2}"):
                x = F.relu(getattr(self, name)(x))
        return x.mean((2, 3))


def conv_norm(wide, out, kernel, stride=1, groups=1):
    return nn.Sequential(nn.Conv2d(wide, out, kernel, stride, kernel // 2, groups=groups, bias=False), nn.BatchNorm2d(out), nn.ReLU())


class MobilenetV1(nn.Module):
    OUT = [64, 128, 128, 256, 256, 512, 512, 512, 512, 512, 512, 1024, 1024]

    def __init__(self, width):
        super().__init__()
        wide = max(8, int(32 * width))
        layers = [conv_norm(3, wide, 3, 2)]
        for i, channels in enumerate(self.OUT):
            out, stride = max(8, int(channels * width)), 2 if i in (1, 3, 5, 11) else 1
            layers.append(nn.Sequential(conv_norm(wide, wide, 3, stride, wide), conv_norm(wide, out, 1)))
            wide = out
        self.features, self.dropout, self.fc = nn.Sequential(*layers), nn.Dropout(0.001), nn.Linear(wide, 1000)

    def forward(self, x):
        return self.fc(self.dropout(self.features(x).mean((2, 3))))


class PreactUnit(nn.Module):
    def __init__(self, wide, width, stride, bottleneck, first):
        super().__init__()
        out = 4 * width if bottleneck else width
        shapes = [(wide, width, 1, 1), (width, width, 3, stride), (width, out, 1, 1)] if bottleneck else [(wide, width, 3, stride), (width, width, 3, 1)]
        self.count = len(shapes)
        for i, (a, b, kernel, s) in enumerate(shapes):
            self.add_module(f"bn{i + 1}", nn.Identity() if first and i == 0 else nn.BatchNorm2d(a))
            self.add_module(f"conv{i + 1}", nn.Conv2d(a, b, kernel, s, kernel // 2, bias=False))
        self.first = first
        self.downsample = nn.Conv2d(wide, out, 1, stride, bias=False) if stride > 1 or wide != out else None

    def forward(self, x):
        start = x if self.first else F.relu(self.bn1(x))
        h = self.conv1(start)
        for i in range(1, self.count):
            h = getattr(self, f"conv{i + 1}")(F.relu(getattr(self, f"bn{i + 1}")(h)))
        return h + (x if self.downsample is None else self.downsample(start))


class PreactResnet(nn.Module):
    def __init__(self, units, bottleneck):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64)
        wide = 64
        for stage, count in enumerate(units):
            made = []
            for i in range(count):
                width = 64 << stage
                made.append(PreactUnit(wide, width, 2 if stage > 0 and i == 0 else 1, bottleneck, stage == 0 and i == 0))
                wide = 4 * width if bottleneck else width
            self.add_module(f"layer{stage + 1}", nn.Sequential(*made))
        self.norm, self.fc = nn.BatchNorm2d(wide), nn.Linear(wide, 1000)

    def forward(self, x):
        h = F.max_pool2d(F.relu(self.bn1(self.conv1(x))), 3, 2, 1)
        for layer in (self.layer1, self.layer2, self.layer3, self.layer4):
            h = layer(h)
        return self.fc(F.relu(self.norm(h)).mean((2, 3)))


PREACT = {"18": ([2, 2, 2, 2], False), "50": ([3, 4, 6, 3], True)}

NETWORKS = {
    "lenet5": Peer(make=Lenet5, inputs=[(2, 1, 28, 28)]),
    "nin": Peer(make=Nin),
    **{f"mobilenet_v1{name}": Peer(make=functools.partial(MobilenetV1, width))
       for name, width in {"": 1, "_0_75": 0.75, "_0_5": 0.5, "_0_25": 0.25}.items()},
    **{f"preact_resnet{depth}": Peer(make=functools.partial(PreactResnet, *options)) for depth, options in PREACT.items()},
}
