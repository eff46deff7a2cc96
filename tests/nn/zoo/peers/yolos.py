"""YOLO v2 on Darknet-19 and YOLO v3 on Darknet-53."""
import functools

import torch
from torch import nn
from torch.nn import functional as F

from make_references import Peer


def conv_norm(wide, out, kernel, stride=1):
    return nn.Sequential(nn.Conv2d(wide, out, kernel, stride, kernel // 2, bias=False), nn.BatchNorm2d(out), nn.LeakyReLU(0.1))


def rows(x, anchors):
    n, channels, h, w = x.shape
    return x.reshape(n, anchors, channels // anchors, h, w).permute(0, 3, 4, 1, 2).reshape(n, h * w * anchors, channels // anchors)


class YoloV2(nn.Module):
    STAGES = [[32], [64], [128, 64, 128], [256, 128, 256], [512, 256, 512, 256, 512], [1024, 512, 1024, 512, 1024]]

    def __init__(self, classes=80):
        super().__init__()
        self.darknet, wide = nn.ModuleList(), 3
        for stage in self.STAGES:
            for i, out in enumerate(stage):
                self.darknet.append(conv_norm(wide, out, 1 if i % 2 else 3))
                wide = out
        self.head = nn.ModuleList([conv_norm(1024, 1024, 3), conv_norm(1024, 1024, 3)])
        self.passthrough, self.merge = conv_norm(512, 64, 1), conv_norm(1280, 1024, 3)
        self.predict = nn.Conv2d(1024, 5 * (5 + classes), 1)

    def forward(self, x):
        at = 0
        for stage in self.STAGES:
            if at:
                fine, x = x, F.max_pool2d(x, 2)
            for _ in stage:
                x, at = self.darknet[at](x), at + 1
        for conv in self.head:
            x = conv(x)
        x = self.merge(torch.cat([F.pixel_unshuffle(self.passthrough(fine), 2), x], 1))
        return rows(self.predict(x), 5)


class Unit(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv1, self.conv2 = conv_norm(channels, channels // 2, 1), conv_norm(channels // 2, channels, 3)

    def forward(self, x):
        return x + self.conv2(self.conv1(x))


class Head(nn.Module):
    def __init__(self, wide, c):
        super().__init__()
        self.convs = nn.Sequential(conv_norm(wide, c, 1), conv_norm(c, 2 * c, 3), conv_norm(2 * c, c, 1), conv_norm(c, 2 * c, 3), conv_norm(2 * c, c, 1))
        self.out, self.predict = conv_norm(c, 2 * c, 3), nn.Conv2d(2 * c, 255, 1)


class YoloV3(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.stages, wide = conv_norm(3, 32, 3), nn.ModuleList(), 32
        for units in (1, 2, 8, 8, 4):
            self.stages.append(nn.Sequential(conv_norm(wide, 2 * wide, 3, 2), *(Unit(2 * wide) for _ in range(units))))
            wide *= 2
        self.heads = nn.ModuleList([Head(1024, 512), Head(768, 256), Head(384, 128)])
        self.laterals = nn.ModuleList([conv_norm(512, 256, 1), conv_norm(256, 128, 1)])

    def forward(self, x):
        made = [self.stem(x)]
        for stage in self.stages:
            made.append(stage(made[-1]))
        h, found = made[-1], []
        for i, head in enumerate(self.heads):
            features = head.convs(h)
            found.append(rows(head.predict(head.out(features)), 3))
            if i < 2:
                h = torch.cat([F.interpolate(self.laterals[i](features), scale_factor=2), made[4 - i]], 1)
        return torch.cat(found, 1)


NETWORKS = {"yolo_v2": Peer(make=YoloV2), "yolo_v2_voc": Peer(make=functools.partial(YoloV2, 20)),
            "yolo_v3": Peer(make=YoloV3)}
