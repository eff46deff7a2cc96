#include <algorithm>
#include <cmath>

#include "firn/tensor/ops/reduce/count.h"
#include "firn/tensor/ops/reduce/reduction_samples.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

FIRN_REGISTER_COMPOSITE(count_nonzero) {
  s.Declare({{.name = "x"}}, {{.name = "y", .dtypes = SetOf(DType::kI64), .constant = true}});
  s.Function([](In in, const ReduceAttrs& a) { return CountNonzero(in[0], a.dims); });
  s.Reference(ReductionReference([](const std::vector<double>& elements) {
    return static_cast<double>(
        std::count_if(elements.begin(), elements.end(), [](double v) { return v != 0; }));
  }));
  s.Add("all", {Values({0, 1, -2, NAN, 0, 3}, {2, 3})}, ReduceAttrs{});
  s.Add("rows", {Integers({3, 4}, 0, 2)}, ReduceAttrs{1});
  s.Add("channels", {Integers({2, 8, 3}, 0, 2)}, ReduceAttrs{{0, -1}});
  s.Add("bool", {Booleans({3, 4})}, ReduceAttrs{0});
  s.Add("nothing", {Normal({0, 3})}, ReduceAttrs{0});
  s.AddLarge("4M", {Normal({2048, 2048})}, ReduceAttrs{}, 4.2e6, 16.8e6);
  s.AddError("dim", {Normal({3})}, ReduceAttrs{1}, "dim 1");
}

FIRN_REGISTER_COMPOSITE(nanmean) {
  s.Declare({{.name = "x", .dtypes = kFloating}});
  s.Function([](In in, const ReduceAttrs& a) { return Nanmean(in[0], a.dims, a.keepdim); });
  s.Reference(ReductionReference([](const std::vector<double>& elements) {
    double sum = 0, count = 0;
    for (double v : elements) {
      if (!std::isnan(v)) sum += v, ++count;
    }
    return sum / count;
  }));
  s.Add("all", {Uniform({3, 4}, 1, 2)}, ReduceAttrs{});
  s.Add("with NaN", {Values({1, NAN, 3, NAN, 2, 7}, {2, 3})}, ReduceAttrs{1, true}).check_gradient =
      false;
  s.Add("of columns", {Values({1, NAN, 3, NAN, NAN, 7}, {2, 3})}, ReduceAttrs{0}).check_gradient =
      false;
  s.Add("channels", {Uniform({2, 8, 3}, 1, 2)}, ReduceAttrs{{0, 2}});
  s.Add("nothing", {Normal({0, 3})}, ReduceAttrs{0}).check_gradient = false;
  s.AddLarge("4M", {Normal({2048, 2048})}, ReduceAttrs{}, 8.4e6, 16.8e6);
  s.AddError("integers", {Integers({3}, 0, 9)}, ReduceAttrs{}, "x must be floating, got i64 [3]");
}

struct BincountAttrs {
  int64_t minlength = 0;
  template <class V>
  void Visit(V& v) {
    v.Field("minlength", minlength);
  }
};

Tensor CallBincount(In in, const BincountAttrs& a) { return Bincount(in[0], in[1], a.minlength); }

FIRN_REGISTER_COMPOSITE(bincount) {
  s.Declare({{.name = "x", .dtypes = kIntegral, .min_rank = 1, .max_rank = 1},
             {.name = "weights", .dtypes = kFloating, .optional = true}},
            {{.name = "y", .dtypes = kFloating | SetOf(DType::kI64)}});
  s.captured = false;  // but with minlength: tests/tensor/count_test
  s.Function(CallBincount);
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    int64_t bins = attrs.get<BincountAttrs>().minlength;
    for (double v : in[0].values) bins = std::max(bins, static_cast<int64_t>(v) + 1);
    RefTensor y(Shape({bins}));
    const bool weighted = in.size() > 1 && in[1].defined();
    for (int64_t i = 0; i < in[0].size(); ++i) {
      y[static_cast<int64_t>(in[0][i])] += weighted ? in[1][i] : 1;
    }
    return std::vector<RefTensor>{y};
  });
  s.Add("numbers", {Indices({1, 0, 5, 1, 1}), Tensor()}, BincountAttrs{});
  s.Add("weights", {Indices({1, 0, 5, 1, 1}), Uniform({5}, 1, 2)}, BincountAttrs{});
  s.AddLarge("4M", {Integers({1 << 22}, 0, 1000), Tensor()}, BincountAttrs{}, 4.2e6, 33.6e6);
  s.AddError("negative", {Indices({1, -1}), Tensor()}, BincountAttrs{},
             "x must hold numbers from 0 on, got -1");
  s.AddError("weights", {Indices({1, 1}), Normal({3})}, BincountAttrs{},
             "weights must be floating [2], got f64 [3]");
}

