"""Programs that print what they measured as JSON lines and end, and scripts that compare them."""

import json
import os
import shlex
import subprocess

import compare_machine


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


def compare(measure, format_report, what, json_path, hint=""):
    """The exit status of a script: prints what measure() found, and the machine it was measured on.

    measure(about) returns a dict, {"rows": [...]} and whatever else format_report takes by name and
    the JSON is to hold; in `about`, which is the machine, it may put "versions". `what` is said of
    the run before the machine, `hint` behind an error; json_path, if given, is where all goes.
    Without a row the status is 1.
    """
    about = compare_machine.describe()
    try:
        found = measure(about)
    except RunError as error:
        print("\n".join(filter(None, (str(error), hint))))
        return 1
    about["load_at_end"] = os.getloadavg()[0]
    print(format_report(**found))
    versions = f"; {about['versions']}" if "versions" in about else ""
    print(f"{what}; load {about['load_at_start']:.1f} to {about['load_at_end']:.1f} on "
          f"{about['cores']} cores, {about['cpu']}{versions}")
    if json_path:
        with open(json_path, "w", encoding="utf-8") as out:
            json.dump({"machine": about, **found}, out, indent=1)
    return 0 if found["rows"] else 1


def enter_callers_folder():
    """`bazel run` starts elsewhere than where it was typed, from where paths count."""
    if "BUILD_WORKING_DIRECTORY" in os.environ:
        os.chdir(os.environ["BUILD_WORKING_DIRECTORY"])
