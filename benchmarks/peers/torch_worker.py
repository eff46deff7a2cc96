"""Times PyTorch training steps for compare.py: JSON lines in, JSON lines out (see README.md).

A step is what a user's loop does with a batch already in memory (the GPU's, for a mode that runs
there): zero_grad, forward, loss, backward, update. The loss is read once a block, as a training loop
that logs would.
"""

import json
import os
import resource
import sys
import time

import torch

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import hash_values  # noqa: E402  (needs the path above)
import torch_cuda  # noqa: E402
import torch_models  # noqa: E402
import torch_modes  # noqa: E402


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
    optimizer = torch_models.make_optimizer("adam", model.parameters(), fused=True)
    model.loss(*model.batch(0, 2)).backward()
    optimizer.step()


class ResidentMemory:
    """The most memory that this process had since it was made, less what it had then."""

    def __init__(self):
        self._base = resident_mb("VmRSS")
        reset_peak()

    def peak_mb(self):
        return resident_mb("VmHWM") - self._base


CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}


class ClockTimer:
    """Times steps by the clock, or by the processor time of the process."""

    def __init__(self, clock):
        self._now = CLOCKS[clock]

    def block(self, step, steps):
        """(ms of each step, ms a step); the loss is read on the last one."""
        times, begin = [], time.perf_counter()
        for index in range(steps):
            start = self._now()
            loss = step()
            if index == steps - 1:
                loss.item()
            times.append((self._now() - start) * 1e3)
        return times, (time.perf_counter() - begin) * 1e3 / steps


class Trainer:
    """One workload in one mode."""

    def __init__(self, command):
        self.mode, self.precision, self.device = torch_modes.check(command)
        torch.set_num_threads(command.get("threads", 2))
        on_cuda = self.mode.device == "cuda"
        if on_cuda:
            torch_cuda.require_gpu()
            torch.cuda.set_device(self.device)
            torch.backends.cudnn.benchmark = True
            torch_cuda.set_precision(self.precision)
        self.memory = torch_cuda.DeviceMemory() if on_cuda else ResidentMemory()
        self.timer = torch_cuda.EventTimer() if on_cuda else ClockTimer(command.get("clock", "wall"))
        model = torch_models.build(command["workload"], command.get("depth", 10),
                                   command["batch"]).train()
        self.model = model
        self.batches = self.place(model, command["batch"])
        self.optimizer = torch_models.make_optimizer(
            command.get("optimizer", "adam"), model.parameters(), command.get("fused", True),
            capturable=self.mode.graph)
        self.loss_of = self.make_loss(model)
        self.graphed = None
        if self.mode.graph:
            self.graphed = torch_cuda.GraphedStep(self.train_on, model, self.optimizer,
                                                  self.batches[0])
        self.steps_done = 0

    def place(self, model, batch):
        """Moves the model to its device and layout; returns the batches there."""
        is_image = len(getattr(model, "input_shape", ())) == 3
        layout = (torch.channels_last if self.mode.channels_last and is_image else
                  torch.contiguous_format)
        model.to(device=self.device, memory_format=layout if is_image else torch.preserve_format)
        batches = []
        for step in range(hash_values.BATCHES):
            x, y = model.batch(step, batch)
            x = x.contiguous(memory_format=layout)
            batches.append((x.to(self.device), y.to(self.device)))
        return batches

    def make_loss(self, model):
        """loss_of(x, y) in the mode's precision, compiled if the mode says so."""
        dtype = getattr(torch, self.precision.autocast) if self.precision.autocast else None

        def loss_of(x, y):
            if dtype is None:
                return model.loss(x, y)
            # A cached conversion must not outlive the memory of a captured graph.
            with torch.autocast(self.mode.device, dtype=dtype, cache_enabled=not self.mode.graph):
                return model.loss(x, y)

        if not self.mode.compile:
            return loss_of
        return torch.compile(loss_of, mode=self.mode.compile)

    def train_on(self, x, y):
        if self.model.kind == "run":
            with torch.no_grad():
                return self.loss_of(x, y)
        self.optimizer.zero_grad(set_to_none=True)
        if self.mode.compile and self.mode.device == "cuda":
            torch.compiler.cudagraph_mark_step_begin()  # results of the last step may be written
        loss = self.loss_of(x, y)
        loss.backward()
        if self.model.kind == "train":
            self.optimizer.step()
        return loss

    def step(self):
        x, y = self.batches[self.steps_done % len(self.batches)]
        self.steps_done += 1
        self.model.begin_step(x, bool(self.mode.compile))
        for _ in range(self.model.calls):
            loss = (self.graphed or self.train_on)(x, y)
        return loss

    def losses(self, steps):
        return [self.step().item() for _ in range(steps)]

    def block(self, steps):
        return self.timer.block(self.step, steps) if steps else ([], 0.0)


def answer(command, state):
    """The reply to one command; `state` holds the trainer between commands."""
    name = command["cmd"]
    if name == "setup":
        state["trainer"] = None
        start = time.perf_counter()
        trainer = Trainer(command)
        state["trainer"] = trainer
        return {"ok": True, "version": torch.__version__, "device": trainer.device,
                "setup_s": time.perf_counter() - start}
    if name == "losses":
        return {"losses": state["trainer"].losses(command["steps"])}
    if name == "block":
        times, wall_ms = state["trainer"].block(command["steps"])
        return {"ms": times, "wall_ms": wall_ms}
    if name == "peak":
        return {"peak_mb": state["trainer"].memory.peak_mb()}
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
