#include <cmath>

#include "firn/tensor/ops/scan/line_samples.h"
#include "firn/tensor/ops/scan/running.h"
#include "firn/tensor/problems/dim_attrs.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

std::vector<RefTensor> RunningReference(const RefTensor& x, int64_t dim, bool largest) {
  RefTensor values = x, indices(x.shape);
  ForEachLine(x.shape, dim, [&](int64_t length, int64_t first, int64_t step) {
    for (int64_t i = 1, best = 0; i < length; ++i) {
      const double v = x[first + i * step], extreme = x[first + best * step];
      const bool better = largest ? v >= extreme : v <= extreme;
      if (std::isnan(v) || (!std::isnan(extreme) && better)) best = i;
      indices[first + i * step] = static_cast<double>(best);
      values[first + i * step] = x[first + best * step];
    }
  });
  return {values, indices};
}

template <class A>
void AddRunning(Samples& s, A (*along)(int64_t dim)) {
  s.Add("vector", {Distinct({7}, 0.1)}, along(0));
  s.Add("rows", {Distinct({3, 5}, 0.1)}, along(-1));
  s.Add("channels", {Distinct({2, 8, 3}, 0.1)}, along(1));
  s.Add("NaN", {Values({1, 0, NAN, 3, NAN, 2, 2, 5}, {2, 4})}, along(1)).check_gradient = false;
  s.Add("ties", {Values({1, 1, 0, 0, 1, 2})}, along(0)).check_gradient = false;
  s.Add("integers", {Integers({3, 5}, 0, 9)}, along(1));
  s.Add("bool", {Booleans({5})}, along(0));
  s.Add("a scalar", {Normal({})}, along(0));
  s.Add("nothing", {Normal({0, 3})}, along(0));
  s.AddLarge("4M", {Normal({2048, 2048})}, along(1), 4.2e6, 50.3e6);
  s.AddError("dim", {Normal({3})}, along(1), "dim 1");
}

FIRN_REGISTER_SAMPLES(running_extreme) {
  s.Function([](In in, const RunningExtremeAttrs& a) { return RunningExtreme(in[0], a); });
  s.WithoutVectors("cummax and cummin have them");
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const RunningExtremeAttrs& a = attrs.get<RunningExtremeAttrs>();
    return RunningReference(in[0], a.dim, a.largest);
  });
  AddRunning<RunningExtremeAttrs>(s, [](int64_t dim) { return RunningExtremeAttrs{dim, true}; });
  s.Add("smallest", {Distinct({2, 8, 3}, 0.1)}, RunningExtremeAttrs{1, false});
}

template <bool kLargest>
void AddComposite(Samples& s) {
  s.Declare({{.name = "x"}}, {{.name = "values", .same_dtype_as = "x"},
                              {.name = "indices", .dtypes = SetOf(DType::kI64), .constant = true}});
  s.Function([](In in, const DimAttrs& a) {
    return kLargest ? Cummax(in[0], a.dim) : Cummin(in[0], a.dim);
  });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    return RunningReference(in[0], attrs.get<DimAttrs>().dim, kLargest);
  });
  AddRunning<DimAttrs>(s, [](int64_t dim) { return DimAttrs{dim}; });
}

FIRN_REGISTER_COMPOSITE(cummax) { AddComposite<true>(s); }
FIRN_REGISTER_COMPOSITE(cummin) { AddComposite<false>(s); }

