#include "tensor/ops/one_hot.h"
#include "tensor/samples.h"

namespace firn::testing {

FIRN_REGISTER_SAMPLES(one_hot) {
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const int64_t classes = attrs.get<OneHotAttrs>().num_classes;
    std::vector<int64_t> sizes(in[0].shape.begin(), in[0].shape.end());
    sizes.push_back(classes);
    RefTensor out{Shape(sizes)};
    for (int64_t i = 0; i < in[0].size(); ++i) {
      out[i * classes + static_cast<int64_t>(in[0][i])] = 1;
    }
    return std::vector<RefTensor>{out};
  });
  for (DType d : {DType::kF32, DType::kF64, DType::kF16, DType::kBF16, DType::kI8, DType::kI32,
                  DType::kI64, DType::kU8, DType::kBool}) {
    s.Add(DTypeName(d), {Integers({5}, 0, 4)}, OneHotAttrs{4, d});
  }
  s.Add("matrix", {Integers({2, 3}, 0, 3)}, OneHotAttrs{3});
  s.Add("a scalar", {Indices({2}, {})}, OneHotAttrs{3});
  s.Add("nothing", {Indices({}, {0, 2})}, OneHotAttrs{3});
  s.Add("no classes", {Indices({}, {0})}, OneHotAttrs{0});
  s.AddLarge("1000 classes", {Integers({4096}, 0, 1000)}, OneHotAttrs{1000, DType::kF32}, 0,
             16.4e6);
  s.AddError("too large", {Indices({0, 3})}, OneHotAttrs{3},
             "indices 3 at index 1 is outside [0, 3)");
  s.AddError("negative", {Indices({-1})}, OneHotAttrs{3}, "indices -1 at index 0 is outside");
  s.AddError("floats", {Normal({3})}, OneHotAttrs{3}, "indices must be i32 or i64");
  s.AddError("classes", {Indices({0})}, OneHotAttrs{-1}, "num_classes -1 is negative");
}

}  // namespace firn::testing
