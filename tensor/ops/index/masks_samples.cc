#include <algorithm>
#include <cmath>

#include "firn/tensor/ops/index/masks.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

FIRN_REGISTER_SAMPLES(nonzero) {
  s.Function<Nonzero>();
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef) {
    std::vector<double> found;
    ForEachIndex(in[0].shape, [&](absl::Span<const int64_t> at) {
      if (in[0].at(at) != 0) found.insert(found.end(), at.begin(), at.end());
    });
    const int64_t rank = in[0].shape.rank();
    RefTensor out({static_cast<int64_t>(found.size()) / std::max<int64_t>(rank, 1), rank});
    out.values = found;
    return std::vector<RefTensor>{out};
  });
  s.Add("vector", {Values({0, 1, 0, -2, NAN, -0.0})}, NonzeroAttrs{3});
  s.Add("matrix", {Values({0, 1, 0, 2, 0, 0, 3, 4}, {2, 4})}, NonzeroAttrs{4});
  s.Add("three dims", {Values({1, 0, 0, 0, 0, 0, 0, 2}, {2, 2, 2})}, NonzeroAttrs{2});
  s.Add("none", {Values({0, 0})}, NonzeroAttrs{0});
  s.Add("nothing", {Normal({0, 3})}, NonzeroAttrs{0});
  s.Add("integers", {Indices({0, 5, 0, 1, 1})}, NonzeroAttrs{3});
  s.Add("bool", {Booleans({1})}, NonzeroAttrs{Booleans({1}).Item<int>()});
  s.AddLarge("4M", {Normal({2048, 2048})}, NonzeroAttrs{1 << 22}, 0, 83.9e6);
  s.AddError("count", {Values({0, 1, 2})}, NonzeroAttrs{1},
             "x has 2 elements that are not zero, not 1");
  s.AddError("too many", {Values({0, 1, 2})}, NonzeroAttrs{4}, "cannot have 4 elements");
}

FIRN_REGISTER_COMPOSITE(masked_select) {
  s.Declare({{.name = "x"}, {.name = "mask", .dtypes = kBoolean}});
  s.Function<MaskedSelect>();
  s.captured = false;
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef) {
    Samples all;
    all.Reference([](double x, double mask) { return mask != 0 ? x : NAN; });
    const RefTensor marked = all.reference(in, {})[0];
    RefTensor y;
    for (double v : marked.values) {
      if (!std::isnan(v)) y.values.push_back(v);
    }
    y.shape = Shape({y.size()});
    return std::vector<RefTensor>{y};
  });
  s.Add("vector", {Normal({7}), Booleans({7})});
  s.Add("matrix", {Normal({3, 5}), Booleans({3, 5})});
  s.Add("rows", {Normal({3, 5}), Booleans({3, 1})});
  s.Add("channels", {Normal({2, 8, 3}), Booleans({2, 8, 3})});
  s.Add("none", {Normal({3}), Values({0, 0, 0}).To(DType::kBool)});
  s.Add("integers", {Integers({7}, -9, 9), Booleans({7})});
  s.Add("bool", {Booleans({7}), Booleans({7}, 2)});
  s.AddError("mask", {Normal({3}), Normal({3})}, {}, "mask must be bool, got f64 [3]");
  s.AddError("shapes", {Normal({3}), Booleans({2})}, {}, "shapes [3] and [2] do not broadcast");
}

FIRN_REGISTER_SAMPLES(masked_pack) {
  s.Internal("the adjoint of masked_unpack");
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    RefTensor y(Shape({attrs.get<NonzeroAttrs>().count}));
    for (int64_t i = 0, next = 0; i < in[0].size(); ++i) {
      if (in[1][i] != 0) y[next++] = in[0][i];
    }
    return std::vector<RefTensor>{y};
  });
  s.Add("vector", {Normal({7}), Booleans({7})}, NonzeroAttrs{9});
  s.Add("channels", {Normal({2, 8, 3}), Booleans({2, 8, 3})}, NonzeroAttrs{48});
  s.Add("several pieces", {Normal({700}), Booleans({700})}, NonzeroAttrs{700});
  s.Add("none", {Normal({3}), Values({0, 0, 0}).To(DType::kBool)}, NonzeroAttrs{0});
  s.Add("scalar", {Normal({}), Values({1}, {}).To(DType::kBool)}, NonzeroAttrs{1});
  s.Add("nothing", {Normal({0, 3}), Booleans({0, 3})}, NonzeroAttrs{2});
  s.Add("integers", {Integers({7}, 0, 9), Booleans({7})}, NonzeroAttrs{7});
  s.Add("bool", {Booleans({7}), Booleans({7}, 2)}, NonzeroAttrs{7});
  s.AddLarge("4M", {Normal({2048, 2048}), Booleans({2048, 2048})}, NonzeroAttrs{1 << 22}, 0, 38e6);
  s.AddError("too few", {Normal({3}), Values({1, 0, 1}).To(DType::kBool)}, NonzeroAttrs{1},
             "mask has 2 places, but there are 1 elements for them");
  s.AddError("count", {Normal({3}), Booleans({3})}, NonzeroAttrs{-1}, "-1");
  s.AddError("mask", {Normal({3}), Booleans({2})}, NonzeroAttrs{3},
             "mask [2] must have the shape of x [3]");
}

