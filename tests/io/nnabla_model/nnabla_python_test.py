#!/usr/bin/env python3
"""Firn reads texts as NNabla's own messages and Python's text format do, both whole texts and texts with small
changes, which are the same in every run. What both read is equal, and Firn reads no changed text that Python refuses
except those named below. The texts hold every function and solver with all arguments. NNabla loads and runs what Firn
writes. Skipped where Python has no nnabla (1.39 needs Python 3.8 to 3.10):

    bazel build //tests/io/nnabla_model:nnabla_files
    VENV/bin/python tests/io/nnabla_model/nnabla_python_test.py bazel-bin/tests/io/nnabla_model/nnabla_files
"""

import os
import random
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile

try:
    import numpy as np
    from google.protobuf import text_format
    import nnabla as nn
    from nnabla.utils import nnabla_pb2 as pb
    from nnabla.utils.load import load
    from nnabla.utils.nnp_graph import NnpLoader

    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import make_data
except ImportError:
    nn = None

FILES = sys.argv.pop(1)
CHANGES = 200  # of each text
# Texts that Python takes and Firn does not: where Python guesses or does not look, and numbers of
# Python's language.
STRICTER = re.compile(r"it once, got it twice|one of its kind, got another|: type \\\".*: expected|"
                      r"expected different names|different keys|as the shape says|no size below 0|dimensions|"
                      r"limits\.|number.*, got \\\"([0-9a-fxA-F.]*_|\+)")
# Texts that Firn takes and Python does not: a blank behind a sign, and \\u, from which protobuf
# 3.20 makes a byte.
LAXER = re.compile(r"Couldn't parse (integer|float): -|codec can't decode byte")


def filled(message, draw):
    """Every field of a message of plain values set to something that is not 0."""
    for field in message.DESCRIPTOR.fields:
        value = {field.TYPE_BOOL: True, field.TYPE_STRING: draw.choice(['a"\\b', "\u00e4\n\t'", "mode"]),
                 field.TYPE_INT64: draw.choice([-1, 3, 2**63 - 1, -2**63])}.get(field.type)
        if field.type == field.TYPE_MESSAGE:
            if field.message_type.name == "Shape":
                getattr(message, field.name).dim.extend([2, -1])
            else:
                getattr(message, field.name).SetInParent()
            continue
        if value is None:
            value = draw.choice([0.1, -1e-5, 3e20, float("inf"), 16777217.0])
        if field.label == field.LABEL_REPEATED:
            getattr(message, field.name).extend([value, value])
        else:
            setattr(message, field.name, value)


def camel(field):
    """The type of a function or solver whose arguments a field has."""
    return field.message_type.name[:-len("Parameter")]


def everything():
    draw = random.Random(1)
    model = pb.NNablaProtoBuf(version="1.39")
    network = model.network.add(name="all")
    for field in pb.Function.DESCRIPTOR.oneofs[0].fields:
        function = network.function.add(name=field.name, type=camel(field))
        getattr(function, field.name).SetInParent()
        filled(getattr(function, field.name), draw)
    for field in pb.Solver.DESCRIPTOR.oneofs[0].fields:
        solver = model.optimizer.add(name=field.name).solver
        solver.type = camel(field)
        getattr(solver, field.name).SetInParent()
        filled(getattr(solver, field.name), draw)
    for name, message in (("network", network), ("dataset", model.dataset.add(name="d")),
                          ("optimizer", model.optimizer.add(name="o")), ("monitor", model.monitor.add(name="m")),
                          ("executor", model.executor.add(name="e"))):
        for field in message.DESCRIPTOR.fields:
            if field.type == field.TYPE_MESSAGE and field.name.endswith("_variable"):
                filled(getattr(message, field.name).add(), draw)
    model.executor[0].need_back_propagation = True
    solver = model.optimizer[-1].solver
    for field in solver.DESCRIPTOR.fields:
        if field.name.endswith("scheduler_param") and not field.name.startswith("custom"):
            filled(getattr(solver, field.name), draw)
    filled(model.training_config, draw)
    filled(model.global_config.default_context, draw)
    return model


def present(message, kind):
    for field in message.DESCRIPTOR.oneofs[0].fields:
        if camel(field) != kind:
            continue
        arguments = getattr(message, field.name)
        arguments.SetInParent()
        for argument in arguments.DESCRIPTOR.fields:
            if argument.name == "comm":
                arguments.ClearField("comm")
            elif argument.message_type:
                getattr(arguments, argument.name).SetInParent()


def canonical(model):
    """The model in the form in which Firn gives it back, without parameters and states."""
    copy = pb.NNablaProtoBuf()
    copy.CopyFrom(model)
    copy.ClearField("parameter")
    for optimizer in copy.optimizer:
        if optimizer.HasField("solver"):
            optimizer.solver.ClearField("states")
    # A field that is 0 or empty counts as absent.
    for network in copy.network:
        for variable in network.variable:
            variable.shape.SetInParent()
        for function in network.function:
            present(function, function.type)
    for optimizer in copy.optimizer:
        if optimizer.HasField("solver"):
            present(optimizer.solver, optimizer.solver.type)
    return copy.SerializeToString(deterministic=True)


