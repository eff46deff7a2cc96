// Attention in the form that cuDNN's engines recognise: not one operation, but the graph that
// NVIDIA documents as fused attention
// (https://docs.nvidia.com/deeplearning/cudnn/developer/graph-api.html). With scores S = scale q
// k^T, hidden ones -inf:
//
//   logsumexp = max S + log sum exp(S - max S)      y = exp(S - max S) / sum exp(S - max S) v
//
// and, with W = exp(S - logsumexp):
//
//   dv = W^T dy    dS = scale W (dy v^T - sum dy y)    dk = dS^T q    dq = dS k
//
// Between operations all values are f32, except for the factors of products, which have the
// tensors' type.

#include "firn/tensor/kernels/cuda/dnn_attention_graph.h"

#include <array>
#include <utility>
#include <vector>

namespace firn::cuda {
namespace {

using Id = DnnAttentionId;
using Four = DnnAttentionCall::Strides;

Four RowMajor(const Four& s) { return {s[1] * s[2] * s[3], s[2] * s[3], s[3], 1}; }
// The strides of a dense [batch, rows, heads, columns], in the order of `s`.
Four ByRows(const Four& s) { return {s[1] * s[2] * s[3], s[3], s[1] * s[3], 1}; }
Four Turned(const Four& s) { return {s[0], s[1], s[3], s[2]}; }

// Builds a graph. The first error is kept for Finish.
class Builder {
 public:
  Builder(const DnnApi& api, cudnnDataType_t type, std::deque<Descriptor>* parts)
      : api_(api), type_(type), parts_(*parts) {}

  // A tensor of the caller's, of the call's type or, without `half`, of f32.
  const Descriptor& Given(int64_t id, const Four& sizes, const Four& strides, bool half = true) {
    Descriptor& d = Tensor(half ? type_ : CUDNN_DATA_FLOAT, id, sizes, strides);
    return Done(d);
  }
  const Descriptor& Number(int64_t id) {
    Descriptor& d = Tensor(CUDNN_DATA_FLOAT, id, {1, 1, 1, 1}, {1, 1, 1, 1});
    d.Set(CUDNN_ATTR_TENSOR_IS_BY_VALUE, true);
    return Done(d);
  }
  // A tensor that only passes between operations.
  const Descriptor& Between(const Four& sizes, cudnnDataType_t type = CUDNN_DATA_FLOAT) {
    return Between(sizes, RowMajor(sizes), type);
  }
  const Descriptor& Between(const Four& sizes, const Four& strides, cudnnDataType_t type) {
    Descriptor& d = Tensor(type, next_between_++, sizes, strides);
    d.Set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, true);
    return Done(d);
  }

  const Descriptor& Multiply(const Descriptor& a, const Descriptor& b, const Descriptor& to) {
    Descriptor& product = Made(CUDNN_BACKEND_MATMUL_DESCRIPTOR);
    product.Set(CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_DATA_FLOAT);
    Done(product);
    Descriptor& op = Operation(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
    op.Set(CUDNN_ATTR_OPERATION_MATMUL_DESC, product)
        .Set(CUDNN_ATTR_OPERATION_MATMUL_ADESC, a)
        .Set(CUDNN_ATTR_OPERATION_MATMUL_BDESC, b)
        .Set(CUDNN_ATTR_OPERATION_MATMUL_CDESC, to);
    Done(op);
    return to;
  }
  // to = mode(x), or mode(x, y), or for a choice: x where `chosen`, otherwise y.
  const Descriptor& Each(cudnnPointwiseMode_t mode, const Descriptor& x, const Descriptor* y,
                         const Descriptor& to, const Descriptor* chosen = nullptr,
                         cudnnDataType_t precision = CUDNN_DATA_FLOAT, int64_t axis = -1) {
    Descriptor& pointwise = Made(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
    pointwise.Set(CUDNN_ATTR_POINTWISE_MODE, mode).Set(CUDNN_ATTR_POINTWISE_MATH_PREC, precision);
    if (axis >= 0) pointwise.Set(CUDNN_ATTR_POINTWISE_AXIS, axis);
    Done(pointwise);
    Descriptor& op = Operation(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    op.Set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, pointwise)
        .Set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x)
        .Set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, to);
    if (y != nullptr) op.Set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, *y);
    if (chosen != nullptr) op.Set(CUDNN_ATTR_OPERATION_POINTWISE_TDESC, *chosen);
    Done(op);
    return to;
  }
  // Reduces over the dimensions in which `to` has one element.
  const Descriptor& Reduce(cudnnReduceTensorOp_t how, const Descriptor& x, const Descriptor& to) {
    Descriptor& reduction = Made(CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
    reduction.Set(CUDNN_ATTR_REDUCTION_OPERATOR, how)
        .Set(CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_DATA_FLOAT);
    Done(reduction);
    Descriptor& op = Operation(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR);
    op.Set(CUDNN_ATTR_OPERATION_REDUCTION_DESC, reduction)
        .Set(CUDNN_ATTR_OPERATION_REDUCTION_XDESC, x)
        .Set(CUDNN_ATTR_OPERATION_REDUCTION_YDESC, to);
    Done(op);
    return to;
  }
  // x with other sizes and strides: here always a transposed matrix.
  const Descriptor& Reshape(const Descriptor& x, const Descriptor& to) {
    Descriptor& op = Operation(CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR);
    op.Set(CUDNN_ATTR_OPERATION_RESHAPE_XDESC, x).Set(CUDNN_ATTR_OPERATION_RESHAPE_YDESC, to);
    Done(op);
    return to;
  }

  absl::StatusOr<Descriptor> Finish(cudnnHandle_t handle) {
    FIRN_RETURN_IF_ERROR(status_);
    Descriptor graph(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, api_);
    if (handle != nullptr) graph.Set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, handle);
    FIRN_RETURN_IF_ERROR(graph.Set(CUDNN_ATTR_OPERATIONGRAPH_OPS, operations_).Finalize());
    for (Descriptor& op : operations_) parts_.push_back(std::move(op));
    return graph;
  }
  cudnnDataType_t type() const { return type_; }

