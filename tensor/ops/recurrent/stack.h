#ifndef FIRN_TENSOR_OPS_RECURRENT_STACK_H_
#define FIRN_TENSOR_OPS_RECURRENT_STACK_H_

// Layers of recurrent networks one on the other, in one direction or two, shared by all kinds.

#include <string_view>
#include <vector>

#include "firn/tensor/op.h"
#include "firn/tensor/ops/recurrent/layer_rules.h"
#include "firn/tensor/ops/recurrent/sequence.h"

namespace firn {

struct RecurrentKind {
  std::string_view op;
  int64_t gates;
  int states;  // 2 with a cell state
  LayerResults (*layer)(const LayerTensors& t, const RecurrentLayerAttrs& attrs);
};

// `initial`: as many states as the kind has, each [layers * directions, batch, width], or undefined
// for zeros. x: [steps, batch, in], or [steps, in] for one sequence with states without a batch.
LayerResults RunStack(const RecurrentKind& kind, const Tensor& x,
                      const std::vector<Tensor>& initial,
                      const std::vector<RecurrentWeights>& weights,
                      const RecurrentOptions& options);
// The same for packed sequences; y is the `data` of a packed sequence with the same lengths.
LayerResults RunPackedStack(const RecurrentKind& kind, const PackedSequence& x,
                            const std::vector<Tensor>& initial,
                            const std::vector<RecurrentWeights>& weights,
                            const RecurrentOptions& options);

// The states after one step from `states`, for cells. x: [batch, in] with states
// [batch, width], or both without a batch.
std::vector<Tensor> RunCell(const RecurrentKind& kind, const Tensor& x,
                            const std::vector<Tensor>& states, const RecurrentWeights& weights);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_RECURRENT_STACK_H_
