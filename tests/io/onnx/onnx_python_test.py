#!/usr/bin/env python3
"""Firn reads the models that the onnx package makes, both whole models and models with small changes, which are the
same in every run. What the package reads, Firn reads and writes again with the same fields and elements. It accepts no
file that the package cannot parse. Each class of files that only Firn refuses is named below. Skipped where Python has
no onnx:

    python -m venv VENV && VENV/bin/pip install onnx
    bazel build //tests/io/onnx:onnx_files
    VENV/bin/python tests/io/onnx/onnx_python_test.py bazel-bin/tests/io/onnx/onnx_files
"""

import json
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper
except ImportError:
    onnx = None

FILES = sys.argv.pop(1)
CHANGES = 1000  # of each model
# Makes thousands of files, so it uses a file system in memory if there is one.
SCRATCH = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
# Models that the package parses and Firn does not, by Firn's messages.
STRICTER = re.compile(
    r"expected a field of the format, got|"  # unknown numbers are kept aside
    r"expected (an integer|4 bytes|8 bytes|a string or message), got|numbers of type|"  # so are other wire types
    r"expected one, got two|expected one type, got two|expected one value, got a second|got them in a second one|"
    r"expected none beside dim|"
    r"expected UTF-8|without zero bytes|expected a type of 0, 1, 2 or 5, got 3|"
    r"expected a number of 32 bits|expected a number of 0 to 14|expected 0 or 1|"
    r"ir_version: expected 3 to 14|not an ONNX model|expected an opset_import|version: expected at least 1|"
    r"expected one version of domain|expected a field (name|type|op_type|t|g|tp|sparse_tensor|ir_version|graph)\b|"
    r"as its type|expected no value beside ref_attr_name|expected different attributes|"
    r"expected a type of the format|expected sizes of at most|expected at most 32 dimensions|"
    r"expected elements (in one field|of type)|bytes of elements for|numbers for \[|expected \d+ words|"
    r"expected none for type|the words of a tensor|expected it where|length: expected the|expected digits|"
    r"expected location|expected a location|expected one (location|offset|length|checksum|basepath)|got a segment|"
    r"expected INT64 elements|expected 1 dimension|expected a tensor, got none|limits\.|"
    r"expected different names of values|is made by nothing|is the name of another value|need its outputs|"
    r"names of initializers|calls itself|another one of this name|expected a number of -?\d+ to \d+ for type")
# Elements of types that Firn does not read, and those that are refused where they are read.
UNREAD = {"STRING", "COMPLEX64", "COMPLEX128", "FLOAT4E2M1", "UINT2", "INT2", "FLOAT6E2M3", "FLOAT6E3M2"}


def value(name, shape, kind=1):
    return helper.make_tensor_value_info(name, kind, shape)


def model(nodes, inputs=(), outputs=(), initializers=(), functions=(), opsets=(("", 18),), ir=10, **graph):
    made = helper.make_graph(nodes, "g", list(inputs), list(outputs), list(initializers), **graph)
    out = helper.make_model(made, functions=list(functions), ir_version=ir, producer_name="test", producer_version="1",
                            opset_imports=[helper.make_opsetid(d, v) for d, v in opsets])
    return out


