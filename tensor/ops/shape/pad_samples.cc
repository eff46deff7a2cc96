#include "firn/tensor/ops/shape/pad.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

// Where position i of a dimension of n elements comes from, -1: from nowhere.
int64_t Source(int64_t i, int64_t n, PadMode mode) {
  if (i >= 0 && i < n) return i;
  switch (mode) {
    case PadMode::kConstant:
      return -1;
    case PadMode::kReflect: {  // 0 1 2 3 2 1 | 0 1 2 3 2 1 | ...
      const int64_t period = 2 * n - 2;
      const int64_t at = ((i % period) + period) % period;
      return at < n ? at : period - at;
    }
    case PadMode::kSymmetric: {  // 0 1 2 3 3 2 1 0 | ...
      const int64_t at = ((i % (2 * n)) + 2 * n) % (2 * n);
      return at < n ? at : 2 * n - 1 - at;
    }
    case PadMode::kReplicate:
      return i < 0 ? 0 : n - 1;
    case PadMode::kCircular:
      return ((i % n) + n) % n;
  }
  return -1;
}

FIRN_REGISTER_SAMPLES(pad) {
  s.Function([](In in, const PadAttrs& a) {
    return Pad(in[0], a.pad, {.mode = a.mode, .value = a.value});
  });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const PadAttrs& a = attrs.get<PadAttrs>();
    const RefTensor& x = in[0];
    const size_t rank = static_cast<size_t>(x.shape.rank());
    std::vector<int64_t> sizes(x.shape.begin(), x.shape.end()), before(rank, 0);
    for (size_t i = 0; i < a.pad.size() / 2; ++i) {
      sizes[rank - 1 - i] += a.pad[2 * i] + a.pad[2 * i + 1];
      before[rank - 1 - i] = a.pad[2 * i];
    }
    RefTensor out{Shape(sizes)};
    ForEachIndex(out.shape, [&](absl::Span<const int64_t> at) {
      std::vector<int64_t> from(rank);
      bool inside = true;
      for (size_t d = 0; d < rank; ++d) {
        from[d] = Source(at[d] - before[d], x.shape[static_cast<int>(d)], a.mode);
        inside &= from[d] >= 0;
      }
      const double value = x.dtype == DType::kBool ? a.value.value() != 0 : a.value.value();
      out.at(at) = inside ? x.at(from) : value;
    });
    return std::vector<RefTensor>{out};
  });
  for (PadMode mode : {PadMode::kConstant, PadMode::kReflect, PadMode::kReplicate,
                       PadMode::kCircular, PadMode::kSymmetric}) {
    const std::string m = "mode " + std::to_string(static_cast<int>(mode)) + ": ";
    s.Add(m + "vector", {Normal({5})}, PadAttrs{{2, 3}, mode, 1.5});
    s.Add(m + "an image", {Normal({2, 8, 3, 4})}, PadAttrs{{1, 2, 2, 0}, mode});
    s.Add(m + "three dims", {Normal({2, 3, 3})}, PadAttrs{{0, 1, 2, 2, 1, 0}, mode, -1});
    s.Add(m + "cut off", {Normal({5, 6})}, PadAttrs{{-2, 1, 1, -2}, mode});
    s.Add(m + "integers", {Integers({4}, -9, 9)}, PadAttrs{{1, 2}, mode, 7});
    s.Add(m + "bool", {Booleans({4})}, PadAttrs{{1, 2}, mode, 1});
    s.Add(m + "no pairs", {Normal({2, 3})}, PadAttrs{{}, mode});
    s.Add(m + "all cut off", {Normal({4})}, PadAttrs{{-1, -3}, mode});
  }
  s.Add("nothing to something", {Normal({2, 0})}, PadAttrs{{1, 1}, PadMode::kConstant, 3});
  s.Add("a scalar", {Normal({})}, PadAttrs{});
  s.Add("far", {Normal({2})}, PadAttrs{{7, 9}, PadMode::kReplicate});
  s.AddLarge("32x64 images", {Normal({32, 64, 32, 32})}, PadAttrs{{1, 1, 1, 1}}, 0, 17.9e6);
  s.AddLarge("32x64 images, reflected", {Normal({32, 64, 32, 32})},
             PadAttrs{{1, 1, 1, 1}, PadMode::kReflect}, 0, 17.9e6);
  s.AddError("odd", {Normal({3})}, PadAttrs{{1}},
             "1 numbers are no pairs for the dimensions of [3]");
  s.AddError("too many", {Normal({3})}, PadAttrs{{1, 1, 1, 1}}, "4 numbers are no pairs");
  s.AddError("negative size", {Normal({3})}, PadAttrs{{-2, -2}}, "leaves a negative size for [3]");
  s.AddError("reflect", {Normal({3})}, PadAttrs{{3, 0}, PadMode::kReflect},
             "padding (3, 0) of dim 0 is more than the 2 elements");
  s.AddError("circular", {Normal({2, 3})}, PadAttrs{{0, 0, 0, 3}, PadMode::kCircular},
             "padding (0, 3) of dim 0 is more than the 2 elements");
  s.AddError("replicate nothing", {Normal({0})}, PadAttrs{{1, 0}, PadMode::kReplicate},
             "dim 0 of [0] has no element to pad with");
}

