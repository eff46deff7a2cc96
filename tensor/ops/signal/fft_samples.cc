#include <cmath>
#include <complex>

#include "firn/tensor/ops/signal/fft.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

using Line = std::vector<std::complex<double>>;

// By the definition.
Line TransformOf(const Line& x, bool inverse, double factor) {
  const auto n = static_cast<int64_t>(x.size());
  Line y(x.size());
  for (int64_t k = 0; k < n; ++k) {
    for (int64_t t = 0; t < n; ++t) {
      const double angle = 2 * M_PI * static_cast<double>(k * t % n) / static_cast<double>(n);
      y[static_cast<size_t>(k)] +=
          x[static_cast<size_t>(t)] * std::polar(factor, inverse ? angle : -angle);
    }
  }
  return y;
}

double FactorOf(int64_t n, FftNorm norm, bool inverse) {
  if (norm == FftNorm::kOrtho) return 1 / std::sqrt(static_cast<double>(n));
  return inverse == (norm == FftNorm::kBackward) ? 1 / static_cast<double>(n) : 1.0;
}

// Calls f(line) for every line of x along `dim`, whose result is a line of y. Parts: numbers of a
// coefficient in memory, 1 for real ones.
template <class F>
RefTensor AlongLines(const RefTensor& x, int x_parts, int dim, const Shape& to, int y_parts,
                     const F& f) {
  RefTensor y(to);
  const int rank = x.shape.rank() - (x_parts == 2 ? 1 : 0);
  int64_t outer = 1, inner = 1;
  for (int d = 0; d < rank; ++d) {
    if (d < dim) outer *= x.shape[d];
    if (d > dim) inner *= x.shape[d];
  }
  const int64_t n = x.shape[dim], m = to[dim];
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t i = 0; i < inner; ++i) {
      Line line;
      for (int64_t t = 0; t < n; ++t) {
        const int64_t at = ((o * n + t) * inner + i) * x_parts;
        line.emplace_back(x[at], x_parts == 2 ? x[at + 1] : 0);
      }
      const Line result = f(line);
      for (int64_t t = 0; t < m; ++t) {
        const int64_t at = ((o * m + t) * inner + i) * y_parts;
        y[at] = result[static_cast<size_t>(t)].real();
        if (y_parts == 2) y[at + 1] = result[static_cast<size_t>(t)].imag();
      }
    }
  }
  return y;
}

template <bool kInverse>
std::vector<RefTensor> ReferenceFft(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const FftAttrs& a = attrs.get<FftAttrs>();
  const int rank = in[0].shape.rank() - 1;
  const int dim = static_cast<int>(a.dim < 0 ? a.dim + rank : a.dim);
  const double factor = FactorOf(in[0].shape[dim], a.norm, kInverse);
  return {AlongLines(in[0], 2, dim, in[0].shape, 2,
                     [&](const Line& x) { return TransformOf(x, kInverse, factor); })};
}