 private:
  Descriptor& Made(cudnnBackendDescriptorType_t type) { return parts_.emplace_back(type, api_); }
  Descriptor& Operation(cudnnBackendDescriptorType_t type) {
    return operations_.emplace_back(type, api_);
  }
  const Descriptor& Done(Descriptor& d) {
    if (status_.ok()) status_ = d.Finalize();
    return d;
  }
  Descriptor& Tensor(cudnnDataType_t type, int64_t id, const Four& sizes, const Four& strides) {
    Descriptor& d = Made(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    d.Set(CUDNN_ATTR_TENSOR_DATA_TYPE, type)
        .Set(CUDNN_ATTR_TENSOR_DIMENSIONS, absl::MakeConstSpan(sizes))
        .Set(CUDNN_ATTR_TENSOR_STRIDES, absl::MakeConstSpan(strides))
        .Set(CUDNN_ATTR_TENSOR_UNIQUE_ID, id)
        .Set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, int64_t{kDnnAttentionAlignment});
    return d;
  }

  const DnnApi& api_;
  const cudnnDataType_t type_;
  std::deque<Descriptor>& parts_;  // whose elements stay where they are
  std::vector<Descriptor> operations_;
  int64_t next_between_ = 100;
  absl::Status status_;
};

// The sizes of what a call has, in the order [batch, heads, rows, columns].
struct Sizes {
  explicit Sizes(const DnnAttentionCall& c)
      : q{c.batch, c.heads, c.queries, c.width},
        k{c.batch, c.kv_heads, c.keys, c.width},
        v{c.batch, c.kv_heads, c.keys, c.value_width},
        y{c.batch, c.heads, c.queries, c.value_width},
        scores{c.batch, c.heads, c.queries, c.keys},
        rows{c.batch, c.heads, c.queries, 1} {}
  Four q, k, v, y, scores, rows;
};

// scale q k^T. Engines get k^T, which is k with its strides swapped.
const Descriptor& Scores(const Sizes& s, const Descriptor& q, const Descriptor& kt,
                         const Descriptor& scale, Builder& g) {
  const Descriptor& product = g.Multiply(q, kt, g.Between(s.scores));
  return g.Each(CUDNN_POINTWISE_MUL, product, &scale, g.Between(s.scores));
}

// Hides the scores of keys behind their query.
const Descriptor& Hide(const Sizes& s, const Descriptor& scores, Builder& g) {
  constexpr cudnnDataType_t kIndex = CUDNN_DATA_INT32, kBool = CUDNN_DATA_BOOLEAN;
  const auto index = [&](int64_t axis) -> const Descriptor& {
    return g.Each(CUDNN_POINTWISE_GEN_INDEX, scores, nullptr, g.Between(s.scores, kIndex), nullptr,
                  kIndex, axis);
  };
  const Descriptor &query = index(2), &key = index(3);
  const Descriptor& seen =
      g.Each(CUDNN_POINTWISE_CMP_GE, query, &key, g.Between(s.scores, kBool), nullptr, kBool);
  return g.Each(CUDNN_POINTWISE_BINARY_SELECT, scores, &g.Number(Id::kHidden), g.Between(s.scores),
                &seen);
}

