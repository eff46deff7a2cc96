#!/usr/bin/env python3
"""dft_inverse_data.py ONNX_RUN FOLDER...: who is right in ONNX's tests of the inverse Fourier transform.

FOLDER is node/test_dft_inverse or node/test_dft_inverse_opset19 of backend_folders.py, or the same
folder from an older release of ONNX. For what the folder expects and for the result of each program it
prints how many elements are wrong by the tolerance of ONNX's runner, 1e-7 and a thousandth: against
what the folder expects, and against the transform in f64.

    bazel build //tests/io/onnx:onnx_run
    tests/io/onnx/dft_inverse_data.py bazel-bin/tests/io/onnx/onnx_run /tmp/backend/node/test_dft_inverse*

Needs numpy, onnx, onnxruntime, safetensors and torch.
"""

import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
import torch
from onnx import numpy_helper
from onnx.reference import ReferenceEvaluator
from safetensors.numpy import load_file, save_file


def firn(run, model, feeds):
    with tempfile.TemporaryDirectory() as folder:
        given, made = f"{folder}/in.safetensors", f"{folder}/out.safetensors"
        save_file({name: np.array(value, order="C") for name, value in feeds.items()}, given)
        done = subprocess.run([run], input=f"{model} {given} {made}\n", text=True, check=True,
                              capture_output=True)
        if not done.stdout.startswith("OK"):
            sys.exit(done.stdout)
        return next(iter(load_file(made).values()))


def wrong(results, right):
    return int((np.abs(results.astype(np.float64) - right) > 1e-7 + 1e-3 * np.abs(right)).sum())


def main(run, folders):
    for folder in map(pathlib.Path, folders):
        model = onnx.load(folder / "model.onnx")
        data = folder / "test_data_set_0"
        feeds = {port.name: numpy_helper.to_array(onnx.load_tensor(data / f"input_{i}.pb"))
                 for i, port in enumerate(model.graph.input)}
        expected = numpy_helper.to_array(onnx.load_tensor(data / "output_0.pb"))
        x = next(iter(feeds.values()))
        f64 = x[..., 0].astype(np.complex128) + 1j * x[..., 1]
        f32 = f64.astype(np.complex64)

        def pairs(y):
            return np.stack((y.real, y.imag), axis=-1)

        truth = pairs(np.fft.ifft(f64, axis=1))
        session = onnxruntime.InferenceSession(model.SerializeToString())
        everybody = {
            "expected by the folder": expected,
            "Firn": firn(run, folder / "model.onnx", feeds),
            "f64, rounded to f32": truth.astype(np.float32),
            f"NumPy {np.__version__}": pairs(np.fft.ifft(f32, axis=1)),
            "ONNX's evaluator": ReferenceEvaluator(model).run(None, feeds)[0],
            f"ONNX Runtime {onnxruntime.__version__}": session.run(None, feeds)[0],
            f"PyTorch {torch.__version__}": pairs(torch.fft.ifft(torch.from_numpy(f32), dim=1).numpy()),
        }
        print(f"{folder}: of {expected.size} elements")
        print(f"{'':26} beside expected  beside f64  furthest from f64")
        for name, results in everybody.items():
            print(f"{name:26} {wrong(results, expected):15d}  {wrong(results, truth):10d}  "
                  f"{np.abs(results - truth).max():.1e}")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2:])
