#ifndef FIRN_TENSOR_KERNELS_CLASS_TARGETS_H_
#define FIRN_TENSOR_KERNELS_CLASS_TARGETS_H_

// Parts shared by losses on class indices: targets with weights, and means over them.

#include <cstdint>

#include "firn/device/macros.h"
#include "firn/tensor/op.h"

namespace firn {

// The targets of all samples. T: the weights' type (null: all are 1). Range: maps an index to a
// class, or to -1 if it is ignored (index_range.h).
template <class T, class Range>
struct ClassTargets {
  using Acc = AccumulatorOf<T>;

  const void* index;
  bool wide;  // i64, else i32
  const T* weights;
  int64_t count, classes;
  Range range;

  // The targets in input `input`; their weights are the next input.
  ClassTargets(const KernelContext& k, int input, const Range& classes_range)
      : index(k.in<void>(input)),
        wide(k.in_spec(input).dtype == DType::kI64),
        weights(k.in<T>(input + 1)),
        count(k.in_spec(input).num_elements()),
        classes(classes_range.high),
        range(classes_range) {}

  // The class of sample i, or -1 where it is ignored.
  FIRN_HOST_DEVICE int64_t operator[](int64_t i) const {
    return range(wide ? static_cast<const int64_t*>(index)[i]
                      : static_cast<const int32_t*>(index)[i]);
  }
  FIRN_HOST_DEVICE Acc weight_of(int64_t c) const {
    return weights == nullptr ? Acc{1} : static_cast<Acc>(weights[c]);
  }
  FIRN_HOST_DEVICE double weight(int64_t i) const {
    const int64_t t = (*this)[i];
    return t < 0 ? 0.0 : static_cast<double>(weight_of(t));
  }
};

// A sum over samples and the weights that it is a mean over.
template <class Acc>
struct WeightedSum {
  Acc sum;
  double weight;
};

// *out = the sum of loss(i), divided by the samples' weights when a mean is wanted. Loss: a struct
// with `targets` and operator().
template <class Loss, class Out>
struct MeanFold {
  using Real = typename Loss::Acc;
  using Acc = WeightedSum<Real>;
  using State = Acc;

  Loss loss;
  bool mean;
  Out* out;

  FIRN_HOST_DEVICE State start() const { return {0, 0}; }
  FIRN_HOST_DEVICE void add(State& s, int64_t, int64_t i) const {
    s.sum += loss(i);
    if (mean) s.weight += loss.targets.weight(i);
  }
  FIRN_HOST_DEVICE Acc total(const State& s) const { return s; }
  FIRN_HOST_DEVICE Acc combine(const Acc& a, const Acc& b) const {
    return {a.sum + b.sum, a.weight + b.weight};
  }
  FIRN_HOST_DEVICE void store(int64_t, const Acc& a) const {
    *out =
        static_cast<Out>(static_cast<Real>(static_cast<double>(a.sum) / (mean ? a.weight : 1.0)));
  }
};

// *out = the samples' weights.
template <class Targets>
struct WeightFold {
  using Acc = double;
  using State = double;

  Targets targets;
  double* out;

  FIRN_HOST_DEVICE State start() const { return 0; }
  FIRN_HOST_DEVICE void add(State& s, int64_t, int64_t i) const { s += targets.weight(i); }
  FIRN_HOST_DEVICE Acc total(const State& s) const { return s; }
  FIRN_HOST_DEVICE Acc combine(const Acc& a, const Acc& b) const { return a + b; }
  FIRN_HOST_DEVICE void store(int64_t, const Acc& a) const { *out = a; }
};

}  // namespace firn

#endif  // FIRN_TENSOR_KERNELS_CLASS_TARGETS_H_
