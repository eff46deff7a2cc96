"""The generator and the discriminator of DCGAN."""
from torch import nn

from make_references import Peer


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        layers, wide = [], 100
        for out in (1024, 512, 256, 128):
            layers += [nn.ConvTranspose2d(wide, out, 4, 2 if layers else 1, 1 if layers else 0, bias=False), nn.BatchNorm2d(out), nn.ReLU()]
            wide = out
        self.main = nn.Sequential(*layers, nn.ConvTranspose2d(wide, 3, 4, 2, 1, bias=False), nn.Tanh())

    def forward(self, z):
        return self.main(z[:, :, None, None])


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        layers, wide = [], 3
        for out in (128, 256, 512, 1024):
            layers += [nn.Conv2d(wide, out, 4, 2, 1, bias=False)] + ([nn.BatchNorm2d(out)] if layers else []) + [nn.LeakyReLU(0.2)]
            wide = out
        self.main = nn.Sequential(*layers, nn.Conv2d(wide, 1, 4, bias=False))

    def forward(self, x):
        return self.main(x).flatten()


NETWORKS = {
    "dcgan_generator": Peer(make=Generator, inputs=[(3, 100)]),
    "dcgan_discriminator": Peer(make=Discriminator, inputs=[(3, 3, 64, 64)]),
}