FIRN_REGISTER_SAMPLES(pad_grad) {
  s.Internal("the gradient of pad");
  // The adjoint of a linear map, column by column: dx_i = <pad(e_i), dy>, e_i counted from 1 so
  // that one padding of the numbers 1, 2, ... tells where everything came from.
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    PadAttrs a = attrs.get<PadAttrs>();
    a.value = 0;
    std::vector<int64_t> sizes(in[0].shape.begin(), in[0].shape.end());
    for (size_t i = 0; i < a.pad.size() / 2; ++i) {
      sizes[sizes.size() - 1 - i] -= a.pad[2 * i] + a.pad[2 * i + 1];
    }
    RefTensor numbers{Shape(sizes)}, dx{Shape(sizes)};
    numbers.dtype = DType::kF64;
    for (int64_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<double>(i + 1);
    const RefTensor from =
        SamplesOf("pad")->reference(absl::MakeConstSpan(&numbers, 1), AttrsRef(a))[0];
    for (int64_t i = 0; i < in[0].size(); ++i) {
      if (from[i] != 0) dx[static_cast<int64_t>(from[i]) - 1] += in[0][i];
    }
    return std::vector<RefTensor>{dx};
  });
  for (PadMode mode : {PadMode::kConstant, PadMode::kReflect, PadMode::kReplicate,
                       PadMode::kCircular, PadMode::kSymmetric}) {
    const std::string m = "mode " + std::to_string(static_cast<int>(mode)) + ": ";
    s.Add(m + "vector", {Normal({10})}, PadAttrs{{2, 3}, mode});
    s.Add(m + "an image", {Normal({2, 8, 5, 7})}, PadAttrs{{1, 2, 2, 0}, mode});
    s.Add(m + "three dims", {Normal({3, 7, 4})}, PadAttrs{{0, 1, 2, 2, 1, 0}, mode});
    s.Add(m + "cut off", {Normal({4, 5})}, PadAttrs{{-2, 1, 1, -2}, mode});
    s.Add(m + "no pairs", {Normal({2, 3})}, PadAttrs{{}, mode});
  }
  s.Add("to nothing", {Normal({2, 2})}, PadAttrs{{1, 1}});
  s.Add("a scalar", {Normal({})}, PadAttrs{});
  s.Add("far", {Normal({18})}, PadAttrs{{7, 9}, PadMode::kReplicate});
  s.AddLarge("32x64 images, reflected", {Normal({32, 64, 34, 34})},
             PadAttrs{{1, 1, 1, 1}, PadMode::kReflect}, 2.4e6, 17.9e6);
  s.AddError("negative size", {Normal({3})}, PadAttrs{{2, 2}}, "leaves a negative size for [3]");
  s.AddError("integers", {Integers({3}, 0, 3)}, PadAttrs{{1, 1}}, "dy must be f32, f64");
}

}  // namespace
}  // namespace firn::testing