FIRN_REGISTER_SAMPLES(masked_unpack) {
  s.Internal("masked_scatter of a mask and a source that fit");
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef) {
    RefTensor y = in[0];
    for (int64_t i = 0, next = 0; i < y.size(); ++i) {
      if (in[1][i] != 0) y[i] = in[2][next++];
    }
    return std::vector<RefTensor>{y};
  });
  s.Add("vector", {Normal({7}), Booleans({7}), Normal({9}, 2)});
  s.Add("channels", {Normal({2, 8, 3}), Booleans({2, 8, 3}), Normal({48}, 2)});
  s.Add("several pieces", {Normal({70, 10}), Booleans({70, 10}), Normal({700}, 2)});
  s.Add("exactly", {Normal({4}), Values({0, 1, 1, 0}).To(DType::kBool), Normal({2}, 2)});
  s.Add("none", {Normal({3}), Values({0, 0, 0}).To(DType::kBool), Normal({0})});
  s.Add("scalar", {Normal({}), Values({1}, {}).To(DType::kBool), Normal({1}, 2)});
  s.Add("nothing", {Normal({0, 3}), Booleans({0, 3}), Normal({2})});
  s.Add("integers", {Integers({7}, 0, 9), Booleans({7}), Integers({7}, 0, 9, 2)});
  s.Add("bool", {Booleans({7}), Booleans({7}, 2), Booleans({7}, 3)});
  s.AddLarge("4M", {Normal({2048, 2048}), Booleans({2048, 2048}), Normal({1 << 22}, 2)}, {}, 0,
             71e6);
  s.AddError("too few", {Normal({3}), Values({1, 0, 1}).To(DType::kBool), Normal({1})}, {},
             "mask has 2 places, but there are 1 elements for them");
  s.AddError("mask", {Normal({3}), Booleans({2}), Normal({3})}, {},
             "mask [2] must have the shape of x [3]");
}

FIRN_REGISTER_COMPOSITE(masked_scatter) {
  s.Declare({{.name = "x"},
             {.name = "mask", .dtypes = kBoolean},
             {.name = "source", .same_dtype_as = "x"}});
  s.Function<MaskedScatter>();
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef) {
    RefTensor y = in[0];
    int64_t next = 0, i = 0;
    ForEachIndex(y.shape, [&](absl::Span<const int64_t> at) {
      std::vector<int64_t> in_mask;
      const int lead = y.shape.rank() - in[1].shape.rank();
      for (int d = 0; d < in[1].shape.rank(); ++d) {
        in_mask.push_back(in[1].shape[d] == 1 ? 0 : at[static_cast<size_t>(d + lead)]);
      }
      if (in[1].at(in_mask) != 0) y[i] = in[2][next++];
      ++i;
    });
    return std::vector<RefTensor>{y};
  });
  s.Add("vector", {Normal({7}), Booleans({7}), Normal({9}, 2)});
  s.Add("rows", {Normal({3, 4}), Booleans({3, 1}), Normal({3, 5}, 2)});
  s.Add("channels", {Normal({2, 8, 3}), Booleans({2, 8, 3}), Normal({2, 8, 3}, 2)});
  s.Add("none", {Normal({3}), Values({0, 0, 0}).To(DType::kBool), Normal({0})});
  s.Add("integers", {Integers({7}, 0, 9), Booleans({7}), Integers({7}, 0, 9, 2)});
  s.Add("bool", {Booleans({7}), Booleans({7}, 2), Booleans({7}, 3)});
  s.AddLarge("4M", {Normal({2048, 2048}), Booleans({2048, 2048}), Normal({2048, 2048}, 2)}, {}, 0,
             71e6);
  s.AddError("too few", {Normal({3}), Values({1, 0, 1}).To(DType::kBool), Normal({1})}, {},
             "mask has 2 places, but there are 1 elements for them");
  s.AddError("mask", {Normal({3}), Booleans({2}), Normal({3})}, {},
             "mask must be bool and broadcast to x [3], got bool [2]");
}

}  // namespace
}  // namespace firn::testing
