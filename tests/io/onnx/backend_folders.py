#!/usr/bin/env python3
"""backend_folders.py OUT: writes ONNX's backend tests as folders that `firn onnx check` runs.

    OUT/node, OUT/light, OUT/pytorch-converted, OUT/pytorch-operator, OUT/simple

Needs the Python package onnx, which generates the node tests and contains the others. The folders are not
part of the project: docs/exchange.md says what came out.
"""

import argparse
import pathlib
import shutil

import numpy
import onnx
from onnx import numpy_helper
from onnx.backend.test import cmd_tools, runner
from onnx.backend.test.case import node

DATA = pathlib.Path(onnx.__file__).parent / "backend" / "test" / "data"


class NodeCases:
    """What cmd_tools asks for its cases, without those that are downloaded."""

    @staticmethod
    def collect_testcases():
        return node.collect_testcases(None)


def write_node(out):
    cmd_tools.model_test = NodeCases
    cmd_tools.generate_data(argparse.Namespace(output=str(out)))


def write_light(out):
    """Published networks whose weights are constants of one value; the runner makes their inputs."""
    for path in sorted((DATA / "light").glob("*.onnx")):
        folder = out / "light" / path.stem
        given = folder / "test_data_set_0"
        given.mkdir(parents=True)
        shutil.copy(path, folder / "model.onnx")
        graph = onnx.load(path).graph
        weights = {tensor.name for tensor in graph.initializer}
        inputs = [x for x in graph.input if x.name not in weights]
        for i, x in enumerate(inputs):
            value = runner.Runner.generate_dummy_data(x, seed=0, name=path.stem, random=False)
            tensor = numpy_helper.from_array(numpy.asarray(value), x.name)
            (given / f"input_{i}.pb").write_bytes(tensor.SerializeToString())
        for i in range(len(graph.output)):
            shutil.copy(path.with_name(f"{path.stem}_output_{i}.pb"), given / f"output_{i}.pb")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=pathlib.Path)
    out = parser.parse_args().out
    out.mkdir(parents=True)
    write_node(out)
    write_light(out)
    for name in ("pytorch-converted", "pytorch-operator", "simple"):
        shutil.copytree(DATA / name, out / name)


if __name__ == "__main__":
    main()
