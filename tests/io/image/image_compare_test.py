#!/usr/bin/env python3
"""Pillow and tifffile beside Firn on small images of every kind and thousands of damaged copies.

What both accept must have the same values, and neither accepts a file whose checksums are wrong. If one
of them refuses what the other reads, that is not an error. Skipped where Python has no Pillow or NumPy:

    python -m venv VENV && VENV/bin/pip install pillow numpy tifffile
    bazel build //tests/io/image:decode_images
    VENV/bin/python tests/io/image/image_compare_test.py bazel-bin/tests/io/image/decode_images

FIRN_COMPARE_ROUNDS: how many damaged copies there are of each file; 300 when unset.
"""

import io
import logging
import os
import struct
import subprocess
import sys
import unittest
import warnings
import zlib

DECODE = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else ""
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__))))

try:
    import numpy
    from PIL import Image
    import image_compare_files
except ImportError as error:
    Image = None
    print(f"skipped: {error}")
try:
    import tifffile
except ImportError:
    tifffile = None
    print("without tifffile: TIFFs are compared with Pillow alone")

ROUNDS = int(os.environ.get("FIRN_COMPARE_ROUNDS", "300"))
# How much two right decoders may differ: because of libjpeg's versions, the widening of 5 or 6
# bits, and the rounding of halves.
TOLERANCE = {"jpeg": 8, "bmp_565": 8, "bmp": 1, "p": 1, "png": 0, "tiff_ycbcr": 1}
# Pillow's values are wrong for damaged files of this kind: it ignores the end of an empty row, and
# reads two bytes too many behind a step.
ONLY_WHOLE = {"bmp_runs"}


def tolerance(kind):
    fitting = [k for k in TOLERANCE if kind.startswith(k)]
    return TOLERANCE[max(fitting, key=len)] if fitting else 0


def decode_by_firn(files):
    """A list of (message, None) or ("OK", array [height, width, channels])."""
    text = b"".join(b"%d\n" % len(data) + data for data in files)
    done = subprocess.run([DECODE], input=text, stdout=subprocess.PIPE, check=False)
    out, answers = io.BytesIO(done.stdout), []
    for line in iter(out.readline, b""):
        word, _, rest = line.decode(errors="replace").rstrip("\n").partition(" ")
        if word != "OK":
            answers.append((f"{word} {rest}", None))
            continue
        channels, height, width, size = map(int, rest.split())
        dtype = numpy.uint8 if size == 1 else numpy.dtype("<u2")
        samples = numpy.frombuffer(out.read(channels * height * width * size), dtype)
        answers.append(("OK", samples.reshape(channels, height, width).transpose(1, 2, 0)))
    if done.returncode != 0 or len(answers) != len(files):
        raise AssertionError(f"it ended with {done.returncode} at file {len(answers)}")
    return answers


def rgba(array):
    """Grey, grey and alpha, RGB or RGBA as RGBA."""
    channels = array.shape[2]
    top = numpy.full(array.shape[:2] + (1,), 65535 if array.dtype.itemsize == 2 else 255,
                     array.dtype)
    color = array[:, :, :1].repeat(3, 2) if channels < 3 else array[:, :, :3]
    return numpy.concatenate([color, array[:, :, -1:] if channels % 2 == 0 else top], 2)


