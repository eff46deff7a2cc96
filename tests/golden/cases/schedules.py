"""Learning rates: what torch.optim.lr_scheduler says for the first steps."""

import torch

S = torch.optim.lr_scheduler
STEPS = 40
# By file and case: torch's class and its options, and Firn's names if they differ.
CASES = {
    "constant": {"default": (S.ConstantLR, {}, {}),
                 "all": (S.ConstantLR, {"factor": 0.5, "total_iters": 8},
                         {"factor": 0.5, "steps": 8})},
    "linear": {"default": (S.LinearLR, {}, {}),
               "all": (S.LinearLR, {"start_factor": 0.9, "end_factor": 0.1, "total_iters": 12},
                       {"start_factor": 0.9, "end_factor": 0.1, "steps": 12})},
    "step": {"default": (S.StepLR, {"step_size": 7}, {"interval": 7}),
             "gamma": (S.StepLR, {"step_size": 3, "gamma": 0.7}, {"interval": 3, "gamma": 0.7})},
    "multi_step": {"default": (S.MultiStepLR, {"milestones": [4, 9, 9, 20]},
                               {"milestones": [4, 9, 9, 20]}),
                   "gamma": (S.MultiStepLR, {"milestones": [1, 30], "gamma": 0.5},
                             {"milestones": [1, 30], "gamma": 0.5})},
    "exponential": {"gamma": (S.ExponentialLR, {"gamma": 0.9}, {"gamma": 0.9})},
    "polynomial": {"default": (S.PolynomialLR, {}, {}),
                   "power": (S.PolynomialLR, {"total_iters": 30, "power": 2.5},
                             {"steps": 30, "power": 2.5})},
    "cosine": {"whole": (S.CosineAnnealingLR, {"T_max": STEPS, "eta_min": 0.01},
                         {"steps": STEPS, "min_lr": 0.01})},
    "cosine_restarts": {"default": (S.CosineAnnealingWarmRestarts, {"T_0": 6}, {"steps": 6}),
                        "all": (S.CosineAnnealingWarmRestarts,
                                {"T_0": 3, "T_mult": 2, "eta_min": 0.01},
                                {"steps": 3, "mult": 2, "min_lr": 0.01})},
    "one_cycle": {"default": (S.OneCycleLR, {"max_lr": 1.0, "total_steps": STEPS},
                              {"max_lr": 1.0, "steps": STEPS}),
                  "linear": (S.OneCycleLR,
                             {"max_lr": 1.0, "total_steps": STEPS, "pct_start": 0.45,
                              "anneal_strategy": "linear", "div_factor": 10.0,
                              "final_div_factor": 100.0},
                             {"max_lr": 1.0, "steps": STEPS, "pct_start": 0.45, "linear": True,
                              "div_factor": 10.0, "final_div_factor": 100.0}),
                  "three_phases": (S.OneCycleLR, {"max_lr": 1.0, "total_steps": STEPS,
                                                  "three_phase": True},
                                   {"max_lr": 1.0, "steps": STEPS, "three_phase": True})},
}


def rates_of(kind, options):
    def run(base_lr, **_):
        optimizer = torch.optim.SGD([torch.zeros(1)], lr=base_lr)
        if kind is S.OneCycleLR:
            options["cycle_momentum"] = False
        scheduler = kind(optimizer, **options)
        rates = []
        for _ in range(STEPS):
            rates.append(optimizer.param_groups[0]["lr"])
            optimizer.step()
            scheduler.step() if len(rates) < STEPS else None
        return {"rates": torch.tensor(rates, dtype=torch.float64)}
    return run


def add_schedules(v):
    for name, variants in CASES.items():
        for case, (kind, options, ours) in variants.items():
            v.case(name, case, rates_of(kind, options), {"base_lr": 0.1, **ours}, [])


PARTS = (add_schedules,)
