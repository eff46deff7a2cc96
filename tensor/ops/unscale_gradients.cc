// unscale_gradients: one pass that reads, looks and writes. A block of elements that has found
// something says so in a flag that all blocks may set; nobody reads it before all are done.

#include "tensor/ops/unscale_gradients.h"

#include <atomic>

#include "tensor/apply.h"
#include "tensor/kernels/cpu/optimizer_step.h"
#include "tensor/op.h"
#include "tensor/ops/unscale_gradients_fn.h"

namespace firn {
namespace {

enum Input { kScale, kGrads };

absl::Status Infer(InferContext& c) {
  c.set_out(0, DType::kBool, Shape());
  return absl::OkStatus();
}

template <class T>
bool Unscale(T* x, int64_t n, double factor) {
  using C = cpu::ComputeOf<T>;
  const C by = static_cast<C>(factor);
  int found = 0;
#pragma omp simd reduction(| : found)
  for (int64_t i = 0; i < n; ++i) {
    const C v = static_cast<C>(x[i]);
    found |= IsNotFinite(v) ? 1 : 0;
    x[i] = static_cast<T>(v * by);
  }
  return found != 0;
}

absl::Status Run(KernelContext& k) {
  const double factor = 1 / cpu::ScalarOf(k, kScale);
  std::atomic<bool> found = false;
  cpu::TensorRow(k, kGrads, 1).ForEachPiece([&](int i, int64_t begin, int64_t end) {
    VisitFloat(k.in_spec(i).dtype, [&]<class T>(TypeTag<T>) {
      if (Unscale(k.inout<T>(i) + begin, end - begin, factor)) {
        found.store(true, std::memory_order_relaxed);
      }
    });
  });
  *k.out<bool>() = found;
  return absl::OkStatus();
}

FIRN_REGISTER_OP(unscale_gradients) {
  return {

      .name = "unscale_gradients",
      .doc =
          "Divides tensors by a scale in place and tells whether there was an infinity or NaN. Not "
          "differentiable.",
      .inputs = {{.name = "scale", .dtypes = kFloating, .max_rank = 0},
                 {.name = "grads", .dtypes = kFloating, .inout = true, .variadic = true}},
      .outputs = {{.name = "found"}},
      .infer = Infer,
      .kernels = {{.name = "loop", .run = Run}},
  };
}

}  // namespace

Tensor inner::UnscaleGradients(const std::vector<Tensor>& grads, const Tensor& scale) {
  static const OpDef& op = Op("unscale_gradients");
  std::vector<TensorRef> in = {scale};
  in.insert(in.end(), grads.begin(), grads.end());
  return Apply1(op, in);
}

}  // namespace firn
