// Counts NaN and infinities in what each operation wrote, and describes the call when there are
// any. Inputs that a call overwrites are looked at before it.

#include "firn/autograd/anomaly.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/autograd/graph/graph.h"
#include "firn/autograd/observe.h"
#include "firn/device/comm/started.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"
#include "firn/tensor/op.h"
#include "firn/tensor/reorder.h"

namespace firn {
namespace {

struct Statistics {
  int64_t nans = 0, infinities = 0, first_nan = -1, first_infinity = -1;
  double min = HUGE_VAL, max = -HUGE_VAL, sum = 0;  // of elements that are not NaN
};

Statistics StatisticsOf(const Tensor& t) {
  Statistics s;
  const absl::StatusOr<Tensor> plain = Reordered(t, 0);
  RaiseIfError(plain.status(), "anomaly");
  VisitFloat(t.dtype(), [&]<class T>(TypeTag<T>) {
    const T* values = reinterpret_cast<const T*>(plain->impl()->data);
    for (int64_t i = 0; i < t.num_elements(); ++i) {
      const auto v = static_cast<double>(values[i]);
      if (std::isnan(v)) {
        if (s.nans++ == 0) s.first_nan = i;
        continue;
      }
      if (std::isinf(v) && s.infinities++ == 0) s.first_infinity = i;
      s.min = std::min(s.min, v);
      s.max = std::max(s.max, v);
      s.sum += v;
    }
  });
  return s;
}

bool Checked(const Tensor& t) {
  return t.defined() && IsFloating(t.dtype()) && t.device().is_cpu() && t.num_elements() != 0;
}

class InfinityFinder final : public AttrVisitor {
 public:
  using AttrVisitor::Field;
  void Field(const char*, int64_t&) override {}
  void Field(const char*, double& v) override { found |= std::isinf(v); }
  void Field(const char*, bool&) override {}
  void Field(const char*, std::string&) override {}
  void Field(const char*, std::vector<int64_t>&) override {}
  bool found = false;
};

bool HasInfinity(AttrsRef attrs) {
  InfinityFinder finder;
  if (attrs.type() != nullptr) attrs.type()->visit(const_cast<void*>(attrs.data()), finder);
  return finder.found;
}

// "backward of sqrt at encoder.norm: mul", "sqrt at encoder.norm" or, in a graph, "mul at
// encoder.norm (backward)".
std::string Where(const OperationCall& call) {
  const std::string name(call.name()), forward(call.backward_of());
  const std::string at = call.path().empty() ? "" : absl::StrCat(" at ", call.path());
  if (!forward.empty()) return absl::StrCat("backward of ", forward, at, ": ", name);
  return absl::StrCat(name, at, call.phase() == Phase::kBackward ? " (backward)" : "");
}

std::string TextOf(const OperationCall& call, size_t i, const Statistics& s) {
  const TensorSpec& spec = *call.input_spec(i);
  const auto counted = static_cast<double>(spec.num_elements() - s.nans);
  std::string text = absl::StrCat(std::string(call.op().input(i).name), " ", spec.ToString());
  if (counted > 0) {
    absl::StrAppend(&text, ", min ", s.min, ", max ", s.max, ", mean ", s.sum / counted);
  }
  if (s.nans != 0) absl::StrAppend(&text, ", ", s.nans, " NaN");
  if (s.infinities != 0) absl::StrAppend(&text, ", ", s.infinities, " inf");
  return text;
}

// Whether other ranks' elements come into an input at this moment, as between the start of a
// collective call in place and the wait for it (tensor/ops/collective/started.h).
bool IsOnItsWay(const OperationCall& call) {
  if (!call.op().collective) return false;
  for (size_t i = 0; i < call.num_inputs(); ++i) {
    if (call.op().writes(i) && comm::IsStarted(call.input(i).impl()->data)) return true;
  }
  return false;
}

// What went into a call. Most inputs can be looked at afterwards, when something turned out wrong.
class Inputs {
 public:
  // Those that the call is about to overwrite.
  void Note(const OperationCall& call) {
    Clear();
    for (size_t i = 0; i < call.num_inputs(); ++i) {
      if (call.input_spec(i) == nullptr || !call.overwrites(i)) continue;
      const Tensor t = call.input(i);
      if (Checked(t)) noted_.emplace_back(i, StatisticsOf(t));
    }
  }

  void Clear() { noted_.clear(); }

  // Returns nothing if no element needs checking.
  std::optional<Statistics> Of(const OperationCall& call, size_t i) const {
    for (const auto& [at, statistics] : noted_) {
      if (at == i) return statistics;
    }
    const Tensor t = call.input(i);
    return Checked(t) ? std::optional(StatisticsOf(t)) : std::nullopt;
  }

  bool HaveInfinity(const OperationCall& call) const {
    for (size_t i = 0; i < call.num_inputs(); ++i) {
      const std::optional<Statistics> s = Of(call, i);
      if (s.has_value() && s->infinities != 0) return true;
    }
    return false;
  }

  std::string ToString(const OperationCall& call) const {
    std::string text;
    for (size_t i = 0; i < call.num_inputs(); ++i) {
      const std::optional<Statistics> s = Of(call, i);
      if (!s.has_value()) continue;
      absl::StrAppend(&text, text.empty() ? "; inputs: " : "; ", TextOf(call, i, *s));
    }
    return text;
  }

  absl::Status Check(const OperationCall& call, const Tensor& result, bool check_infinities) const {
    if (!Checked(result)) return absl::OkStatus();
    const Statistics s = StatisticsOf(result);
    const bool bad_infinity = s.infinities != 0 && check_infinities && s.nans == 0 &&
                              !HasInfinity(call.attrs()) && !HaveInfinity(call);
    if (s.nans == 0 && !bad_infinity) return absl::OkStatus();
    return FailedPrecondition(Where(call), " made ", s.nans != 0 ? s.nans : s.infinities,
                              s.nans != 0 ? " NaN" : " infinite", " of ", result.num_elements(),
                              " elements (", result.spec().ToString(), ", the first at ",
                              s.nans != 0 ? s.first_nan : s.first_infinity, ")", ToString(call));
  }

 private:
  std::vector<std::pair<size_t, Statistics>> noted_;
};

}  // namespace

class AnomalyScope::Observer final : public OperationObserver {
 public:
  explicit Observer(const Options& options) : OperationObserver("anomaly"), options_(options) {}

 private:
  absl::Status Before(const OperationCall& call) override {
    IsOnItsWay(call) ? inputs_.Clear() : inputs_.Note(call);
    return absl::OkStatus();
  }
  absl::Status After(const OperationCall& call) override {
    if (IsOnItsWay(call)) return absl::OkStatus();  // looked at after the wait
    for (size_t i = 0; i < call.num_outputs(); ++i) {
      FIRN_RETURN_IF_ERROR(inputs_.Check(call, call.output(i), options_.check_infinities));
    }
    for (size_t i = 0; i < call.num_inputs(); ++i) {
      if (!call.op().writes(i)) continue;
      FIRN_RETURN_IF_ERROR(inputs_.Check(call, call.input(i), options_.check_infinities));
    }
    return absl::OkStatus();
  }

  const Options options_;
  Inputs inputs_;
};

AnomalyScope::AnomalyScope(const Options& options)
    : observer_(std::make_unique<Observer>(options)) {}

AnomalyScope::~AnomalyScope() = default;

}  // namespace firn
