#!/usr/bin/env python3
"""Firn reads arrays and sound as h5py, NumPy, SciPy and Python's wave do. Each file is also read after
small changes, which are the same in every run. What both read must be equal. Each class of files that
only Firn reads is named below. Skipped where Python lacks one of these packages:

    python -m venv VENV && VENV/bin/pip install h5py numpy scipy
    bazel build //tests/io:print_arrays
    VENV/bin/python tests/io/other_readers_test.py bazel-bin/tests/io/print_arrays
"""

import multiprocessing
import os
import random
import subprocess
import sys
import tempfile
import unittest
import warnings

try:
    import h5py
    import numpy
    import scipy.io.wavfile
except ImportError:
    h5py = None

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import h5py_files  # noqa: E402

PRINT = sys.argv.pop(1)
CHANGES = 100  # of each file


def read(kind, paths):
    """{path: ("ERROR", code, message) or {name: array} or a list of words}."""
    lines = subprocess.run([PRINT, kind], input="\n".join(paths) + "\n", capture_output=True,
                           check=True, text=True).stdout.splitlines()
    found, path = {}, None
    for line in lines:
        what, _, rest = line.partition(" ")
        if what == "FILE":
            path = rest
            found[path] = [] if kind == "words" else {}
        elif what == "ERROR":
            found[path] = ("ERROR",) + tuple(rest.split(" ", 1))
        elif what == "WORD":
            found[path].append(bytes.fromhex(rest.strip("-")))
        else:
            name, dtype, shape, data = rest.split(" ")
            kinds = {"f16": "<f2", "f32": "<f4", "f64": "<f8", "bool": "?", "i8": "<i1", "u8": "<u1",
                     "i32": "<i4", "i64": "<i8"}
            sizes = [int(n) for n in shape.strip("()").split(",") if n]
            array = numpy.frombuffer(bytes.fromhex(data.strip("-")), kinds[dtype]).reshape(sizes)
            found[path][bytes.fromhex(name.strip("-")).decode("latin-1")] = array
    return found


def changed(data, seed):
    """A few bits, a byte, a cut: one of them, which depends on the seed alone."""
    draw = random.Random(seed)
    out = bytearray(data)
    at = draw.randrange(len(out))
    kind = draw.randrange(6)
    if kind < 3:
        out[at] ^= 1 << draw.randrange(8)
    elif kind == 3:
        out[at] = draw.choice([0, 1, 127, 128, 255])
    elif kind == 4:
        out[at:at + 4] = draw.choice([b"\0\0\0\0", b"\xff\xff\xff\xff", b"\1\0\0\0"])
    else:
        del out[at:]
    return bytes(out)


def same(a, b):
    """Equal in shape and in every number, NaN being equal to itself."""
    a, b = numpy.asarray(a), numpy.asarray(b)
    if a.shape != b.shape:
        return False
    if a.dtype.kind == "f":
        return bool(((a == b) | ((a != a) & (b != b))).all())
    return bool((a == b).all())


def original(path):
    """The file that a changed one was made of."""
    return path.rsplit(".", 2)[0] if path.count(".") > 1 else path


def h5py_arrays(path):
    """What h5py reads, by Firn's names; None where it refuses."""
    found = {}

    def walk(group, prefix, above):
        for name in group:
            item = group[name]
            full = prefix + name
            if isinstance(item, h5py.Group):
                if item.id.__hash__() in above:
                    return
                walk(item, full + ".", above | {item.id.__hash__()})
            elif isinstance(item, h5py.Dataset):
                found[full] = item[()]

    try:
        with h5py.File(path, "r") as file:
            walk(file, "", frozenset([file.id.__hash__()]))
    except Exception:  # of many kinds
        return None
    return found


def apart(function, path):
    """function(path) in a process of its own, which HDF5 may end or keep; None where it did."""
    receiver, sender = multiprocessing.Pipe(False)
    process = multiprocessing.get_context("fork").Process(
        target=lambda: sender.send(function(path)))
    process.start()
    sender.close()
    found = None
    try:
        if receiver.poll(10):
            found = receiver.recv()
    except EOFError:
        pass
    process.kill()
    process.join()
    return found


