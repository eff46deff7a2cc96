#ifndef FIRN_TENSOR_PROBLEMS_PACKED_CONV_PROBLEM_H_
#define FIRN_TENSOR_PROBLEMS_PACKED_CONV_PROBLEM_H_

#include <cstdint>

#include "firn/tensor/problems/conv_problem.h"
#include "firn/tensor/shape.h"

namespace firn::inner {

// The attributes of conv_packed and conv_transpose_packed: convolutions in compiled graphs whose
// weight has the layout that its kernel wants.
struct PackedConvAttrs {
  ConvAttrs conv;
  Dims weight;          // its sizes before it was packed
  int64_t threads = 0;  // of the oneDNN primitive that it is packed for; 0: Winograd's filters
  template <class V>
  void Visit(V& v) {
    conv.Visit(v);
    v.Field("weight", weight);
    v.Field("threads", threads);
  }
};

}  // namespace firn::inner

#endif  // FIRN_TENSOR_PROBLEMS_PACKED_CONV_PROBLEM_H_
