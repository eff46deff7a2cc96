#!/usr/bin/env python3
"""Every sample of every operation, exported: onnx.checker accepts it, shapes are inferred, and ONNX
Runtime gives Firn's results.

    onnx_export_python_test.py ONNX_EXPORT_FILES [OPSET...] [--list]

Skips itself where Python has no onnx. --list prints a line for each operation that is not compared
in all samples. Each model runs in a process of its own: ONNX Runtime ends the process at some.
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
# Operators that draw numbers: results are compared by their shapes.
DRAW = {"Bernoulli", "Dropout", "Multinomial", "RandomNormal", "RandomUniform",
        "RandomUniformLike"}
# Operators for which ONNX does not define the result of a NaN.
ORDER = {"ArgMax", "ArgMin", "MaxPool", "QuantizeLinear", "ScatterElements", "Sign", "TopK"}
# Operators whose results are elements of their inputs, or sums of products of these.
SUMS = {"Conv", "ConvTranspose", "Gemm", "Identity", "MatMul", "Pad", "Reshape", "Slice", "Squeeze",
        "Transpose", "Unsqueeze"}
# Messages of ONNX Runtime about operators that it lacks.
LACKS = ("NOT_IMPLEMENTED", "Invalid Target shape product of 0", "mode only supports",
         "not supported now")


def tensors(path):
    with open(path, "rb") as file:
        data = file.read()
    size = int.from_bytes(data[:8], "little")
    header, body, found = json.loads(data[8:8 + size]), data[8 + size:], {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        array = np.frombuffer(body[begin:end], TYPES[entry["dtype"]]).reshape(entry["shape"])
        found[name] = array
    return found


def run(model, feeds):
    """The outputs by their names."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options,
                                           providers=["CPUExecutionProvider"])
    taken = {i.name for i in session.get_inputs()}
    got = session.run(None, {k: v for k, v in feeds.items() if k in taken})
    return {o.name: g for o, g in zip(session.get_outputs(), got)}


def rounding(model, feeds):
    """How far two sums of the same products in f32 may be apart (N. Higham, "Accuracy and Stability
    of Numerical Algorithms", section 3.1): for each of the two, N 2^-24 times the sum of the absolute
    products, where N is their number. The model itself computes both: the sum from absolute inputs,
    and N from inputs of ones. None if the model does anything other than add up products."""
    if any(node.op_type not in SUMS for node in model.graph.node):
        return None

    def each(f):
        copy = onnx.ModelProto()
        copy.CopyFrom(model)
        for tensor in copy.graph.initializer:
            if tensor.data_type == onnx.TensorProto.FLOAT:
                new = f(onnx.numpy_helper.to_array(tensor))
                tensor.CopyFrom(onnx.numpy_helper.from_array(new, tensor.name))
        return run(copy, {k: f(v) if v.dtype == np.float32 else v for k, v in feeds.items()})
    sizes, counts = each(np.abs), each(np.ones_like)
    return {k: 2 * counts[k].astype("f8") * 2.0**-24 * sizes[k] for k in sizes}


def is_open(model, data):
    """Whether ONNX leaves open what the model makes of its inputs."""
    numbers = [v for k, v in data.items() if k.startswith("in.") and v.dtype.kind == "f"]
    operators = {node.op_type for node in model.graph.node}
    if operators & ORDER and any(np.isnan(v).any() for v in numbers):
        return True
    unsorted = onnx.helper.make_attribute("sorted", 0)
    if any(node.op_type == "TopK" and unsorted in node.attribute for node in model.graph.node):
        return True  # in any order
    for node in model.graph.node:  # numbers that an integer type does not hold
        to = [a.i for a in node.attribute if node.op_type == "Cast" and a.name == "to"]
        kind = onnx.helper.tensor_dtype_to_np_dtype(to[0]) if to else np.dtype("f4")
        if kind.kind in "iu":
            least, most = np.iinfo(kind).min, np.iinfo(kind).max
            if not all(((v >= least) & (v <= most)).all() for v in numbers):
                return True
    return False


