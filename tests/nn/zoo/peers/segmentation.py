"""U-Net with padded convolutions, DeepLab v3+ on a ResNet of torchvision and on Xception-65."""
import functools

import torch
from torch import nn
from torch.nn import functional as F

from make_references import Peer

try:
    import torchvision
except ImportError:
    torchvision = None


def pair(wide, out):
    return nn.Sequential(nn.Conv2d(wide, out, 3, padding=1), nn.ReLU(), nn.Conv2d(out, out, 3, padding=1), nn.ReLU())


class Unet(nn.Module):
    CHANNELS = [64, 128, 256, 512, 1024]

    def __init__(self):
        super().__init__()
        self.down = nn.ModuleList(pair(a, b) for a, b in zip([1] + self.CHANNELS, self.CHANNELS))
        self.dropout = nn.Dropout(0.5)
        outs = self.CHANNELS[-2::-1]
        self.up = nn.ModuleList(nn.ConvTranspose2d(2 * c, c, 2, 2) for c in outs)
        self.merge = nn.ModuleList(pair(2 * c, c) for c in outs)
        self.head = nn.Conv2d(64, 2, 1)

    def forward(self, x):
        made = []
        for i, level in enumerate(self.down):
            x = level(F.max_pool2d(x, 2) if i > 0 else x)
            made.append(x)
        x = self.dropout(x)
        for up, merge, skip in zip(self.up, self.merge, made[-2::-1]):
            x = merge(torch.cat([skip, up(x)], 1))
        return self.head(x)


def conv_norm(wide, out, kernel, rate=1):
    return [nn.Conv2d(wide, out, kernel, padding=kernel // 2 * rate, dilation=rate, bias=False), nn.BatchNorm2d(out), nn.ReLU()]


def separable(wide, out, rate=1, stride=1, act=True, eps=1e-5):
    """A convolution of each channel and one of 1x1, each with its norm."""
    relu = [nn.ReLU()] if act else []
    first = [nn.Conv2d(wide, wide, 3, stride, rate, rate, wide, bias=False), nn.BatchNorm2d(wide, eps)]
    return first + relu + [nn.Conv2d(wide, out, 1, bias=False), nn.BatchNorm2d(out, eps)] + relu


class Named(nn.Sequential):
    """Only layers with parameters have numbers."""

    def __init__(self, *layers):
        super().__init__()
        self.steps, at = [], 0
        for layer in layers:
            self.steps.append(layer)
            if next(layer.parameters(), None) is not None:
                self.add_module(str(at), layer)
                at += 1

    def forward(self, x):
        for layer in self.steps:
            x = layer(x)
        return x


class XceptionUnit(nn.Module):
    def __init__(self, wide, outs, stride=1, rate=1, skip="conv", act=False):
        super().__init__()
        self.convs, self.act, self.skip = nn.ModuleList(), act, skip
        for i, (a, b) in enumerate(zip([wide] + outs, outs)):
            self.convs.append(Named(*separable(a, b, rate, stride if i == 2 else 1, act, 1e-3)))
        if skip == "conv":
            self.shortcut = nn.Sequential(nn.Conv2d(wide, outs[2], 1, stride, bias=False), nn.BatchNorm2d(outs[2], 1e-3))

    def forward(self, x):
        h = x
        for i, conv in enumerate(self.convs):
            h = conv(h if self.act else F.relu(h))
            if i == 1:
                self.second = h
        return h + self.shortcut(x) if self.skip == "conv" else h + x if self.skip == "sum" else h


class Xception65(nn.Module):
    """Chen et al., figure 4, with an output stride of 16."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Sequential(nn.Conv2d(3, 32, 3, 2, 1, bias=False), nn.BatchNorm2d(32, 1e-3))
        self.conv2 = nn.Sequential(nn.Conv2d(32, 64, 3, 1, 1, bias=False), nn.BatchNorm2d(64, 1e-3))
        units = [XceptionUnit(64, [128] * 3, 2), XceptionUnit(128, [256] * 3, 2), XceptionUnit(256, [728] * 3, 2)]
        units += [XceptionUnit(728, [728] * 3, skip="sum") for _ in range(16)]
        units += [XceptionUnit(728, [728, 1024, 1024]), XceptionUnit(1024, [1536, 1536, 2048], rate=2, skip=None, act=True)]
        self.units = nn.ModuleList(units)

    def forward(self, x):
        h = F.relu(self.conv2(F.relu(self.conv1(x))))
        for unit in self.units:
            h = unit(h)
        return self.units[1].second, h


class Pyramid(nn.Module):
    def __init__(self, separated=False):
        super().__init__()
        self.convs = nn.ModuleList([nn.Sequential(*conv_norm(2048, 256, 1))])
        for rate in (6, 12, 18):
            self.convs.append(Named(*separable(2048, 256, rate)) if separated else nn.Sequential(*conv_norm(2048, 256, 3, rate)))
        self.convs.append(nn.Sequential(nn.AdaptiveAvgPool2d(1), *conv_norm(2048, 256, 1)))
        self.project = nn.Sequential(*conv_norm(1280, 256, 1), nn.Dropout(0.5))

    def forward(self, x):
        made = [conv(x) for conv in self.convs]
        made[-1] = F.interpolate(made[-1], size=x.shape[2:], mode="bilinear")
        return self.project(torch.cat(made, 1))


class Deeplab(nn.Module):
    def __init__(self, resnet=None):
        super().__init__()
        if resnet:
            self.backbone = torchvision.models.get_model(resnet, weights=None, replace_stride_with_dilation=[False, False, True])
            self.backbone.fc = nn.Identity()
            convs = conv_norm(304, 256, 3) + conv_norm(256, 256, 3)
        else:
            self.backbone = Xception65()
            convs = separable(304, 256) + separable(256, 256)
        self.aspp, self.low = Pyramid(not resnet), nn.Sequential(*conv_norm(256, 48, 1))
        self.classifier = Named(*convs, nn.Conv2d(256, 21, 1))

    def features(self, x):
        b = self.backbone
        if isinstance(b, Xception65):
            return b(x)
        low = b.layer1(b.maxpool(F.relu(b.bn1(b.conv1(x)))))
        return low, b.layer4(b.layer3(b.layer2(low)))

    def forward(self, x):
        low, high = self.features(x)
        high, low = self.aspp(high), self.low(low)
        h = torch.cat([F.interpolate(high, size=low.shape[2:], mode="bilinear"), low], 1)
        return F.interpolate(self.classifier(h), size=x.shape[2:], mode="bilinear")


NETWORKS = {"unet": Peer(make=Unet, inputs=[(2, 1, 32, 32)]),
            "deeplab_v3_plus_resnet50": Peer(make=functools.partial(Deeplab, "resnet50"), inputs=[(3, 3, 64, 64)]),
            "deeplab_v3_plus_xception65": Peer(make=Deeplab, inputs=[(3, 3, 64, 64)])}
