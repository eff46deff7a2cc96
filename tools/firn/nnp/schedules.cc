// The formulas of nnabla.utils.learning_rate_scheduler (1.39).
#include "tools/firn/nnp/schedules.h"

#include <algorithm>
#include <cmath>

#include "firn/device/escape.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"

namespace firn::cli {
namespace {

namespace nnabla = io::nnabla;
using inner::internal::JsonString;

double Iterations(const std::string& at, const char* field, double max_iter) {
  if (!(max_iter >= 1 && max_iter <= 9007199254740992.0)) {
    RaiseStatus(InvalidArgument(at, ", solver.", field, ": expected at least 1, got ", max_iter),
                "nnp");
  }
  return std::floor(max_iter);
}

using Rate = std::function<double(int64_t)>;

Rate Exponential(double lr, double gamma, int64_t interval) {
  const int64_t steps = interval > 1 ? interval : 1;
  return [=](int64_t i) { return lr * std::pow(gamma, static_cast<double>(i / steps)); };
}

Rate Named(const nnabla::Solver& s, const std::string& at, double lr) {
  const std::string& type = s.lr_scheduler_type;
  if (type.empty()) {
    return Exponential(lr, s.lr_decay > 0 ? s.lr_decay : 1.0, s.lr_decay_interval);
  }
  if (type == "Polynomial") {
    const auto p = s.polynomial_scheduler.value_or(nnabla::Solver::Polynomial());
    if (p.power == 0) return Exponential(lr, 1, 1);
    const double n = Iterations(at, "polynomial_scheduler_param.max_iter", p.max_iter);
    // After the end NNabla takes powers of negative numbers, most of which are NaN.
    return [=, power = static_cast<double>(p.power)](int64_t i) {
      return lr * std::pow(std::max(0.0, 1 - static_cast<double>(i) / n), power);
    };
  }
  if (type == "Cosine") {
    const auto p = s.cosine_scheduler.value_or(nnabla::Solver::Cosine());
    const double n = Iterations(at, "cosine_scheduler_param.max_iter", p.max_iter);
    return [=](int64_t i) { return lr * (std::cos(static_cast<double>(i) / n * M_PI) + 1) * 0.5; };
  }
  if (type == "Exponential") {
    const auto p = s.exponential_scheduler.value_or(nnabla::Solver::Exponential());
    return Exponential(lr, p.gamma, p.iter_interval);
  }
  if (type == "Step") {
    const auto p = s.step_scheduler.value_or(nnabla::Solver::Step());
    return [=, gamma = static_cast<double>(p.gamma)](int64_t i) {
      double rate = lr;
      for (const int64_t step : p.iter_steps) rate *= i >= step ? gamma : 1.0;
      return rate;
    };
  }
  RaiseStatus(InvalidArgument(at,
                              ", solver.lr_scheduler_type: expected Polynomial, Cosine, "
                              "Exponential, Step or none, got ",
                              JsonString(type)),
              "nnp");
}

}  // namespace

Rate ScheduleOf(const nnabla::Solver& solver, const std::string& at, double lr) {
  const Rate rate = Named(solver, at, lr);
  const std::string& warmup = solver.lr_warmup_scheduler_type;
  if (warmup.empty()) return rate;
  if (warmup != "Linear") {
    RaiseStatus(InvalidArgument(at,
                                ", solver.lr_warmup_scheduler_type: expected Linear or none, "
                                "got ",
                                JsonString(warmup)),
                "nnp");
  }
  const int64_t n =
      solver.linear_warmup_scheduler.value_or(nnabla::Solver::LinearWarmup()).warmup_iter;
  return [=](int64_t i) {
    return rate(i) * (i < n ? static_cast<double>(i + 1) / static_cast<double>(n) : 1.0);
  };
}

nnabla::Solver ScheduledForEach(nnabla::Solver solver, int64_t processes) {
  const auto divide = [&](float& iterations) {
    iterations = std::floor(iterations / static_cast<float>(processes));
  };
  if (solver.polynomial_scheduler) divide(solver.polynomial_scheduler->max_iter);
  if (solver.cosine_scheduler) divide(solver.cosine_scheduler->max_iter);
  if (solver.exponential_scheduler) solver.exponential_scheduler->iter_interval /= processes;
  if (solver.step_scheduler) {
    for (int64_t& step : solver.step_scheduler->iter_steps) step /= processes;
  }
  if (solver.linear_warmup_scheduler) solver.linear_warmup_scheduler->warmup_iter /= processes;
  solver.lr_decay_interval /= processes;
  return solver;
}

}  // namespace firn::cli
