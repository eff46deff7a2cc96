// Gradients against central differences, (f(x + eps) - f(x - eps)) / 2 eps, of a weighted sum of
// the results. In f64 with eps 1e-6 truncation (eps^2) and rounding (1e-16 / eps) both stay near
// 1e-10 of the size of the sum.
//
// Second derivatives are first derivatives of another function: inputs and incoming gradients to
// the gradients that backward gives.

#include "firn/autograd/gradcheck.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "firn/autograd/backward.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/shape/copies.h"

namespace firn {
namespace {

// A number in [0.5, 1.5) with a random sign, the same for the same arguments: far from 0, so that
// every element of every result counts.
double Weight(uint64_t stream, uint64_t i) {
  uint64_t x = (stream + 1) * 0x9e3779b97f4a7c15u + i * 0xd1342543de82ef95u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  x ^= x >> 31;
  const double magnitude = 0.5 + static_cast<double>(x >> 12) * 0x1p-52;
  return (x & 1) != 0 ? magnitude : -magnitude;
}

std::vector<double> Weights(size_t stream, const Tensor& like) {
  std::vector<double> w(static_cast<size_t>(like.num_elements()));
  for (size_t i = 0; i < w.size(); ++i) w[i] = Weight(stream, i);
  return w;
}

// Results that take part: floating ones. The others are constant almost everywhere.
bool Counts(const Tensor& t) { return t.defined() && IsFloating(t.dtype()); }

double WeightedSum(const std::vector<Tensor>& results) {
  double sum = 0;
  for (size_t r = 0; r < results.size(); ++r) {
    if (!Counts(results[r])) continue;
    const std::vector<double> values = results[r].ToVector<double>();
    for (size_t i = 0; i < values.size(); ++i) sum += Weight(r, i) * values[i];
  }
  return sum;
}

// An own row-major copy without history.
Tensor CopyOf(const Tensor& t) {
  NoGradScope no_grad;
  return t.is_contiguous() ? Clone(t) : Contiguous(t);
}

// Indices of the inputs to check.
absl::StatusOr<std::vector<size_t>> Checked(const std::vector<Tensor>& inputs) {
  const bool marked =
      std::any_of(inputs.begin(), inputs.end(), [](const Tensor& t) { return t.requires_grad(); });
  std::vector<size_t> checked;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!Counts(inputs[i]) || (marked && !inputs[i].requires_grad())) continue;
    FIRN_RETURN_IF(inputs[i].dtype() != DType::kF64,
                   InvalidArgument("grad_check: input ", i, " must be f64, got ",
                                   inputs[i].spec().ToString()));
    checked.push_back(i);
  }
  FIRN_RETURN_IF(checked.empty(), InvalidArgument("grad_check: no input is f64"));
  return checked;
}

// The gradients of WeightedSum(fn(inputs)) by backward, row-major; zeros where nothing flows.
std::vector<std::vector<double>> Analytic(const GradCheckFn& fn, std::vector<Tensor> inputs,
                                          const std::vector<size_t>& checked) {
  GradScope record;
  std::vector<Tensor> leaves;
  for (size_t i : checked) leaves.push_back(inputs[i] = CopyOf(inputs[i]).SetRequiresGrad());
  const std::vector<Tensor> results = fn(inputs);
  std::vector<Tensor> roots;
  GradOptions options{.allow_unused = true};
  for (size_t r = 0; r < results.size(); ++r) {
    if (!Counts(results[r]) || !results[r].requires_grad()) continue;
    roots.push_back(results[r]);
    NoGradScope no_grad;
    options.seeds.push_back(
        FromVector(Weights(r, results[r]), results[r].shape()).To(results[r].dtype()));
  }
  std::vector<Tensor> grads(leaves.size());
  if (!roots.empty()) grads = Grad(roots, leaves, options);
  std::vector<std::vector<double>> values;
  for (size_t k = 0; k < checked.size(); ++k) {
    const auto n = static_cast<size_t>(inputs[checked[k]].num_elements());
    values.push_back(grads[k].defined() ? grads[k].ToVector<double>() : std::vector<double>(n));
  }
  return values;
}

// The worst disagreement so far.
class Verdict {
 public:
  explicit Verdict(const GradCheckOptions& options) : options_(options) {}

