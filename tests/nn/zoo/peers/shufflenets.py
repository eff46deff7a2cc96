"""ShuffleNet with three groups, under the names of its authors' code."""
import functools

import torch
from torch import nn
from torch.nn import functional as F

from make_references import Peer

GROUPS = 3


def normed(wide, out, kernel=1, stride=1, groups=1):
    return [nn.Conv2d(wide, out, kernel, stride, kernel // 2, groups=groups, bias=False), nn.BatchNorm2d(out)]


class Unit(nn.Module):
    def __init__(self, wide, out, stride, in_groups):
        super().__init__()
        inner, self.stride = out // 4, stride
        self.branch_main_1 = nn.Sequential(*normed(wide, inner, groups=in_groups), nn.ReLU(),
                                           *normed(inner, inner, 3, stride, inner))
        self.branch_main_2 = nn.Sequential(*normed(inner, out - wide if stride > 1 else out, groups=GROUPS))

    def forward(self, x):
        h = self.branch_main_1(x)
        h = torch.cat([h[:, i::GROUPS] for i in range(GROUPS)], 1)  # channel i goes to group i % GROUPS
        h = self.branch_main_2(h)
        if self.stride == 1:
            return F.relu(h + x)
        return torch.cat((F.avg_pool2d(x, 3, 2, 1), F.relu(h)), 1)


class Shufflenet(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.first_conv = nn.Sequential(*normed(3, channels[0], 3, 2), nn.ReLU())
        units = []
        for stage, count in enumerate((4, 8, 4)):
            out = channels[stage + 1]
            for i in range(count):
                units.append(Unit(channels[stage] if i == 0 else out, out, 2 if i == 0 else 1,
                                  1 if stage == 0 and i == 0 else GROUPS))
        self.features = nn.Sequential(*units)
        self.classifier = nn.Sequential(nn.Linear(channels[-1], 1000, bias=False))

    def forward(self, x):
        h = F.max_pool2d(self.first_conv(x), 3, 2, 1)
        return self.classifier(self.features(h).mean((2, 3)))


NETWORKS = {f"shufflenet_x{name}": Peer(make=functools.partial(Shufflenet, channels)) for name, channels in {
    "0_5": (12, 120, 240, 480), "1_0": (24, 240, 480, 960), "1_5": (24, 360, 720, 1440),
    "2_0": (48, 480, 960, 1920)}.items()}
