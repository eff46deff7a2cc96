"""The networks of nn/zoo/small.h, which the benchmarks have in PyTorch already."""
from make_references import Peer

import torch_models

NETWORKS = {
    "lenet": Peer(make=torch_models.Lenet, inputs=[(2, 1, 28, 28)]),
    "small_resnet": Peer(make=torch_models.Resnet, inputs=[(2, 1, 28, 28)]),
    "mlp": Peer(make=torch_models.Mlp, inputs=[(2, 64)]),
    "deep_cnn": Peer(make=lambda: torch_models.DeepCnn(10), inputs=[(2, 1, 8, 8)]),
}
