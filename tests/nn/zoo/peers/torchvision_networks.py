"""torchvision's networks under their own names."""
import functools

import hash_values
import torch
from make_references import Peer, fill

try:
    import torchvision
except ImportError:
    torchvision = None

# Sides of images for networks that do not take 64x64 pixels, or would have hardly any output for
# them.
SIDES = {"inception_v3": 107, "googlenet": 96}


# Shapes of images that reach the auxiliary classifiers.
AUXILIARY = {"googlenet": (2, 3, 96, 96), "inception_v3": (1, 3, 299, 299)}


def _full(name):
    """The network in the form that the weight files expect."""
    options = {}
    if name in AUXILIARY:
        options = {"aux_logits": True, "init_weights": False, "transform_input": True}
    return torchvision.models.get_model(name, weights=None, **options)


def _make(name):
    net = _full(name)
    if name == "inception_v3":
        # Its auxiliary classifier, which only training computes, takes images of 283 pixels at least.
        net.AuxLogits.forward = lambda x: None
    return net


def _auxiliary(name):
    if name not in AUXILIARY:
        return {}
    net = _full(name)
    fill(net)
    net.double().eval()
    net.training = True  # the mode of the network alone, which decides whether it computes them
    with torch.no_grad():
        out = net(torch.from_numpy(hash_values.values(AUXILIARY[name], 1000, 2.0)).double())
    if name == "inception_v3":
        return {"main": out.logits, "aux": out.aux_logits}
    return {"main": out.logits, "aux1": out.aux_logits1, "aux2": out.aux_logits2}


def _result(out):
    return out if not hasattr(out, "logits") else out.logits


def _networks():
    if torchvision is None:
        return {}
    names = torchvision.models.list_models(module=torchvision.models)
    return {n: Peer(make=functools.partial(_make, n), result=_result, others=functools.partial(_auxiliary, n),
                    inputs=[(1, 3, 224, 224) if n.startswith("vit") else (2, 3, SIDES.get(n, 64), SIDES.get(n, 64))])
            for n in names}


NETWORKS = _networks()