@unittest.skipIf(h5py is None, "this Python has not all of h5py, NumPy and SciPy")
class OtherReadersTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.keep = tempfile.TemporaryDirectory()
        cls.folder = cls.keep.name

    @classmethod
    def tearDownClass(cls):
        cls.keep.cleanup()

    def changes_of(self, paths, count=CHANGES):
        for path in paths:
            with open(path, "rb") as file:
                data = file.read()
            for seed in range(count):
                other = "%s.%d%s" % (path, seed, os.path.splitext(path)[1])
                with open(other, "wb") as file:
                    file.write(changed(data, "%s %d" % (os.path.basename(path), seed)))
                yield other

    def compare(self, kind, paths, reader, justified):
        """Counts of (both read, Firn refuses, the other refuses)."""
        counts = [0, 0, 0]
        mine = read(kind, paths)
        for path in paths:
            got = mine[path]
            if isinstance(got, tuple):
                counts[1] += 1
                continue
            expected = reader(path)
            if expected is None:
                counts[2] += 1
                self.assertTrue(justified(path, got), path + " is read by Firn alone")
                continue
            counts[0] += 1
            self.assertEqual(set(got), set(expected), path)
            for name, array in got.items():
                self.assertTrue(same(array, expected[name]), "%s: %s" % (path, name))
        return counts

    # --- HDF5 -------------------------------------------------------------------------------------

    def test_h5_files(self):
        paths = h5py_files.h5_files(self.folder)
        for path, got in read("h5", paths).items():
            expected = h5py_arrays(path)
            self.assertIsInstance(got, dict, "%s: %s" % (path, got))
            self.assertEqual(set(got), set(expected), path)
            for name, array in got.items():
                self.assertTrue(same(array, expected[name]), "%s: %s" % (path, name))

    def test_h5_refusals_name_the_kind(self):
        kinds = {
            "external link": lambda f: f.__setitem__("x", h5py.ExternalLink("o.h5", "/x")),
            "cycle": lambda f: f.create_group("g").__setitem__("up", h5py.SoftLink("/")),
            "where nothing is": lambda f: f.__setitem__("x", h5py.SoftLink("/none")),
            "class compound": lambda f: f.__setitem__("x", numpy.zeros(3, "f4,i4")),
            "lzf": lambda f: f.create_dataset("x", data=numpy.zeros(9), compression="lzf"),
            "scale and offset": lambda f: f.create_dataset("x", data=numpy.zeros(9, int),
                                                           scaleoffset=0),
            "class reference": lambda f: f.create_dataset("x", data=f.ref, dtype=h5py.ref_dtype),
            "class string": lambda f: f.__setitem__("x", numpy.bytes_("word")),
            "class variable-length": lambda f: f.__setitem__("x", "word"),
            "class array": lambda f: f.create_dataset("x", (2,), numpy.dtype(("f8", (3,)))),
        }
        for what, fill in kinds.items():
            path = os.path.join(self.folder, "refused.h5")
            with h5py.File(path, "w") as file:
                fill(file)
            got = read("h5", [path])[path]
            self.assertEqual(got[:2], ("ERROR", "UNIMPLEMENTED"), (what, got))
            self.assertIn(what, got[2])
        layout = h5py.VirtualLayout((4,), "f4")
        layout[:] = h5py.VirtualSource("o.h5", "x", (4,))
        with h5py.File(path, "w", libver="latest") as file:
            file.create_virtual_dataset("x", layout)
        self.assertIn("virtual", read("h5", [path])[path][2])

    def test_h5_words(self):
        texts = ["one", "", "zwei und drei", "vier\u00e9"]
        for version in ("earliest", "latest"):
            for name, data in {
                    "any": numpy.array(texts, dtype=h5py.string_dtype()),
                    "fixed": numpy.array([t.encode() for t in texts], "S20"),
                    "never": None}.items():
                path = os.path.join(self.folder, name + ".h5")
                with h5py.File(path, "w", libver=version) as file:
                    if data is None:
                        file.create_dataset("words", (3,), h5py.string_dtype())
                    else:
                        file.create_dataset("words", data=data, chunks=(3,), compression="gzip")
                expected = [b""] * 3 if data is None else [t.encode() for t in texts]
                self.assertEqual(read("words", [path])[path], expected, name)

    def test_changed_h5_files(self):
        small = [p for p in h5py_files.h5_files(self.folder)
                 if not os.path.basename(p).startswith("many")]
        paths = list(self.changes_of(small))
        whole = {path: list(h5py_arrays(path).values()) for path in small}

        def justified(path, got):
            # The HDF5 library crashes, hangs, cannot find a listed object by its name, or refuses
            # attributes that nobody asked for; Firn then reads what was written.
            return all(any(same(array, other) for other in whole[original(path)])
                       for array in got.values())

        counts = self.compare("h5", paths, lambda path: apart(h5py_arrays, path), justified)
        print("HDF5: %d read by both, %d refused, %d by Firn alone" % tuple(counts))
        self.assertGreater(counts[0], len(paths) // 8)

    # --- NumPy ------------------------------------------------------------------------------------

    def test_changed_npy_files(self):
        paths = []
        for name, array in {"a": numpy.arange(6, dtype="<f4").reshape(2, 3), "b": numpy.arange(4) > 1,
                            "c": numpy.asfortranarray(numpy.arange(12).reshape(3, 4)),
                            "d": numpy.arange(5, dtype=">u2"), "e": numpy.float64(3)}.items():
            paths.append(os.path.join(self.folder, name + ".npy"))
            numpy.save(paths[-1], array)
        changes = list(self.changes_of(paths, 400))

        def reader(path):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    return {"array": numpy.load(path, allow_pickle=False)}
            except Exception:
                return None

        counts = self.compare("npy", paths + changes, reader, lambda path, got: False)
        print("npy: %d read by both, %d refused, %d by Firn alone" % tuple(counts))
        self.assertGreater(counts[0], len(paths))

    def test_changed_npz_files(self):
        paths = []
        for name, save in {"plain": numpy.savez, "packed": numpy.savez_compressed}.items():
            paths.append(os.path.join(self.folder, name + ".npz"))
            save(paths[-1], x=numpy.arange(6.0), y=numpy.arange(40).reshape(8, 5))
        changes = list(self.changes_of(paths, 600))

        def reader(path):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    with numpy.load(path, allow_pickle=False) as arrays:
                        return {name: arrays[name] for name in arrays}
            except Exception:
                return None

        def justified(path, got):
            # Flags, versions and times that Python's zipfile looks at and that change no array.
            return all(same(a, b) for a, b in zip(got.values(), (numpy.arange(6.0),
                                                                numpy.arange(40).reshape(8, 5))))

        counts = self.compare("npz", paths + changes, reader, justified)
        print("npz: %d read by both, %d refused, %d by Firn alone" % tuple(counts))
        self.assertGreater(counts[0], len(paths))

    # --- Sound ------------------------------------------------------------------------------------

    def test_changed_wav_files(self):
        paths = []
        wave = (numpy.arange(60).reshape(30, 2) * 331 % 251 - 125)
        for name, samples in {"u8": (wave + 125).astype("u1"), "i16": (wave * 200).astype("<i2"),
                              "i32": (wave * 9999).astype("<i4"), "f32": (wave / 128).astype("<f4"),
                              "f64": (wave / 128).astype("<f8")}.items():
            paths.append(os.path.join(self.folder, name + ".wav"))
            scipy.io.wavfile.write(paths[-1], 8000, samples)
        changes = list(self.changes_of(paths, 400))

        def reader(path):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    rate, samples = scipy.io.wavfile.read(path)
            except Exception:
                return None
            if samples.dtype == numpy.uint8:
                samples = (samples.astype("f4") - 128) / 128
            elif samples.dtype.kind == "i":
                samples = samples.astype("f8") / 2 ** (8 * samples.dtype.itemsize - 1)
            with numpy.errstate(over="ignore"):
                samples = samples.astype("f4")
            samples = samples[:, None] if samples.ndim == 1 else samples
            return {str(rate): samples.T}

        whole = {path: reader(path) for path in paths}

        def justified(path, got):
            # SciPy ends where the RIFF's own size says, and finds no data there.
            return [same(a, b) for a, b in zip(got.values(), whole[original(path)].values())] == [True]

        counts = self.compare("wav", paths + changes, reader, justified)
        print("wav: %d read by both, %d refused, %d by Firn alone" % tuple(counts))
        self.assertGreater(counts[0], len(paths))


if __name__ == "__main__":
    unittest.main()