def merged(text):
    """What Python makes of a text; its words where it refuses."""
    model = pb.NNablaProtoBuf()
    try:
        text_format.Merge(text, model)
        return model
    except Exception as error:  # of many kinds
        return str(error)


def changed(text, seed):
    draw = random.Random(seed)
    at = draw.randrange(len(text))
    kind = draw.randrange(6)
    if kind == 0:
        return text[:at] + draw.choice(list("{}<>[]:,;#'\"\\-+.0aefx \n_")) + text[at + 1:]
    if kind == 1:
        return text[:at] + text[at + draw.randrange(1, 12):]
    if kind == 2:
        piece = text[at:at + draw.randrange(1, 40)]
        return text[:at] + piece + text[at:]
    if kind == 3:
        words = ["inf", "nan", "1e400", "0x1F", "017", "08", "1.", ".5f", "-1", "true", "T", "t", "'a' \"b\"",
                 "'\\x4'", "'\\u00e4'", "[1, 2]", "[]", "99999999999999999999", "1_0", "1e5", "+1", "- 1", "0f"]
        value = draw.choice(list(re.finditer(r"(?<=: )\S+", text)))
        return text[:value.start()] + draw.choice(words) + text[value.end():]
    lines = text.split("\n")
    i = draw.randrange(len(lines))
    if kind == 4:
        del lines[i]
    else:
        lines.insert(draw.randrange(len(lines)), lines[i])
    return "\n".join(lines)


@unittest.skipIf(nn is None, "this Python has no nnabla")
class NnablaPythonTest(unittest.TestCase):

    def run_on(self, folder, files):
        """{name: what Firn says} of {name: text}."""
        for name, text in files.items():
            with open(os.path.join(folder, name), "w", newline="") as file:
                file.write(text)
        lines = subprocess.run([FILES], input="".join(os.path.join(folder, name) + "\n" for name in files),
                               capture_output=True, check=True, text=True).stdout.splitlines()
        self.assertEqual(len(lines), len(files))
        return dict(zip(files, lines))

    def compare(self, model, path, what):
        with zipfile.ZipFile(path + ".firn.nnp") as archive:
            mine = merged(archive.read("network.nntxt").decode())
        self.assertNotIsInstance(mine, str, what)
        self.assertEqual(canonical(mine), canonical(model), what)

    def texts(self, folder):
        make_data.main(folder)
        with open(os.path.join(folder, "bare.nntxt")) as file:
            return {"all.nntxt": text_format.MessageToString(everything()), "bare.nntxt": file.read()}

    def test_reads_all_functions_and_what_nnabla_writes(self):
        with tempfile.TemporaryDirectory() as folder:
            texts = self.texts(folder)
            for name, line in self.run_on(folder, texts).items():
                self.assertTrue(line.startswith("OK"), line)
                self.compare(merged(texts[name]), os.path.join(folder, name), name)

    def test_changed_texts(self):
        both = 0
        with tempfile.TemporaryDirectory() as folder:
            files = {f"{seed}_{name}": changed(text, seed)
                     for name, text in self.texts(folder).items() for seed in range(CHANGES)}
            for name, line in self.run_on(folder, files).items():
                expected = merged(files[name])
                if line.startswith("ERROR"):
                    if not isinstance(expected, str):
                        self.assertRegex(line, STRICTER, name)
                    continue
                if isinstance(expected, str):
                    self.assertRegex(expected, LAXER, name)
                    continue
                self.compare(expected, os.path.join(folder, name), name)
                both += 1
        self.assertGreater(both, 50)

    def test_nnabla_runs_what_is_written(self):
        x = np.random.RandomState(1).rand(4, 1, 8, 8)

        def outputs(path):
            nn.clear_parameters()
            network = NnpLoader(path).get_network("net", batch_size=4)
            network.inputs["x"].d = x
            network.outputs["y"].forward()
            return network.outputs["y"].d.copy()

        with tempfile.TemporaryDirectory() as folder:
            make_data.main(folder)
            for name in ("h5.nnp", "protobuf.nnp"):
                path = os.path.join(folder, name)
                line = subprocess.run([FILES], input=path + "\n", capture_output=True, check=True, text=True).stdout
                self.assertTrue(line.startswith("OK"), line)
                np.testing.assert_array_equal(outputs(path + ".firn.nnp"), outputs(path))
                loaded = {}
                for end in ("", ".firn.protobuf"):
                    nn.clear_parameters()
                    nn.load_parameters(path + end)
                    loaded[end] = nn.get_parameters(grad_only=False)
                self.assertGreater(len(loaded[""]), 4)
                self.assertEqual(list(loaded[""]), list(loaded[".firn.protobuf"]))
                for key, variable in loaded[""].items():
                    written = loaded[".firn.protobuf"][key]
                    np.testing.assert_array_equal(written.d, variable.d)
                    self.assertEqual(written.need_grad, variable.need_grad, key)
                nn.clear_parameters()
                info = load([path + ".firn.nnp"], prepare_data_iterator=False)
                self.assertEqual(info.optimizers["opt"].solver.name, "Adam")
                states = info.optimizers["opt"].solver.get_states()
                self.assertEqual({s.t for s in states.values()}, {1})


if __name__ == "__main__":
    unittest.main()
