#!/usr/bin/env python3
"""Every sample of every operation, exported: onnx.checker accepts it, shapes are inferred, and ONNX
Runtime gives Firn's results.

    onnx_export_python_test.py ONNX_EXPORT_FILES [OPSET] [--list]

Skips itself where Python has no onnx. --list prints a line for each operation.
"""
import collections
import glob
import json
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import onnx
    import onnxruntime
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(0)

TYPES = {"F64": "f8", "F32": "f4", "F16": "f2", "I64": "i8", "I32": "i4", "I8": "i1", "U8": "u1",
         "BOOL": "?"}
# What draws numbers is compared by shape alone.
RANDOM = {"bernoulli", "dropout", "rand", "randn", "uniform", "normal"}
# What ONNX leaves open: where a NaN stands among numbers, and what numbers beyond a type become.
OPEN = {"argmax", "argmin", "cast", "fake_quantize", "max_pool1d", "max_pool2d", "max_pool3d",
        "maximum_grad", "quantize_linear"}


def tensors(path):
    data = open(path, "rb").read()
    size = int.from_bytes(data[:8], "little")
    header, body, found = json.loads(data[8:8 + size]), data[8 + size:], {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        array = np.frombuffer(body[begin:end], TYPES[entry["dtype"]]).reshape(entry["shape"])
        found[name] = array
    return found


def largest(values):
    """The largest finite size, at least 1: what the rounding of a sum's terms is measured by."""
    sizes = np.abs(values[np.isfinite(values)])
    return max(1.0, float(sizes.max())) if sizes.size else 1.0


def compare(model_path, data):
    """What is wrong with a model, or None; what ONNX Runtime lacks begins with "runtime: "."""
    model = onnx.load(model_path)
    onnx.checker.check_model(model, full_check=True)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), options,
                                               providers=["CPUExecutionProvider"])
    except Exception as error:  # noqa: BLE001
        if "NOT_IMPLEMENTED" in str(error) or "Product cannot be 0" in str(error):
            return "runtime: " + str(error).split("\n")[0][-150:]
        raise
    names = {i.name for i in session.get_inputs()}
    feeds = {f"input.{k[3:]}": v for k, v in data.items() if k.startswith("in.")}
    try:
        got = session.run(None, {k: v for k, v in feeds.items() if k in names})
    except Exception as error:  # noqa: BLE001
        if "not supported now" in str(error):
            return "runtime: " + str(error)[-150:]
        raise
    if any(v.size == 0 for v in data.values()):
        return None if all(g.shape == data[f"out.{i}"].shape for i, g in enumerate(got)
                           if f"out.{i}" in data) else "the shape of an empty result"
    want = [v for k, v in sorted(data.items(), key=lambda e: int(e[0].split(".")[1]))
            if k.startswith("out.")]
    op = os.path.basename(model_path).split(".")[0]
    if op not in RANDOM:  # generators stay as they are
        want += [v for k, v in sorted(data.items()) if k.startswith("next.")]
    if len(got) != len(want):
        return f"{len(got)} results, {len(want)} wanted"
    for i, (g, w) in enumerate(zip(got, want)):
        if g.shape != w.shape or g.dtype != w.dtype:
            return f"result {i}: {g.dtype}{g.shape} for {w.dtype}{w.shape}"
        if op in RANDOM or op in OPEN and not all(
                np.all(np.abs(v) < 120) for v in data.values() if v.dtype.kind == "f"):
            continue
        if g.dtype.kind != "f":
            if not np.array_equal(g, w):
                return f"result {i}: {g.ravel()[:6]} for {w.ravel()[:6]}"
        elif not np.allclose(g, w, rtol=1e-5, atol=1e-5 * largest(w), equal_nan=True):
            return f"result {i}: off by {np.nanmax(np.abs(g - w))}"
    return None


def main():
    opset = sys.argv[2] if len(sys.argv) > 2 else "18"
    # In memory, if the system has such a folder: thousands of files are written.
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        out = subprocess.run([sys.argv[1], folder, opset], check=True, capture_output=True,
                             text=True).stdout
        refused, wrong, lacking, equal = ({}, {}, {}, collections.Counter())
        for line in out.splitlines():
            name, why = line.split("\t")
            refused.setdefault(name.split(".")[0], why)
        for path in sorted(glob.glob(folder + "/*.onnx")):
            op = os.path.basename(path).split(".")[0]
            try:
                said = compare(path, tensors(path[:-5] + ".safetensors"))
            except Exception as error:  # noqa: BLE001
                said = f"{type(error).__name__}: {str(error)[:300]}"
            if said is None:
                equal[op] += 1
            else:
                into = lacking if said.startswith("runtime: ") else wrong
                into.setdefault(op, os.path.basename(path) + " " + said.replace("\n", " "))
    whole = [op for op in equal if op not in wrong and op not in refused and op not in lacking]
    print(f"opset {opset}: {len(equal)} operations with equal results, {len(whole)} of them in all "
          f"samples; {sum(equal.values())} samples equal; {len(lacking)} operations that the "
          f"runtime lacks in a sample, {len(refused)} refused in one, {len(wrong)} wrong")
    if "--list" in sys.argv:
        for title, entries in (("refused", refused), ("lacking", lacking)):
            for op, why in sorted(entries.items()):
                print(f"{title}\t{op}\t{why[:230]}")
    for op, why in sorted(wrong.items()):
        print(f"WRONG\t{op}\t{why}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
