// cumsum, and cumprod with products for sums: a team walks along a line, a few elements of each
// member at a time. Few long lines are cut into parts; then the parts' sums come first, and the
// walk along a part begins with the sum of those before it.
//
// linear_scan: steps s -> m s + c are joined to one as sums are, so that a team walks in the same
// way. Where a joined step is infinite or NaN, one member goes through its elements one by one:
// they may have begun at 0. Where a product of factors falls below all doubles, what came before it
// is lost, though factors that follow might have brought it back.

#include <type_traits>

#include "firn/tensor/kernels/cuda/lines.cuh"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/scan/cumulative.h"

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

// A sum, or a product.
template <bool kProducts, class S>
struct Joined {
  S value;
  FIRN_HOST_DEVICE friend Joined operator+(Joined a, Joined b) {
    return {kProducts ? a.value * b.value : a.value + b.value};
  }
};

// The sum of the elements before element i among some consecutive ones, and of all of these.
template <class S>
struct Prefix {
  S before, total;
  FIRN_HOST_DEVICE friend Prefix operator+(const Prefix& a, const Prefix& b) {
    return {a.total + b.before, a.total + b.total};
  }
};

template <bool kProducts, class T, class Out>
struct CumulativeBody {
  using S = Joined<kProducts, SumOf<T>>;
  static constexpr S kNeutral = {kProducts ? 1 : 0};
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
    const auto plus = [](const auto& a, const auto& b) { return a + b; };
    S carry = kNeutral;
    if (summing) {
      for (int64_t i = begin + team.rank(); i < end; i += team.size()) {
        carry = carry + At(base + Place(i));
      }
      carry = team.Reduce(carry, plus);
      if (team.rank() == 0) sums[task] = carry;
      return;
    }
    for (int64_t p = team.rank(); p < part; p += team.size()) {
      carry = carry + sums[task - part + p];
    }
    carry = team.Reduce(carry, plus);
    for (int64_t at = begin; at < end; at += team.size() * kItems) {
      const int64_t first = at + team.rank() * kItems;
      S v[kItems], total = kNeutral;
#pragma unroll
      for (int j = 0; j < kItems; ++j) {
        v[j] = first + j < end ? At(base + Place(first + j)) : kNeutral;
        total = total + v[j];
      }
      const auto scanned = team.Scan(Prefix<S>{kNeutral, total}, plus);
      S sum = carry + scanned.before;
#pragma unroll
      for (int j = 0; j < kItems; ++j) {
        const S before = sum;
        sum = sum + v[j];
        if (first + j < end) {
          y[base + Place(first + j)] = static_cast<Out>((exclusive ? before : sum).value);
        }
      }
      carry = carry + team.FromLast(scanned.total);
    }
  }

 private:
  FIRN_HOST_DEVICE S At(int64_t place) const { return {static_cast<SumOf<T>>(x[place])}; }
  // The place of the i-th element in order.
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
        k.in<T>(0), k.out<Out>(), LineShape(lines), cut, k.workspace<Joined<kProducts, SumOf<T>>>(),
        false,      a.exclusive,  a.reverse};
    if (cut.parts == 1) return cuda::ForEachLineAlong(k, lines, body);
    const int64_t tasks = lines.outer * lines.inner * cut.parts;
    body.summing = true;
    FIRN_RETURN_IF_ERROR(cuda::ForEachLine(k, tasks, cut.part, body));
    body.summing = false;
    return cuda::ForEachLine(k, tasks, cut.part, body);
  });
}

// s -> m s + c.
template <class S>
struct LinearStep {
  S m, c;
  FIRN_HOST_DEVICE S operator()(S s) const { return m * s + c; }
  FIRN_HOST_DEVICE bool finite() const { return (m - m) + (c - c) == 0; }
  // First a, then b.
  FIRN_HOST_DEVICE friend LinearStep operator+(const LinearStep& a, const LinearStep& b) {
    return {a.m * b.m, b(a.c)};
  }
};

template <class T>
struct LinearScanBody {
  using S = double;  // of any type: products of factors leave floats soon
  using Step = LinearStep<S>;
  static constexpr int kItems = 4;

  const T *a, *b;
  T* y;
  LineShape shape;
  bool reverse, previous;

  FIRN_HOST_DEVICE void operator()(int64_t line) const {
    Walk(shape.offset(line), 0, shape.length, 0);
  }
  template <class Team>
  FIRN_HOST_DEVICE void operator()(const Team& team, int64_t line) const {
    const int64_t base = shape.offset(line), chunk = team.size() * kItems;
    const auto plus = [](const auto& p, const auto& q) { return p + q; };
    S carry = 0;
    for (int64_t at = 0; at < shape.length; at += chunk) {
      const int64_t first = at + team.rank() * kItems;
      Step steps[kItems], all = {1, 0};
#pragma unroll
      for (int j = 0; j < kItems; ++j) {
        steps[j] = first + j < shape.length ? StepAt(base, first + j) : Step{1, 0};
        all = all + steps[j];
      }
      const auto scanned = team.Scan(Prefix<Step>{{1, 0}, all}, plus);
      const bool sound = scanned.total.finite() && carry - carry == 0;
      if (!team.Reduce(sound, [](bool p, bool q) { return p && q; })) {
        if (team.rank() == 0) {
          const int64_t end = at + chunk < shape.length ? at + chunk : shape.length;
          carry = Walk(base, at, end, carry);
        }
        carry = team.Reduce(carry, [](S p, S) { return p; });  // the first member's
        continue;
      }
      S sum = scanned.before(carry);
#pragma unroll
      for (int j = 0; j < kItems; ++j) {
        sum = steps[j](sum);
        if (first + j < shape.length) y[Place(base, first + j)] = static_cast<T>(sum);
      }
      carry = team.FromLast(scanned.total)(carry);
    }
  }

 private:
  FIRN_HOST_DEVICE int64_t Place(int64_t base, int64_t i) const {
    return base + (reverse ? shape.length - 1 - i : i) * shape.stride;
  }
  // The first result is b alone.
  FIRN_HOST_DEVICE Step StepAt(int64_t base, int64_t i) const {
    const S m = i == 0 ? 0 : static_cast<S>(a[Place(base, previous ? i - 1 : i)]);
    return {m, static_cast<S>(b[Place(base, i)])};
  }
  FIRN_HOST_DEVICE S Walk(int64_t base, int64_t begin, int64_t end, S carry) const {
    for (int64_t i = begin; i < end; ++i) {
      carry = StepAt(base, i)(carry);
      y[Place(base, i)] = static_cast<T>(carry);
    }
    return carry;
  }
};

absl::Status RunLinearScan(KernelContext& k) {
  const LinearScanAttrs& s = k.attrs<LinearScanAttrs>();
  const Lines lines = LinesAlong(k.in_spec(0).shape, s.dim);
  return VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    const LinearScanBody<T> body = {k.in<T>(0),       k.in<T>(1), k.out<T>(),
                                    LineShape(lines), s.reverse,  s.previous};
    return cuda::ForEachLineAlong(k, lines, body);
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
