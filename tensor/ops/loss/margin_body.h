#ifndef FIRN_TENSOR_OPS_LOSS_MARGIN_BODY_H_
#define FIRN_TENSOR_OPS_LOSS_MARGIN_BODY_H_

// multilabel_margin_loss and its slopes, a sample at a time: first a mark is set at each label,
// then each label meets each class without one. A label listed twice counts twice, as in PyTorch.
// Counts of the slopes are whole numbers, which float holds for any number of classes that fits in
// memory.

#include <type_traits>

#include "firn/tensor/kernels/convert.h"
#include "firn/tensor/kernels/for_each.h"
#include "firn/tensor/kernels/index_range.h"

namespace firn {

template <class T, class I, class Range>
struct MultilabelMargin {
  using Acc = AccumulatorOf<T>;
  Range labels;
  const T* x;
  const I* target;
  uint8_t* marks;
  int64_t classes;

  // Calls f(label, class, hinge) for each pair with hinge = 1 - x[label] + x[class] above 0.
  template <class F>
  FIRN_HOST_DEVICE void ForEachViolation(int64_t sample, const F& f) const {
    const T* const row = x + sample * classes;
    const I* const listed = target + sample * classes;
    uint8_t* const marked = marks + sample * classes;
    for (int64_t c = 0; c < classes; ++c) marked[c] = 0;
    int64_t count = 0;
    for (; count < classes; ++count) {
      const int64_t label = labels(listed[count]);
      if (label < 0) break;
      marked[label] = 1;
    }
    for (int64_t j = 0; j < count; ++j) {
      const int64_t label = labels(listed[j]);
      const Acc right = static_cast<Acc>(row[label]);
      for (int64_t c = 0; c < classes; ++c) {
        if (marked[c] != 0) continue;
        const Acc hinge = 1 - right + static_cast<Acc>(row[c]);
        if (!(hinge <= 0)) f(label, c, hinge);  // NaN too
      }
    }
  }
};

template <class T, class I, class Range>
struct MultilabelMarginLossBody {
  MultilabelMargin<T, I, Range> pairs;
  T* out;

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    using Acc = AccumulatorOf<T>;
    Acc sum = 0;
    pairs.ForEachViolation(i, [&](int64_t, int64_t, Acc hinge) { sum += hinge; });
    out[i] = static_cast<T>(sum / static_cast<Acc>(pairs.classes));
  }
  int64_t cost() const { return pairs.classes * 4; }
};

template <class T, class I, class Range>
struct MultilabelMarginSlopesBody {
  MultilabelMargin<T, I, Range> pairs;
  AccumulatorOf<T>* sums;  // of the result's size
  T* out;

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    using Acc = AccumulatorOf<T>;
    const int64_t classes = pairs.classes;
    Acc* const sum = sums + i * classes;
    for (int64_t c = 0; c < classes; ++c) sum[c] = 0;
    pairs.ForEachViolation(i, [&](int64_t label, int64_t c, Acc) {
      sum[label] -= 1;
      sum[c] += 1;
    });
    for (int64_t c = 0; c < classes; ++c) {
      out[i * classes + c] = static_cast<T>(sum[c] / static_cast<Acc>(classes));
    }
  }
  int64_t cost() const { return pairs.classes * 4; }
};

// Calls f(pairs) for the types of the call.
template <class On, class F>
absl::Status VisitMultilabelMargin(const On& on, KernelContext& k, const IndexSite& site,
                                   const F& f) {
  const int64_t classes = k.in_spec(0).shape[1];
  const auto range = on.Indices(site, 0, classes, -1);
  using Range = std::remove_const_t<decltype(range)>;
  return VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    return VisitIndex(k.in_spec(1).dtype, [&]<class I>(TypeTag<I>) {
      return f(MultilabelMargin<T, I, Range>{range, k.in<T>(0), k.in<I>(1), k.workspace<uint8_t>(),
                                             classes});
    });
  });
}

struct MultilabelMarginLossKernel {
  static constexpr IndexSite kSite = {"multilabel_margin_loss", "target"};

  template <class On>
  static size_t Workspace(const KernelQuery& q) {
    return static_cast<size_t>(q.in(0).num_elements());
  }
  template <class On>
  static absl::Status Run(const On& on, KernelContext& k) {
    return VisitMultilabelMargin(
        on, k, kSite, [&]<class T, class I, class Range>(MultilabelMargin<T, I, Range> pairs) {
          return on.ForEach(k.in_spec(0).shape[0],
                            MultilabelMarginLossBody<T, I, Range>{pairs, k.out<T>()});
        });
  }
};

struct MultilabelMarginSlopesKernel {
  static constexpr IndexSite kSite = {"multilabel_margin_slopes", "target"};

  // Sums of double at first, so that they are aligned, and then the marks.
  template <class On>
  static size_t Workspace(const KernelQuery& q) {
    return static_cast<size_t>(q.in(0).num_elements()) * (sizeof(double) + 1);
  }
  template <class On>
  static absl::Status Run(const On& on, KernelContext& k) {
    return VisitMultilabelMargin(
        on, k, kSite, [&]<class T, class I, class Range>(MultilabelMargin<T, I, Range> pairs) {
          pairs.marks += static_cast<size_t>(k.in_spec(0).num_elements()) * sizeof(double);
          return on.ForEach(k.in_spec(0).shape[0],
                            MultilabelMarginSlopesBody<T, I, Range>{
                                pairs, k.workspace<AccumulatorOf<T>>(), k.out<T>()});
        });
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_LOSS_MARGIN_BODY_H_
