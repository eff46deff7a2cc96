#!/usr/bin/env python3
"""Every sample of every operation, and networks of the examples, exported: NNabla loads the files and gives Firn's
results. Skips itself where Python has no nnabla (1.39 needs Python 3.8 to 3.10):

    bazel build //tests/io/nnabla_network:nnabla_export_files
    VENV/bin/python tests/io/nnabla_network/nnabla_export_python_test.py \\
        bazel-bin/tests/io/nnabla_network/nnabla_export_files [--list]

--list prints a line for each operation that is refused in a sample.
"""
import collections
import glob
import json
import os
import subprocess
import sys
import tempfile
import zipfile

try:
    import nnabla
    import numpy as np
    from google.protobuf import text_format
    from nnabla.utils import nnabla_pb2
    from nnabla.utils.nnp_graph import NnpLoader
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(0)

# Operations that give numbers in any order or equal numbers in any order, and operations whose NNabla functions
# multiply the parts that they leave out by 0 or take a root of -infinity.
UNORDERED = {"topk"}
SORTED = {"argsort", "sort"}
FINITE = {"rsqrt", "sqrt", "tril", "triu"}
# Differs for rows of which a mask leaves nothing: NNabla's Max is -1e8 there, not -infinity.
MASKED = {"multi_head_attention"}
# Functions whose results are elements of their inputs, or sums of products of these.
SUMS = {"Affine", "BatchMatmul", "Convolution", "Deconvolution", "Identity", "Reshape", "Slice", "Transpose"}


def tensors(path):
    with open(path, "rb") as file:
        data = file.read()
    size = int.from_bytes(data[:8], "little")
    header, body, found = json.loads(data[8:8 + size]), data[8 + size:], {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        found[name] = np.frombuffer(body[begin:end], "f4").reshape(entry["shape"])
    return found




def text(path):
    with zipfile.ZipFile(path) as archive:
        return text_format.Parse(archive.read("network.nntxt"), nnabla_pb2.NNablaProtoBuf())


def run(path, inputs, outputs, each=lambda x: x):
    """Outputs of the file's executor, after `each` has changed its inputs and parameters."""
    batch = inputs[0].shape[0] if inputs and inputs[0].shape else 1
    nnabla.clear_parameters()
    network = NnpLoader(path).get_network("firn", batch_size=batch)
    for name, variable in network.variables.items():
        if variable is not None and (name in network.inputs or variable.parent is None):
            variable.d = each(variable.d.copy())
    for i, values in enumerate(inputs):
        if f"input.{i}" in network.inputs:
            network.inputs[f"input.{i}"].d = each(values)
    found = []
    for name in outputs:
        network.variables[name].forward()
        found.append(network.variables[name].d.copy())
    return found


def rounding(path, inputs, outputs):
    """How far two sums of the same products in f32 may be apart (N. Higham, "Accuracy and Stability of Numerical
    Algorithms", section 3.1): for each of the two, N 2^-24 times the sum of the absolute products, where N is their
    number. The network itself computes both: the sum from absolute inputs, and N from inputs of ones."""
    sizes, counts = run(path, inputs, outputs, np.abs), run(path, inputs, outputs, np.ones_like)
    return [2 * n.astype("f8") * 2.0**-24 * s for n, s in zip(counts, sizes)]


def compare(path):
    """What is wrong with a file, or ""."""
    data, model = tensors(path[:-4] + ".safetensors"), text(path)
    inputs = [data[f"in.{i}"] for i in range(sum(k.startswith("in.") for k in data))]
    wanted = {k[4:]: v for k, v in data.items() if k.startswith("out.")}
    outputs = [o.variable_name for o in model.executor[0].output_variable]
    for name in wanted:
        if name not in outputs:
            return f"there is no {name}"
    op = os.path.basename(path).split(".")[0]
    # NNabla does not say what its functions make of a NaN.
    is_open = op in UNORDERED or any(np.isnan(x).any() for x in inputs)
    is_open |= op in SORTED and any(np.unique(x).size < x.size for x in inputs)
    is_open |= op in MASKED and any(x.size and np.isin(x, (0, 1)).all() for x in inputs)
    is_open |= op in FINITE and any(np.isinf(x).any() for x in inputs)
    is_open |= op == "cast" and any((np.abs(x) > 1e9).any() for x in inputs)  # beyond integers
    bounds = None
    for i, (name, got) in enumerate(zip(outputs, run(path, inputs, outputs))):
        want = wanted.get(name, got)
        if want.shape != got.shape:
            return f"{name}: {got.shape} for {want.shape}"
        if is_open or "draws" in data:
            continue
        near = np.isclose(got, want, rtol=1e-5, atol=1e-5, equal_nan=True)
        if not near.all() and all(f.type in SUMS for f in model.network[0].function):
            bounds = bounds or rounding(path, inputs, outputs)
            near |= np.abs(got - want) <= bounds[i]
        if not near.all():
            at = np.flatnonzero(~near.ravel())[:4]
            return f"{name}: {got.ravel()[at]} for {want.ravel()[at]}"
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
            said = f"{type(error).__name__}: {str(error)[-300:]}"
        os.write(writer, (said + "\n").encode()[:4096])
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        said = pipe.read().decode(errors="replace")
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return said.strip().replace("\n", " ") if said else f"it ended the process ({code})"


def main():
    nnabla.logger.setLevel("ERROR")
    # Writes thousands of files, so it uses a folder in memory if the system has one.
    where = "/dev/shm" if os.path.isdir("/dev/shm") else None
    refused, wrong, equal = {}, {}, collections.Counter()
    with tempfile.TemporaryDirectory(dir=where) as folder:
        out = subprocess.run([sys.argv[1], folder], check=True, capture_output=True, text=True).stdout
        for line in out.splitlines():
            name, why = line.split("\t")
            refused.setdefault(name.split(".")[0], f"{name} {why}")
        for path in sorted(glob.glob(folder + "/*.nnp")):
            name = os.path.basename(path)[:-4]
            kind = name if name.startswith("network.") else name.split(".")[0]
            said = apart(path)
            if said:
                wrong.setdefault(kind, f"{name} {said}")
            else:
                equal[kind] += 1
    networks = sum(kind.startswith("network.") for kind in equal)
    print(f"{networks} networks and {len(equal) - networks} operations with equal results, "
          f"{sum(equal.values())} samples; {len(refused)} are refused in a sample, {len(wrong)} wrong")
    if "--list" in sys.argv:
        for op, why in sorted(refused.items()):
            print(f"refused\t{why[:260]}")
    for op, why in sorted(wrong.items()):
        print(f"WRONG\t{why[:260]}")
    sys.exit(1 if wrong or networks == 0 else 0)


if __name__ == "__main__":
    main()
