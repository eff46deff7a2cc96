// Counts NaN and infinities in what each operation wrote, and describes the call when there are
// any.

#include "autograd/anomaly.h"

#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "device/status_macros.h"
#include "tensor/error.h"
#include "tensor/op.h"
#include "tensor/reorder.h"

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

std::string Describe(const OperationCall& call) {
  std::string text;
  for (size_t i = 0; i < call.num_inputs(); ++i) {
    const Tensor t = call.input(i);
    if (!Checked(t)) continue;
    const Statistics s = StatisticsOf(t);
    const auto counted = static_cast<double>(t.num_elements() - s.nans);
    absl::StrAppend(&text, text.empty() ? "; inputs: " : "; ", std::string(call.op().input(i).name),
                    call.writes(i) ? " (after) " : " ", t.spec().ToString());
    if (counted > 0) {
      absl::StrAppend(&text, ", min ", s.min, ", max ", s.max, ", mean ", s.sum / counted);
    }
    if (s.nans != 0) absl::StrAppend(&text, ", ", s.nans, " NaN");
    if (s.infinities != 0) absl::StrAppend(&text, ", ", s.infinities, " inf");
  }
  return text;
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

// Whether an infinity went into the call.
bool InfinityCameIn(const OperationCall& call) {
  InfinityFinder finder;
  const AttrsRef attrs = call.attrs();
  if (attrs.type() != nullptr) attrs.type()->visit(const_cast<void*>(attrs.data()), finder);
  for (size_t i = 0; i < call.num_inputs() && !finder.found; ++i) {
    if (call.writes(i)) continue;
    const Tensor t = call.input(i);
    finder.found = Checked(t) && StatisticsOf(t).infinities != 0;
  }
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

absl::Status Check(const OperationCall& call, const Tensor& result, bool check_infinities) {
  if (!Checked(result)) return absl::OkStatus();
  const Statistics s = StatisticsOf(result);
  const bool bad_infinity =
      s.infinities != 0 && check_infinities && s.nans == 0 && !InfinityCameIn(call);
  if (s.nans == 0 && !bad_infinity) return absl::OkStatus();
  return FailedPrecondition(Where(call), " made ", s.nans != 0 ? s.nans : s.infinities,
                            s.nans != 0 ? " NaN" : " infinite", " of ", result.num_elements(),
                            " elements (", result.spec().ToString(), ", the first at ",
                            s.nans != 0 ? s.first_nan : s.first_infinity, ")", Describe(call));
}

}  // namespace

absl::Status AnomalyScope::After(const OperationCall& call) {
  for (size_t i = 0; i < call.num_outputs(); ++i) {
    FIRN_RETURN_IF_ERROR(Check(call, call.output(i), options_.check_infinities));
  }
  for (size_t i = 0; i < call.num_inputs(); ++i) {
    if (!call.writes(i)) continue;
    FIRN_RETURN_IF_ERROR(Check(call, call.input(i), options_.check_infinities));
  }
  return absl::OkStatus();
}

}  // namespace firn
