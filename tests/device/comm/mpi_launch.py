"""How tests start several processes: by the launchers of MPI that are installed.

A test that needs one skips itself where there is none, and says so:

    @unittest.skipUnless(mpi_launch.open_mpi(), mpi_launch.MISSING)
"""

import functools
import os
import re
import shutil
import subprocess
import tempfile

MISSING = "no mpirun of Open MPI here (Debian's openmpi-bin)"


@functools.cache
def open_mpi():
    """The version of Open MPI's launcher, "4.1.4"; None where it is missing."""
    if not shutil.which("mpirun"):
        return None
    done = subprocess.run(["mpirun", "--version"], capture_output=True, text=True, check=False)
    found = re.search(r"Open MPI\) (\d[\w.]*)", done.stdout)
    return found[1] if found else None


def launchers():
    """The first words of the command of each installed launcher; the number of processes comes next."""
    found = {}
    if open_mpi():
        found["Open MPI"] = ["mpirun", "--oversubscribe", "-n"]
    if shutil.which("mpiexec.hydra"):
        found["MPICH"] = ["mpiexec.hydra", "-n"]
    return found


def scratch():
    """A folder for a launcher's own files; sockets want short names."""
    return tempfile.TemporaryDirectory(dir="/tmp")


def environment(folder, **variables):
    """The environment of a launcher that writes into `folder`; `variables` reach all processes."""
    # Open MPI leaks memory; sanitizers must not report that.
    return dict(os.environ, TMPDIR=folder, OMPI_ALLOW_RUN_AS_ROOT="1",
                OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0", **variables)


def said_by_ranks(count, text):
    """What each of `count` processes says of itself ("rank 0 of 2: ok"). For a process that says
    nothing it is all of `text`."""
    said = dict(re.findall(rf"^rank (\d+) of {count}: (.*)$", text, re.MULTILINE))
    return [said.get(str(rank), text) for rank in range(count)]