def decode_by_pillow(data):
    """The error as text, or an array of RGBA of 8 or 16 bits."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            image = Image.open(io.BytesIO(data))
            if image.width * image.height > 1 << 20:
                return "too large to compare"
            if image.format == "TIFF" and image.tag_v2.get(262) == 6 and image.tile[0][0] == "raw":
                return "not compared"  # some of its versions take YCbCr for RGB and a fourth byte
            image.load()
            if image.mode.startswith("I"):
                array = numpy.asarray(image).astype("<u2")
                return rgba(array.reshape(array.shape + (1,)))
            if image.mode == "F":
                return "floats"
            clear = "transparency" in image.info
            return numpy.asarray(image.convert("RGBA" if clear or "A" in image.mode else "RGB")
                                 .convert("RGBA"))
    except Exception as error:  # Pillow refuses by errors of many types
        return f"{type(error).__name__}: {error}"


def decode_by_tifffile(data):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with tifffile.TiffFile(io.BytesIO(data)) as tiff:
                page = tiff.pages[0]
                if page.photometric not in (1, 2) or page.bitspersample not in (8, 16):
                    return "not compared"
                if page.size > 1 << 22 or page.imagedepth != 1:
                    return "too large to compare"
                if len(page.databytecounts) != len(page.dataoffsets):
                    return "zeros for what it does not find"
                array = page.asarray()
                if page.planarconfig == 2 and page.samplesperpixel > 1:
                    array = numpy.moveaxis(array, 0, -1)
                array = array.reshape(page.imagelength, page.imagewidth, page.samplesperpixel)
                if array.dtype.kind != "u" or array.shape[2] > 4:
                    return "not compared"
                return rgba(array)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def same(ours, theirs, kind):
    a, b = rgba(ours), theirs
    if a.shape != b.shape:
        return False
    if a.dtype.itemsize > b.dtype.itemsize:
        a = a >> 8  # Pillow narrows so
    if a.dtype.itemsize < b.dtype.itemsize:
        return False
    a, b = a.astype(int), b.astype(int)
    if kind.startswith("gif"):  # Pillow fills the canvas around a frame with the background
        opaque = a[:, :, 3] == 255
        a, b = a[opaque][:, :3], b[opaque][:, :3]
    return bool((abs(a - b) <= tolerance(kind)).all())


def png_checksums_hold(data):
    at, packed = 8, b""
    while at + 12 <= len(data):
        n = struct.unpack_from(">I", data, at)[0]
        body = data[at + 4:at + 8 + n]
        if data[at + 8 + n:at + 12 + n] != struct.pack(">I", zlib.crc32(body)):
            return False
        if body[:4] == b"IDAT":
            packed += body[4:]
        if body[:4] == b"IEND":
            break
        at += n + 12
    try:
        zlib.decompress(packed)
    except zlib.error:
        return False
    return True


def says_checksum(error):
    return any(text in error.lower() for text in ("crc", "checksum", "data check", "broken png"))


@unittest.skipIf(Image is None, "this Python has no Pillow or NumPy")
class ImageCompareTest(unittest.TestCase):

    def others(self, kind, data):
        found = {"Pillow": decode_by_pillow(data)}
        if kind.startswith("tiff") and tifffile is not None:
            found["tifffile"] = decode_by_tifffile(data)
        return found

    def findings(self, kind, data, answer):
        message, ours = answer
        if ours is None:
            return []
        found = []
        if kind.startswith("png") and not png_checksums_hold(data):
            found.append("a wrong checksum is accepted")
        others = self.others(kind, data)
        read = {k: v for k, v in others.items() if not isinstance(v, str)}
        for name, other in others.items():
            if isinstance(other, str) and says_checksum(other):
                found.append(f"{name} says {other}")
        # If other decoders differ from each other, one that agrees with Firn is enough.
        if read and not any(same(ours, other, kind) for other in read.values()):
            found.append(f"values differ from those of {', '.join(read)}")
        return found

    def test_whole_files_are_the_same(self):
        for kind, data in image_compare_files.files():
            with self.subTest(kind=kind):
                message, ours = decode_by_firn([data])[0]
                self.assertEqual(message, "OK")
                others = self.others(kind, data)
                if kind.startswith("tiff_rgb16_planes") and tifffile is None:
                    continue  # Pillow reads none of them
                self.assertTrue(any(not isinstance(v, str) for v in others.values()), others)
                self.assertEqual(self.findings(kind, data, (message, ours)), [])

    def test_damaged_files_are_the_same_or_refused(self):
        silence()
        read = total = 0
        for kind, whole in image_compare_files.files():
            files = list(image_compare_files.damaged(kind, whole, ROUNDS))
            for i, (data, answer) in enumerate(zip(files, decode_by_firn(files))):
                if kind in ONLY_WHOLE:
                    continue
                total += 1
                read += answer[1] is not None
                found = self.findings(kind, data, answer)
                with self.subTest(kind=kind, round=i):
                    self.assertEqual(found, [], data.hex() if len(data) < 4096 else "")
        print(f"{total} damaged files, {read} of them read by Firn")
        self.assertGreater(read, total // 50)
        self.assertLess(read, total)


def silence():
    """tifffile logs what it mends, and Pillow's libtiff writes of each damaged file."""
    logging.disable(logging.CRITICAL)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)


if __name__ == "__main__":
    # The report goes to stdout, since libraries write about damaged files to stderr.
    unittest.main(testRunner=unittest.TextTestRunner(stream=sys.stdout))
