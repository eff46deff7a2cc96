"""Programs that are started, print what they measured as JSON lines, and end."""

import json
import os
import shlex
import subprocess


class RunError(Exception):
    """A program could not run, or printed nothing."""


def json_lines(argv, threads):
    """What a program prints in its JSON lines; other lines are those of libraries."""
    env = dict(os.environ, OMP_NUM_THREADS=str(threads), MKL_NUM_THREADS=str(threads))
    try:
        done = subprocess.run(argv, env=env, capture_output=True, text=True, check=False)
    except OSError as error:
        raise RunError(f"cannot start {argv[0]}: {error.strerror}") from error
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode or not lines:
        raise RunError(f"{shlex.join(argv)} ended with {done.returncode}: "
                       f"{(done.stderr.strip() or done.stdout.strip())[-600:]}")
    return lines
