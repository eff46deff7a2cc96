#include <algorithm>
#include <cmath>
#include <limits>

#include "firn/tensor/ops/attention/multi_head_attention.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/testing/golden_samples.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

// Inputs by position.
enum : size_t {
  kQ,
  kK,
  kV,
  kInW,
  kQw,
  kKw,
  kVw,
  kInB,
  kBiasK,
  kBiasV,
  kOutW,
  kOutB,
  kPadding,
  kMask
};

struct MultiHeadAttrs {
  int64_t num_heads = 2;
  bool batch_first = false, is_causal = false, add_zero_attn = false;
  bool need_weights = true, average_weights = true;
  template <class V>
  void Visit(V& v) {
    v.Field("num_heads", num_heads);
    v.Field("batch_first", batch_first);
    v.Field("is_causal", is_causal);
    v.Field("add_zero_attn", add_zero_attn);
    v.Field("need_weights", need_weights);
    v.Field("average_weights", average_weights);
  }
};

std::vector<Tensor> Called(In in, const MultiHeadAttrs& a) {
  const MultiHeadAttentionResult r = MultiHeadAttention(in[kQ], in[kK], in[kV], a.num_heads,
                                                        {.in_proj_weight = in[kInW],
                                                         .q_proj_weight = in[kQw],
                                                         .k_proj_weight = in[kKw],
                                                         .v_proj_weight = in[kVw],
                                                         .in_proj_bias = in[kInB],
                                                         .bias_k = in[kBiasK],
                                                         .bias_v = in[kBiasV],
                                                         .out_proj_weight = in[kOutW],
                                                         .out_proj_bias = in[kOutB]},
                                                        {.batch_first = a.batch_first,
                                                         .key_padding_mask = in[kPadding],
                                                         .attn_mask = in[kMask],
                                                         .is_causal = a.is_causal,
                                                         .add_zero_attn = a.add_zero_attn,
                                                         .need_weights = a.need_weights,
                                                         .average_weights = a.average_weights});
  // A composite has the same number of results with every option.
  return {r.output, a.need_weights ? r.weights : r.output};
}

using Matrix = std::vector<std::vector<double>>;

// Rows of `x` for one member of the batch, times W^T + b, with rows [part embed, ...) of both.
Matrix Project(const RefTensor& x, int64_t n, bool batch_first, const RefTensor& w, int64_t first,
               const RefTensor& b, int64_t b_first, int64_t embed) {
  const int64_t rows = x.shape[batch_first ? 1 : 0], size = x.shape[2];
  Matrix y(static_cast<size_t>(rows), std::vector<double>(static_cast<size_t>(embed)));
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t e = 0; e < embed; ++e) {
      double sum = b.defined() ? b[b_first + e] : 0;
      for (int64_t c = 0; c < size; ++c) {
        const double v = batch_first ? x.at({n, i, c}) : x.at({i, n, c});
        sum += v * w[(first + e) * size + c];
      }
      y[static_cast<size_t>(i)][static_cast<size_t>(e)] = sum;
    }
  }
  return y;
}
void Append(Matrix* m, const RefTensor& more, bool zeros, int64_t embed) {
  if (more.defined()) m->push_back(more.values);
  if (zeros) m->push_back(std::vector<double>(static_cast<size_t>(embed)));
}

double Masked(const RefTensor& mask, double score, absl::Span<const int64_t> at) {
  if (mask.dtype != DType::kBool) return score + mask.at(at);
  return mask.at(at) != 0 ? -std::numeric_limits<double>::infinity() : score;
}

