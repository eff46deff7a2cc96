#ifndef FIRN_TESTS_OPTIM_REFERENCE_FORMULAS_H_
#define FIRN_TESTS_OPTIM_REFERENCE_FORMULAS_H_

// Formulas of optimizers whose operation takes the options as they are: the reference of the
// operation. See formulas.h.

#include <vector>

#include "firn/optim/adagrad.h"
#include "firn/optim/adam_family.h"
#include "firn/optim/sign_steps.h"
#include "firn/optim/trust_ratio.h"
#include "tests/optim/all_optimizers.h"
#include "tests/optim/formula.h"

namespace firn::optim {

template <>
struct Formula<Adabelief> : UsesAllOptions {
  static constexpr char kName[] = "Adabelief";
  static std::vector<AdabeliefOptions> Bases() {
    const AdabeliefOptions base = {
        .lr = 0.1, .beta1 = 0.5, .beta2 = 0.75, .eps = 0.25, .weight_decay = 0.25};
    AdabeliefOptions decoupled = base, maxima = base;
    decoupled.weight_decouple = decoupled.rectify = true;
    maxima.amsgrad = true;
    maxima.beta2 = 0.25;
    return {base, decoupled, maxima};
  }
  static void Step(const AdabeliefOptions& o, double lr, double t, Moved& m) {
    StepByReference("adabelief_step", o, lr, t, {true, true, o.amsgrad}, m);
  }
};

template <>
struct Formula<Adabound> : UsesAllOptions {
  static constexpr char kName[] = "Adabound";
  static std::vector<AdaboundOptions> Bases() {
    const AdaboundOptions base = {
        .lr = 0.1, .beta1 = 0.5, .beta2 = 0.25, .eps = 0.25, .weight_decay = 0.25, .gamma = 1};
    AdaboundOptions high = base, low = base, maxima = base;
    low.final_lr = 8;
    high.final_lr = 1e-3;
    maxima.amsbound = true;
    maxima.bias_correction = false;
    return {base, low, high, maxima};
  }
  static void Step(const AdaboundOptions& o, double lr, double t, Moved& m) {
    StepByReference("adabound_step", o, lr, t, {true, true, o.amsbound}, m);
  }
};

template <>
struct Formula<Adadelta> : UsesAllOptions {
  static constexpr char kName[] = "Adadelta";
  static std::vector<AdadeltaOptions> Bases() {
    return {{.lr = 0.5, .rho = 0.5, .eps = 0.25, .weight_decay = 0.25}};
  }
  static void Step(const AdadeltaOptions& o, double lr, double t, Moved& m) {
    StepByReference("adadelta_step", o, lr, t, {true, true}, m);
  }
};

template <>
struct Formula<Adagrad> : UsesAllOptions {
  static constexpr char kName[] = "Adagrad";
  static std::vector<AdagradOptions> Bases() {
    return {{.lr = 0.1,
             .lr_decay = 0.25,
             .weight_decay = 0.25,
             .initial_accumulator_value = 0.5,
             .eps = 0.25}};
  }
  static void Step(const AdagradOptions& o, double lr, double t, Moved& m) {
    StepByReference("adagrad_step", o, lr, t, {true}, m);
  }
};

template <>
struct Formula<Adamax> : UsesAllOptions {
  static constexpr char kName[] = "Adamax";
  static std::vector<AdamaxOptions> Bases() {
    return {{.lr = 0.1, .beta1 = 0.5, .beta2 = 0.75, .eps = 0.25, .weight_decay = 0.25}};
  }
  static void Step(const AdamaxOptions& o, double lr, double t, Moved& m) {
    StepByReference("adamax_step", o, lr, t, {true, true}, m);
  }
};

template <>
struct Formula<Lamb> : UsesAllOptions {
  static constexpr char kName[] = "Lamb";
  static std::vector<LambOptions> Bases() {
    const LambOptions base = {
        .lr = 0.1, .beta1 = 0.5, .beta2 = 0.75, .eps = 0.25, .weight_decay = 0.25};
    LambOptions longer = base, shorter = base;
    longer.gamma_l = 20, longer.gamma_u = 50;
    shorter.gamma_u = 0.5;
    return {base, longer, shorter};
  }
  static void Step(const LambOptions& o, double lr, double t, Moved& m) {
    StepByReference("lamb_step", o, lr, t, {true, true}, m);
  }
};

template <>
struct Formula<Lars> : UsesAllOptions {
  static constexpr char kName[] = "Lars";
  static std::vector<LarsOptions> Bases() {
    const LarsOptions base = {.lr = 0.5, .coefficient = 0.25, .weight_decay = 0.25};
    LarsOptions as_short = base;
    as_short.eps = 4;  // about as long as the parameter is
    return {base, as_short};
  }
  static void Step(const LarsOptions& o, double lr, double t, Moved& m) {
    StepByReference("lars_step", o, lr, t, {true}, m);
  }
};

template <>
struct Formula<Lion> : UsesAllOptions {
  static constexpr char kName[] = "Lion";
  static std::vector<LionOptions> Bases() {
    return {{.lr = 0.1, .beta1 = 0.5, .beta2 = 0.5, .weight_decay = 0.25}};
  }
  static void Step(const LionOptions& o, double lr, double t, Moved& m) {
    StepByReference("lion_step", o, lr, t, {true}, m);
  }
};

template <>
struct Formula<Nadam> : UsesAllOptions {
  static constexpr char kName[] = "Nadam";
  static std::vector<NadamOptions> Bases() {
    return {{.lr = 0.1,
             .beta1 = 0.5,
             .beta2 = 0.75,
             .eps = 0.25,
             .weight_decay = 0.25,
             .momentum_decay = 0.5}};
  }
  static void Step(const NadamOptions& o, double lr, double t, Moved& m) {
    StepByReference("nadam_step", o, lr, t, {true, true}, m);
  }
};

template <>
struct Formula<Radam> : UsesAllOptions {
  static constexpr char kName[] = "Radam";
  static std::vector<RadamOptions> Bases() {
    // With a beta2 this large the first steps have no second moments; with the other one later ones
    // have them.
    const RadamOptions base = {.lr = 0.1, .beta1 = 0.5, .eps = 0.25, .weight_decay = 0.25};
    return {base, WithOption(base, "beta2", 0.9)};
  }
  static void Step(const RadamOptions& o, double lr, double t, Moved& m) {
    StepByReference("radam_step", o, lr, t, {true, true}, m);
  }
};

template <>
struct Formula<Rprop> : UsesAllOptions {
  static constexpr char kName[] = "Rprop";
  static std::vector<RpropOptions> Bases() {
    return {{.lr = 0.1, .eta_plus = 1.5},
            {.lr = 0.1, .eta_plus = 1.5, .min_step = 0.08, .max_step = 0.12}};
  }
  static void Step(const RpropOptions& o, double lr, double t, Moved& m) {
    StepByReference("rprop_step", o, lr, t, {true, true}, m);
  }
};

}  // namespace firn::optim

#endif  // FIRN_TESTS_OPTIM_REFERENCE_FORMULAS_H_
