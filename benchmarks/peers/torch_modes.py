"""What the PyTorch worker may be told: its modes and precisions. Imports no torch, so that commands
are checked on any machine."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Mode:
    """How a step is run."""
    device: str = "cpu"  # or "cuda"
    channels_last: bool = False
    compile: str = ""  # a mode of torch.compile; "": not compiled
    graph: bool = False  # the whole step is one CUDA graph


def _with_channels_last(modes):
    for name, mode in modes.items():
        yield name, mode
        last = "cuda_channels_last" if name == "cuda_eager" else (
            "channels_last" if name == "eager" else name + "_channels_last")
        yield last, dataclasses.replace(mode, channels_last=True)


MODES = dict(_with_channels_last({
    "eager": Mode(),
    "compiled": Mode(compile="default"),
    "cuda_eager": Mode("cuda"),
    "cuda_graph": Mode("cuda", graph=True),
    "cuda_reduce_overhead": Mode("cuda", compile="reduce-overhead"),
    "cuda_max_autotune": Mode("cuda", compile="max-autotune"),
}))


@dataclasses.dataclass(frozen=True)
class Precision:
    """The arithmetic of a step, as Firn's benchmarks/precision.h names it."""
    matmul_tf32: bool
    conv_tf32: bool
    autocast: str = ""  # a dtype of torch; "" turns autocast off


PRECISIONS = {
    "default": Precision(matmul_tf32=False, conv_tf32=True),
    "strict": Precision(matmul_tf32=False, conv_tf32=False),
    "tf32": Precision(matmul_tf32=True, conv_tf32=True),
    "bf16": Precision(matmul_tf32=False, conv_tf32=True, autocast="bfloat16"),
}


def _one_of(kind, name, known):
    if name not in known:
        raise ValueError(f"unknown {kind} '{name}': one of {', '.join(known)}")
    return known[name]


def check(command):
    """The (Mode, Precision, device) of a setup command; ValueError for what there is not."""
    mode = _one_of("mode", command["mode"], MODES)
    precision = _one_of("precision", command.get("precision", "default"), PRECISIONS)
    _one_of("task", command.get("task", "train"), {"train": None})
    device = command.get("device", mode.device)
    kind, _, index = device.partition(":")
    if kind not in ("cpu", "cuda") or (index and not (kind == "cuda" and index.isdigit())):
        raise ValueError(f"unknown device '{device}': cpu, cuda or cuda:N")
    if kind != mode.device:
        raise ValueError(f"mode '{command['mode']}' runs on {mode.device}, not on {device}")
    return mode, precision, "cuda:0" if device == "cuda" else device