std::vector<RefTensor> Reference(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const MultiHeadAttrs& a = attrs.get<MultiHeadAttrs>();
  const bool first = a.batch_first, joint = in[kInW].defined();
  const Shape& q = in[kQ].shape;
  const int64_t embed = q[2], count = q[first ? 0 : 1], length = q[first ? 1 : 0];
  const int64_t heads = a.num_heads, width = embed / heads;
  const int64_t source = in[kK].shape[first ? 1 : 0];
  const int64_t all = source + (in[kBiasK].defined() ? 1 : 0) + (a.add_zero_attn ? 1 : 0);
  RefTensor output(q);
  RefTensor weights(a.average_weights ? Shape({count, length, all})
                                      : Shape({count, heads, length, all}));
  for (int64_t n = 0; n < count; ++n) {
    const auto project = [&](size_t x, size_t own, int64_t part) {
      return Project(in[x], n, first, joint ? in[kInW] : in[own], joint ? part * embed : 0,
                     in[kInB], part * embed, embed);
    };
    Matrix qs = project(kQ, kQw, 0), ks = project(kK, kKw, 1), vs = project(kV, kVw, 2);
    Append(&ks, in[kBiasK], a.add_zero_attn, embed);
    Append(&vs, in[kBiasV], a.add_zero_attn, embed);
    for (int64_t i = 0; i < length; ++i) {
      std::vector<double> joined(static_cast<size_t>(embed));
      for (int64_t h = 0; h < heads; ++h) {
        std::vector<double> w(static_cast<size_t>(all));
        double top = -std::numeric_limits<double>::infinity(), sum = 0;
        for (int64_t j = 0; j < all; ++j) {
          double s = 0;
          for (int64_t c = h * width; c < (h + 1) * width; ++c) {
            s += qs[static_cast<size_t>(i)][static_cast<size_t>(c)] *
                 ks[static_cast<size_t>(j)][static_cast<size_t>(c)];
          }
          s /= std::sqrt(static_cast<double>(width));
          if (j < source && a.is_causal && j > i) s = -std::numeric_limits<double>::infinity();
          if (j < source && in[kPadding].defined()) s = Masked(in[kPadding], s, {n, j});
          if (j < source && in[kMask].defined()) {
            s = in[kMask].shape.rank() == 2 ? Masked(in[kMask], s, {i, j})
                                            : Masked(in[kMask], s, {n * heads + h, i, j});
          }
          w[static_cast<size_t>(j)] = s;
          top = std::max(top, s);
        }
        for (double& s : w) sum += s = std::isinf(top) ? 0 : std::exp(s - top);
        for (int64_t j = 0; j < all; ++j) {
          const double weight = sum == 0 ? 0 : w[static_cast<size_t>(j)] / sum;
          if (a.average_weights) {
            weights.at({n, i, j}) += weight / static_cast<double>(heads);
          } else {
            weights.at({n, h, i, j}) = weight;
          }
          for (int64_t c = h * width; c < (h + 1) * width; ++c) {
            joined[static_cast<size_t>(c)] +=
                weight * vs[static_cast<size_t>(j)][static_cast<size_t>(c)];
          }
        }
      }
      for (int64_t e = 0; e < embed; ++e) {
        double sum = in[kOutB].defined() ? in[kOutB][e] : 0;
        for (int64_t c = 0; c < embed; ++c) {
          sum += joined[static_cast<size_t>(c)] * in[kOutW][e * embed + c];
        }
        (first ? output.at({n, i, e}) : output.at({i, n, e})) = sum;
      }
    }
  }
  return {output, a.need_weights ? weights : output};
}

ArgDecl Given(std::string_view name, bool optional = false) {
  return {.name = name, .same_dtype_as = "q", .optional = optional};
}
ArgDecl MaskNamed(std::string_view name) {
  return {.name = name, .dtypes = kFloating | SetOf(DType::kBool), .optional = true};
}

// Scores of moderate size, so that their exponentials keep the digits of half types.
Tensor Small(const Shape& shape, uint64_t seed) { return Uniform(shape, -1.0, 1.0, seed); }