void AddComplex(Samples& s) {
  s.atol_f32 = 1e-5;  // sums that cancel
  s.Add("a line", {Normal({8, 2})}, FftAttrs{});
  s.Add("rows", {Normal({3, 6, 2})}, FftAttrs{});
  s.Add("columns", {Normal({5, 3, 2})}, FftAttrs{0});
  s.Add("middle, ortho", {Normal({2, 4, 3, 2})}, FftAttrs{-2, FftNorm::kOrtho});
  s.Add("forward", {Normal({2, 5, 2})}, FftAttrs{-1, FftNorm::kForward});
  s.Add("one number", {Normal({1, 2})}, FftAttrs{});
  s.Add("a prime", {Normal({7, 2})}, FftAttrs{});
  s.Add("a large prime", {Normal({2, 53, 2})}, FftAttrs{}).check_gradient = false;
  s.Add("all factors", {Normal({2 * 4 * 3 * 5 * 7, 2})}, FftAttrs{}).check_gradient = false;
  s.Add("more lines than lanes", {Normal({37, 22, 2})}, FftAttrs{}).check_gradient = false;
  s.Add("lines made of lanes", {Normal({2, 768, 2})}, FftAttrs{}).check_gradient = false;
  s.Add("a prime made of lanes", {Normal({2, 211, 2})}, FftAttrs{}).check_gradient = false;
  s.Add("columns side by side", {Normal({2, 5, 40, 2})}, FftAttrs{1}).check_gradient = false;
  s.Add("no lines", {Normal({0, 4, 2})}, FftAttrs{});
  s.AddLarge("512 lines of 1024", {Normal({512, 1024, 2})}, FftAttrs{}, 5.0 * 512 * 1024 * 10, 0);
  s.AddLarge("512 lines of 1009", {Normal({512, 1009, 2})}, FftAttrs{}, 5.0 * 512 * 1009 * 10, 0);
  s.AddError("parts", {Normal({4, 3})}, FftAttrs{},
             "the last dimension of x must be real and imaginary part, got [4, 3]");
  s.AddError("dim", {Normal({4, 2})}, FftAttrs{1}, "dim 1 is outside the 1 dimensions");
  s.AddError("no numbers", {Normal({3, 0, 2})}, FftAttrs{},
             "dimension 1 of x [3, 0, 2] has no numbers to transform");
  s.AddError("half", {Normal({4, 2}).To(DType::kF16)}, FftAttrs{}, "x must be f32 or f64");
}

FIRN_REGISTER_SAMPLES(fft) {
  s.Function([](In in, const FftAttrs& a) { return Fft(in[0], a.dim, a.norm); });
  s.Reference(ReferenceFft<false>);
  AddComplex(s);
}

FIRN_REGISTER_SAMPLES(ifft) {
  s.Function([](In in, const FftAttrs& a) { return Ifft(in[0], a.dim, a.norm); });
  s.Reference(ReferenceFft<true>);
  AddComplex(s);
}

FIRN_REGISTER_SAMPLES(rfft) {
  s.Function([](In in, const FftAttrs& a) { return Rfft(in[0], a.dim, a.norm); });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const FftAttrs& a = attrs.get<FftAttrs>();
    const Shape& x = in[0].shape;
    const int dim = static_cast<int>(a.dim < 0 ? a.dim + x.rank() : a.dim);
    std::vector<int64_t> to(x.begin(), x.end());
    to[static_cast<size_t>(dim)] = x[dim] / 2 + 1;
    to.push_back(2);
    const double factor = FactorOf(x[dim], a.norm, false);
    return std::vector<RefTensor>{AlongLines(in[0], 1, dim, Shape(to), 2, [&](const Line& line) {
      return TransformOf(line, false, factor);
    })};
  });
  s.atol_f32 = 1e-5;  // sums that cancel
  s.Add("a line", {Normal({8})}, FftAttrs{});
  s.Add("odd rows", {Normal({3, 5})}, FftAttrs{});
  s.Add("columns, ortho", {Normal({6, 3})}, FftAttrs{0, FftNorm::kOrtho});
  s.Add("odd columns, forward", {Normal({2, 3, 2})}, FftAttrs{1, FftNorm::kForward});
  s.Add("one number", {Normal({1})}, FftAttrs{});
  s.Add("two numbers", {Normal({2})}, FftAttrs{});
  s.Add("a large prime", {Normal({2, 53})}, FftAttrs{}).check_gradient = false;
  s.Add("twice a large prime", {Normal({2, 106})}, FftAttrs{}).check_gradient = false;
  s.Add("more lines than lanes", {Normal({37, 46})}, FftAttrs{}).check_gradient = false;
  s.Add("more odd lines than lanes", {Normal({37, 21})}, FftAttrs{}).check_gradient = false;
  s.Add("lines made of lanes", {Normal({2, 1536})}, FftAttrs{}).check_gradient = false;
  s.Add("columns side by side", {Normal({2, 6, 40})}, FftAttrs{1}).check_gradient = false;
  s.Add("odd columns side by side", {Normal({5, 40})}, FftAttrs{0}).check_gradient = false;
  s.Add("no lines", {Normal({0, 4})}, FftAttrs{});
  s.AddLarge("512 lines of 1024", {Normal({512, 1024})}, FftAttrs{}, 2.5 * 512 * 1024 * 10, 0);
  s.AddError("dim", {Normal({4, 2})}, FftAttrs{2}, "dim 2 is outside the 2 dimensions");
  s.AddError("scalar", {Normal({})}, FftAttrs{}, "x must have 1 to 8 dimensions");
  s.AddError("no numbers", {Normal({3, 0})}, FftAttrs{},
             "dimension 1 of x [3, 0] has no numbers to transform");
  s.AddError("integers", {Integers({4}, 0, 5)}, FftAttrs{}, "x must be f32 or f64");
}

