"""PointNet, the classifier."""
import torch
from torch import nn
from torch.nn import functional as F

from make_references import Peer


class Features(nn.Module):
    def __init__(self, wide, channels):
        super().__init__()
        self.count = len(channels)
        for i, out in enumerate(channels):
            self.add_module(f"conv{i + 1}", nn.Conv1d(wide, out, 1))
            self.add_module(f"bn{i + 1}", nn.BatchNorm1d(out))
            wide = out

    def forward(self, x):
        for i in range(self.count):
            x = F.relu(getattr(self, f"bn{i + 1}")(getattr(self, f"conv{i + 1}")(x)))
        return x


class Head(nn.Module):
    def __init__(self, out):
        super().__init__()
        self.fc1, self.bn1 = nn.Linear(1024, 512), nn.BatchNorm1d(512)
        self.fc2, self.bn2 = nn.Linear(512, 256), nn.BatchNorm1d(256)
        self.fc3 = nn.Linear(256, out)

    def head(self, x):
        h = F.relu(self.bn2(self.fc2(F.relu(self.bn1(self.fc1(x))))))
        return self.fc3(h)


class Transform(Head):
    def __init__(self, size):
        super().__init__(size * size)
        self.size, self.points = size, Features(size, [64, 128, 1024])

    def forward(self, x):
        made = self.head(self.points(x).max(2).values).reshape(-1, self.size, self.size)
        return made + torch.eye(self.size, dtype=x.dtype)


class Pointnet(Head):
    def __init__(self):
        super().__init__(40)
        self.transform, self.local = Transform(3), Features(3, [64, 64])
        self.feature_transform = Transform(64)
        setattr(self, "global", Features(64, [64, 128, 1024]))

    def forward(self, x):
        local = self.local(self.transform(x).transpose(1, 2) @ x)
        turned = self.feature_transform(local).transpose(1, 2) @ local
        return self.head(getattr(self, "global")(turned).max(2).values)


NETWORKS = {"pointnet": Peer(make=Pointnet, inputs=[(8, 3, 60)])}