FIRN_REGISTER_COMPOSITE(multi_head_attention) {
  s.Declare({{.name = "q", .dtypes = kFloating},
             Given("k"),
             Given("v"),
             Given("in_proj_weight", true),
             Given("q_proj_weight", true),
             Given("k_proj_weight", true),
             Given("v_proj_weight", true),
             Given("in_proj_bias", true),
             Given("bias_k", true),
             Given("bias_v", true),
             Given("out_proj_weight"),
             Given("out_proj_bias", true),
             MaskNamed("key_padding_mask"),
             MaskNamed("attn_mask")},
            {{.name = "output", .same_dtype_as = "q"}, {.name = "weights", .same_dtype_as = "q"}});
  s.Function(Called);
  s.Reference(Reference);
  const Tensor none;
  const Tensor q = Small({3, 2, 4}, 1), k = Small({5, 2, 4}, 2), v = Small({5, 2, 4}, 3);
  const Tensor w = Small({12, 4}, 4), out = Small({4, 4}, 5);
  const Tensor bias = Small({12}, 6), out_bias = Small({4}, 7);
  const auto with = [&](Tensor padding, Tensor mask) {
    return std::vector<Tensor>{q,    k,    v,    w,   none,     none,    none,
                               bias, none, none, out, out_bias, padding, mask};
  };
  const auto flags = [](std::vector<int64_t> values, const Shape& shape) {
    return Cast(Indices(std::move(values), shape), DType::kBool);
  };
  const Tensor padded = flags({0, 0, 0, 0, 1, 0, 1, 0, 1, 1}, {2, 5});
  const Tensor hidden = flags({0, 1, 0, 0, 0, 1, 1, 1, 1, 1, 0, 0, 0, 1, 0}, {3, 5});
  s.Add("plain", with(none, none), MultiHeadAttrs{});
  s.Add("each head", with(none, none), MultiHeadAttrs{.average_weights = false});
  s.Add("without weights", with(none, none), MultiHeadAttrs{.need_weights = false});
  s.Add("masks", with(padded, hidden), MultiHeadAttrs{});
  s.Add("masks, without weights", with(padded, hidden), MultiHeadAttrs{.need_weights = false});
  s.Add("added masks", with(Small({2, 5}, 8), Small({4, 3, 5}, 9)),
        MultiHeadAttrs{.is_causal = true});
  s.Add("one of each", with(padded, Small({3, 5}, 9)), MultiHeadAttrs{.need_weights = false});
  s.Add("zeros", with(padded, none), MultiHeadAttrs{.is_causal = true, .add_zero_attn = true});
  s.Add("biases and zeros",
        {q, k, v, w, none, none, none, none, Small({1, 1, 4}, 8), Small({1, 1, 4}, 9), out, none,
         none, Small({3, 5}, 10)},
        MultiHeadAttrs{.is_causal = true, .add_zero_attn = true, .need_weights = false});
  s.Add("sizes of their own, batch first",
        {Small({2, 3, 4}, 1), Small({2, 5, 3}, 2), Small({2, 5, 6}, 3), none, Small({4, 4}, 4),
         Small({4, 3}, 5), Small({4, 6}, 6), bias, none, none, out, out_bias, none, none},
        MultiHeadAttrs{.batch_first = true});
  const Tensor tokens = Small({128, 16, 256}, 1);
  s.AddLarge("128x16x256",
             {tokens, tokens, tokens, Uniform({768, 256}, -0.06, 0.06, 4), none, none, none,
              Small({768}, 6), none, none, Uniform({256, 256}, -0.06, 0.06, 5), Small({256}, 7),
              none, none},
             MultiHeadAttrs{.num_heads = 8}, 2.0 * 128 * 16 * 256 * (1024 + 256), 0);
  s.AddError("heads", with(none, none), MultiHeadAttrs{.num_heads = 3},
             "num_heads 3 must divide the 4 features of q [3, 2, 4]");
  s.AddError("padding", with(flags({0, 1}, {2, 1}), none), MultiHeadAttrs{},
             "key_padding_mask [2, 1], want [2, 5]");
  s.AddError("mask", with(none, flags({0, 1}, {2, 1})), MultiHeadAttrs{},
             "attn_mask [2, 1], want [3, 5] or [4, 3, 5]");
  s.AddError("batch", with(none, none), MultiHeadAttrs{.batch_first = true},
             "do not fit: want [n,");
}

FIRN_REGISTER_GOLDEN(multi_head_attention) {
  const MultiHeadAttentionResult r =
      MultiHeadAttention(args["q"], args["k"], args["v"], args.Int("num_heads", 1),
                         {.in_proj_weight = args["in_proj_weight"],
                          .q_proj_weight = args["q_proj_weight"],
                          .k_proj_weight = args["k_proj_weight"],
                          .v_proj_weight = args["v_proj_weight"],
                          .in_proj_bias = args["in_proj_bias"],
                          .bias_k = args["bias_k"],
                          .bias_v = args["bias_v"],
                          .out_proj_weight = args["out_proj_weight"],
                          .out_proj_bias = args["out_proj_bias"]},
                         {.key_padding_mask = args["key_padding_mask"],
                          .attn_mask = args["attn_mask"],
                          .add_zero_attn = args.Flag("add_zero_attn", false),
                          .average_weights = args.Flag("average_weights", true)});
  return {{"output", r.output}, {"weights", r.weights}};
}

}  // namespace
}  // namespace firn::testing
