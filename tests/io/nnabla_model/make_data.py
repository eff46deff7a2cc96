#!/usr/bin/env python3
"""Makes the files of data/ with NNabla (1.39 made those that are kept):

    VENV/bin/python tests/io/nnabla_model/make_data.py tests/io/nnabla_model/data
"""

import os
import sys

import nnabla as nn
import nnabla.functions as F
import nnabla.parametric_functions as PF
import nnabla.solvers as S
from nnabla.utils.save import save


def contents():
    x, t = nn.Variable((4, 1, 8, 8)), nn.Variable((4, 1))
    with nn.parameter_scope("c1"):
        h = PF.convolution(x, 2, (3, 3), pad=(1, 1))
        h = F.relu(F.max_pooling(PF.batch_normalization(h, batch_stat=False), (2, 2)))
    with nn.parameter_scope("f"):
        y = PF.affine(F.dropout(h, 0.3, seed=7), 3)
    loss = F.mean(F.softmax_cross_entropy(y, t))
    for i, p in enumerate(nn.get_parameters().values()):
        p.d = 0.25 * i
    solver = S.Adam(1e-3)
    solver.set_parameters(nn.get_parameters())
    solver.zero_grad()
    loss.forward()
    loss.backward()
    solver.update()
    return {
        "global_config": {"default_context": nn.Context(["cpu:float"], "CpuCachedArray", "0")},
        "training_config": {"max_epoch": 5, "iter_per_epoch": 100, "save_best": True},
        "networks": [{"name": "net", "batch_size": 4, "outputs": {"y": y}, "names": {"x": x}},
                     {"name": "train", "batch_size": 4, "outputs": {"loss": loss}, "names": {"x": x, "t": t}}],
        "datasets": [{"name": "ds", "uri": "/no/such.csv", "cache_dir": None, "variables": {"x": "x", "y": "t"},
                      "shuffle": True, "batch_size": 4, "no_image_normalization": False}],
        "optimizers": [{"name": "opt", "network": "train", "dataset": "ds", "solver": solver, "weight_decay": 1e-4,
                        "lr_decay": 1, "lr_decay_interval": 1, "update_interval": 1,
                        "data_variables": {"x": "x", "t": "y"}, "loss_variables": ["loss"]}],
        "executors": [{"name": "run", "network": "net", "data": ["x"], "output": ["y"]}],
    }


def main(folder):
    model = contents()
    for name, form in (("h5", ".h5"), ("protobuf", ".protobuf")):
        save(os.path.join(folder, name + ".nnp"), model, parameter_format=form, include_solver_state=True,
             solver_state_format=form)
    save(os.path.join(folder, "bare.nntxt"), model, include_params=True)
    nn.save_parameters(os.path.join(folder, "parameters.protobuf"))


if __name__ == "__main__":
    main(sys.argv[1])
