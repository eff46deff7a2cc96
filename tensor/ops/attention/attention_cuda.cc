// scaled_dot_product_attention and its gradient by cuDNN: for half types, without a mask or under
// the causal one, and without a dropout, whose random words would not be Firn's. Its logarithms are
// those of Firn's own kernels, so that either kernel of the gradient works with either of the
// result.

#include "firn/tensor/ops/attention/attention_cuda.h"

#include <memory>

#include "firn/device/environment.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/kernels/cuda/dnn_attention.h"
#include "firn/tensor/kernels/cuda/workspace.h"
#include "firn/tensor/ops/attention/attention_body.h"

namespace firn {
namespace {

using In = AttentionIn;
using GradIn = AttentionGradIn;
using cuda::DnnAttentionCall;
using cuda::DnnAttentionFound;
using cuda::DnnAttentionTensors;

// A decoder calls with one query, or a few, and a number of keys that grows from call to call; each
// number would need a plan.
constexpr int64_t kFewestQueries = 16;

// The answer stays the same throughout a process.
bool SwitchedOff() {
  static const bool off = !env::CudnnAttention();
  return off;
}

// A dimension of one element has any stride: that of a dense tensor here, so that calls which
// differ in nothing else have one plan.
DnnAttentionCall::Strides StridesIn(const AttentionStrides& s, int64_t batch, int64_t heads,
                                    int64_t rows, int64_t columns) {
  return {batch == 1 ? heads * rows * columns : s.batch, heads == 1 ? rows * columns : s.head,
          rows == 1 ? columns : s.row, columns == 1 ? 1 : s.column};
}

absl::StatusOr<DnnAttentionCall> CallOf(const KernelQuery& query, bool grad) {
  FIRN_RETURN_IF(query.has(In::kMask) || query.has(In::kPosition),
                 Unimplemented("takes no mask and no dropout"));
  for (int i = 0; i < query.num_inputs(); ++i) {
    FIRN_RETURN_IF(query.has(i) && query.in(i).layout.blocked(),
                   Unimplemented("takes no blocked layouts"));
  }
  const AttentionProblem p = AttentionOf(query);
  FIRN_RETURN_IF(p.queries < kFewestQueries,
                 Unimplemented("takes ", kFewestQueries, " queries or more"));
  DnnAttentionCall c{.grad = grad,
                     .causal = p.causal,
                     .dtype = query.in(In::kQ).dtype,
                     .batch = p.batch,
                     .heads = p.heads,
                     .kv_heads = p.kv_heads,
                     .queries = p.queries,
                     .keys = p.keys,
                     .width = p.width,
                     .value_width = p.value_width,
                     .q = StridesIn(p.q, p.batch, p.heads, p.queries, p.width),
                     .k = StridesIn(p.k, p.batch, p.kv_heads, p.keys, p.width),
                     .v = StridesIn(p.v, p.batch, p.kv_heads, p.keys, p.value_width)};
  if (!grad) return c;
  const auto by_rows = [&](int i) {
    return StridesIn(StridesByRows(query.in(i)), p.batch, p.heads, p.queries, p.value_width);
  };
  c.y = by_rows(GradIn::kY);
  c.dy = by_rows(GradIn::kDy);
  FIRN_RETURN_IF(!query.in(GradIn::kLogsumexp).dense(), Unimplemented("takes dense logarithms"));
  return c;
}

struct Pieces {
  Pieces(const cuda::DnnAttentionMemory& m, cuda::WorkspacePieces w)
      : row_sums(w.Take<float>(m.row_sums)),
        workspace(w.TakeBytes(m.workspace)),
        bytes(w.bytes()) {}
  float* row_sums;
  void* workspace;
  size_t bytes;
};

template <bool kGrad>
absl::Status Prepare(const KernelQuery& query, Prepared& answer) {
  FIRN_RETURN_IF(SwitchedOff(), Unimplemented("is switched off"));
  FIRN_ASSIGN_OR_RETURN(const DnnAttentionCall call, CallOf(query, kGrad));
  FIRN_ASSIGN_OR_RETURN(const DnnAttentionFound found,
                        cuda::FindDnnAttention(query.out().device, call));
  answer.workspace = Pieces(found.memory, {}).bytes;
  answer.state = std::make_shared<const DnnAttentionFound>(found);
  return absl::OkStatus();
}

template <bool kGrad>
DnnAttentionTensors TensorsOf(const KernelContext& k, const Pieces& pieces) {
  DnnAttentionTensors t{k.in<void>(In::kQ), k.in<void>(In::kK), k.in<void>(In::kV)};
  if constexpr (kGrad) {
    t.y = k.in<void>(GradIn::kY);
    t.logsumexp = k.in<void>(GradIn::kLogsumexp);
    t.dy = k.in<void>(GradIn::kDy);
    t.dq = k.out<void>(0);
    t.dk = k.out<void>(1);
    t.dv = k.out<void>(2);
    t.row_sums = pieces.row_sums;
  } else {
    t.y = k.out<void>(0);
    t.logsumexp = k.out<void>(1);
  }
  return t;
}

bool Aligned(const DnnAttentionTensors& t) {
  uintptr_t places = 0;
  for (const void* place : {t.q, t.k, t.v, t.y, t.logsumexp, t.dy, t.dq, t.dk, t.dv, t.row_sums}) {
    places |= reinterpret_cast<uintptr_t>(place);
  }
  return places % cuda::kDnnAttentionAlignment == 0;
}

// The start of a view is not known before: Firn's own kernels run tensors that begin at an
// unaligned place.
template <bool kGrad>
absl::Status Run(KernelContext& k) {
  const DnnAttentionFound& found = k.state<DnnAttentionFound>();
  const Pieces pieces(found.memory, cuda::WorkspacePieces(k));
  const DnnAttentionTensors tensors = TensorsOf<kGrad>(k, pieces);
  if (!Aligned(tensors)) return kGrad ? RunAttentionGradTiles(k) : RunAttentionTiles(k);
  return cuda::RunDnnAttention(k, *found.plan, k.attrs<AttentionAttrs>().scale, tensors,
                               pieces.workspace);
}

}  // namespace

Kernel AttentionByCudnn(bool grad) {
  return {.name = "cudnn",
          .device = DeviceType::kCuda,
          .run = grad ? Run<true> : Run<false>,
          .prepare = grad ? Prepare<true> : Prepare<false>,
          .takes = Takes::kStrided};
}

}  // namespace firn
