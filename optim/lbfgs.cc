// Directions come from the two loops over the history (algorithm 7.4), steps along them from a
// search for the strong Wolfe conditions (algorithms 3.5 and 3.6).

#include "firn/optim/lbfgs.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "firn/device/status_macros.h"
#include "firn/optim/state_reader.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/sign.h"
#include "firn/tensor/ops/optimizer/update.h"
#include "firn/tensor/ops/reduce/extreme.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/join.h"
#include "firn/tensor/ops/shape/slices.h"
#include "firn/tensor/ops/shape/views.h"
#include "firn/tensor/pending.h"

namespace firn::optim {
namespace {

constexpr const char* kName = "Lbfgs";
constexpr double kDecrease = 1e-4, kCurvature = 0.9;  // c1 and c2
constexpr int kMostInSearch = 25;

double Dot(const Tensor& a, const Tensor& b) { return Sum(Mul(a, b)).Item(); }
double Largest(const Tensor& x) { return Amax(Abs(x)).Item(); }

// The place in [low, high] where the cubic through two points with those slopes is least (equation
// 3.59).
double LeastOfCubic(double a, double loss_a, double slope_a, double b, double loss_b,
                    double slope_b, double low, double high) {
  const double d1 = slope_a + slope_b - 3 * (loss_a - loss_b) / (a - b);
  const double square = d1 * d1 - slope_a * slope_b;
  const double middle = (low + high) / 2;
  if (!(square >= 0)) return middle;
  const double d2 = std::copysign(std::sqrt(square), b - a);
  const double least = b - (b - a) * ((slope_b + d2 - d1) / (slope_b - slope_a + 2 * d2));
  return std::isfinite(least) ? std::clamp(least, low, high) : middle;
}

void CheckOptions(const LbfgsOptions& o) {
  const bool good = o.lr > 0 && o.max_iterations > 0 && o.max_evaluations >= 0 &&
                    o.tolerance_grad >= 0 && o.tolerance_change >= 0 && o.history > 0;
  if (good) return;
  RaiseStatus(InvalidArgument("lr ", o.lr, ", max_iterations ", o.max_iterations, " and history ",
                              o.history, " must be positive, max_evaluations ", o.max_evaluations,
                              ", tolerance_grad ", o.tolerance_grad, " and tolerance_change ",
                              o.tolerance_change, " not negative"),
              kName);
}

}  // namespace

Lbfgs::Lbfgs(const ParameterList& parameters, const LbfgsOptions& options) : options_(options) {
  CheckOptions(options);
  if (options_.max_evaluations == 0) {
    const int64_t more = options.max_iterations / 4;
    options_.max_evaluations = std::min(options.max_iterations, INT64_MAX - more) + more;
  }
  for (const auto& [name, p] : parameters.named()) {
    if (IsPending(p)) RaiseStatus(PendingError(p), kName);
    if (!p.defined() || !IsFloating(p.dtype()) || !p.is_leaf()) {
      RaiseStatus(InvalidArgument("parameter ", name,
                                  !p.defined()             ? " is an undefined tensor"
                                  : !IsFloating(p.dtype()) ? " is not floating"
                                                           : " is computed (want a leaf)"),
                  kName);
    }
    parameters_.push_back(p);
    size_ += p.num_elements();
  }
  if (size_ == 0) RaiseStatus(InvalidArgument("there are no parameters to move"), kName);
}

void Lbfgs::ZeroGrad() {
  for (Tensor& p : parameters_) p.ZeroGrad();
}

Tensor Lbfgs::Position() const {
  std::vector<Tensor> parts;
  for (const Tensor& p : parameters_) {
    parts.push_back(Reshape(Cast(p.To(Device::Cpu()), DType::kF64), {-1}));
  }
  return Concat(parts);
}

void Lbfgs::MoveTo(const Tensor& position) {
  int64_t at = 0;
  for (const Tensor& p : parameters_) {
    const Tensor part = Slice(position, 0, at, at + p.num_elements());
    Assign(p, Reshape(part, p.shape().span()).To(p.device()));
    at += p.num_elements();
  }
}

Lbfgs::Point Lbfgs::Evaluate(const std::function<Tensor()>& evaluate) {
  ++evaluations_;
  Point point;
  {
    const GradScope grad;
    point.loss = evaluate().Item();
  }
  std::vector<Tensor> parts;
  for (const Tensor& p : parameters_) {
    parts.push_back(p.grad().defined()
                        ? Reshape(Cast(p.grad().To(Device::Cpu()), DType::kF64), {-1})
                        : Zeros({p.num_elements()}, DType::kF64));
  }
  point.gradient = Concat(parts);
  return point;
}

void Lbfgs::NextDirection(const Tensor& gradient) {
  if (!gradient_.defined()) {
    direction_ = Mul(gradient, -1);
    return;
  }
  const Tensor change = Sub(gradient, gradient_), step = Mul(direction_, length_);
  // Otherwise the estimate of the Hessian would not stay positive.
  if (const double curvature = Dot(change, step); curvature > 1e-10) {
    while (static_cast<int64_t>(steps_.size()) >= options_.history) {
      steps_.erase(steps_.begin());
      changes_.erase(changes_.begin());
    }
    scale_ = curvature / Dot(change, change);
    steps_.push_back(step);
    changes_.push_back(change);
  }
  std::vector<double> weight(steps_.size()), along(steps_.size());
  Tensor q = Mul(gradient, -1);
  for (size_t i = steps_.size(); i-- > 0;) {
    weight[i] = 1 / Dot(changes_[i], steps_[i]);
    along[i] = weight[i] * Dot(steps_[i], q);
    q = Sub(q, changes_[i], along[i]);
  }
  direction_ = Mul(q, scale_);
  for (size_t i = 0; i < steps_.size(); ++i) {
    const double back = weight[i] * Dot(changes_[i], direction_);
    direction_ = Add(direction_, steps_[i], along[i] - back);
  }
}

// The search along a direction.
class Lbfgs::Line {
 public:
  Line(Lbfgs& optimizer, const std::function<Tensor()>& evaluate, Point start)
      : optimizer_(optimizer),
        evaluate_(evaluate),
        from_(optimizer.Position()),
        start_(std::move(start)) {}

