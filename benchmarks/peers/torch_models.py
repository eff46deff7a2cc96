"""The benchmark models in PyTorch, layer for layer the ones that Firn's benchmarks build.

Attribute names are part of the contract: a state dict moves between the frameworks by name. The
models here take images (or rows) and return ten logits; torch_sequences.py has others.
"""

import torch
from torch import nn
from torch.nn import functional as F

import torch_sequences
from hash_values import parameter_rules, parameter_value
from torch_workload import Classify


class DeepCnn(Classify):
    """x (B, 1, 8, 8); depth + 2 blocks of conv 3x3 + batch norm + tanh, then two linear layers."""

    input_shape = (1, 8, 8)

    def __init__(self, depth):
        super().__init__()
        widths = [1, 64] + [128] * depth + [512]
        self.convs = nn.ModuleList(
            nn.Conv2d(a, b, 3, padding=1) for a, b in zip(widths[:-1], widths[1:]))
        self.bns = nn.ModuleList(nn.BatchNorm2d(width) for width in widths[1:])
        self.fc1 = nn.Linear(512 * 4 * 4, 1024)
        self.fc2 = nn.Linear(1024, 10)

    def forward(self, x):
        for conv, bn in zip(self.convs, self.bns):
            x = torch.tanh(bn(conv(x)))
        x = F.avg_pool2d(x, 2).flatten(1)
        return self.fc2(torch.tanh(self.fc1(x)))


class Lenet(Classify):
    """x (B, 1, 28, 28); two blocks of conv 5x5 + batch norm + relu + max pool, then two linear."""

    input_shape = (1, 28, 28)

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 5, padding=2)
        self.bn1 = nn.BatchNorm2d(16)
        self.conv2 = nn.Conv2d(16, 32, 5, padding=2)
        self.bn2 = nn.BatchNorm2d(32)
        self.fc1 = nn.Linear(1568, 128)
        self.fc2 = nn.Linear(128, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.bn1(self.conv1(x))), 2)
        x = F.max_pool2d(F.relu(self.bn2(self.conv2(x))), 2)
        return self.fc2(F.relu(self.fc1(x.flatten(1))))


class Mlp(Classify):
    """x (B, 64): an 8x8 digit as a row."""

    input_shape = (64,)

    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(64, 64)
        self.fc2 = nn.Linear(64, 10)

    def forward(self, x):
        return self.fc2(F.relu(self.fc1(x)))


class ResUnit(nn.Module):
    """The basic block of He et al. (2016); the shortcut is a 1x1 convolution when shapes differ."""

    def __init__(self, width_in, width, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(width_in, width, 3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.projects = stride != 1 or width_in != width
        if self.projects:
            self.shortcut_conv = nn.Conv2d(width_in, width, 1, stride=stride, bias=False)
            self.shortcut_bn = nn.BatchNorm2d(width)

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        return F.relu(y + (self.shortcut_bn(self.shortcut_conv(x)) if self.projects else x))


class Resnet(Classify):
    """x (B, 1, 28, 28); a stem and three units of 16, 32 and 64 channels."""

    input_shape = (1, 28, 28)

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3, padding=1)
        self.bn1 = nn.BatchNorm2d(16)
        self.unit1 = ResUnit(16, 16)
        self.unit2 = ResUnit(16, 32, stride=2)
        self.unit3 = ResUnit(32, 64, stride=2)
        self.fc = nn.Linear(64, 10)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        x = self.unit3(self.unit2(self.unit1(x)))
        return self.fc(x.mean(dim=(2, 3)))


class BasicBlock(nn.Module):
    """A ResUnit under torchvision's names."""

    def __init__(self, width_in, width):
        super().__init__()
        stride = 1 if width_in == width else 2
        self.conv1 = nn.Conv2d(width_in, width, 3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.downsample = None if stride == 1 else nn.Sequential(
            nn.Conv2d(width_in, width, 1, stride=stride, bias=False), nn.BatchNorm2d(width))

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        return F.relu(y + (x if self.downsample is None else self.downsample(x)))


class Resnet18(Classify):
    """x (B, 3, 32, 32); ResNet-18 with a 3x3 stem and no pooling, as is usual for such images.

    Names are torchvision's.
    """

    input_shape = (3, 32, 32)

    def __init__(self):
        super().__init__()
        widths = [64, 64, 128, 256, 512]
        self.conv1 = nn.Conv2d(3, 64, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        for i, (a, b) in enumerate(zip(widths[:-1], widths[1:])):
            self.add_module(f"layer{i + 1}", nn.Sequential(BasicBlock(a, b), BasicBlock(b, b)))
        self.fc = nn.Linear(512, 10)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(x.mean(dim=(2, 3)))


def build(workload, depth=10, batch=64):
    """The model of a workload name, with parameters that follow hash_values.py."""
    makers = {"deep_cnn": lambda: DeepCnn(depth), "lenet": Lenet, "mlp": Mlp, "resnet": Resnet,
              "resnet18": Resnet18}
    model = (makers[workload]() if workload in makers else
             torch_sequences.MAKERS[workload](batch))
    with torch.no_grad():
        for rule, parameter in zip(rules(model), model.parameters()):
            parameter.copy_(torch.from_numpy(parameter_value(rule)))
    return model


def rules(model):
    """The fill rule of every parameter of `model`; see hash_values.parameter_rules."""
    norm_names = {
        f"{prefix}.{name}"
        for prefix, module in model.named_modules() if isinstance(module, (nn.BatchNorm2d, nn.LayerNorm))
        for name, _ in module.named_parameters(recurse=False)
    }
    shapes = [(name, tuple(p.shape)) for name, p in model.named_parameters()]
    return parameter_rules(shapes, norm_names)


def make_optimizer(kind, parameters, fused=False, capturable=False):
    """adam: lr 1e-3. momentum: lr 0.01, momentum 0.9. sgd: lr 0.05.

    `fused` asks for one kernel for all parameters, else PyTorch chooses (on a GPU: foreach);
    `capturable` for a step that can be part of a CUDA graph, which those of SGD always can.
    """
    if kind == "adam":
        return torch.optim.Adam(parameters, lr=1e-3, fused=fused or None, capturable=capturable)
    if kind == "momentum":
        return torch.optim.SGD(parameters, lr=0.01, momentum=0.9, fused=fused or None)
    if kind == "sgd":
        return torch.optim.SGD(parameters, lr=0.05, fused=fused or None)
    raise ValueError(f"unknown optimizer '{kind}': adam, momentum or sgd")