def tensor_of(kind, typed):
    """A tensor of three elements, as typed numbers or as raw bytes."""
    name = TensorProto.DataType.Name(kind)
    if name == "STRING":
        return helper.make_tensor(name, kind, [3], [b"a", b"", b"\xff\0"])
    t = TensorProto(name=f"{name}_{typed}", data_type=kind, dims=[3])
    draw = random.Random(kind)
    bits = {"FLOAT": 32, "INT32": 32, "UINT32": 32, "INT64": 64, "UINT64": 64, "DOUBLE": 64, "COMPLEX64": 64,
            "COMPLEX128": 128, "INT16": 16, "UINT16": 16, "FLOAT16": 16, "BFLOAT16": 16, "UINT4": 4, "INT4": 4,
            "FLOAT4E2M1": 4, "UINT2": 2, "INT2": 2, "FLOAT6E2M3": 6, "FLOAT6E3M2": 6}.get(name, 8)
    numbers = [draw.randrange(1 << min(bits, 31)) if name != "BOOL" else draw.randrange(2) for _ in range(3)]
    if not typed:
        whole = sum(n << i * bits for i, n in enumerate(numbers))
        t.raw_data = whole.to_bytes((3 * bits + 7) // 8, "little")
    elif name in ("FLOAT", "COMPLEX64"):
        t.float_data.extend([0.5, -1.5, 3e38] * (bits // 32))
    elif name in ("DOUBLE", "COMPLEX128"):
        t.double_data.extend([0.25, -1e300, 0.0] * (bits // 64))
    elif name == "INT64":
        t.int64_data.extend([-1, 2**63 - 1, -2**63])
    elif name in ("UINT32", "UINT64"):
        t.uint64_data.extend([0, 7, 2**bits - 1 if bits == 32 else 2**63 - 1])
    elif name in ("INT8", "INT16", "INT32"):
        t.int32_data.extend([-1, -2**(bits - 1), 2**(bits - 1) - 1])
    elif bits == 4:
        t.int32_data.extend([0x9f, 0x0a])
    elif bits == 2:
        t.int32_data.extend([0x1b])
    else:
        t.int32_data.extend(numbers)
    return t


def all_tensors():
    kinds = [k for k in TensorProto.DataType.values() if k != 0]
    tensors = [tensor_of(k, typed) for k in kinds for typed in ((False, True) if k != 8 else (False,))]
    tensors.append(TensorProto(name="none", data_type=1, dims=[0, 4]))
    tensors.append(numpy_helper.from_array(np.float32(7), "scalar"))
    return model([], initializers=tensors)


def all_attributes():
    t = helper.make_tensor("t", 1, [2], [1.0, 2.0])
    g = helper.make_graph([helper.make_node("Identity", ["x"], ["inner"])], "inside", [], [value("inner", None)])
    sparse = helper.make_sparse_tensor(helper.make_tensor("v", 1, [2], [1.0, 2.0]),
                                       helper.make_tensor("i", 7, [2], [1, 5]), [2, 3])
    kinds = [helper.make_tensor_type_proto(1, ["n", None, 3]),
             helper.make_sequence_type_proto(helper.make_tensor_type_proto(7, [])),
             helper.make_optional_type_proto(helper.make_tensor_type_proto(1, None)),
             helper.make_map_type_proto(8, helper.make_tensor_type_proto(1, [2])),
             helper.make_sparse_tensor_type_proto(1, [4])]
    opaque = onnx.TypeProto(denotation="IMAGE")
    opaque.opaque_type.domain, opaque.opaque_type.name = "d", "n"
    node = helper.make_node("Everything", ["x", "", "y"], ["z"], name="every", domain="test", f=0.5, i=-3, s=b"a\xff",
                            t=t, g=g, floats=[1.0, -2.5], ints=[1, -2, 2**62], strings=["a", b"\0"], tensors=[t, t],
                            graphs=[g], sparse_tensor=sparse, tp=kinds[0])
    node.overload = "o"
    for name, kind, field, items in (("sts", 12, "sparse_tensors", [sparse, sparse]),
                                     ("tps", 14, "type_protos", kinds + [opaque])):
        attribute = node.attribute.add(name=name, type=kind, doc_string="doc")
        getattr(attribute, field).extend(items)
    for name, kind in (("zero", 2), ("empty", 7), ("no_f", 1), ("no_s", 3), ("no_strings", 8)):
        node.attribute.add(name=name, type=kind)  # as proto3 writes them
    node.metadata_props.add(key="k", value="v\n")
    out = model([node], [value("x", ["batch", 3]), value("y", None)], [value("z", [])], opsets=(("", 18), ("test", 2)))
    device = node.device_configurations.add(configuration_id="d")
    device.sharding_spec.add(tensor_name="x", device=[0, 1]).sharded_dim.add(axis=1).simple_sharding.add(num_shards=2)
    out.configuration.add(name="d", num_devices=2, device=["a", "b"])
    out.graph.node[0].CopyFrom(node)
    annotation = out.graph.quantization_annotation.add(tensor_name="x")
    annotation.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="y")
    out.metadata_props.add(key="a", value="b")
    out.model_version, out.doc_string, out.domain = -1, "doc \u00e9", "org.test"
    return out


def graphs_and_functions():
    then = helper.make_graph([helper.make_node("Relu", ["x"], ["a"])], "then", [], [value("a", None)])
    other = helper.make_graph([helper.make_node("If", ["c"], ["b"], then_branch=helper.make_graph(
        [helper.make_node("Neg", ["h"], ["d"])], "deep", [], [value("d", None)]), else_branch=helper.make_graph(
            [helper.make_node("Abs", ["w"], ["e"])], "deeper", [], [value("e", None)]))], "else", [],
                              [value("b", None)])
    call = helper.make_node("Twice", ["x"], ["h"], domain="local", alpha=0.25)
    elu = helper.make_node("Elu", ["t"], ["u"])
    elu.attribute.add(name="alpha", type=1, ref_attr_name="alpha")
    twice = helper.make_function("local", "Twice", ["p"], ["u"], [helper.make_node("Add", ["p", "p"], ["t"]), elu],
                                 [helper.make_opsetid("", 18)], ["beta"],
                                 [helper.make_attribute("alpha", 0.5)])
    sparse = helper.make_sparse_tensor(helper.make_tensor("sparse", 1, [1], [1.0]),
                                       helper.make_tensor("i", 7, [1, 2], [1, 1]), [2, 2])
    out = model([call, helper.make_node("If", ["c"], ["y"], name="if", then_branch=then, else_branch=other)],
                [value("x", [2]), value("c", [], 9)], [value("y", ["n"])],
                [numpy_helper.from_array(np.arange(4, dtype=np.float32), "w")], [twice],
                (("", 18), ("local", 1)), value_info=[value("h", [2])], sparse_initializer=[sparse],
                doc_string="graph")
    training = out.training_info.add()
    training.initialization.CopyFrom(helper.make_graph([], "init", [], []))
    training.algorithm.CopyFrom(helper.make_graph([], "step", [], []))
    training.update_binding.add(key="w", value="w2")
    return out


def external(folder):
    """Two tensors of one file, which lies deeper."""
    os.makedirs(os.path.join(folder, "sub"), exist_ok=True)
    with open(os.path.join(folder, "sub", "data.bin"), "wb") as file:
        file.write(np.arange(8, dtype=np.float32).tobytes())
    tensors = []
    for name, entries in (("e", {"location": "sub/data.bin", "offset": "8", "length": "24"}),
                          ("f", {"location": "sub/data.bin"})):
        t = TensorProto(name=name, data_type=1, dims=[6] if name == "e" else [8], data_location=1)
        for key, text in entries.items():
            t.external_data.add(key=key, value=text)
        tensors.append(t)
    return model([], initializers=tensors)


def normal(message, inside=False):
    """The message with what Firn writes in one way only: elements as raw_data, one word for ONNX's own domain."""
    if isinstance(message, TensorProto):
        if message.data_type != 8 and message.data_location != 1:
            message.raw_data = raw(message)
            if message.data_type in (1, 14):  # Python's floats have no signalling NaN
                bits = np.frombuffer(message.raw_data[:len(message.raw_data) // 4 * 4], "<u4").copy()
                bits[np.isnan(bits.view("<f4"))] |= 1 << 22
                message.raw_data = bits.tobytes()
            for field in ("float_data", "int32_data", "int64_data", "double_data", "uint64_data"):
                message.ClearField(field)
            if not message.raw_data:
                message.ClearField("raw_data")
        message.ClearField("data_location") if message.data_location == 0 else None
    for name in ("configuration", "device_configurations"):
        if name in message.DESCRIPTOR.fields_by_name:
            message.ClearField(name)
    for field, child in message.ListFields():
        if field.type == field.TYPE_MESSAGE:
            for one in (child if isinstance(child, (list,)) or hasattr(child, "add") else [child]):
                normal(one, True)
    for field in message.DESCRIPTOR.fields:
        if field.type in (field.TYPE_STRING,) and not hasattr(getattr(message, field.name), "append"):
            if field.name == "domain" and message.domain == "ai.onnx":
                message.domain = ""
            if not getattr(message, field.name):  # absent and empty are one
                message.ClearField(field.name)
    if message.DESCRIPTOR.name == "AttributeProto" and not message.ref_attr_name:
        for name, kind in (("f", 1), ("i", 2), ("s", 3)):  # absent and zero are one
            if message.type == kind:
                setattr(message, name, getattr(message, name))
    for name in ("elem_type", "key_type", "model_version", "data_type"):
        if name in message.DESCRIPTOR.fields_by_name and getattr(message, name) == 0:
            message.ClearField(name)
    if message.DESCRIPTOR.name == "ValueInfoProto" and not message.type.WhichOneof("value"):
        message.ClearField("type")
    return message


def raw(t):
    """The elements of a tensor as raw_data has them, by the page of the format."""
    if t.HasField("raw_data"):
        return t.raw_data
    if t.float_data:
        return struct.pack(f"<{len(t.float_data)}f", *t.float_data)
    if t.double_data:
        return struct.pack(f"<{len(t.double_data)}d", *t.double_data)
    if t.int64_data:
        return struct.pack(f"<{len(t.int64_data)}q", *t.int64_data)
    if t.uint64_data:
        return struct.pack(f"<{len(t.uint64_data)}{'I' if t.data_type == 12 else 'Q'}", *t.uint64_data)
    if t.data_type in (27, 28):
        whole = sum(n << 6 * i for i, n in enumerate(t.int32_data))
        return whole.to_bytes((6 * len(t.int32_data) + 7) // 8, "little")
    size = {6: 4, 4: 2, 5: 2, 10: 2, 16: 2}.get(t.data_type, 1)
    return b"".join((n & (1 << 8 * size) - 1).to_bytes(size, "little") for n in t.int32_data)


def changed(data, seed):
    """A small change: a bit, a byte, a number of one field, a cut, a piece once more or less, a long number."""
    draw = random.Random(seed)
    out = bytearray(data)
    at = draw.randrange(len(out))
    kind = draw.randrange(8)
    if kind == 0:
        out[at] ^= 1 << draw.randrange(8)
    elif kind == 1:
        out[at] = draw.randrange(256)
    elif kind == 2:
        out[at] = draw.choice([0, 1, 2, 8, 10, 18, 127, 128, 255])
    elif kind == 3:
        del out[at:]
    elif kind == 4:
        out[at:at] = out[at:at + draw.randrange(1, 20)]
    elif kind == 5:
        del out[at:at + draw.randrange(1, 20)]
    elif kind == 6:  # behind the last field one more, whole or not
        out += draw.choice([b"\xff", b"\x08\x0a", b"\x42\x02\x10\x12", b"\x3a\x00", b"\x0b\x0c", b"\xfa\x01\x00",
                            b"\x88\x80\x80\x80\x80\x00\x01", b"\x42\x82\x80\x80\x80\x80\x00\x10\x12",
                            b"\x09" + b"\0" * 8])
    else:
        out[at:at + 1] = bytes([out[at] | 0x80]) + b"\x80" * draw.randrange(10) + b"\0"
    return bytes(out)


def parsed(data):
    out = onnx.ModelProto()
    try:
        out.ParseFromString(data)
    except Exception:  # of several kinds
        return None
    return out


def tensors_of(path):
    with open(path, "rb") as file:
        data = file.read()
    end = 8 + struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:end])
    header.pop("__metadata__", None)
    return {name: (e["dtype"], e["shape"], data[end:][slice(*e["data_offsets"])]) for name, e in header.items()}


NUMPY = {"F64": "f8", "F32": "f4", "F16": "f2", "I64": "i8", "I32": "i4", "I8": "i1", "U8": "u1", "BOOL": "?"}


@unittest.skipIf(onnx is None, "this Python has no onnx")
class OnnxPythonTest(unittest.TestCase):

    def run_firn(self, paths):
        lines = subprocess.run([FILES], input="\n".join(paths) + "\n", capture_output=True, check=True,
                               text=True).stdout.splitlines()
        refused, verdict = {}, {}
        for line in lines:
            word, path = line.split(" ")[:2]
            if word == "REFUSED":
                refused.setdefault(path, []).append(line)
            else:
                verdict[path] = line
        self.assertEqual(sorted(verdict), sorted(paths))
        return verdict, refused

    def test_whole_models(self):
        with tempfile.TemporaryDirectory(dir=SCRATCH) as folder:
            models = [all_tensors(), all_attributes(), graphs_and_functions(), external(folder)]
            paths = [os.path.join(folder, f"{i}.elements.onnx") for i in range(len(models))]
            for path, made in zip(paths, models):
                with open(path, "wb") as file:
                    file.write(made.SerializeToString())
            verdict, refused = self.run_firn(paths)
            for path, made in zip(paths, models):
                self.assertEqual(verdict[path], f"OK {path}")
                found = onnx.load(path + ".firn", load_external_data=False)
                self.assertEqual(normal(found), normal(onnx.load(path, load_external_data=False)))
                self.compare_elements(path, onnx.load(path), refused.get(path, []))

    def compare_elements(self, path, made, refused):
        read = tensors_of(path + ".safetensors") if made.graph.initializer else {}
        for t in made.graph.initializer:
            kind = TensorProto.DataType.Name(t.data_type)
            lines = [line for line in refused if f" {t.name} " in line]
            if kind in UNREAD:
                self.assertRegex(lines[0], f"type {kind} is not read")
                continue
            if lines:
                # A raw UINT64 may be beyond i64.
                self.assertRegex(lines[0], "beyond the largest i64")
                continue
            dtype, shape, data = read[t.name]
            self.assertEqual(shape, list(t.dims), t.name)
            expected = numpy_helper.to_array(t)
            if dtype == "BF16":
                self.assertEqual(data, expected.tobytes(), t.name)
                continue
            np.testing.assert_array_equal(np.frombuffer(data, NUMPY[dtype]).astype("f8").reshape(shape),
                                          expected.astype("f4" if kind.startswith("FLOAT8") else expected.dtype)
                                          .astype("f8"), t.name)

    def test_changed_models(self):
        with tempfile.TemporaryDirectory(dir=SCRATCH) as folder:
            files = {}
            for i, made in enumerate([all_tensors(), all_attributes(), graphs_and_functions(), external(folder)]):
                whole = made.SerializeToString()
                for seed in range(CHANGES):
                    path = os.path.join(folder, f"{i}_{seed}.onnx")
                    files[path] = changed(whole, seed)
                    with open(path, "wb") as file:
                        file.write(files[path])
            verdict, _ = self.run_firn(files)
            both = 0
            for path, data in files.items():
                expected = parsed(data)
                if verdict[path].startswith("ERROR"):
                    if expected is not None:
                        self.assertRegex(verdict[path], STRICTER)
                    continue
                self.assertIsNotNone(expected, (verdict[path], data))
                with open(path + ".firn", "rb") as file:
                    self.assertEqual(normal(parsed(file.read())), normal(expected), path)
                both += 1
            self.assertGreater(both, 100)


if __name__ == "__main__":
    unittest.main()
