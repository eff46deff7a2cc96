"""Programs that print what they measured as JSON lines and end, and scripts that compare them."""

import argparse
import json
import os
import shlex
import subprocess
import sys

import compare_machine

# Under `bazel run` the script is a link.
HERE = os.path.dirname(os.path.realpath(__file__))


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

    measure(about) returns a dict: {"rows": [...]} and whatever else format_report takes by name and
    the JSON should hold. It may add "versions" to `about`, which describes the machine. `what` says
    what the run is and is printed before the machine; `hint` is printed after an error. json_path, if
    given, is the file that gets everything. Without a row the status is 1.
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


def positive(text):
    """An option's value: a whole number above 0."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"a positive whole number was expected, not '{text}'")
    return int(text)


class Arguments(argparse.ArgumentParser):
    """The options of all scripts that compare, and those that a script adds."""

    def __init__(self, doc, firn, rounds, what="runs of each side"):
        super().__init__(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
        self.add_count("rounds", rounds, what)
        self.add_argument("--patience", type=float, default=0.0, metavar="S",
                          help="wait up to S seconds for a quiet machine before each of them")
        self.add_argument("--firn", metavar="PATH", default=os.path.join(
            os.path.dirname(HERE), "bazel-bin", "benchmarks", firn), help="Firn's program")
        self.add_argument("--json", metavar="FILE", help="where the rows go, too")

    def add_count(self, name, default, what):
        self.add_argument(f"--{name}", type=positive, default=default, metavar="N",
                          help=f"{what} (%(default)s)")

    def add_python(self, needs, peer=None):
        self.add_argument("--python", default=sys.executable, help=f"one that has {needs}")
        if peer:
            self.add_argument("--peer", default=os.path.join(HERE, "peers", peer),
                              help="what it runs (%(default)s)")


def enter_callers_folder():
    """Paths count from the folder where the user typed `bazel run`, which starts programs elsewhere."""
    if "BUILD_WORKING_DIRECTORY" in os.environ:
        os.chdir(os.environ["BUILD_WORKING_DIRECTORY"])