FIRN_REGISTER_SAMPLES(logcumsumexp) {
  s.Function([](In in, const LogcumsumexpAttrs& a) { return Logcumsumexp(in[0], a.dim); });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const LogcumsumexpAttrs& a = attrs.get<LogcumsumexpAttrs>();
    RefTensor y(in[0].shape);
    ForEachLine(y.shape, a.dim, [&](int64_t length, int64_t first, int64_t step) {
      for (int64_t i = 0; i < length; ++i) {
        const int64_t from = a.reverse ? i : 0, to = a.reverse ? length - 1 : i;
        double top = -INFINITY, sum = 0;
        for (int64_t j = from; j <= to; ++j) {
          const double v = in[0][first + j * step];
          if (v > top || std::isnan(v)) top = v;
        }
        for (int64_t j = from; j <= to; ++j) sum += std::exp(in[0][first + j * step] - top);
        y[first + i * step] = std::isinf(top) ? top : top + std::log(sum);
      }
    });
    return std::vector<RefTensor>{y};
  });
  s.Add("vector", {Normal({7})}, LogcumsumexpAttrs{});
  s.Add("rows", {Normal({3, 5})}, LogcumsumexpAttrs{-1});
  s.Add("channels", {Normal({2, 8, 3})}, LogcumsumexpAttrs{1});
  s.Add("from the end", {Normal({3, 5})}, LogcumsumexpAttrs{1, true}).check_function = false;
  s.Add("far apart", {Values({-900, 0, 900, 880, -10})}, LogcumsumexpAttrs{});
  s.Add("infinities", {Values({-INFINITY, -INFINITY, 1, INFINITY, 2})}, LogcumsumexpAttrs{})
      .check_gradient = false;
  s.Add("a scalar", {Normal({})}, LogcumsumexpAttrs{});
  s.Add("nothing", {Normal({0, 3})}, LogcumsumexpAttrs{});
  s.AddLarge("4M", {Normal({2048, 2048})}, LogcumsumexpAttrs{1}, 40 * 4.2e6, 33.6e6);
  s.AddError("integers", {Integers({3}, 0, 9)}, LogcumsumexpAttrs{}, "x must be f32");
  s.AddError("dim", {Normal({3})}, LogcumsumexpAttrs{1}, "dim 1");
}

struct DiffAttrs {
  int64_t n = 1, dim = -1;
  template <class V>
  void Visit(V& v) {
    v.Field("n", n);
    v.Field("dim", dim);
  }
};

FIRN_REGISTER_COMPOSITE(diff) {
  s.Declare({{.name = "x", .min_rank = 1},
             {.name = "prepend", .same_dtype_as = "x", .optional = true},
             {.name = "append", .same_dtype_as = "x", .optional = true}});
  s.Function([](In in, const DiffAttrs& a) {
    return Diff(in[0], {.n = a.n, .dim = a.dim, .prepend = in[1], .append = in[2]});
  });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const DiffAttrs& a = attrs.get<DiffAttrs>();
    const bool truth = in[0].dtype == DType::kBool;
    const int d = static_cast<int>(a.dim < 0 ? a.dim + in[0].shape.rank() : a.dim);
    // The lines, joined.
    std::vector<std::vector<double>> lines;
    for (size_t part : {1, 0, 2}) {
      if (part >= in.size() || !in[part].defined()) continue;
      size_t i = 0;
      ForEachLine(in[part].shape, d, [&](int64_t length, int64_t first, int64_t step) {
        if (i == lines.size()) lines.emplace_back();
        for (int64_t j = 0; j < length; ++j) lines[i].push_back(in[part][first + j * step]);
        ++i;
      });
    }
    for (std::vector<double>& line : lines) {
      for (int64_t time = 0; time < a.n && !line.empty(); ++time) {
        for (size_t j = 0; j + 1 < line.size(); ++j) {
          line[j] = truth ? line[j + 1] != line[j] : line[j + 1] - line[j];
        }
        line.pop_back();
      }
    }
    Dims shape = in[0].shape.dims();
    shape[d] = lines.empty() ? 0 : static_cast<int64_t>(lines[0].size());
    RefTensor y(Shape::Trusted(shape));
    size_t i = 0;
    ForEachLine(y.shape, d, [&](int64_t length, int64_t first, int64_t step) {
      for (int64_t j = 0; j < length; ++j) y[first + j * step] = lines[i][static_cast<size_t>(j)];
      ++i;
    });
    return std::vector<RefTensor>{y};
  });
  const Tensor none;
  s.Add("vector", {Normal({7}), none, none}, DiffAttrs{});
  s.Add("twice, of columns", {Normal({4, 3}), none, none}, DiffAttrs{2, 0});
  s.Add("more often than there are", {Normal({2, 3}), none, none}, DiffAttrs{5});
  s.Add("joined", {Normal({2, 3}), Normal({2, 1}, 2), Normal({2, 2}, 3)}, DiffAttrs{});
  s.Add("channels", {Normal({2, 8, 3}), none, none}, DiffAttrs{1, 1});
  s.Add("integers", {Integers({5}, 0, 9), none, none}, DiffAttrs{0});
  s.Add("bool", {Booleans({5}), none, none}, DiffAttrs{});
  s.AddLarge("4M", {Normal({2048, 2048}), none, none}, DiffAttrs{}, 4.2e6, 33.6e6);
  s.AddError("n", {Normal({3}), none, none}, DiffAttrs{-1}, "n must be at least 0, got -1");
  s.AddError("a scalar", {Normal({}), none, none}, DiffAttrs{}, "x is 0-d");
}

}  // namespace
}  // namespace firn::testing
