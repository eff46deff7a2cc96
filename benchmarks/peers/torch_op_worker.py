"""Times PyTorch's operations for op_compare.py: JSON lines in, JSON lines out (see README.md)."""

import json
import os
import sys
import time

import numpy as np
import torch

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import torch_operations  # noqa: E402  (needs the path above)
from torch_operations import DTYPES  # noqa: E402

NUMPY = {"f32": np.float32, "f64": np.float64, "i8": np.int8, "i32": np.int32, "i64": np.int64,
         "u8": np.uint8, "bool": np.bool_}


def read_input(one):
    """The tensor of a description's input; its file repeats where it is shorter."""
    if one["dtype"] not in NUMPY:
        raise ValueError(f"input {one['name']} is {one['dtype']}, which numpy does not have")
    values = np.fromfile(one["file"], dtype=NUMPY[one["dtype"]])
    return torch.from_numpy(np.resize(values, one["shape"]))


def transposed(tensor):
    """The same elements, with the last two dimensions swapped in memory."""
    return tensor.mT.contiguous().mT if tensor.dim() >= 2 else tensor


def seed_for(y):
    """-3/4, -2/4, ..., 3/4 and again."""
    values = torch.arange(y.numel()).remainder(7).sub(3).div(4)
    return values.reshape(y.shape).to(y.dtype).to(y.device)


def results_of(returned):
    """The tensors of what a function returned, in order."""
    if isinstance(returned, torch.Tensor):
        return [returned]
    if isinstance(returned, dict):
        return list(returned.values())
    return list(returned)


def summary(tensor):
    """The same as Summary of op_worker.cc."""
    if tensor is None:
        return None
    values = tensor.detach().to(torch.float64)
    values = values[torch.isfinite(values)]
    count = max(values.numel(), 1)
    return {"shape": list(tensor.shape), "finite": values.numel(),
            "mean": values.sum().item() / count, "mean_abs": values.abs().sum().item() / count}


class Session:
    """What is kept between commands: the inputs and the call."""

    def __init__(self, peers=None):
        self._peers = peers or torch_operations.Peers()
        self._key, self._inputs, self._call = None, {}, None
        self._device = "cpu"

    def answer(self, command):
        name = command["cmd"]
        if name == "setup":
            return self._setup(command)
        if name == "block":
            if self._call is None:
                raise ValueError("'block' comes before 'setup'")
            if self._device != "cpu":  # a wait for a device takes its time
                return {"ms": [self._time(command["calls"])]}
            return {"ms": [self._time() for _ in range(command["calls"])]}
        if name == "check":
            try:
                self._peers.check(command["call"])
            except torch_operations.NoPeer as reason:
                return {"reason": str(reason)}
            return {"ok": True}
        if name == "version":
            return {"version": torch.__version__}
        raise ValueError(f"unknown command '{name}'")

    def _setup(self, command):
        torch.set_num_threads(command["threads"])
        self._device = command["device"]
        torch.backends.cudnn.benchmark = True
        call, self._call = command["call"], None
        key = (call["operation"], call["case"], command["dtype"], command["layout"],
               command["device"])
        if key != self._key:
            self._key, self._inputs = None, {}
            self._inputs = {one["name"]: self._input(one, command) for one in call["inputs"]}
            if not any(one["inout"] for one in call["inputs"]):
                self._key = key  # inputs that the call writes are made anew
        backward = command["pass"] == "backward"
        self._call = self._backward(call) if backward else self._forward(call)
        results = [summary(result) for result in self._call()]
        return {"ok": True, "ms": self._time(), "results": results}

    @staticmethod
    def _input(one, command):
        tensor = read_input(one).to(command["device"])
        if tensor.is_floating_point():
            tensor = tensor.to(DTYPES[command["dtype"]])
        return tensor if one["inout"] or command["layout"] == "contiguous" else transposed(tensor)

    def _forward(self, call):
        function = self._peers.call(call, self._inputs)

        def run():
            with torch.no_grad():
                return results_of(function())
        return run

    def _backward(self, call):
        """Runs forward once. Each call of the returned function runs backward through that."""
        wanted = [one["name"] for one in call["inputs"] if one["wanted"]]
        inputs = {name: tensor.detach() for name, tensor in self._inputs.items()}
        leaves = [inputs[name].requires_grad_() for name in wanted]
        roots = [y for y in results_of(self._peers.call(call, inputs)()) if y.requires_grad]
        if not roots:
            raise ValueError("no gradient flows through it")
        seeds = [seed_for(y) for y in roots]
        return lambda: torch.autograd.grad(roots, leaves, seeds, retain_graph=True,
                                           allow_unused=True)

    def _time(self, calls=1):
        """Milliseconds a call, of several that are waited for together."""
        start = time.perf_counter()
        for _ in range(calls):
            self._call()
        if self._device != "cpu":
            torch.cuda.synchronize()
        return (time.perf_counter() - start) * 1e3 / calls


def main():
    # Libraries print to stdout now and then; the protocol keeps a copy of it for itself.
    replies = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    torch.set_flush_denormal(True)
    session = Session()
    for line in sys.stdin:
        command = json.loads(line)
        if command["cmd"] == "quit":
            break
        try:
            reply = session.answer(command)
        except Exception as error:  # pylint: disable=broad-except
            reply = {"error": (str(error).splitlines() or [""])[0] or type(error).__name__}
        replies.write(json.dumps(reply) + "\n")


if __name__ == "__main__":
    main()
