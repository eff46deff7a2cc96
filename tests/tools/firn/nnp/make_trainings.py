#!/usr/bin/env python3
"""Writes trainings as NNabla's text files, the data that they take, and the results of `nnabla_cli train` of NNabla
1.39. It was run once, with that version; nnp_train_test reads what it wrote:

    VENV/bin/python tests/tools/firn/nnp/make_trainings.py tests/tools/firn/nnp/data
"""

import math
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

EPOCHS = 6  # the sixth is not evaluated: it is beyond the fifth and no multiple of monitor_interval

# Each solver with arguments of its own, a schedule, and its weight decay.
SOLVERS = {
    "sgd": ("Sgd", "sgd_param { lr: 0.3 }", "", 0.01),
    "sgdw": ("SgdW", "sgdw_param { lr: 0.2 momentum: 0.8 wd: 0.002 }",
             'lr_scheduler_type: "Step" step_scheduler_param { gamma: 0.5 iter_steps: 5 iter_steps: 9 }', 0),
    "momentum": ("Momentum", "momentum_param { lr: 0.1 momentum: 0.9 }",
                 'lr_scheduler_type: "Cosine" cosine_scheduler_param { max_iter: 12 }', 0.001),
    "nesterov": ("Nesterov", "nesterov_param { lr: 0.1 momentum: 0.9 }",
                 'lr_scheduler_type: "Polynomial" polynomial_scheduler_param { max_iter: 20 power: 1.5 }', 0),
    "lars": ("Lars", "lars_param { lr: 2 momentum: 0.5 coefficient: 0.1 eps: 1e-6 }", "", 0.001),
    "adadelta": ("Adadelta", "adadelta_param { lr: 1 decay: 0.9 eps: 1e-4 }", "", 0),
    "adagrad": ("Adagrad", "adagrad_param { lr: 0.1 eps: 1e-8 }", "lr_decay: 0.8 lr_decay_interval: 4", 0),
    "adabelief": ("AdaBelief", "adabelief_param { alpha: 0.02 beta1: 0.9 beta2: 0.99 eps: 1e-8 }", "", 0.001),
    "rmsprop": ("RMSprop", "rmsprop_param { lr: 0.01 decay: 0.9 eps: 1e-8 }",
                'lr_warmup_scheduler_type: "Linear" linear_warmup_scheduler_param { warmup_iter: 4 }', 0),
    "rmsprop_graves": ("RMSpropGraves", "rmsprop_graves_param { lr: 0.01 decay: 0.9 momentum: 0.5 eps: 1e-4 }", "", 0),
    "adam": ("Adam", "adam_param { alpha: 0.02 beta1: 0.9 beta2: 0.99 eps: 1e-6 }",
             'lr_scheduler_type: "Exponential" exponential_scheduler_param { gamma: 0.9 iter_interval: 3 }', 0.01),
    "adamw": ("AdamW", "adamw_param { alpha: 0.02 beta1: 0.9 beta2: 0.99 eps: 1e-6 wd: 0.01 }",
              'lr_scheduler_type: "Exponential" exponential_scheduler_param { gamma: 0.9 iter_interval: 3 }', 0),
    "adabound": ("AdaBound", "adabound_param { alpha: 0.02 beta1: 0.9 beta2: 0.99 eps: 1e-6 final_lr: 0.1 gamma: 0.01 }",
                 "", 0),
    "adamax": ("Adamax", "adamax_param { alpha: 0.02 beta1: 0.9 beta2: 0.99 eps: 1e-6 }", "", 0.001),
    "amsgrad": ("AMSGRAD", "amsgrad_param { alpha: 0.02 beta1: 0.9 beta2: 0.99 eps: 1e-6 }", "", 0),
    # Far from the upper bound, which is not the paper's there.
    "amsbound": ("AMSBound", "amsbound_param { alpha: 0.02 beta1: 0.9 beta2: 0.99 eps: 1e-6 final_lr: 0.1 gamma: 1e-4 }",
                 "", 0),
}


def variable(name, shape, initializer=None):
    kind = "Buffer" if initializer is None else "Parameter"
    dims = " ".join(f"dim: {n}" for n in shape)
    text = "" if initializer is None else ' initializer { type: "%s" multiplier: %g }' % initializer
    return f'  variable {{ name: "{name}" type: "{kind}" shape {{ {dims} }}{text} }}\n'


def function(kind, inputs, outputs, more=""):
    text = "".join(f' input: "{name}"' for name in inputs) + "".join(f' output: "{name}"' for name in outputs)
    return f'  function {{ name: "{outputs[0]}" type: "{kind}"{text} {more} }}\n'


def affine(name, source, target, n_in, n_out, initializer):
    return [variable(target, [-1, n_out]), variable(name + "/W", [n_in, n_out], initializer),
            variable(name + "/b", [n_out], ("Constant", 0))], [
                function("Affine", [source, name + "/W", name + "/b"], [target], "affine_param { base_axis: 1 }")]


