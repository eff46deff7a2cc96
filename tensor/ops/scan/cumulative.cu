// cumsum, and cumprod with products for sums: a team walks along a line with everybody's few
// elements at a time. Few long lines are cut into parts; then the parts' sums come first, and the
// walk along a part begins with the sum of those before it.
//
// linear_scan: a thread walks along each line.

#include <type_traits>

#include "tensor/kernels/cuda/lines.cuh"
#include "tensor/op.h"
#include "tensor/ops/scan/cumulative.h"

namespace firn::cumulative_cuda {
namespace {

// A sum of many floats loses digits in float.
template <class T>
using SumOf = std::conditional_t<
    std::is_integral_v<T>, int64_t,
    std::conditional_t<std::is_same_v<T, float> || std::is_same_v<T, double>, double, float>>;

struct Cut {
  int64_t parts = 1, part;

  explicit Cut(const Lines& l) : part(l.length) {
    constexpr int64_t kPart = 8192, kTeams = 512;
    const int64_t lines = std::max<int64_t>(1, l.outer * l.inner);
    parts = std::max<int64_t>(1, std::min(l.length / kPart, kTeams / lines));
    if (l.length > 0) part = (l.length - 1) / parts + 1;
  }
};

template <bool kProducts, class S>
FIRN_HOST_DEVICE S Join(S a, S b) {
  return kProducts ? a * b : a + b;
}

// The sum of element i's predecessors among some consecutive ones, and of all of these.
template <bool kProducts, class S>
struct Prefix {
  S before, total;
  FIRN_HOST_DEVICE friend Prefix operator+(const Prefix& a, const Prefix& b) {
    return {Join<kProducts>(a.total, b.before), Join<kProducts>(a.total, b.total)};
  }
};

template <bool kProducts, class T, class Out>
struct CumulativeBody {
  using S = SumOf<T>;
  static constexpr S kNeutral = kProducts ? 1 : 0;
  static constexpr int kItems = 4;

  const T* x;
  Out* y;
  LineShape shape;
  Cut cut;
  S* sums;       // [lines, parts]
  bool summing;  // the parts' sums, else the result
  bool exclusive, reverse;

  FIRN_HOST_DEVICE void operator()(int64_t task) const { (*this)(cuda::HostTeam(), task); }
  template <class Team>
  FIRN_HOST_DEVICE void operator()(const Team& team, int64_t task) const {
    const int64_t line = task / cut.parts, part = task % cut.parts;
    const int64_t base = shape.offset(line), begin = part * cut.part;
    const int64_t end = begin + cut.part < shape.length ? begin + cut.part : shape.length;
    const auto join = [](S a, S b) { return Join<kProducts>(a, b); };
    const auto plus = [](const auto& a, const auto& b) { return a + b; };
    S carry = kNeutral;
    if (summing) {
      for (int64_t i = begin + team.rank(); i < end; i += team.size()) {
        carry = join(carry, static_cast<S>(x[base + Place(i)]));
      }
      carry = team.Reduce(carry, join);
      if (team.rank() == 0) sums[task] = carry;
      return;
    }
    for (int64_t p = team.rank(); p < part; p += team.size()) {
      carry = join(carry, sums[task - part + p]);
    }
    carry = team.Reduce(carry, join);
    for (int64_t at = begin; at < end; at += team.size() * kItems) {
      const int64_t first = at + team.rank() * kItems;
      S v[kItems], total = kNeutral;
#pragma unroll
      for (int j = 0; j < kItems; ++j) {
        v[j] = first + j < end ? static_cast<S>(x[base + Place(first + j)]) : kNeutral;
        total = join(total, v[j]);
      }
      using P = Prefix<kProducts, S>;
      const P scanned = team.Scan(P{kNeutral, total}, plus);
      S sum = join(carry, scanned.before);
#pragma unroll
      for (int j = 0; j < kItems; ++j) {
        const S before = sum;
        sum = join(sum, v[j]);
        if (first + j < end) {
          y[base + Place(first + j)] = static_cast<Out>(exclusive ? before : sum);
        }
      }
      carry = join(carry, team.FromLast(scanned.total));
    }
  }

 private:
  // Where the i-th element in order stands.
  FIRN_HOST_DEVICE int64_t Place(int64_t i) const {
    return (reverse ? shape.length - 1 - i : i) * shape.stride;
  }
};

size_t Workspace(const KernelQuery& q) {
  const Lines lines = LinesAlong(q.in(0).shape, q.attrs<CumsumAttrs>().dim);
  const Cut cut(lines);
  return cut.parts == 1
             ? 0
             : static_cast<size_t>(lines.outer * lines.inner * cut.parts) * sizeof(double);
}

template <bool kProducts>
absl::Status Run(KernelContext& k) {
  const CumsumAttrs& a = k.attrs<CumsumAttrs>();
  const Lines lines = LinesAlong(k.in_spec(0).shape, a.dim);
  const Cut cut(lines);
  return VisitDType(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    using Out = std::conditional_t<std::is_integral_v<T>, int64_t, T>;
    CumulativeBody<kProducts, T, Out> body = {
        k.in<T>(0), k.out<Out>(), LineShape(lines), cut, k.workspace<SumOf<T>>(),
        false,      a.exclusive,  a.reverse};
    if (cut.parts == 1) return cuda::ForEachLineAlong(k, lines, body);
    const int64_t tasks = lines.outer * lines.inner * cut.parts;
    body.summing = true;
    FIRN_RETURN_IF_ERROR(cuda::ForEachLine(k, tasks, cut.part, body));
    body.summing = false;
    return cuda::ForEachLine(k, tasks, cut.part, body);
  });
}

template <class T>
struct LinearScanBody {
  const T *a, *b;
  T* y;
  LineShape shape;
  bool reverse, previous;

  FIRN_HOST_DEVICE void operator()(int64_t line) const {
    const int64_t base = shape.offset(line);
    SumOf<T> sum = 0;
    int64_t last = 0;
    for (int64_t i = 0; i < shape.length; ++i) {
      const int64_t at = base + (reverse ? shape.length - 1 - i : i) * shape.stride;
      const SumOf<T> before = i == 0 ? 0 : static_cast<SumOf<T>>(a[previous ? last : at]) * sum;
      sum = static_cast<SumOf<T>>(b[at]) + before;
      y[at] = static_cast<T>(sum);
      last = at;
    }
  }
};

absl::Status RunLinearScan(KernelContext& k) {
  const LinearScanAttrs& s = k.attrs<LinearScanAttrs>();
  const Lines lines = LinesAlong(k.in_spec(0).shape, s.dim);
  return VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    const LinearScanBody<T> body = {k.in<T>(0),       k.in<T>(1), k.out<T>(),
                                    LineShape(lines), s.reverse,  s.previous};
    return cuda::ForEach(k, lines.outer * lines.inner, body);
  });
}

}  // namespace

FIRN_REGISTER_KERNELS(cumsum) {
  return {{.name = "loop", .device = DeviceType::kCuda, .workspace = Workspace, .run = Run<false>}};
}

FIRN_REGISTER_KERNELS(cumprod) {
  return {{.name = "loop", .device = DeviceType::kCuda, .workspace = Workspace, .run = Run<true>}};
}

FIRN_REGISTER_KERNELS(linear_scan) {
  return {{.name = "loop", .device = DeviceType::kCuda, .run = RunLinearScan}};
}

}  // namespace firn::cumulative_cuda
