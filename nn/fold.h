#ifndef FIRN_NN_FOLD_H_
#define FIRN_NN_FOLD_H_

// Windows as columns and back, as layers; options, formulas and shapes are those of the operations.

#include "firn/nn/function_layer.h"
#include "firn/tensor/ops/conv/unfold.h"

namespace firn::nn {

using Fold = LayerOfFunction<"Fold", firn::Fold>;
using Unfold = LayerOfFunction<"Unfold", firn::Unfold>;

}  // namespace firn::nn

#endif  // FIRN_NN_FOLD_H_