def end(scores, classes):
    """The losses, and what a monitor is told."""
    return [variable("y", [-1, 1]), variable("loss", [-1, 1]), variable("error", [-1, 1])], [
        function("SoftmaxCrossEntropy", [scores, "y"], ["loss"], "softmax_cross_entropy_param { axis: 1 }"),
        function("TopNError", [scores, "y"], ["error"], "top_n_error_param { axis: 1 n: 1 }")]


def network(name, batch, *parts):
    variables = "".join(text for part in parts for text in part[0])
    functions = "".join(text for part in parts for text in part[1])
    return f'network {{\n  name: "{name}" batch_size: {batch}\n{variables}{functions}}}\n'


def mlp():
    return ([variable("x", [-1, 4])], []), affine("fc1", "x", "h", 4, 8, ("NormalAffineGlorot", 1)), (
        [variable("t", [-1, 8])], [function("Tanh", ["h"], ["t"])]), affine("fc2", "t", "s", 8, 3, ("Uniform", 0.5)), end(
            "s", 3)


def convolution(batch_stat):
    flag = "true" if batch_stat else "false"
    batch = [variable("bn/" + name, [1, 4, 1, 1], ("Constant", value))
             for name, value in (("beta", 0), ("gamma", 1), ("mean", 0), ("var", 1))]
    return ([variable("x", [-1, 1, 8, 8])], []), (
        [variable("c", [-1, 4, 8, 8]), variable("conv/W", [4, 1, 3, 3], ("NormalConvolutionHeForward", 1)),
         variable("n", [-1, 4, 8, 8]), variable("r", [-1, 4, 8, 8]), variable("p", [-1, 4, 4, 4])] + batch,
        [function("Convolution", ["x", "conv/W"], ["c"],
                  "convolution_param { base_axis: 1 pad { dim: 1 dim: 1 } stride { dim: 1 dim: 1 } "
                  "dilation { dim: 1 dim: 1 } group: 1 }"),
         function("BatchNormalization", ["c", "bn/beta", "bn/gamma", "bn/mean", "bn/var"], ["n"],
                  f"batch_normalization_param {{ axes: 1 decay_rate: 0.5 eps: 1e-5 batch_stat: {flag} }}"),
         function("ReLU", ["n"], ["r"], "relu_param { inplace: true }"),
         function("MaxPooling", ["r"], ["p"],
                  "max_pooling_param { kernel { dim: 2 dim: 2 } stride { dim: 2 dim: 2 } ignore_border: true "
                  "pad { dim: 0 dim: 0 } }")]), affine("fc", "p", "s", 64, 3, ("UniformAffineGlorot", 1)), end("s", 3)


def dataset(name, uri, batch):
    return f'dataset {{ name: "{name}" uri: "{uri}" batch_size: {batch} variable: "x" variable: "y" }}\n'


def data_variables(names):
    return "".join(f'  data_variable {{ variable_name: "{v}" data_name: "{d}" }}\n' for v, d in names)


def solver_text(solver):
    kind, arguments, schedule, decay = solver
    return f'solver {{ type: "{kind}" {arguments} {schedule} weight_decay: {decay} }}'


XY = (("x", "x"), ("y", "y"))


def optimizer(name, net, solver, parameters, more="", losses=("loss",), data=XY):
    text = "".join(f'  loss_variable {{ variable_name: "{l}" }}\n' for l in losses)
    for parameter, multiplier in parameters:
        text += f'  parameter_variable {{ variable_name: "{parameter}" learning_rate_multiplier: {multiplier} }}\n'
    return (f'optimizer {{\n  name: "{name}" network_name: "{net}" dataset_name: "train" {more}\n'
            f'  {solver_text(solver)}\n'
            f'{data_variables(data)}{text}}}\n')


def monitor(name, net, variables=("error",), data=XY):
    text = "".join(f'  monitor_variable {{ variable_name: "{v}" type: "Error" }}\n' for v in variables)
    return (f'monitor {{\n  name: "{name}" network_name: "{net}" dataset_name: "test"\n{data_variables(data)}{text}}}\n')


def config(iterations):
    return ('global_config { default_context { backends: "cpu:float" array_class: "CpuCachedArray" } }\n'
            f'training_config {{ max_epoch: {EPOCHS} iter_per_epoch: {iterations} save_best: true }}\n')


def fc(*multipliers):
    return list(zip(("fc1/W", "fc1/b", "fc2/W", "fc2/b"), multipliers))


