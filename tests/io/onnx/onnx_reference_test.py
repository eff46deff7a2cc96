#!/usr/bin/env python3
"""Some hundred nodes of random sizes and attributes, the same in every run: Firn computes what the reference evaluator
of the onnx package computes. Skipped where Python has no onnx:

    python -m venv VENV && VENV/bin/pip install onnx
    bazel build //tests/io/onnx:onnx_run
    VENV/bin/python tests/io/onnx/onnx_reference_test.py bazel-bin/tests/io/onnx/onnx_run
"""

import itertools
import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy as np
    import onnx
    from onnx import helper, numpy_helper
    from onnx.reference import ReferenceEvaluator
except ImportError:
    onnx = None

RUN = sys.argv.pop(1)
SCRATCH = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
# The error of f32 sums of up to 200 terms of size 1 in different orders: 200 roundings of 2^-24 on
# either side.
RTOL = ATOL = 2.5e-5
WORDS = {"float32": "F32", "float64": "F64", "int64": "I64", "int32": "I32", "int8": "I8", "uint8": "U8", "bool": "BOOL"}


def write_tensors(path, tensors):
    header, data = {}, b""
    for name, array in tensors.items():
        part = np.ascontiguousarray(array).tobytes()
        header[name] = {"dtype": WORDS[str(array.dtype)], "shape": list(array.shape),
                        "data_offsets": [len(data), len(data) + len(part)]}
        data += part
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def read_tensors(path):
    with open(path, "rb") as file:
        data = file.read()
    end = 8 + struct.unpack("<Q", data[:8])[0]
    dtypes = {word: name for name, word in WORDS.items()}
    return {name: np.frombuffer(data[end:][slice(*e["data_offsets"])], dtypes[e["dtype"]]).reshape(e["shape"])
            for name, e in json.loads(data[8:end]).items() if name != "__metadata__"}


