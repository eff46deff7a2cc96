#ifndef FIRN_TESTS_OPTIM_TRANSLATED_FORMULAS_H_
#define FIRN_TESTS_OPTIM_TRANSLATED_FORMULAS_H_

// Formulas of optimizers that share an operation, for which their options are translated. See
// formulas.h.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <vector>

#include "firn/optim/adam.h"
#include "firn/optim/rmsprop.h"
#include "firn/optim/sgd.h"
#include "firn/optim/semantics.h"
#include "tests/optim/all_optimizers.h"
#include "tests/optim/formula.h"

namespace firn::optim {

template <>
struct Formula<Sgd> : UsesAllOptions {
  static constexpr char kName[] = "Sgd";
  static std::vector<SgdOptions> Bases() {
    const SgdOptions base = {.lr = 0.1, .momentum = 0.5, .dampening = 0.25, .weight_decay = 0.25};
    return {base,
            {.lr = 0.1, .momentum = 0.5, .weight_decay = 0.25},
            WithOption(base, "lr_in_velocity", 1),
            {.lr = 0.1, .weight_decay = 0.25}};
  }
  static void Step(const SgdOptions& o, double lr, double t, Moved& m) {
    const bool rate_within = o.lr_in_velocity || o.semantics == Semantics::kNNabla;
    for (size_t i = 0; i < Moved::kSize; ++i) {
      const double g = m.grad[i] + o.weight_decay * m.x[i];
      double& v = m.state[0][i];
      const double added = (rate_within ? lr : 1) * g;
      v = t == 1 ? added : o.momentum * v + (1 - o.dampening) * added;
      const double velocity = rate_within ? v : lr * v;
      if (o.momentum == 0) {
        m.x[i] -= lr * g;
      } else {
        m.x[i] -= o.nesterov ? lr * g + o.momentum * velocity : velocity;
      }
    }
  }
};

template <>
struct Formula<SgdW> : UsesAllOptions {
  static constexpr char kName[] = "SgdW";
  static std::vector<SgdWOptions> Bases() {
    return {{.lr = 0.1, .momentum = 0.5, .weight_decay = 0.25}};
  }
  static void Step(const SgdWOptions& o, double lr, double, Moved& m) {
    for (size_t i = 0; i < Moved::kSize; ++i) {
      double& v = m.state[0][i];
      v = o.momentum * v + lr * m.grad[i];
      m.x[i] -= v + lr / o.base_lr * o.weight_decay * m.x[i];
    }
  }
};

// Of Adam and AdamW.
template <class Options>
void StepOfAdam(const Options& o, bool decoupled, double lr, double t, Moved& m) {
  const bool nnabla = o.semantics == Semantics::kNNabla;
  const double correction1 = o.bias_correction ? 1 - std::pow(o.beta1, t) : 1;
  const double correction2 = std::sqrt(o.bias_correction ? 1 - std::pow(o.beta2, t) : 1);
  for (size_t i = 0; i < Moved::kSize; ++i) {
    double &mean = m.state[0][i], &square = m.state[1][i], &most = m.state[2][i];
    const double g = m.grad[i] + (decoupled ? 0 : o.weight_decay * m.x[i]);
    if (decoupled) m.x[i] *= 1 - (nnabla ? lr / o.base_lr : lr) * o.weight_decay;
    mean = o.beta1 * mean + (1 - o.beta1) * g;
    square = o.beta2 * square + (1 - o.beta2) * g * g;
    most = std::max(most, square);
    const double root = std::sqrt(o.amsgrad ? most : square);
    const double below =
        nnabla || o.eps_uncorrected ? (root + o.eps) / correction2 : root / correction2 + o.eps;
    m.x[i] -= lr / correction1 * mean / below;
  }
}

template <>
struct Formula<Adam> {
  static constexpr char kName[] = "Adam";
  static constexpr std::string_view kWithout = "base_lr";  // AdamW's, for its decay
  static std::vector<AdamOptions> Bases() {
    return {{.lr = 0.1, .beta1 = 0.5, .beta2 = 0.25, .eps = 0.25, .weight_decay = 0.25}};
  }
  static void Step(const AdamOptions& o, double lr, double t, Moved& m) {
    StepOfAdam(o, false, lr, t, m);
  }
};

template <>
struct Formula<AdamW> : UsesAllOptions {
  static constexpr char kName[] = "AdamW";
  static std::vector<AdamWOptions> Bases() {
    const AdamWOptions base = {
        .lr = 0.1, .beta1 = 0.5, .beta2 = 0.25, .eps = 0.25, .weight_decay = 0.25};
    return {base, WithOption(base, "semantics", 1)};
  }
  static void Step(const AdamWOptions& o, double lr, double t, Moved& m) {
    StepOfAdam(o, true, lr, t, m);
  }
};

template <>
struct Formula<Rmsprop> : UsesAllOptions {
  static constexpr char kName[] = "Rmsprop";
  static std::vector<RmspropOptions> Bases() {
    const RmspropOptions base = {.lr = 0.1, .alpha = 0.5, .eps = 0.25, .weight_decay = 0.25};
    return {base, WithOption(WithOption(base, "momentum", 0.5), "centered", 1)};
  }
  static void Step(const RmspropOptions& o, double lr, double, Moved& m) {
    for (size_t i = 0; i < Moved::kSize; ++i) {
      double &square = m.state[0][i], &mean = m.state[1][i], &buffer = m.state[2][i];
      const double g = m.grad[i] + o.weight_decay * m.x[i];
      square = o.alpha * square + (1 - o.alpha) * g * g;
      mean = o.alpha * mean + (1 - o.alpha) * g;
      const double d = g / (std::sqrt(square - (o.centered ? mean * mean : 0)) + o.eps);
      buffer = o.momentum * buffer + d;
      m.x[i] -= lr * buffer;
    }
  }
};

template <>
struct Formula<RmspropGraves> : UsesAllOptions {
  static constexpr char kName[] = "RmspropGraves";
  static std::vector<RmspropGravesOptions> Bases() {
    return {{.lr = 0.1, .alpha = 0.5, .momentum = 0.5, .eps = 0.25, .weight_decay = 0.25}};
  }
  static void Step(const RmspropGravesOptions& o, double lr, double, Moved& m) {
    for (size_t i = 0; i < Moved::kSize; ++i) {
      double &square = m.state[0][i], &mean = m.state[1][i], &buffer = m.state[2][i];
      const double g = m.grad[i] + o.weight_decay * m.x[i];
      square = o.alpha * square + (1 - o.alpha) * g * g;
      mean = o.alpha * mean + (1 - o.alpha) * g;
      buffer = o.momentum * buffer + lr * g / std::sqrt(square - mean * mean + o.eps);
      m.x[i] -= buffer;
    }
  }
};

}  // namespace firn::optim

#endif  // FIRN_TESTS_OPTIM_TRANSLATED_FORMULAS_H_