  void Compare(size_t input, const Shape& shape, int64_t at, double gradient, double difference) {
    ++compared_;
    const double allowed = options_.atol + options_.rtol * std::abs(difference);
    const double excess = std::abs(gradient - difference) / allowed;
    if (excess <= 1) return;  // false for NaN
    ++wrong_;
    if (!(excess > worst_) && wrong_ > 1 && !std::isnan(excess)) return;
    worst_ = std::isnan(excess) ? HUGE_VAL : excess;
    message_ =
        absl::StrCat("gradient of input ", input, " at ", IndexText(shape, at), " is ", gradient,
                     ", central differences give ", difference, " (allowed: ", allowed, " apart)");
  }

  absl::Status status() const {
    FIRN_RETURN_IF(wrong_ != 0, InvalidArgument("grad_check: ", message_, "; worst of ", wrong_,
                                                " wrong elements of ", compared_));
    return absl::OkStatus();
  }

 private:
  static std::string IndexText(const Shape& shape, int64_t flat) {
    Dims index(shape.rank());
    for (int d = shape.rank() - 1; d >= 0; --d) {
      index[d] = flat % shape[d];
      flat /= shape[d];
    }
    return Shape::Trusted(index).ToString();
  }

  GradCheckOptions options_;
  double worst_ = 0;
  int64_t wrong_ = 0, compared_ = 0;
  std::string message_;
};

}  // namespace

absl::Status GradCheck(const GradCheckFn& fn, const std::vector<Tensor>& inputs,
                       const GradCheckOptions& options) {
  FIRN_ASSIGN_OR_RETURN(const std::vector<size_t> checked, Checked(inputs));
  const std::vector<std::vector<double>> gradients = Analytic(fn, inputs, checked);
  NoGradScope no_grad;
  Verdict verdict(options);
  for (size_t k = 0; k < checked.size(); ++k) {
    std::vector<Tensor> moved = inputs;
    Tensor& x = moved[checked[k]] = CopyOf(inputs[checked[k]]);
    const int64_t n = x.num_elements();
    const int64_t count = options.max_elements > 0 ? std::min(n, options.max_elements) : n;
    for (int64_t e = 0; e < count; ++e) {
      const int64_t at = e * n / count;  // spread evenly
      const auto f = [&](double value) {
        x.mutable_host_view<double>()[static_cast<size_t>(at)] = value;
        return WeightedSum(fn(moved));
      };
      const double value = x.host_view<double>()[static_cast<size_t>(at)];
      const double up = f(value + options.eps), down = f(value - options.eps);
      x.mutable_host_view<double>()[static_cast<size_t>(at)] = value;
      const double difference = (up - down) / ((value + options.eps) - (value - options.eps));
      verdict.Compare(checked[k], x.shape(), at, gradients[k][static_cast<size_t>(at)], difference);
    }
  }
  return verdict.status();
}

absl::Status GradGradCheck(const GradCheckFn& fn, const std::vector<Tensor>& inputs,
                           const GradCheckOptions& options) {
  FIRN_ASSIGN_OR_RETURN(const std::vector<size_t> checked, Checked(inputs));
  // Inputs of the gradient function: those of fn, then one incoming gradient for each result.
  std::vector<Tensor> all = inputs;
  {
    NoGradScope no_grad;
    for (const Tensor& y : fn(inputs)) {
      all.push_back(Counts(y) ? FromVector(Weights(all.size(), y), y.shape()).To(y.dtype())
                              : Tensor());
    }
  }
  const GradCheckFn gradient = [&](const std::vector<Tensor>& in) {
    GradScope record;
    std::vector<Tensor> x(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(inputs.size()));
    std::vector<Tensor> leaves;
    for (size_t i : checked) {
      if (!x[i].requires_grad()) x[i] = x[i].Detach().SetRequiresGrad();
      leaves.push_back(x[i]);
    }
    const std::vector<Tensor> results = fn(x);
    std::vector<Tensor> roots;
    GradOptions grad_options{.create_graph = true, .allow_unused = true};
    for (size_t r = 0; r < results.size(); ++r) {
      if (!Counts(results[r]) || !results[r].requires_grad()) continue;
      roots.push_back(results[r]);
      grad_options.seeds.push_back(in[inputs.size() + r]);
    }
    return roots.empty() ? std::vector<Tensor>() : Grad(roots, leaves, grad_options);
  };
  return GradCheck(gradient, all, options);
}

}  // namespace firn
