"""The network of nn/zoo/vq_vae.h."""
from make_references import Peer
from torch import nn


class Unit(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv3x3 = nn.Conv2d(channels, channels, 3, padding=1)
        self.conv1x1 = nn.Conv2d(channels, channels, 1)

    def forward(self, x):
        return x + self.conv1x1(self.conv3x3(x.relu()).relu())


class VqVae(nn.Module):
    def __init__(self, hidden=256, codes=512, size=64):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(3, hidden, 4, 2, 1), nn.ReLU(), nn.Conv2d(hidden, hidden, 4, 2, 1), nn.ReLU(),
            nn.Conv2d(hidden, hidden, 3, padding=1), Unit(hidden), Unit(hidden), nn.ReLU(), nn.Conv2d(hidden, size, 1))
        self.codebook = nn.Embedding(codes, size)
        self.decoder = nn.Sequential(
            nn.Conv2d(size, hidden, 3, padding=1), Unit(hidden), Unit(hidden), nn.ReLU(),
            nn.ConvTranspose2d(hidden, hidden, 4, 2, 1), nn.ReLU(), nn.ConvTranspose2d(hidden, 3, 4, 2, 1))

    def forward(self, x):
        z = self.encoder(x).permute(0, 2, 3, 1)
        far = ((z.detach().unsqueeze(3) - self.codebook.weight.detach()) ** 2).sum(-1)
        found = z + (self.codebook(far.argmin(-1)) - z).detach()
        return self.decoder(found.permute(0, 3, 1, 2))


NETWORKS = {"vq_vae": Peer(make=VqVae, inputs=[(2, 3, 16, 16)], classifies=False)}