def compare(path):
    """What is wrong with a model, or ""; what ONNX leaves open begins with "open: "."""
    data, model = tensors(path[:-5] + ".safetensors"), onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    feeds = {f"input.{k[3:]}": v for k, v in data.items() if k.startswith("in.")}
    got = run(model, feeds)
    want = {f"output.{k[4:]}": v for k, v in data.items() if k.startswith("out.")}
    for k, v in data.items():
        if k.startswith("next.") and k + ".next" in got:
            want[k + ".next"] = v
        elif k.startswith("next.") and not np.array_equal(v, data["was." + k[5:]], equal_nan=True):
            return f"{k} is written and no output"
    draws = any(node.op_type in DRAW for node in model.graph.node)
    bound = None
    for name, w in want.items():
        g = got[name]
        if g.shape != w.shape or g.dtype != w.dtype:
            return f"{name}: {g.dtype}{g.shape} for {w.dtype}{w.shape}"
        if draws or w.size == 0:
            continue
        if g.dtype.kind != "f":
            near = g == w
        else:
            near = np.isclose(g, w, rtol=1e-5, atol=1e-5, equal_nan=True)
            if not near.all():
                bound = bound or rounding(model, feeds)
                if bound is not None:
                    near |= np.abs(g - w) <= bound[name]
        if near.all():
            continue
        at = np.flatnonzero(~near.ravel())[:4]
        said = f"{name}: {g.ravel()[at]} for {w.ravel()[at]}"
        return "open: " + said if is_open(model, data) else said
    return ""


def apart(path):
    """compare() in a process of its own."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        try:
            said = compare(path)
        except Exception as error:  # noqa: BLE001
            said = f"{type(error).__name__}: {str(error)[:300]}"
            if any(words in str(error) for words in LACKS):
                said = "runtime: " + str(error).split("\n")[0][-150:]
        os.write(writer, (said + "\n").encode()[:4096])
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        said = pipe.read().decode(errors="replace")
    status = os.waitpid(child, 0)[1]
    code = os.waitstatus_to_exitcode(status)
    return said.strip() if said else f"runtime: it ended the process ({code})"


def test(program, opset, listed):
    """Prints what is wrong, and gives how many operations that is."""
    # Writes thousands of files, so it uses a folder in memory if the system has one.
    where = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.TemporaryDirectory(dir=where) as folder:
        out = subprocess.run([program, folder, opset], check=True, capture_output=True,
                             text=True).stdout
        found = {"refused": {}, "runtime": {}, "open": {}, "WRONG": {}}
        equal = collections.Counter()
        for line in out.splitlines():
            name, why = line.split("\t")
            found["refused"].setdefault(name.split(".")[0], f"{name} {why}")
        for path in sorted(glob.glob(folder + "/*.onnx")):
            name = os.path.basename(path)
            op = name.split(".")[0]
            said = apart(path).replace("\n", " ")
            if not said:
                equal[op] += 1
                continue
            kind = said.split(": ")[0]
            found[kind if kind in ("runtime", "open") else "WRONG"].setdefault(op, f"{name} {said}")
    print(f"opset {opset}: {len(equal)} operations with equal results, {sum(equal.values())} "
          f"samples; in a sample {len(found['refused'])} are refused, {len(found['runtime'])} "
          f"lacking in the runtime, {len(found['open'])} left open by ONNX, "
          f"{len(found['WRONG'])} wrong")
    for title, entries in found.items():
        for op, why in sorted(entries.items()):
            if listed or title == "WRONG":
                print(f"{title}\t{op}\t{why[:260]}")
    return len(found["WRONG"])


def main():
    options = [a for a in sys.argv[2:] if a != "--list"]
    wrong = [test(sys.argv[1], opset, "--list" in sys.argv) for opset in options or ["18"]]
    sys.exit(1 if sum(wrong) else 0)


if __name__ == "__main__":
    main()
