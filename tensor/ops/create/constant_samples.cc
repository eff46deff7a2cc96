#include <cmath>

#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

FIRN_REGISTER_SAMPLES(full) {
  s.Function([](In, const FullAttrs& a) {
    return Full(Shape(a.shape.span()), a.value, a.dtype, {a.device_type, a.device_index});
  });
  s.Reference([](absl::Span<const RefTensor>, AttrsRef attrs) {
    const FullAttrs& a = attrs.get<FullAttrs>();
    const double given = a.value.value();
    const double value = a.dtype == DType::kBool ? given != 0
                         : IsFloating(a.dtype)   ? given
                                                 : std::trunc(given);
    return std::vector<RefTensor>{RefTensor(Shape(a.shape.span()), value)};
  });
  for (DType d : {DType::kF32, DType::kF64, DType::kF16, DType::kBF16, DType::kI8, DType::kI32,
                  DType::kI64, DType::kU8, DType::kBool}) {
    s.Add(DTypeName(d), {}, FullAttrs{Shape({2, 3}).dims(), 2.7, d});
  }
  s.Add("a scalar", {}, FullAttrs{Dims(0), -1});
  s.Add("nothing", {}, FullAttrs{Shape({0, 3}).dims(), 1});
  s.AddLarge("4M", {}, FullAttrs{Shape({2048, 2048}).dims(), 1}, 0, 16.8e6);
}

struct EyeAttrs {
  int64_t n = 0, m = 0, offset = 0;
  template <class V>
  void Visit(V& v) {
    v.Field("n", n);
    v.Field("m", m);
    v.Field("offset", offset);
  }
};

FIRN_REGISTER_COMPOSITE(eye) {
  s.Declare({}, {{.name = "y", .dtypes = SetOf(kDefaultFloat), .constant = true}});
  s.Function([](In, const EyeAttrs& a) { return Eye(a.n, a.m, a.offset); });
  s.Reference([](absl::Span<const RefTensor>, AttrsRef attrs) {
    const EyeAttrs& a = attrs.get<EyeAttrs>();
    RefTensor y({a.n, a.m});
    ForEachIndex(y.shape, [&](absl::Span<const int64_t> at) {
      y.at(at) = at[1] - at[0] == a.offset ? 1 : 0;
    });
    return std::vector<RefTensor>{y};
  });
  s.Add("square", {}, EyeAttrs{3, 3});
  s.Add("above", {}, EyeAttrs{3, 5, 2});
  s.Add("below", {}, EyeAttrs{4, 3, -1});
  s.Add("outside", {}, EyeAttrs{2, 2, 7});
  s.Add("no rows", {}, EyeAttrs{0, 3});
  s.AddError("rows", {}, EyeAttrs{-1, 3}, "-1");
}

struct FullLikeAttrs {
  Number value = 0;
  template <class V>
  void Visit(V& v) {
    value.Visit(v, "value", "value_rest");
  }
};

FIRN_REGISTER_COMPOSITE(full_like) {
  s.Declare({{.name = "x"}}, {{.name = "y", .same_dtype_as = "x", .constant = true}});
  s.Function([](In in, const FullLikeAttrs& a) {
    return a.value == 0   ? ZerosLike(in[0])
           : a.value == 1 ? OnesLike(in[0])
                          : FullLike(in[0], a.value);
  });
  s.WithoutVectors("as full");
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const double value = attrs.get<FullLikeAttrs>().value.value();
    return std::vector<RefTensor>{
        RefTensor(in[0].shape, in[0].dtype == DType::kBool ? value != 0 : value)};
  });
  for (double value : {0, 1, 3}) {
    s.Add("a matrix", {Normal({3, 5})}, FullLikeAttrs{value});
    s.Add("channels", {Normal({2, 8, 3, 2})}, FullLikeAttrs{value});
    s.Add("a scalar", {Normal({})}, FullLikeAttrs{value});
    s.Add("nothing", {Normal({0, 3})}, FullLikeAttrs{value});
    s.Add("integers", {Integers({3}, 0, 9)}, FullLikeAttrs{value});
    s.Add("bool", {Booleans({3})}, FullLikeAttrs{value});
  }
  s.AddError("undefined", {Tensor()}, FullLikeAttrs{}, "undefined tensor");
}

}  // namespace
}  // namespace firn::testing
