// Counts NaN and infinities in what each operation wrote, and describes the call when there are
// any. Elements are read directly: host views refuse to be read while a graph is captured.

#include "autograd/anomaly.h"

#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "autograd/tape/sweep.h"
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

bool IsInout(const OpDef& op, size_t i) { return i < op.inputs.size() && op.inputs[i].inout; }

std::string Describe(const OpDef& op, absl::Span<const TensorRef> in) {
  std::string text;
  for (size_t i = 0; i < in.size(); ++i) {
    if (!Checked(*in[i])) continue;
    const Statistics s = StatisticsOf(*in[i]);
    const auto counted = static_cast<double>(in[i]->num_elements() - s.nans);
    absl::StrAppend(&text, text.empty() ? "; inputs: " : "; ",
                    std::string(op.inputs[std::min(i, op.inputs.size() - 1)].name),
                    IsInout(op, i) ? " (after) " : " ", in[i].spec().ToString());
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
bool InfinityCameIn(const OpDef& op, absl::Span<const TensorRef> in, AttrsRef attrs) {
  InfinityFinder finder;
  if (attrs.type() != nullptr) attrs.type()->visit(const_cast<void*>(attrs.data()), finder);
  for (size_t i = 0; i < in.size() && !finder.found; ++i) {
    if (Checked(*in[i]) && !IsInout(op, i)) finder.found = StatisticsOf(*in[i]).infinities != 0;
  }
  return finder.found;
}

// "backward of sqrt at encoder.norm: mul", or "sqrt at encoder.norm".
std::string Where(const OpDef& op) {
  const autograd::Node* node = autograd::NodeInBackward();
  const std::string path = PathScope::Current();
  const std::string name(node == nullptr ? op.name : node->name());
  std::string where = absl::StrCat(node == nullptr ? "" : "backward of ", name);
  if (!path.empty()) absl::StrAppend(&where, " at ", path);
  return node == nullptr ? where : absl::StrCat(where, ": ", std::string(op.name));
}

void Check(const OpDef& op, absl::Span<const TensorRef> in, AttrsRef attrs, const Tensor& result,
           bool check_infinities) {
  if (!Checked(result)) return;
  const Statistics s = StatisticsOf(result);
  const bool bad_infinity =
      s.infinities != 0 && check_infinities && s.nans == 0 && !InfinityCameIn(op, in, attrs);
  if (s.nans == 0 && !bad_infinity) return;
  const std::string where = Where(op);
  const PathScope no_path(nullptr);  // `where` names it
  RaiseStatus(
      FailedPrecondition(where, " made ", s.nans != 0 ? s.nans : s.infinities,
                         s.nans != 0 ? " NaN" : " infinite", " of ", result.num_elements(),
                         " elements (", result.spec().ToString(), ", the first at ",
                         s.nans != 0 ? s.first_nan : s.first_infinity, ")", Describe(op, in)),
      "anomaly");
}

}  // namespace

AnomalyScope::AnomalyScope(const Options& options)
    : options_(options), outer_(ThisThread().observer) {
  ThisThread().observer = this;
}

AnomalyScope::~AnomalyScope() { ThisThread().observer = outer_; }

void AnomalyScope::BeforeApply(const OpDef& op, absl::Span<const TensorRef> in, AttrsRef attrs) {
  if (outer_ != nullptr) outer_->BeforeApply(op, in, attrs);
}

void AnomalyScope::AfterApply(const OpDef& op, absl::Span<const TensorRef> in, AttrsRef attrs,
                              absl::Span<const Tensor> out) {
  if (outer_ != nullptr) outer_->AfterApply(op, in, attrs, out);
  for (const Tensor& t : out) Check(op, in, attrs, t, options_.check_infinities);
  for (size_t i = 0; i < in.size(); ++i) {
    if (IsInout(op, i)) Check(op, in, attrs, *in[i], options_.check_infinities);
  }
}

}  // namespace firn
