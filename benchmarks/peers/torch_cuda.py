"""PyTorch on a GPU as torch_worker.py runs it: arithmetic, whole-step CUDA graphs, time, memory."""

import time

import torch

WARM_UP_STEPS = 3  # before a capture, as PyTorch's documentation does


def require_gpu():
    if not torch.cuda.is_available():
        raise RuntimeError("this mode needs a GPU, and torch.cuda.is_available() is false "
                           f"(PyTorch {torch.__version__})")


def set_precision(precision):
    """Sets TF32 as a torch_modes.Precision says, by the old flags or, where those are gone, the new ones."""
    try:
        torch.backends.cuda.matmul.allow_tf32 = precision.matmul_tf32
        torch.backends.cudnn.allow_tf32 = precision.conv_tf32
    except (AttributeError, RuntimeError):
        torch.backends.cuda.matmul.fp32_precision = "tf32" if precision.matmul_tf32 else "ieee"
        torch.backends.cudnn.conv.fp32_precision = "tf32" if precision.conv_tf32 else "ieee"


class GraphedStep:
    """A whole training step as one CUDA graph that reads a batch from buffers of its own.

    It follows PyTorch's documentation ("Whole-network capture"): it warms up on a side stream and sets
    gradients to None, so that the captured backward pass makes them in the graph's own memory. What the
    warm-up trained is undone, because losses are compared from the first step on. The copies for that
    are on the host, where they do not count as the step's memory.
    """

    def __init__(self, train_on, model, optimizer, batch):
        self.x, self.y = (tensor.clone() for tensor in batch)
        before = [tensor.detach().cpu().clone() for tensor in model.state_dict().values()]
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(WARM_UP_STEPS):
                train_on(self.x, self.y)
        torch.cuda.current_stream().wait_stream(side)
        self._take_back(model, optimizer, before)
        optimizer.zero_grad(set_to_none=True)
        torch.cuda.synchronize()
        # A graph takes the memory that it needs when it is captured; replaying it takes none.
        torch.cuda.reset_peak_memory_stats()
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.loss = train_on(self.x, self.y).detach()

    @staticmethod
    def _take_back(model, optimizer, before):
        with torch.no_grad():
            for tensor, old in zip(model.state_dict().values(), before):
                tensor.copy_(old)
            for state in optimizer.state.values():
                for value in state.values():
                    if isinstance(value, torch.Tensor):
                        value.zero_()

    def __call__(self, x, y):
        """Trains on a batch; the loss is the graph's own and changes with the next step."""
        self.x.copy_(x)
        self.y.copy_(y)
        self.graph.replay()
        return self.loss


class EventTimer:
    """Times steps by events between them. The events are kept, because making them costs time."""

    def __init__(self):
        self._events = []

    def block(self, step, steps):
        """(ms of each step, ms a step by the clock); the last loss is read behind the last event."""
        while len(self._events) <= steps:
            self._events.append(torch.cuda.Event(enable_timing=True))
        events = self._events[:steps + 1]
        start = time.perf_counter()
        events[0].record()
        for event in events[1:]:
            loss = step()
            event.record()
        loss.item()
        wall_ms = (time.perf_counter() - start) * 1e3
        events[-1].synchronize()
        return [a.elapsed_time(b) for a, b in zip(events, events[1:])], wall_ms / steps


class DeviceMemory:
    """The most that the caching allocator had handed out since it was made, less what it had then."""

    def __init__(self):
        torch.cuda.reset_peak_memory_stats()
        self._base = torch.cuda.memory_allocated()

    def peak_mb(self):
        return (torch.cuda.max_memory_allocated() - self._base) / 2**20
