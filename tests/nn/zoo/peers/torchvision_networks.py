"""torchvision's networks under their own names."""
import functools

from make_references import Peer

try:
    import torchvision
except ImportError:
    torchvision = None

# Of those that do not take images of 64x64 pixels, or would make nearly nothing of them.
SIDES = {"inception_v3": 107, "googlenet": 96}


def _make(name):
    options = {"aux_logits": True, "init_weights": False} if name in ("googlenet", "inception_v3") else {}
    return torchvision.models.get_model(name, weights=None, **options)


def _result(out):
    return out if not hasattr(out, "logits") else out.logits


def _networks():
    if torchvision is None:
        return {}
    names = torchvision.models.list_models(module=torchvision.models)
    return {n: Peer(make=functools.partial(_make, n), result=_result,
                    inputs=[(1, 3, 224, 224) if n.startswith("vit") else (2, 3, SIDES.get(n, 64), SIDES.get(n, 64))])
            for n in names}


NETWORKS = _networks()
