#!/usr/bin/env python3
"""Writes data/check: small models of our own in the format of ONNX's backend tests, with what the onnx package's
reference evaluator computes of them. Run with the onnx package (1.23.2 when this was written):

    python tests/io/onnx/make_check_data.py tests/io/onnx/data/check
"""

import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

RANDOM = np.random.default_rng(1)


def numbers(*shape, dtype=np.float32):
    # Few digits, which compress well in version control and are exact.
    return (RANDOM.integers(-16, 17, shape) / 8).astype(dtype)


def whole(*shape, low=0, high=255, dtype=np.uint8):
    return RANDOM.integers(low, high + 1, shape).astype(dtype)


def info(name, array):
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)


def write(folder, nodes, inputs, outputs, opset=21, stored=(), change=0):
    """A folder whose results are those of the nodes, or differ from them by `change`."""
    graph = helper.make_graph(
        nodes, os.path.basename(folder), [info(name, array) for name, array in inputs.items()],
        [helper.make_empty_tensor_value_info(name) for name in outputs],
        [numpy_helper.from_array(array, name) for name, array in stored])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    results = ReferenceEvaluator(model).run(None, inputs)
    del model.graph.output[:]
    model.graph.output.extend(info(name, array) for name, array in zip(outputs, results))
    data = os.path.join(folder, "test_data_set_0")
    os.makedirs(data, exist_ok=True)
    onnx.save(model, os.path.join(folder, "model.onnx"))
    for i, array in enumerate(inputs.values()):
        onnx.save_tensor(numpy_helper.from_array(array), os.path.join(data, f"input_{i}.pb"))
    for i, array in enumerate(results):
        moved = array + np.asarray(change, array.dtype) if change else array
        onnx.save_tensor(numpy_helper.from_array(moved), os.path.join(data, f"output_{i}.pb"))


def node(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs.split(), outputs.split(), **attributes)


def main(out):

    def one(name, op, outputs, opset=21, stored=(), change=0, attributes=None, **inputs):
        made = node(op, " ".join(list(inputs) + [n for n, _ in stored]), outputs, **(attributes or {}))
        write(os.path.join(out, name), [made], inputs, outputs.split(), opset, stored, change)

    one("conv_uneven_pads", "Conv", "y", x=numbers(1, 4, 5, 6), stored=[("w", numbers(4, 2, 3, 2)), ("b", numbers(4))],
        attributes={"pads": [1, 0, 2, 1], "group": 2, "strides": [2, 1], "dilations": [1, 2]})
    one("conv_transpose_output_padding", "ConvTranspose", "y", x=numbers(1, 2, 3, 4),
        stored=[("w", numbers(2, 3, 3, 3))],
        attributes={"strides": [3, 2], "pads": [1, 0, 0, 1], "output_padding": [2, 1]})
    one("max_pool_uneven_pads", "MaxPool", "y", x=numbers(1, 2, 6, 7),
        attributes={"kernel_shape": [3, 2], "pads": [2, 1, 0, 0], "strides": [2, 2], "ceil_mode": 1})
    one("average_pool_dilated", "AveragePool", "y", x=numbers(1, 2, 7, 6),
        attributes={"kernel_shape": [2, 3], "dilations": [2, 1], "pads": [1, 1, 0, 1]})
    one("group_normalization", "GroupNormalization", "y", x=numbers(2, 4, 3), s=numbers(4), b=numbers(4),
        attributes={"num_groups": 2})
    one("layer_normalization_all_outputs", "LayerNormalization", "y mean inverse", x=numbers(2, 3, 4), s=numbers(4),
        b=numbers(4))
    # The evaluator goes over as many channels as there are samples.
    one("lrn_even_size", "LRN", "y", x=numbers(6, 6, 1, 2), attributes={"size": 4, "alpha": 0.5})
    one("resize_cubic", "Resize", "y", x=numbers(1, 1, 4, 5),
        stored=[("roi", np.zeros(0, np.float32)), ("scales", np.array([1, 1, 1.5, 0.8], np.float32))],
        attributes={"mode": "cubic", "coordinate_transformation_mode": "asymmetric"})
    one("quantize_channels", "QuantizeLinear", "y", x=numbers(2, 3, 4),
        stored=[("s", np.array([0.25, 0.5, 1], np.float32)), ("z", np.array([1, 128, 250], np.uint8))])
    one("dequantize_blocks", "DequantizeLinear", "y", x=whole(4, 6, low=-128, high=127, dtype=np.int8),
        stored=[("s", np.abs(numbers(4, 3)) + 1)], attributes={"axis": 1, "block_size": 2})
    one("qlinear_conv", "QLinearConv", "y", x=whole(1, 2, 5, 5),
        stored=[("xs", np.float32(0.125)), ("xz", np.uint8(120)), ("w", whole(3, 2, 3, 3)),
                ("ws", np.float32(0.0625)), ("wz", np.uint8(130)), ("ys", np.float32(1.618034)), ("yz", np.uint8(100))],
        attributes={"pads": [1, 1, 1, 1]})
    one("lstm_peepholes", "LSTM", "y h c", x=numbers(3, 2, 4),
        stored=[("w", numbers(1, 20, 4)), ("r", numbers(1, 20, 5)), ("b", numbers(1, 40)),
                ("n", np.array([3, 3], np.int32)), ("h0", numbers(1, 2, 5)), ("c0", numbers(1, 2, 5)),
                ("p", numbers(1, 15))],
        attributes={"hidden_size": 5})
    one("gru", "GRU", "y h", x=numbers(3, 2, 4),
        stored=[("w", numbers(1, 9, 4)), ("r", numbers(1, 9, 3)), ("b", numbers(1, 18))],
        attributes={"hidden_size": 3})
    one("dft_onesided", "DFT", "y", opset=20, x=numbers(1, 6, 1),
        stored=[("n", np.int64(8)), ("axis", np.int64(1))], attributes={"onesided": 1})
    one("cross_entropy", "SoftmaxCrossEntropyLoss", "y logs", x=numbers(3, 5, 2),
        t=whole(3, 2, high=4, dtype=np.int64), attributes={"ignore_index": 2})
    one("not_right", "Relu", "y", x=numbers(2, 3), change=1)
    one("strings", "StringSplit", "y n", x=np.array(["a b", "c"], object), attributes={"delimiter": " "})


if __name__ == "__main__":
    main(sys.argv[1])
