// firn compare: whether two files hold the same tensors.

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/firn/command.h"
#include "tools/firn/files.h"

namespace firn::cli {
namespace {

struct Options {
  std::string a, b;
  double rtol = 0, atol = 0;
};

// The number of elements that differ by more than is allowed, compared as T, which holds them
// exactly.
template <class T>
int64_t CountApart(const Tensor& a, const Tensor& b, const Options& o, double* most) {
  const std::vector<T> x = a.ToVector<T>(), y = b.ToVector<T>();
  int64_t count = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double u = static_cast<double>(x[i]), v = static_cast<double>(y[i]);
    if (x[i] == y[i] || (std::isnan(u) && std::isnan(v))) continue;
    const double apart = std::abs(u - v);
    // Infinities are not near to any number.
    if (std::isfinite(apart) && apart > 0 && apart <= o.atol + o.rtol * std::abs(v)) continue;
    ++count;
    *most = std::isnan(apart) ? std::numeric_limits<double>::infinity() : std::max(*most, apart);
  }
  return count;
}

// The difference as text, or "". `most`: the largest difference of two elements.
std::string Difference(const Tensor& a, const Tensor& b, const Options& o, double* most) {
  if (a.shape() != b.shape() || a.dtype() != b.dtype()) {
    return absl::StrCat(DTypeName(a.dtype()), " ", a.shape().ToString(), " and ",
                        DTypeName(b.dtype()), " ", b.shape().ToString());
  }
  *most = 0;
  const int64_t count = IsIntegral(a.dtype()) ? CountApart<int64_t>(a, b, o, most)
                                              : CountApart<double>(a, b, o, most);
  if (count == 0) return "";
  return absl::StrFormat("%d of %d elements differ, by %.4g at most", count, a.num_elements(),
                         *most);
}

}  // namespace

FIRN_COMMAND(compare, "Tells how the tensors of two files differ") {
  auto o = std::make_shared<Options>();
  app.add_option("A", o->a, "a file of tensors")->required();
  app.add_option("B", o->b, "another")->required();
  app.add_option(
      "--rtol", o->rtol,
      "relative tolerance: the allowed difference as a share of B's element (default: 0)");
  app.add_option("--atol", o->atol, "absolute tolerance, added to the relative one (default: 0)");
  app.footer(
      "The exit status is 1 if they differ. Example:\n"
      "  firn compare before.h5 after.h5 --rtol 1e-5");
  return [o](Terminal& terminal) {
    const StateDict a = ReadTensors(o->a), b = ReadTensors(o->b);
    nlohmann::json differences = nlohmann::json::array();
    std::string text;
    const auto differ = [&](const std::string& name, const std::string& how) {
      differences.push_back({{"name", name}, {"difference", how}});
      absl::StrAppend(&text, name, ": ", how, "\n");
    };
    size_t same = 0;
    for (const auto& [name, t] : a) {
      const Tensor* const other = b.Find(name);
      double most = 0;
      const std::string how = other == nullptr ? "only in A" : Difference(t, *other, *o, &most);
      if (how.empty()) {
        ++same;
      } else {
        differ(name, how);
      }
    }
    for (const auto& [name, t] : b) {
      if (!a.Contains(name)) differ(name, "only in B");
    }
    absl::StrAppend(&text, same, " the same, ", differences.size(), " not\n");
    terminal.Print(text, {{"same", same}, {"differences", differences}});
    return differences.empty() ? 0 : 1;
  };
}

}  // namespace firn::cli
