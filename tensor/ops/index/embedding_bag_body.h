#ifndef FIRN_TENSOR_OPS_INDEX_EMBEDDING_BAG_BODY_H_
#define FIRN_TENSOR_OPS_INDEX_EMBEDDING_BAG_BODY_H_

// embedding_bag_rows: an element of a bag is the sum of that element of its rows, in their order,
// in float for the half types, and is rounded once.

#include <type_traits>

#include "firn/tensor/kernels/convert.h"
#include "firn/tensor/kernels/divide.h"
#include "firn/tensor/kernels/for_each.h"
#include "firn/tensor/kernels/index_range.h"
#include "firn/tensor/ops/index/embedding_bag.h"

namespace firn {

template <class T, class I, class Range>
struct BagBody {
  using Acc = AccumulatorOf<T>;
  const I* indices;
  const T* weight;
  T* y;
  int64_t each, size;  // rows of a bag, elements of a row
  bool mean;
  Range rows;

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    int64_t bag = i, counted = 0;
    const int64_t at = TakeDigit(bag, size);
    Acc sum = 0;
    for (int64_t k = 0; k < each; ++k) {
      const int64_t row = rows(indices[bag * each + k]);
      if (row < 0) continue;
      sum += static_cast<Acc>(weight[row * size + at]);
      ++counted;
    }
    y[i] = static_cast<T>(mean && counted > 1 ? sum / static_cast<Acc>(counted) : sum);
  }
  int64_t cost() const { return each + 1; }
};

struct BagKernel {
  static constexpr IndexSite kSite = {"embedding_bag_rows", "indices"};

  template <class On>
  static absl::Status Run(const On& on, KernelContext& k) {
    return VisitBag(
        on, k, [&](const auto& body) { return on.ForEach(k.out_spec().num_elements(), body); });
  }
  // f(body) with the body of a call.
  template <class On, class F>
  static absl::Status VisitBag(const On& on, KernelContext& k, const F& f) {
    const EmbeddingBagAttrs& a = k.attrs<EmbeddingBagAttrs>();
    const Shape &indices = k.in_spec(0).shape, &weight = k.in_spec(1).shape;
    const auto rows = on.Indices(kSite, 0, weight[0], a.padding_idx);
    return VisitFloat(k.out_spec().dtype, [&]<class T>(TypeTag<T>) {
      return VisitIndex(k.in_spec(0).dtype, [&]<class I>(TypeTag<I>) {
        return f(BagBody<T, I, std::remove_const_t<decltype(rows)>>{
            k.in<I>(0), k.in<T>(1), k.out<T>(), indices[1], weight[1], a.mean, rows});
      });
    });
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_INDEX_EMBEDDING_BAG_BODY_H_