  // The point where the parameters stand afterwards.
  Point Search(double first) {
    Point before = start_, point;
    double at = first;
    for (int i = 0; evaluations_ < kMostInSearch; ++i) {
      point = At(at);
      if (TooHigh(point) || (i > 0 && point.loss >= before.loss)) return Zoom(before, point);
      if (Flat(point)) return point;
      if (point.slope >= 0) return Zoom(point, before);
      const double low = at + 0.01 * (at - before.at), high = at * 10;
      at = LeastOfCubic(before.at, before.loss, before.slope, point.at, point.loss, point.slope,
                        low, high);
      before = point;
    }
    return point;
  }

 private:
  Point At(double at) {
    ++evaluations_;
    optimizer_.MoveTo(Add(from_, optimizer_.direction_, at));
    Point point = optimizer_.Evaluate(evaluate_);
    point.at = at;
    point.slope = Dot(point.gradient, optimizer_.direction_);
    return point;
  }
  bool TooHigh(const Point& p) const {
    return !(p.loss <= start_.loss + kDecrease * p.at * start_.slope);
  }
  bool Flat(const Point& p) const { return std::abs(p.slope) <= -kCurvature * start_.slope; }

  // A point between two, of which `low` has the lower loss.
  Point Zoom(Point low, Point high) {
    const double largest = Largest(optimizer_.direction_);
    while (evaluations_ < kMostInSearch &&
           std::abs(high.at - low.at) * largest > optimizer_.options_.tolerance_change) {
      const double left = std::min(low.at, high.at), right = std::max(low.at, high.at);
      const double edge = 0.1 * (right - left);
      const double at = std::isfinite(high.loss)
                            ? LeastOfCubic(low.at, low.loss, low.slope, high.at, high.loss,
                                           high.slope, left + edge, right - edge)
                            : (left + right) / 2;
      Point point = At(at);
      if (TooHigh(point) || point.loss >= low.loss) {
        high = std::move(point);
        continue;
      }
      if (Flat(point)) return point;
      if (point.slope * (high.at - low.at) >= 0) high = low;
      low = std::move(point);
    }
    optimizer_.MoveTo(Add(from_, optimizer_.direction_, low.at));
    return low;
  }

