"""Where a worker's time goes, as `perf` sees it from outside: for rows that need an explanation."""

import os
import re
import shutil
import signal
import subprocess
import tempfile

LEAST = 4.0  # percent
LINE = re.compile(r"^\s*([\d.]+)%\s+(.*\S)\s*$")


def missing():
    """Why there can be no profiles, or ""."""
    return "" if shutil.which("perf") else "there is no perf (Debian: linux-perf)"


def profile(pid, work):
    """[(percent, function)] of the process while work() runs, the largest first."""
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "perf.data")
        with subprocess.Popen(["perf", "record", "-q", "-F", "1999", "-p", str(pid), "-o", data],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as perf:
            try:
                work()
            finally:
                perf.send_signal(signal.SIGINT)
        report = subprocess.run(["perf", "report", "-i", data, "--stdio", "--no-children", "-F",
                                 "overhead,symbol", "--percent-limit", str(LEAST)],
                                capture_output=True, text=True, check=False)
    return parse(report.stdout)


def parse(text):
    """The lines of `perf report -F overhead,symbol --stdio`."""
    found = []
    for line in text.splitlines():
        match = LINE.match(line)
        if match and not line.startswith("#"):
            found.append((float(match.group(1)), short(match.group(2))))
    return sorted(found, reverse=True)


def short(symbol):
    """A function's name without what surrounds it: '[.] void firn::(anonymous namespace)::Add<float,
    2>(long)' gives 'Add<float, 2>', and '[k] clear_page' of the kernel gives 'kernel: clear_page'."""
    kind, _, name = symbol.partition(" ")
    name = name.replace("(anonymous namespace)::", "").split("{lambda")[0]
    depth, begin, end = 0, 0, len(name)
    for at, letter in enumerate(name):
        depth += {"<": 1, ">": -1}.get(letter, 0)
        if letter == "(" and depth == 0:  # the arguments
            end = at
            break
        if letter == " " and depth == 0:  # behind the type of the result
            begin = at + 1
    name = re.sub(r"\b(?:firn|cpu|inner|internal)::", "", name[begin:end])
    name = name if len(name) <= 60 else name[:57] + "..."
    return f"kernel: {name}" if kind == "[k]" else name
