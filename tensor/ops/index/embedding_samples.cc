#include "firn/tensor/ops/index/embedding.h"
#include "firn/tensor/ops/index/select.h"
#include "firn/tensor/testing/golden_samples.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

FIRN_REGISTER_SAMPLES(embedding) {
  s.Function([](In in, const EmbeddingAttrs& a) {
    EmbeddingOptions options{.scale_grad_by_freq = a.scale_grad_by_freq};
    if (a.padding_idx != kNoIndex) options.padding_idx = a.padding_idx;
    return Embedding(in[0], in[1], options);
  });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef) {
    const RefTensor &indices = in[0], &weight = in[1];
    std::vector<int64_t> sizes(indices.shape.begin(), indices.shape.end());
    sizes.insert(sizes.end(), weight.shape.begin() + 1, weight.shape.end());
    RefTensor out{Shape(sizes)};
    const int64_t row = weight.shape[0] == 0 ? 0 : weight.size() / weight.shape[0];
    for (int64_t i = 0; i < out.size(); ++i) {
      out[i] = weight[static_cast<int64_t>(indices[i / row]) * row + i % row];
    }
    return std::vector<RefTensor>{out};
  });
  s.Add("a sentence", {Indices({3, 1, 1, 4}), Normal({5, 3})}, EmbeddingAttrs{});
  s.Add("sentences", {Integers({2, 4}, 0, 6), Normal({6, 8})}, EmbeddingAttrs{});
  s.Add("one word", {Indices({2}, {}), Normal({5, 3})}, EmbeddingAttrs{});
  s.Add("numbers", {Indices({2, 0}), Normal({5})}, EmbeddingAttrs{});
  s.Add("no words", {Indices({}), Normal({5, 3})}, EmbeddingAttrs{});
  s.Add("integers", {Indices({1, 0}), Integers({2, 3}, -9, 9)}, EmbeddingAttrs{});
  s.Add("bool", {Indices({1, 0}), Booleans({2, 3})}, EmbeddingAttrs{});
  // The gradient is not the derivative: one row gets no gradient.
  s.Add("padding", {Indices({3, 0, 2, 0}), Normal({4, 3})}, EmbeddingAttrs{0}).check_gradient =
      false;
  // Here it is not the derivative either: each row's is divided by its frequency.
  s.Add("by frequency", {Indices({3, 0, 3, 2}), Normal({4, 3})},
        EmbeddingAttrs{.scale_grad_by_freq = true})
      .check_gradient = false;
  s.AddLarge("16K words of 256", {Integers({64, 256}, 0, 10000), Normal({10000, 256})},
             EmbeddingAttrs{}, 0, 33.6e6);
  s.AddError("index", {Indices({0, 5}), Normal({5, 3})}, EmbeddingAttrs{},
             "indices 5 at index 1 is outside [0, 5)");
  s.AddError("negative", {Indices({-1}), Normal({5, 3})}, EmbeddingAttrs{},
             "indices -1 at index 0 is outside [0, 5)");
  s.AddError("padding", {Indices({0}), Normal({5, 3})}, EmbeddingAttrs{5},
             "padding_idx 5 is outside [0, 5)");
  s.AddError("a scalar", {Indices({0}), Normal({})}, EmbeddingAttrs{}, "weight must have 1 to 8");
}

FIRN_REGISTER_SAMPLES(one_hot) {
  s.Function([](In in, const OneHotAttrs& a) { return OneHot(in[0], a.num_classes, a.dtype); });
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

FIRN_REGISTER_GOLDEN(one_hot) { return OneHot(args["indices"], args.Int("num_classes", -1)); }

}  // namespace
}  // namespace firn::testing
