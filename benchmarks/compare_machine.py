"""What the machine is, and how busy others keep it while something is being timed."""

import glob
import os
import platform
import time


def describe():
    """What a reader needs to judge the numbers."""
    cpu, flags = platform.processor(), []
    with open("/proc/cpuinfo", encoding="utf-8") as info:
        for line in info:
            key, _, value = line.partition(":")
            if key.strip() == "model name":
                cpu = value.strip()
            elif key.strip() == "flags":
                flags = value.split()
    gpus = []  # as NVIDIA's driver names them
    for path in sorted(glob.glob("/proc/driver/nvidia/gpus/*/information")):
        with open(path, encoding="utf-8") as info:
            fields = dict(line.partition(":")[::2] for line in info)
        gpus.append(fields.get("Model", "").strip())
    widest = ("amx_tile", "avx512f", "avx2", "avx")
    return {"cpu": cpu, "cores": os.cpu_count(),
            "simd": next((flag for flag in widest if flag in flags), "sse2"),
            "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
            "kernel": platform.release(), "load_at_start": os.getloadavg()[0],
            "gpus": ", ".join(gpus)}


def busy_ticks():
    """Clock ticks that all cores together spent working since boot."""
    with open("/proc/stat", encoding="ascii") as stat:
        user, nice, system, _, _, irq, softirq, steal = map(int, stat.readline().split()[1:9])
    return user + nice + system + irq + softirq + steal


def process_ticks(pid):
    """Clock ticks of a process and its threads."""
    with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


class OthersLoad:
    """The share of the machine (0..1) that processes other than `pid` used since construction."""

    def __init__(self, pid):
        self._pid = pid
        self._start = time.monotonic(), busy_ticks(), process_ticks(pid)

    def share(self):
        elapsed = time.monotonic() - self._start[0]
        others = busy_ticks() - self._start[1] - (process_ticks(self._pid) - self._start[2])
        capacity = elapsed * os.sysconf("SC_CLK_TCK") * os.cpu_count()
        return min(max(others / capacity, 0.0), 1.0) if capacity else 0.0


def wait_until_quiet(patience_s, limit=0.1, sample_s=0.3):
    """Waits until a sample shows at most `limit` of the machine in use, at most patience_s."""
    deadline = time.monotonic() + patience_s
    while time.monotonic() < deadline:
        load = OthersLoad(os.getpid())
        time.sleep(sample_s)
        if load.share() <= limit:
            return