struct HistcAttrs {
  int64_t bins = 100;
  double min = 0, max = 0;
  template <class V>
  void Visit(V& v) {
    v.Field("bins", bins);
    v.Field("min", min);
    v.Field("max", max);
  }
};

FIRN_REGISTER_COMPOSITE(histc) {
  s.Declare({{.name = "x", .dtypes = kFloating}},
            {{.name = "y", .same_dtype_as = "x", .constant = true}});
  s.Function([](In in, const HistcAttrs& a) {
    return Histc(in[0], {.bins = a.bins, .min = a.min, .max = a.max});
  });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const HistcAttrs& a = attrs.get<HistcAttrs>();
    double low = a.min, high = a.max;
    if (low == 0 && high == 0 && in[0].size() > 0) {
      low = *std::min_element(in[0].values.begin(), in[0].values.end());
      high = *std::max_element(in[0].values.begin(), in[0].values.end());
    }
    if (low == high) low -= 1, high += 1;
    RefTensor y(Shape({a.bins}));
    for (double v : in[0].values) {
      if (!(v >= low && v <= high)) continue;
      const auto bin = static_cast<int64_t>((v - low) / (high - low) * static_cast<double>(a.bins));
      y[std::min(bin, a.bins - 1)] += 1;
    }
    return std::vector<RefTensor>{y};
  });
  // Elements clear of the borders in every dtype, but for those that are exact.
  const Tensor x = Values({0.25, 1, 1.25, 3.75, 2, 4, -3, 9, 0, 2.75}, {2, 5});
  s.Add("a range", {x}, HistcAttrs{4, 0, 4});
  s.Add("its own range", {x}, HistcAttrs{3});
  s.Add("equal elements", {Values({2, 2})}, HistcAttrs{4});
  s.Add("NaN and infinity", {Values({NAN, INFINITY, 1, -INFINITY})}, HistcAttrs{2, 0, 2});
  s.Add("a scalar", {Values({1}, {})}, HistcAttrs{2, 0, 2});
  s.Add("nothing", {Normal({0})}, HistcAttrs{3});
  s.AddLarge("4M", {Normal({2048, 2048})}, HistcAttrs{100, -3, 3}, 20e6, 16.8e6);
  s.AddError("bins", {x}, HistcAttrs{0}, "bins must be at least 1 and few enough, got 0");
  s.AddError("range", {x}, HistcAttrs{3, 2, 1}, "min 2 must not be above max 1");
}

FIRN_REGISTER_SAMPLES(histc_part) {
  s.Internal("what histc counts");
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const auto bins = static_cast<double>(attrs.get<HistcPartAttrs>().bins);
    RefTensor y = in[0];
    const double low = in[1][0], high = in[2][0];
    for (double& v : y.values) {
      const bool inside = v >= low && v <= high;
      v = inside ? std::min((v - low) / (high - low) * bins, bins - 1) : -1;
    }
    return std::vector<RefTensor>{y};
  });
  const auto add = [&](const char* name, const Tensor& x, double low, double high, int64_t bins) {
    s.Add(name, {x, Values({low}, {}), Values({high}, {})}, HistcPartAttrs{bins});
  };
  add("a vector", Values({0, 0.25, 1, 3.75, 4, 4.25, -0.25, NAN, INFINITY, -INFINITY}), 0, 4, 8);
  add("channels", Values({-2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}, {1, 8, 2}), -1, 7,
      4);
  add("a scalar", Values({3}, {}), 1, 5, 3);
  add("nothing", Normal({0, 3}), 0, 1, 2);
  s.AddLarge("4M", {Normal({2048, 2048}), Values({-3}, {}), Values({3}, {})}, HistcPartAttrs{100},
             8 * 4.2e6, 33.6e6);
  s.AddError("integers", {Integers({3}, 0, 9), Integers({}, 0, 1), Integers({}, 8, 9)},
             HistcPartAttrs{2}, "x must be f32 or f64, got");
}

}  // namespace
}  // namespace firn::testing
