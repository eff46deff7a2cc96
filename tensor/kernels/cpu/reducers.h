#ifndef FIRN_TENSOR_KERNELS_CPU_REDUCERS_H_
#define FIRN_TENSOR_KERNELS_CPU_REDUCERS_H_

#include <cstdint>

namespace firn::cpu {

// The sum. See reduce.h for what a reducer is.
template <class AccT>
struct SumReducer {
  using Acc = AccT;
  Acc identity() const { return 0; }
  template <class In>
  Acc map(In v) const {
    return static_cast<Acc>(v);
  }
  Acc combine(Acc a, Acc b) const { return a + b; }
  template <class Out>
  Out finish(Acc a) const {
    return static_cast<Out>(a);
  }
};

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_REDUCERS_H_
