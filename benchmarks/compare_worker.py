"""A worker process that times training steps, spoken to in JSON lines (see peers/README.md)."""

import contextlib
import json
import os
import selectors
import subprocess
import tempfile
import time

from compare_programs import RunError


class WorkerError(RunError):
    """The worker is missing, died, was silent for too long, or refused a command (`refused`)."""

    def __init__(self, message, refused=False):
        super().__init__(message)
        self.refused = refused


class Worker:
    """One running worker. Not thread-safe; close() ends the process."""

    def __init__(self, argv, threads, preload=None):
        env = dict(os.environ, OMP_NUM_THREADS=str(threads), MKL_NUM_THREADS=str(threads),
                   OMP_PROC_BIND="close")
        if preload:
            env["LD_PRELOAD"] = preload
        self._stderr = tempfile.TemporaryFile()
        self._buffer = b""
        try:
            self._process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                             stderr=self._stderr, env=env)
        except OSError as error:
            self._stderr.close()
            raise WorkerError(f"cannot start {argv[0]}: {error.strerror}") from error
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._process.stdout, selectors.EVENT_READ)

    @property
    def pid(self):
        return self._process.pid

    def request(self, command, timeout_s=600):
        """Sends one command and returns the reply; raises WorkerError."""
        try:
            self._process.stdin.write(json.dumps(command).encode() + b"\n")
            self._process.stdin.flush()
        except OSError as error:
            raise WorkerError(f"the worker ended: {self._last_words()}") from error
        deadline = time.monotonic() + timeout_s
        while True:
            reply = parse_reply(self._read_line(deadline, command["cmd"], timeout_s))
            if reply is None:
                continue  # a library wrote a line of its own
            if "error" in reply:
                raise WorkerError(str(reply["error"]), refused=True)
            return reply

    def close(self):
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        with contextlib.suppress(OSError):  # it died before it took all that was written
            self._process.stdin.close()
        self._process.stdout.close()
        self._selector.close()
        self._stderr.close()

    def _read_line(self, deadline, name, timeout_s):
        while b"\n" not in self._buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not self._selector.select(left):
                raise WorkerError(f"no answer to '{name}' within {timeout_s} s")
            chunk = os.read(self._process.stdout.fileno(), 1 << 16)
            if not chunk:
                raise WorkerError(f"the worker ended: {self._last_words()}")
            self._buffer += chunk
        line, self._buffer = self._buffer.split(b"\n", 1)
        return line

    def _last_words(self):
        self._stderr.seek(0)
        lines = self._stderr.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else "it said nothing"


def parse_reply(line):
    """The JSON object on a line, or None when the line is not one."""
    line = line.strip()
    if not line.startswith(b"{"):
        return None
    try:
        reply = json.loads(line)
    except ValueError:
        return None
    return reply if isinstance(reply, dict) else None
