"""Exports torchvision's networks as ONNX files and times ONNX Runtime on them, for onnx_compare.py:
JSON lines in, JSON lines out (see README.md).

PyTorch initialises the weights from one seed, but weights that it would set to zeros get other values,
and batch norms get the running statistics of a batch of noise: otherwise numbers would fade away in
untrained networks.
"""

import json
import os
import sys
import time


CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}


def randomize(model, torch):
    """Running statistics of one batch, so that activations keep their size through the network, and
    weights for heads that start with zeros."""
    for weight in model.parameters():
        if weight.dim() > 1 and not weight.any():
            torch.nn.init.normal_(weight, std=0.02)
    norms = [m for m in model.modules() if isinstance(m, torch.nn.BatchNorm2d)]
    for norm in norms:
        norm.momentum = 1.0
    if norms:
        model.train()
        with torch.no_grad():
            model(torch.randn(8, 3, 224, 224))
    return model.eval()


def apart(one, other):
    """The largest difference, relative to the largest number of the other."""
    return float(abs(one - other).max() / abs(other).max())


def export(command):
    """Writes the network, a batch for it and its result in f64; returns their paths, and how far
    PyTorch's result in f32 is from that."""
    import copy
    import numpy
    import torch
    import torchvision

    torch.manual_seed(1)
    torch.set_num_threads(command.get("threads", 1))
    torch.backends.mha.set_fastpath_enabled(False)  # one operation that no exporter knows
    name, folder = command["network"], command["folder"]
    known = torchvision.models.list_models(module=torchvision.models)
    if name not in known:
        return {"error": f"torchvision has no network '{name}', only {', '.join(known)}"}
    model = randomize(torchvision.models.get_model(name, weights=None), torch)
    batch = torch.randn(command.get("batch", 1), 3, 224, 224)
    paths = {"model": os.path.join(folder, f"{name}.onnx"),
             "input": os.path.join(folder, f"{name}.npy"),
             "truth": os.path.join(folder, f"{name}.f64.npy")}
    with torch.no_grad():
        torch.onnx.export(model, (batch,), paths["model"], dynamo=command["exporter"] == "dynamo",
                          verbose=False)
        truth = copy.deepcopy(model).double()(batch.double()).numpy()
        paths["off"] = apart(model(batch).numpy(), truth)
    numpy.save(paths["input"], batch.numpy())
    numpy.save(paths["truth"], truth)
    return paths


class Session:
    """One network that ONNX Runtime runs. Not thread-safe."""

    def __init__(self, command):
        import numpy
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = command.get("threads", 1)
        options.inter_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(command["model"], options,
                                                     providers=["CPUExecutionProvider"])
        self._input = {self._session.get_inputs()[0].name: numpy.load(command["input"])}
        self._result = self._session.run(None, self._input)[0]

    def difference(self, path, truth):
        """How far the result in a file is from this one, and both from one in f64."""
        import numpy

        theirs, exact = numpy.load(path), numpy.load(truth)
        if theirs.shape != self._result.shape:
            return {"error": f"the result has shape {theirs.shape}, want {self._result.shape}"}
        return {"difference": apart(theirs, self._result), "off": apart(theirs, exact),
                "own_off": apart(self._result, exact)}

    def block(self, calls, clock="wall"):
        now, times = CLOCKS[clock], []
        for _ in range(calls):
            start = now()
            self._session.run(None, self._input)
            times.append((now() - start) * 1e3)
        return times


def version():
    import onnxruntime
    import torch
    import torchvision

    return {"version": onnxruntime.__version__, "torch": torch.__version__,
            "torchvision": torchvision.__version__}


def answer(command, state):
    if command["cmd"] == "version":
        return version()
    if command["cmd"] == "export":
        return export(command)
    if command["cmd"] == "setup":
        state["session"] = Session(command)
        return {"ok": True, "ms": state["session"].block(1)[0]}
    if command["cmd"] == "difference":
        return state["session"].difference(command["result"], command["truth"])
    if command["cmd"] == "block":
        return {"ms": state["session"].block(command["calls"], command["clock"])}
    return {"error": f"unknown command '{command['cmd']}'"}


def main():
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # exporters print to stdout
    state = {}
    for line in sys.stdin:
        command = json.loads(line)
        if command["cmd"] == "quit":
            return
        try:
            reply = answer(command, state)
        except Exception as error:  # whatever a framework raises is the answer
            reply = {"error": f"{type(error).__name__}: {error}"}
        replies.write(json.dumps(reply) + "\n")
        replies.flush()


if __name__ == "__main__":
    main()
