"""Writes files of weights and times the libraries that read them, for load_compare.py: JSON lines
in, JSON lines out (see README.md)."""

import json
import sys
import time

import numpy
import safetensors.torch
import torch

CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}
SUFFIXES = {"safetensors": ".safetensors", "torch": ".pt", "numpy": ".npz"}


def make(command):
    """Writes weights and biases of linear layers of 1024 x 5120 in each format; returns paths."""
    layers = max(1, round(command["megabytes"] / 21))
    torch.manual_seed(1)
    state = {}
    for i in range(layers):
        state[f"layers.{i}.weight"] = torch.randn(1024, 5120)
        state[f"layers.{i}.bias"] = torch.randn(1024)
    paths = {name: f"{command['folder']}/weights{SUFFIXES[name]}" for name in SUFFIXES}
    safetensors.torch.save_file(state, paths["safetensors"])
    torch.save(state, paths["torch"])
    numpy.savez(paths["numpy"], **{name: value.numpy() for name, value in state.items()})
    return paths


def read_numpy(path):
    with numpy.load(path) as arrays:
        return {name: torch.from_numpy(arrays[name]) for name in arrays.files}


READERS = {"safetensors": safetensors.torch.load_file,
           "torch": lambda path: torch.load(path, weights_only=True),
           "numpy": read_numpy}


def load(command):
    """Reads once, then looks at a number of each page: only that reads a mapped file."""
    now = CLOCKS[command.get("clock", "wall")]
    start = now()
    state = READERS[command["reader"]](command["file"])
    loaded = now()
    total = sum(value.flatten()[::1024].sum().item() for value in state.values())
    return {"load_ms": (loaded - start) * 1e3, "touch_ms": (now() - loaded) * 1e3,
            "tensors": len(state), "sum": total}


def answer(command):
    if command["cmd"] == "version":
        return {"version": f"safetensors {safetensors.__version__}, PyTorch {torch.__version__}, "
                           f"NumPy {numpy.__version__}"}
    return {"make": make, "load": load}[command["cmd"]](command)


def main():
    torch.set_num_threads(1)
    for line in sys.stdin:
        command = json.loads(line)
        try:
            reply = answer(command)
        except Exception as error:  # pylint: disable=broad-except
            reply = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