FIRN_REGISTER_SAMPLES(irfft) {
  s.Function([](In in, const IrfftAttrs& a) { return Irfft(in[0], a.size, a.dim, a.norm); });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const IrfftAttrs& a = attrs.get<IrfftAttrs>();
    const Shape& y = in[0].shape;
    const int dim = static_cast<int>(a.dim < 0 ? a.dim + y.rank() - 1 : a.dim);
    std::vector<int64_t> to(y.begin(), y.end() - 1);
    to[static_cast<size_t>(dim)] = a.size;
    const double factor = FactorOf(a.size, a.norm, true);
    return std::vector<RefTensor>{AlongLines(in[0], 2, dim, Shape(to), 1, [&](const Line& half) {
      Line all(static_cast<size_t>(a.size));
      for (size_t k = 0; k < half.size() && k <= all.size() / 2; ++k) {
        const bool own = 2 * k % all.size() == 0;
        all[k] = own ? half[k].real() : half[k];
        if (!own) all[all.size() - k] = std::conj(half[k]);
      }
      return TransformOf(all, true, factor);
    })};
  });
  s.atol_f32 = 1e-5;  // sums that cancel
  s.Add("a line", {Normal({5, 2})}, IrfftAttrs{8});
  s.Add("odd rows", {Normal({3, 3, 2})}, IrfftAttrs{5});
  s.Add("columns, ortho", {Normal({4, 3, 2})}, IrfftAttrs{6, 0, FftNorm::kOrtho});
  s.Add("odd columns, forward", {Normal({2, 2, 2, 2})}, IrfftAttrs{3, 1, FftNorm::kForward});
  s.Add("too many coefficients", {Normal({2, 6, 2})}, IrfftAttrs{5});
  s.Add("too few coefficients", {Normal({2, 2, 2, 2})}, IrfftAttrs{8, -2});
  s.Add("one number", {Normal({1, 2})}, IrfftAttrs{1});
  s.Add("two numbers", {Normal({2, 2})}, IrfftAttrs{2});
  s.Add("a large prime", {Normal({2, 27, 2})}, IrfftAttrs{53}).check_gradient = false;
  s.Add("more lines than lanes", {Normal({37, 24, 2})}, IrfftAttrs{46}).check_gradient = false;
  s.Add("more odd lines than lanes", {Normal({37, 11, 2})}, IrfftAttrs{21}).check_gradient = false;
  s.Add("lines made of lanes", {Normal({2, 769, 2})}, IrfftAttrs{1536}).check_gradient = false;
  s.Add("columns side by side", {Normal({2, 4, 40, 2})}, IrfftAttrs{6, 1}).check_gradient = false;
  s.Add("odd columns side by side", {Normal({3, 40, 2})}, IrfftAttrs{5, 0}).check_gradient = false;
  s.AddLarge("512 lines of 1024", {Normal({512, 513, 2})}, IrfftAttrs{1024}, 2.5 * 512 * 1024 * 10,
             0);
  s.AddError("size", {Normal({4, 2})}, IrfftAttrs{0}, "size is 0 (want 1 to");
  s.AddError("parts", {Normal({4, 3})}, IrfftAttrs{4}, "must be real and imaginary part");
}

}  // namespace
}  // namespace firn::testing
