"""Times PyTorch training steps for compare.py: JSON lines in, JSON lines out (see README.md).

A step is what a user's loop does with a batch already in memory: zero_grad, forward, loss,
backward, update. The loss is read once a block, as a training loop that logs would.
"""

import json
import os
import resource
import sys
import time

import torch
from torch.nn import functional as F

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import hash_values  # noqa: E402  (needs the path above)
import torch_models  # noqa: E402

MODES = ("eager", "channels_last", "compiled", "compiled_channels_last")


def resident_mb(field):
    """VmRSS (now) or VmHWM (peak) of this process."""
    with open("/proc/self/status", encoding="ascii") as status:
        for line in status:
            if line.startswith(field + ":"):
                return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def reset_peak():
    """Makes VmHWM start again from the present size."""
    with open("/proc/self/clear_refs", "w", encoding="ascii") as control:
        control.write("5")


def prime():
    """Runs one small training step, so that library code is resident before memory is measured.

    Flushing denormals comes first: pool threads inherit the setting when they are created.
    """
    torch.set_flush_denormal(True)
    model = torch_models.build("lenet").train()
    x, y = hash_values.batch(0, 2, model.input_shape)
    optimizer = torch_models.make_optimizer("adam", model.parameters(), fused=True)
    F.cross_entropy(model(torch.from_numpy(x)), torch.from_numpy(y)).backward()
    optimizer.step()


class Trainer:
    """One workload in one mode."""

    def __init__(self, command):
        mode = command["mode"]
        if mode not in MODES:
            raise ValueError(f"unknown mode '{mode}': one of {', '.join(MODES)}")
        if command.get("task", "train") != "train":
            raise ValueError(f"unknown task '{command['task']}': only train")
        torch.set_num_threads(command.get("threads", 2))
        self.base_mb = resident_mb("VmRSS")
        reset_peak()
        model = torch_models.build(command["workload"], command.get("depth", 10)).train()
        layout = torch.channels_last if mode.endswith("channels_last") else torch.contiguous_format
        is_image = len(model.input_shape) == 3
        if is_image:
            model = model.to(memory_format=layout)
        self.batches = []
        for step in range(hash_values.BATCHES):
            x, y = hash_values.batch(step, command["batch"], model.input_shape)
            x = torch.from_numpy(x)
            if is_image:
                x = x.contiguous(memory_format=layout)
            self.batches.append((x, torch.from_numpy(y)))
        self.optimizer = torch_models.make_optimizer(
            command.get("optimizer", "adam"), model.parameters(), command.get("fused", True))
        self.loss_of = lambda x, y: F.cross_entropy(model(x), y)
        if mode.startswith("compiled"):
            self.loss_of = torch.compile(self.loss_of)
        self.steps_done = 0

    def step(self):
        x, y = self.batches[self.steps_done % len(self.batches)]
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.loss_of(x, y)
        loss.backward()
        self.optimizer.step()
        self.steps_done += 1
        return loss

    def losses(self, steps):
        return [self.step().item() for _ in range(steps)]

    def block(self, steps):
        times = []
        for index in range(steps):
            start = time.perf_counter()
            loss = self.step()
            if index == steps - 1:
                loss.item()
            times.append((time.perf_counter() - start) * 1e3)
        return times

    def peak_mb(self):
        return resident_mb("VmHWM") - self.base_mb


def answer(command, state):
    """The reply to one command; `state` holds the trainer between commands."""
    name = command["cmd"]
    if name == "setup":
        state["trainer"] = None
        start = time.perf_counter()
        trainer = Trainer(command)
        state["trainer"] = trainer
        return {"ok": True, "version": torch.__version__,
                "setup_s": time.perf_counter() - start}
    if name == "losses":
        return {"losses": state["trainer"].losses(command["steps"])}
    if name == "block":
        return {"ms": state["trainer"].block(command["steps"])}
    if name == "peak":
        return {"peak_mb": state["trainer"].peak_mb()}
    raise ValueError(f"unknown command '{name}'")


def main():
    # Libraries print to stdout now and then; the protocol keeps a copy of it for itself.
    replies = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    prime()
    state = {}
    for line in sys.stdin:
        command = json.loads(line)
        if command["cmd"] == "quit":
            break
        try:
            reply = answer(command, state)
        except Exception as error:  # pylint: disable=broad-except
            reply = {"error": f"{type(error).__name__}: {error}".splitlines()[0]}
        replies.write(json.dumps(reply) + "\n")


if __name__ == "__main__":
    main()
