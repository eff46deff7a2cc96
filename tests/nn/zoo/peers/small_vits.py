"""torchvision's vision transformer in the sizes of DeiT's small networks."""
import functools

from make_references import Peer

try:
    from torchvision.models import VisionTransformer
except ImportError:
    VisionTransformer = None

SIZES = {"vit_ti_16": (3, 192), "vit_s_16": (6, 384)}


def _make(heads, hidden):
    return VisionTransformer(image_size=224, patch_size=16, num_layers=12, num_heads=heads, hidden_dim=hidden, mlp_dim=4 * hidden)


NETWORKS = {name: Peer(make=functools.partial(_make, *sizes), inputs=[(1, 3, 224, 224)])
            for name, sizes in SIZES.items()} if VisionTransformer is not None else {}