void AddForward(const DnnAttentionCall& c, Builder& g) {
  const Sizes s(c);
  const Descriptor& q = g.Given(Id::kQ, s.q, c.q);
  const Descriptor& kt = g.Given(Id::kK, Turned(s.k), Turned(c.k));
  const Descriptor& v = g.Given(Id::kV, s.v, c.v);
  const Descriptor& y = g.Given(Id::kY, s.y, ByRows(s.y));
  const Descriptor& logsumexp = g.Given(Id::kLogsumexp, s.rows, RowMajor(s.rows), false);
  const Descriptor* scores = &Scores(s, q, kt, g.Number(Id::kScale), g);
  if (c.causal) scores = &Hide(s, *scores, g);
  const Descriptor& top = g.Reduce(CUDNN_REDUCE_TENSOR_MAX, *scores, g.Between(s.rows));
  const Descriptor& below = g.Each(CUDNN_POINTWISE_SUB, *scores, &top, g.Between(s.scores));
  const Descriptor& powers = g.Each(CUDNN_POINTWISE_EXP, below, nullptr, g.Between(s.scores));
  const Descriptor& total = g.Reduce(CUDNN_REDUCE_TENSOR_ADD, powers, g.Between(s.rows));
  const Descriptor& log = g.Each(CUDNN_POINTWISE_LOG, total, nullptr, g.Between(s.rows));
  g.Each(CUDNN_POINTWISE_ADD, top, &log, logsumexp);
  const Descriptor& weights =
      g.Each(CUDNN_POINTWISE_DIV, powers, &total, g.Between(s.scores, g.type()));
  g.Multiply(weights, v, y);
}

// to = x^T z, with x [batch, heads, queries, keys], summed over heads that share their keys.
void AddTurnedProduct(const DnnAttentionCall& c, const Descriptor& x, const Descriptor& z,
                      int64_t columns, const Descriptor& to, Builder& g) {
  const Four turned = {c.batch, c.heads, c.keys, c.queries};
  const Descriptor& xt =
      g.Reshape(x, g.Between(turned, Turned(RowMajor(Turned(turned))), g.type()));
  if (c.heads == c.kv_heads) {
    g.Multiply(xt, z, to);
    return;
  }
  const Descriptor& of_heads =
      g.Multiply(xt, z, g.Between({c.batch, c.heads, c.keys, columns}, g.type()));
  g.Reduce(CUDNN_REDUCE_TENSOR_ADD, of_heads, to);
}

void AddBackward(const DnnAttentionCall& c, Builder& g) {
  const Sizes s(c);
  const Descriptor& q = g.Given(Id::kQ, s.q, c.q);
  const Descriptor& kt = g.Given(Id::kK, Turned(s.k), Turned(c.k));
  const Descriptor& vt = g.Given(Id::kV, Turned(s.v), Turned(c.v));
  const Descriptor& y = g.Given(Id::kY, s.y, c.y);
  const Descriptor& dy = g.Given(Id::kDy, s.y, c.dy);
  const Descriptor& logsumexp = g.Given(Id::kLogsumexp, s.rows, RowMajor(s.rows), false);
  const Descriptor& row_sums = g.Given(Id::kRowSums, s.rows, RowMajor(s.rows), false);
  const Descriptor& scale = g.Number(Id::kScale);

  const Descriptor& dy_y = g.Each(CUDNN_POINTWISE_MUL, dy, &y, g.Between(s.y));
  const Descriptor& sums = g.Reduce(CUDNN_REDUCE_TENSOR_ADD, dy_y, g.Between(s.rows));
  // Engines look for a factor here, which a dropout would need.
  g.Each(CUDNN_POINTWISE_MUL, sums, &g.Number(Id::kOne), row_sums);

  const Descriptor* logs =
      &g.Each(CUDNN_POINTWISE_SUB, Scores(s, q, kt, scale, g), &logsumexp, g.Between(s.scores));
  if (c.causal) logs = &Hide(s, *logs, g);
  const Descriptor& weights = g.Each(CUDNN_POINTWISE_EXP, *logs, nullptr, g.Between(s.scores));
  AddTurnedProduct(c, weights, dy, c.value_width, g.Given(Id::kDv, s.v, ByRows(s.v)), g);

  const Descriptor& dweights = g.Multiply(dy, vt, g.Between(s.scores));
  const Descriptor& rest = g.Each(CUDNN_POINTWISE_SUB, dweights, &row_sums, g.Between(s.scores));
  const Descriptor& slopes = g.Each(CUDNN_POINTWISE_MUL, rest, &weights, g.Between(s.scores));
  const Descriptor& dscores = g.Each(CUDNN_POINTWISE_MUL, slopes, &scale, g.Between(s.scores));
  AddTurnedProduct(c, dscores, q, c.width, g.Given(Id::kDk, s.k, ByRows(s.k)), g);

  const Descriptor& k = g.Reshape(kt, g.Between(s.k, c.k, g.type()));
  g.Multiply(dscores, k, g.Given(Id::kDq, s.q, ByRows(s.q)));
}

}  // namespace

absl::StatusOr<Descriptor> AttentionGraph(const DnnApi& api, cudnnHandle_t handle,
                                          const DnnAttentionCall& call,
                                          std::deque<Descriptor>* parts) {
  Builder builder(api, call.dtype == DType::kF16 ? CUDNN_DATA_HALF : CUDNN_DATA_BFLOAT16, parts);
  if (call.grad) {
    AddBackward(call, builder);
  } else {
    AddForward(call, builder);
  }
  return builder.Finish(handle);
}

}  // namespace firn::cuda
