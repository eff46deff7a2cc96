#include "tensor/ops/pad.h"
#include "tensor/ops/pad_grad.h"
#include "tensor/samples.h"

namespace firn::testing {

FIRN_REGISTER_SAMPLES(pad_grad) {
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

}  // namespace firn::testing
