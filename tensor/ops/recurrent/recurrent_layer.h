#ifndef FIRN_TENSOR_OPS_RECURRENT_RECURRENT_LAYER_H_
#define FIRN_TENSOR_OPS_RECURRENT_RECURRENT_LAYER_H_

// recurrent_layer: a layer whose gradient computes it again, for libraries that keep what they need
// in a form of their own.

#include "firn/tensor/op.h"
#include "firn/tensor/ops/recurrent/layer_rules.h"

namespace firn::inner {

// A layer on a device other than the CPU: by recurrent_layer where a kernel takes it, otherwise by
// `by_operations`.
LayerResults LayerOfDevice(RecurrentCell cell, const LayerTensors& t,
                           const RecurrentLayerAttrs& attrs,
                           LayerResults (*by_operations)(const LayerTensors&,
                                                         const RecurrentLayerAttrs&));

}  // namespace firn::inner

#endif  // FIRN_TENSOR_OPS_RECURRENT_RECURRENT_LAYER_H_