class Cases:
    """A list of (model, inputs)."""

    def __init__(self):
        self.random = np.random.default_rng(1)
        self.all = []

    def x(self, *shape, low=-2.0, high=2.0, dtype="float32"):
        if dtype.startswith("float"):
            return self.random.uniform(low, high, shape).astype(dtype)
        return self.random.integers(int(low), int(high) + 1, shape).astype(dtype)

    def add(self, op, *inputs, opset=21, outputs=1, stored=(), **attributes):
        """Inputs whose places are in `stored` are initializers."""
        names = [f"i{k}" if array is not None else "" for k, array in enumerate(inputs)]
        made = [f"o{k}" for k in range(outputs)]
        given = {n: a for k, (n, a) in enumerate(zip(names, inputs)) if a is not None and k not in stored}
        graph = helper.make_graph(
            [helper.make_node(op, names, made, name=f"{op}_{len(self.all)}", **attributes)], "g",
            [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
             for n, a in given.items()], [helper.make_empty_tensor_value_info(n) for n in made],
            [numpy_helper.from_array(inputs[k], names[k]) for k in stored])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
        self.all.append((model, given))

    def elementwise(self):
        for op in ("Abs", "Atan", "Ceil", "Cos", "Erf", "Exp", "Floor", "Neg", "Round", "Sigmoid", "Sign", "Sin", "Sinh",
                   "Softplus", "Softsign", "Tan", "Tanh", "Relu", "Elu", "Selu", "LeakyRelu", "HardSigmoid", "HardSwish",
                   "Mish", "Celu", "ThresholdedRelu", "Gelu"):
            for shape in ((), (7,), (2, 3, 5)):
                if shape or op != "Softsign":  # the evaluator makes no array of these
                    self.add(op, self.x(*shape))
        for op, low, high in (("Log", 0.1, 9), ("Sqrt", 0, 9), ("Reciprocal", 0.5, 3), ("Acos", -1, 1), ("Asin", -1, 1),
                              ("Atanh", -0.9, 0.9), ("Acosh", 1, 5), ("Asinh", -5, 5)):
            self.add(op, self.x(3, 4, low=low, high=high))
        shapes = (((2, 3, 4), (3, 1)), ((4,), (2, 1, 4)), ((), (3,)), ((2, 3), (2, 3)))
        for op in ("Add", "Sub", "Mul", "Div", "Max", "Min", "Equal", "Less", "GreaterOrEqual"):
            for a, b in shapes:
                self.add(op, self.x(*a), self.x(*b, low=0.5))
        for op in ("Add", "Sub", "Mul", "Div", "Mod"):
            self.add(op, self.x(2, 3, low=-9, high=9, dtype="int64"), self.x(3, low=1, high=5, dtype="int64"))
        for op in ("And", "Or", "Xor"):
            self.add(op, self.x(2, 3, low=0, high=1, dtype="bool"), self.x(3, low=0, high=1, dtype="bool"))
        self.add("Pow", self.x(2, 3, low=0.2), self.x(3))
        self.add("Mod", self.x(9), self.x(9, low=0.5), fmod=1)
        self.add("Where", self.x(2, 1, low=0, high=1, dtype="bool"), self.x(2, 3), self.x(3))
        self.add("PRelu", self.x(2, 3, 4), self.x(3, 1))
        for low, high in ((-0.5, 0.5), (None, 0.1), (-0.2, None)):
            self.add("Clip", self.x(3, 4), *(None if b is None else np.float32(b) for b in (low, high)),
                     stored=[k for k, b in ((1, low), (2, high)) if b is not None])
        for to, dtype in itertools.product((1, 6, 7, 9, 11), ("float32", "int64", "bool")):
            self.add("Cast", self.x(3, 4, low=0, high=1 if dtype == "bool" else 9, dtype=dtype), to=to)

    def shapes(self):
        i = np.array
        x = self.x(2, 3, 4)
        for sizes in ([4, -1], [0, 0, 2, 2], [-1], [1, 2, 3, 4, 1]):
            self.add("Reshape", x, i(sizes), stored=[1])
        for axis in (0, 1, 2, 3, -1):
            self.add("Flatten", x, axis=axis)
        for perm in itertools.permutations(range(3)):
            self.add("Transpose", x, perm=perm)
        self.add("Squeeze", self.x(1, 3, 1), i([0, -1]), stored=[1])
        self.add("Squeeze", self.x(1, 3, 1), axes=[2], opset=11)
        self.add("Unsqueeze", x, i([-1, 1]), stored=[1])
        for axis in (0, 1, -1):
            self.add("Concat", x, x, x, axis=axis)
            self.add("Split", self.x(4, 6, 8), i([1, 3]) if axis == 0 else i([2, 4]) if axis == 1 else i([3, 5]),
                     stored=[1], outputs=2, axis=axis)
            self.add("Gather", x, self.x(2, 2, low=-2, high=1, dtype="int64"), axis=axis)
            at = [2 if d == axis % x.ndim else n for d, n in enumerate(x.shape)]
            self.add("GatherElements", x, self.x(*at, low=-2, high=1, dtype="int64"), axis=axis % 3)
            self.add("CumSum", x, np.int64(axis), stored=[1], exclusive=abs(axis), reverse=axis % 2)
        for start, end, axis, step in ((1, 3, 2, 1), (-1, -9, 2, -1), (0, 99, 1, 2), (3, 0, 2, -2), (2, 1, 0, 1)):
            self.add("Slice", x, i([start]), i([end]), i([axis]), i([step]), stored=[1, 2, 3, 4])
        for mode in ("constant", "reflect", "edge", "wrap"):
            self.add("Pad", x, i([0, 1, 2, 0, 1, 1]), stored=[1], mode=mode)
        self.add("Expand", self.x(3, 1), i([2, 1, 4]), stored=[1])
        self.add("Tile", self.x(2, 3), i([2, 3]), stored=[1])
        self.add("Shape", x, start=1)
        self.add("OneHot", i([0, 2, -1]), i(4), i([0.5, 2], "float32"), stored=[1, 2], axis=0)
        self.add("Trilu", self.x(3, 4), i(1), stored=[1], upper=0)
        self.add("ScatterElements", x, self.x(2, 1, 4, low=0, high=2, dtype="int64"), self.x(2, 1, 4), axis=1)
        self.add("GatherND", x, i([[0, 1], [1, 2]]))
        self.add("ScatterND", x, i([[0, 1], [1, 2]]), self.x(2, 4))
        for mode in ("DCR", "CRD"):
            self.add("DepthToSpace", self.x(1, 8, 2, 3), blocksize=2, mode=mode)

    def sums(self):
        ops = ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceSumSquare",
               "ReduceLogSumExp")
        for op, axes, keep in itertools.product(ops, ([1], [0, -1], None), (0, 1)):
            inputs = [self.x(2, 3, 4)] + ([] if axes is None else [np.array(axes)])
            self.add(op, *inputs, stored=range(1, len(inputs)), keepdims=keep)
        for op, axis in itertools.product(("Softmax", "LogSoftmax", "Hardmax"), (0, 1, -1)):
            self.add(op, self.x(2, 3, 4), axis=axis)
        for op in ("Softmax", "LogSoftmax", "Hardmax"):  # evaluated by their newest meaning
            self.add(op, self.x(2, 3, 4), axis=2, opset=11)
        for op, axis, keep in itertools.product(("ArgMax", "ArgMin"), (0, -1), (0, 1)):
            self.add(op, self.x(3, 4), axis=axis, keepdims=keep)
        for largest in (0, 1):
            self.add("TopK", self.x(3, 6), np.array([2]), stored=[1], outputs=2, largest=largest)
        for a, b in (((2, 3), (3, 4)), ((2, 2, 3), (3, 4)), ((3,), (3, 2)), ((2, 1, 2, 3), (4, 3, 2))):
            self.add("MatMul", self.x(*a), self.x(*b))
        for ta, tb, c in itertools.product((0, 1), (0, 1), ((4,), (3, 1), None)):
            a, b = self.x(*((5, 3) if ta else (3, 5))), self.x(*((4, 5) if tb else (5, 4)))
            self.add("Gemm", a, b, *([self.x(*c)] if c else []), transA=ta, transB=tb, alpha=0.5 + ta, beta=2.0)
        self.add("Einsum", self.x(2, 3), self.x(3, 4), equation="ij,jk->ki")

    def windows(self):
        for strides, pads, dilations, group in itertools.product(([1, 1], [2, 1]), ([0, 0, 0, 0], [1, 0, 2, 1]),
                                                                 ([1, 1], [1, 2]), (1, 2)):
            x, w = self.x(2, 4, 7, 8), self.x(6, 4 // group, 3, 2, low=-0.5, high=0.5)
            more = {"strides": strides, "pads": pads, "dilations": dilations, "group": group}
            self.add("Conv", x, w, self.x(6), stored=[1, 2], **more)
            if group == 1:
                self.add("ConvTranspose", self.x(1, 6, 4, 5), w, stored=[1], **more)
        self.add("Conv", self.x(1, 3, 9), self.x(2, 3, 4), stored=[1], auto_pad="SAME_UPPER", strides=[2])
        self.add("Conv", self.x(1, 2, 4, 5, 4), self.x(3, 2, 2, 3, 2), stored=[1])
        for kernel, strides, pads, ceil in itertools.product(([3, 2], [2, 2]), ([1, 1], [2, 2]),
                                                             ([0, 0, 0, 0], [1, 1, 1, 1]), (0, 1)):
            more = {"kernel_shape": kernel, "strides": strides, "pads": pads, "ceil_mode": ceil}
            if not (ceil and pads[0]):  # the evaluator makes too many windows for these
                self.add("MaxPool", self.x(1, 2, 7, 9), **more)
            self.add("AveragePool", self.x(1, 2, 7, 9), count_include_pad=ceil, **more)
        for op in ("GlobalAveragePool", "GlobalMaxPool"):
            self.add(op, self.x(2, 3, 4, 5))
        c = [self.x(4), self.x(4), self.x(4), self.x(4, low=0.2)]
        self.add("BatchNormalization", self.x(2, 4, 3), *c, stored=[1, 2, 3, 4])
        self.add("InstanceNormalization", self.x(2, 4, 5), *c[:2], stored=[1, 2])
        self.add("GroupNormalization", self.x(2, 4, 5), *c[:2], stored=[1, 2], num_groups=2)
        self.add("LayerNormalization", self.x(2, 3, 4), *c[:2], stored=[1, 2])
        self.add("LRN", self.x(6, 6, 2, 2), size=3, alpha=0.5)
        for mode, place, scale in itertools.product(("nearest", "linear", "cubic"),
                                                    ("half_pixel", "align_corners", "asymmetric"), (1.7, 0.6)):
            self.add("Resize", self.x(1, 1, 5, 6), None, np.array([1, 1, scale, scale], "float32"), stored=[2], mode=mode,
                     coordinate_transformation_mode=place)


@unittest.skipIf(onnx is None, "this Python has no onnx")
class OnnxReferenceTest(unittest.TestCase):

    def test_nodes(self):
        cases = Cases()
        for part in (cases.elementwise, cases.shapes, cases.sums, cases.windows):
            part()
        with tempfile.TemporaryDirectory(dir=SCRATCH) as folder:
            lines = []
            for k, (model, given) in enumerate(cases.all):
                path = os.path.join(folder, str(k))
                with open(path + ".onnx", "wb") as file:
                    file.write(model.SerializeToString())
                write_tensors(path + ".in", given)
                lines.append(f"{path}.onnx {path}.in {path}.out")
            said = subprocess.run([RUN], input="\n".join(lines) + "\n", capture_output=True, check=True,
                                  text=True).stdout.splitlines()
            self.assertEqual(len(said), len(lines))
            for k, ((model, given), line) in enumerate(zip(cases.all, said)):
                with self.subTest(str(model.graph.node[0]).replace("\n", " ")):
                    self.assertTrue(line.startswith("OK "), line)
                    expected = ReferenceEvaluator(model).run(None, given)
                    got = read_tensors(os.path.join(folder, f"{k}.out"))
                    for name, want in zip(model.graph.node[0].output, map(np.asarray, expected)):
                        self.assertEqual((got[name].dtype, got[name].shape), (want.dtype, want.shape))
                        np.testing.assert_allclose(got[name], want, RTOL, ATOL)


if __name__ == "__main__":
    unittest.main()
