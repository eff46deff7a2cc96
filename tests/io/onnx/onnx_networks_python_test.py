#!/usr/bin/env python3
"""The networks of all examples and of `firn train`, exported: onnx.checker accepts them, shapes are
inferred, and ONNX Runtime gives Firn's results.

    onnx_networks_python_test.py ONNX_NETWORKS_FILES [OPSET...] [--list] [--of-largest]

Results of floating-point networks may differ by 1e-4. Networks of bytes ("..._i8") return the bytes as
further results. A number between two levels may be rounded to the other one if a runtime multiplies in
another order, and what is computed from it may then move by one level more. So bytes may differ by two
steps, and results by what two steps make of them. quantize_trained rounds to levels in floating-point
numbers, and its scales are computed. ONNX Runtime folds the scales, and its optimizer
WeightBiasQuantization would round weights and biases, which are rounded already, to levels of its own;
this moves results by 0.003. So ONNX Runtime runs that network as written, without the optimizers that
make integers of floating-point networks. Skips itself where Python has no onnx. Networks for which ONNX
Runtime has no kernel (at opset 28 bytes, in 1.32) are checked and counted apart. --list prints a line for
each network. --of-largest allows 1e-4 of the largest result everywhere, for results that are differences
of larger numbers.
"""
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

TYPES = {"F64": "f8", "F32": "f4", "I64": "i8", "I32": "i4", "I8": "i1", "U8": "u1", "BOOL": "?"}
STEPS = 2
LACKS = "not run: "


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


def run(model, feeds, as_written):
    options = onnxruntime.SessionOptions()
    if as_written:
        options.add_session_config_entry("session.disable_quant_qdq", "1")
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options,
                                           providers=["CPUExecutionProvider"])
    return session.run(None, feeds)


def of_steps(model, steps):
    """How far `steps` levels of each number that the last product reads move its results."""
    made = {name: node for node in model.graph.node for name in node.output}
    kept = {t.name: onnx.numpy_helper.to_array(t).astype("f8") for t in model.graph.initializer}
    product = made[model.graph.output[0].name]
    (_, scale, *_), (weight, scales, *_) = (made[name].input for name in product.input[:2])
    rows = np.abs(kept[weight]).sum(1) if product.op_type == "Gemm" else None
    return steps * kept[scale] * kept[scales] * rows


def compare(path, listed, of_largest):
    """What is wrong with a model, or ""; LACKS and what, if the runtime cannot run it."""
    name = os.path.basename(path)[:-5]
    data, model = tensors(path[:-5] + ".safetensors"), onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    feeds = {f"input.{k[3:]}": v for k, v in data.items() if k.startswith("in.")}
    want = [data[f"out.{i}"] for i in range(len(model.graph.output))]
    try:
        got = run(model, feeds, name == "quantize_trained")
    except onnxruntime.capi.onnxruntime_pybind11_state.NotImplemented as error:
        return f"{LACKS}{name}: {str(error)[:200]}"
    quantized, levels, beyond, worst = name.endswith("_i8"), 0, False, 0.0
    for g, w in zip(got, want):
        if g.shape != w.shape or g.dtype != w.dtype:
            return f"{name}: {g.dtype}{g.shape} for {w.dtype}{w.shape}"
        difference = np.abs(g.astype("f8") - w)
        if w.dtype.kind in "iu":
            levels = max(levels, int(difference.max()))
        else:
            size = np.abs(w).max() if of_largest else 1 + np.abs(w)
            worst = max(worst, float((difference / size).max()))
            bound = 1e-4 * size + (of_steps(model, STEPS) if quantized else 0)
            beyond |= bool((difference > bound).any())
    if listed:
        print(f"{name}: {len(model.graph.node)} nodes, off by {worst:.2g}"
              + (f", bytes by {levels}" if quantized else ""))
    return f"{name}: off by {worst}, bytes by {levels}" if beyond or levels > STEPS else ""


def main():
    program, listed, of_largest = sys.argv[1], "--list" in sys.argv, "--of-largest" in sys.argv
    wrong = []
    for opset in [a for a in sys.argv[2:] if not a.startswith("--")] or ["13", "18", "23", "25", "28"]:
        where = "/dev/shm" if os.path.isdir("/dev/shm") else None
        with tempfile.TemporaryDirectory(dir=where) as folder:
            subprocess.run([program, folder, opset], check=True)
            paths = sorted(glob.glob(folder + "/*.onnx"))
            said = [compare(path, listed, of_largest) for path in paths]
        lacking = [s for s in said if s.startswith(LACKS)]
        bad = [s for s in said if s and not s.startswith(LACKS)]
        print(f"opset {opset}: {len(said)} networks, {len(bad)} of them wrong, {len(lacking)} that "
              "the runtime lacks operators for")
        if listed and lacking:
            print("\n".join(lacking))
        wrong += [f"opset {opset}: {s}" for s in bad]
        if len(lacking) > (len(said) // 2 if int(opset) >= 24 else 1):
            wrong.append(f"opset {opset}: no runtime for most")
    print("\n".join(wrong))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