  Lbfgs& optimizer_;
  const std::function<Tensor()>& evaluate_;
  const Tensor from_;
  const Point start_;
  int evaluations_ = 0;
};

double Lbfgs::Step(const std::function<Tensor()>& evaluate) {
  if (ThisThread().capture != nullptr) {
    RaiseStatus(FailedPrecondition("Step reads the loss, so it cannot be captured"), kName);
  }
  const NoGradScope no_grad;
  evaluations_ = 0;
  Point point = Evaluate(evaluate);
  const double before = point.loss;
  for (int64_t i = 0; i < options_.max_iterations; ++i) {
    if (Largest(point.gradient) <= options_.tolerance_grad) break;
    const bool first = !gradient_.defined();
    NextDirection(point.gradient);
    gradient_ = point.gradient;
    point.slope = Dot(point.gradient, direction_);
    point.at = 0;
    length_ = 0;
    if (!(point.slope <= -options_.tolerance_change)) break;
    const double share = first ? std::min(1.0, 1 / Sum(Abs(point.gradient)).Item()) : 1;
    const double loss = point.loss;
    if (options_.line_search) {
      point = Line(*this, evaluate, point).Search(share * options_.lr);
      length_ = point.at;
    } else {
      length_ = share * options_.lr;
      MoveTo(Add(Position(), direction_, length_));
      if (i + 1 == options_.max_iterations) break;
      point = Evaluate(evaluate);
    }
    if (evaluations_ >= options_.max_evaluations) break;
    if (Largest(direction_) * length_ <= options_.tolerance_change) break;
    if (std::abs(point.loss - loss) < options_.tolerance_change) break;
  }
  return before;
}

StateDict Lbfgs::state_dict() const {
  const auto rows = [&](const std::vector<Tensor>& vectors) {
    if (vectors.empty()) return Zeros({0, size_}, DType::kF64);
    std::vector<Tensor> as_rows;
    for (const Tensor& v : vectors) as_rows.push_back(Reshape(v, {1, size_}));
    return Concat(as_rows);
  };
  const NoGradScope no_grad;
  const bool any = gradient_.defined();
  StateDict state;
  state.Insert("gradient", any ? gradient_ : Zeros({0}, DType::kF64));
  state.Insert("direction", any ? direction_ : Zeros({0}, DType::kF64));
  state.Insert("steps", rows(steps_));
  state.Insert("changes", rows(changes_));
  state.Insert("length", StateNumber(length_));
  state.Insert("scale", StateNumber(scale_));
  return state;
}

void Lbfgs::LoadStateDict(const StateDict& state) {
  const NoGradScope no_grad;
  StateReader reader(state);
  const auto vector = [&](const char* name) {
    const Tensor t = reader.Need(name);
    if (!t.defined() || t.num_elements() == 0) return Tensor();
    if (t.shape() != Shape({size_})) reader.Problem(name + (" is " + t.shape().ToString()));
    return Cast(t.To(Device::Cpu()), DType::kF64).Clone();
  };
  const auto rows = [&](const char* name) {
    std::vector<Tensor> all;
    const Tensor t = reader.Need(name);
    if (!t.defined()) return all;
    if (t.rank() != 2 || t.shape()[1] != size_) {
      reader.Problem(name + (" is " + t.shape().ToString()));
      return all;
    }
    const Tensor copy = Cast(t.To(Device::Cpu()), DType::kF64).Clone();
    for (int64_t i = 0; i < t.shape()[0]; ++i) all.push_back(Select(copy, 0, i));
    return all;
  };
  Tensor gradient = vector("gradient"), direction = vector("direction");
  std::vector<Tensor> steps = rows("steps"), changes = rows("changes");
  const double length = reader.NeedNumber("length"), scale = reader.NeedNumber("scale", 1);
  if (!(length >= 0 && scale > 0 && std::isfinite(length) && std::isfinite(scale))) {
    reader.Problem("length or scale makes no sense");
  }
  if (gradient.defined() != direction.defined()) reader.Problem("direction without gradient");
  if (steps.size() != changes.size()) reader.Problem("as many changes as steps are wanted");
  reader.Finish(kName);
  gradient_ = std::move(gradient);
  direction_ = std::move(direction);
  steps_ = std::move(steps);
  changes_ = std::move(changes);
  length_ = length;
  scale_ = scale;
}

}  // namespace firn::optim