def trainings():
    tables = dataset("train", "rows.csv", 4) + dataset("test", "rows.csv", 5)
    made = {}
    for name, solver in SOLVERS.items():
        made[name] = config(3) + tables + network("n", 4, *mlp()) + network("v", 5, *mlp()) + optimizer(
            "o", "n", solver, fc(1, 1, 1, 1)) + monitor("valid_error", "v")
    pictures = dataset("train", "pictures.csv", 3) + dataset("test", "pictures.csv", 2)
    moved = [("conv/W", 1), ("bn/beta", 1), ("bn/gamma", 1), ("bn/mean", 0), ("bn/var", 0), ("fc/W", 1), ("fc/b", 1)]
    made["convolution"] = config(2) + pictures + network("n", 3, *convolution(True)) + network(
        "v", 2, *convolution(False)) + optimizer("o", "n", SOLVERS["adam"], moved) + monitor(
            "valid_error", "v") + monitor("loss", "v", ("loss", "error"))
    # Two that move other parameters, in other iterations; one of them sums gradients of two. With
    # one network NNabla would move no parameter, since parameters that one optimizer leaves alone
    # get no gradients there.
    made["two"] = config(4) + tables + network("n", 4, *mlp()) + network("m", 4, *mlp()) + network("v", 5, *mlp()) + optimizer(
        "first", "n", SOLVERS["momentum"], fc(1, 1, 0, 0), "start_iter: 3") + optimizer(
            "second", "m", SOLVERS["adam"], fc(0, 0, 2, 1), "update_interval: 2 end_iter: 14") + monitor(
                "valid_error", "v")
    # A number that the loop knows is added to the scores; another loss is their distance to the
    # numbers of a generator.
    extra = ([variable("progress", [-1, 1]), variable("g", [-1, 3]), variable("a", [-1, 3]), variable("m", [-1, 3])],
             [function("Add2", ["s", "progress"], ["a"], "add2_param { }"), function("SquaredError", ["a", "g"], ["m"])])
    made["numbers"] = config(3) + tables + network("n", 4, *mlp(), extra) + network("v", 5, *mlp()) + optimizer(
        "o", "n", SOLVERS["sgd"], fc(1, 1, 1, 1), 'generator_variable { variable_name: "g" type: "Range" '
        'multiplier: 0.1 }', ("loss", "m"), XY + (("progress", "%progress"),)) + monitor("valid_error", "v")
    return made


def png(path, rows):
    """A grey picture."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    data = b"".join(b"\0" + bytes(row) for row in rows)
    with open(path, "wb") as out:
        out.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 0, 0, 0, 0)) +
                  chunk(b"IDAT", zlib.compress(data)) + chunk(b"IEND", b""))


def write(folder):
    """Writes all texts and their data. Returns the names of the texts."""
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "rows.csv"), "w") as out:
        out.write("x__0:a,x__1:b,x__2,x__3,y:class\n")
        for i in range(10):  # two and a half batches of four
            numbers = [f"{math.sin(1.7 * i + 2.3 * j):.3f}" for j in range(4)]
            out.write(",".join(numbers) + f",{i % 3}\n")
    with open(os.path.join(folder, "pictures.csv"), "w") as out:
        out.write("x:image,y:class\n")
        for i in range(5):
            png(os.path.join(folder, f"{i}.png"), [[(37 * i * a + 11 * b * (i + 1)) % 256 for b in range(8)] for a in range(8)])
            out.write(f"{i}.png,{i % 3}\n")
    made = trainings()
    for name, text in made.items():
        with open(os.path.join(folder, name + ".nntxt"), "w") as out:
            out.write(text)
    return list(made)


def report(path):
    """{epoch: {"cost": ..., monitor: ...}} of a monitoring_report.yml."""
    epochs = {}
    with open(path) as lines:
        for line in lines:
            name, _, value = line.strip().partition(": ")
            if not line.startswith(" "):
                now = epochs.setdefault(int(line.strip().rstrip(":")), {})
            else:
                now[name] = float(value)
    return epochs


def run_nnabla(folder, name, out, parameters=None):
    """What NNabla's command writes for one of the texts."""
    os.makedirs(out, exist_ok=True)
    command = [sys.executable, "-m", "nnabla.utils.cli.cli", "train", "-c", name + ".nntxt", "-o", out]
    subprocess.run(command + (["-p", parameters] if parameters else []), cwd=folder, check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return report(os.path.join(out, "monitoring_report.yml"))


def main():
    folder = sys.argv[1]
    with tempfile.TemporaryDirectory() as work, open(os.path.join(folder, "expected.txt"), "w") as out:
        for name in write(work):
            results = os.path.join(work, name)
            for epoch, values in run_nnabla(work, name, results).items():
                out.write(f"{name} {epoch} " + " ".join(f"{k}={v:.9g}" for k, v in values.items()) + "\n")
        for file in os.listdir(work):
            # Texts of the solvers differ in a line.
            name, kind = os.path.splitext(file)
            if kind in (".csv", ".png") or (kind == ".nntxt" and name not in list(SOLVERS)[1:]):
                shutil.copy(os.path.join(work, file), folder)
    with open(os.path.join(folder, "solvers.txt"), "w") as out:
        for name, solver in SOLVERS.items():
            out.write(f"{name} {solver_text(solver)}\n")


if __name__ == "__main__":
    main()
