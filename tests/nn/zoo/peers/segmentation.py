"""U-Net with padded convolutions, DeepLab v3+ on a ResNet of torchvision."""
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


class Pyramid(nn.Module):
    def __init__(self):
        super().__init__()
        self.convs = nn.ModuleList([nn.Sequential(*conv_norm(2048, 256, 1))])
        for rate in (6, 12, 18):
            self.convs.append(nn.Sequential(*conv_norm(2048, 256, 3, rate)))
        self.convs.append(nn.Sequential(nn.AdaptiveAvgPool2d(1), *conv_norm(2048, 256, 1)))
        self.project = nn.Sequential(*conv_norm(1280, 256, 1), nn.Dropout(0.5))

    def forward(self, x):
        made = [conv(x) for conv in self.convs]
        made[-1] = F.interpolate(made[-1], size=x.shape[2:], mode="bilinear")
        return self.project(torch.cat(made, 1))


class Deeplab(nn.Module):
    def __init__(self, resnet):
        super().__init__()
        self.backbone = torchvision.models.get_model(resnet, weights=None, replace_stride_with_dilation=[False, False, True])
        self.backbone.fc = nn.Identity()
        self.aspp, self.low = Pyramid(), nn.Sequential(*conv_norm(256, 48, 1))
        first, second = conv_norm(304, 256, 3), conv_norm(256, 256, 3)
        self.classifier = nn.Sequential(*first[:2], *second[:2], nn.Conv2d(256, 21, 1))

    def forward(self, x):
        b = self.backbone
        low = b.layer1(b.maxpool(F.relu(b.bn1(b.conv1(x)))))
        high = self.aspp(b.layer4(b.layer3(b.layer2(low))))
        low = self.low(low)
        h = torch.cat([F.interpolate(high, size=low.shape[2:], mode="bilinear"), low], 1)
        c = self.classifier
        h = c[4](F.relu(c[3](c[2](F.relu(c[1](c[0](h)))))))
        return F.interpolate(h, size=x.shape[2:], mode="bilinear")


NETWORKS = {"unet": Peer(make=Unet, inputs=[(2, 1, 32, 32)]),
            "deeplab_v3_plus_resnet50": Peer(make=functools.partial(Deeplab, "resnet50"), inputs=[(3, 3, 64, 64)])}
