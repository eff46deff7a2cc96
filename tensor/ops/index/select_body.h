#ifndef FIRN_TENSOR_OPS_INDEX_SELECT_BODY_H_
#define FIRN_TENSOR_OPS_INDEX_SELECT_BODY_H_

// index_add by columns (b, o, c) of the result, so that every sum is formed in order of the indices
// by one thread (on CUDA devices; the CPU's is cpu::AddRows, with the same sums): y[b, o, index[b,
// j], c] += alpha * source[b, o, j, c]. Half types accumulate in float, in scratch memory of the
// result's size. An index outside x's dimension adds nothing.

#include <algorithm>
#include <type_traits>

#include "firn/device/status_macros.h"
#include "firn/tensor/kernels/convert.h"
#include "firn/tensor/kernels/divide.h"
#include "firn/tensor/kernels/for_each.h"
#include "firn/tensor/kernels/index_range.h"
#include "firn/tensor/ops/index/select.h"
#include "firn/tensor/problems/index_rules.h"
#include "firn/tensor/reorder.h"

namespace firn {

// The type in which alpha * source is added to elements of T: integers wrap around at their own
// width.
template <class T>
using SumOfIndexed = std::conditional_t<std::is_integral_v<T>, T, AccumulatorOf<T>>;

template <class T, class I, class Range>
struct IndexAddBody {
  using Acc = SumOfIndexed<T>;
  int64_t outer, count, inner;  // as in IndexPlan
  Range places;
  Acc alpha;
  const I* index;
  const T* source;
  Acc* y;

  FIRN_HOST_DEVICE void operator()(int64_t column) const {
    int64_t line = column;
    const int64_t c = TakeDigit(line, inner);
    const I* const indices = index + line / outer * count;
    for (int64_t j = 0; j < count; ++j) {
      const int64_t place = places(indices[j]);
      if (place < 0) continue;
      const T v = source[(line * count + j) * inner + c];
      Acc& sum = y[(line * places.high + place) * inner + c];
      sum = static_cast<Acc>(sum + alpha * static_cast<Acc>(v));
    }
  }
  int64_t cost() const { return count; }
};

struct IndexAddKernel {
  static constexpr IndexSite kSite = {"index_add", "indices"};

  template <class On>
  static size_t Workspace(const KernelQuery& q) {
    const DType d = q.out().dtype;
    const bool half = d == DType::kF16 || d == DType::kBF16;
    return half ? static_cast<size_t>(q.out().num_elements()) * sizeof(float) : 0;
  }

  template <class On>
  static absl::Status Run(const On& on, KernelContext& k) {
    const IndexAddAttrs& a = k.attrs<IndexAddAttrs>();
    FIRN_ASSIGN_OR_RETURN(const IndexPlan p,
                          PlanIndex(k.in_spec(0).shape, k.in_spec(1).shape, a.where));
    FIRN_RETURN_IF_ERROR(
        CopyElements(k.in_spec(0), k.in<void>(0), k.out_spec(), k.out<void>(), k.stream()));
    const auto places = on.Indices(kSite, -p.n, p.n, p.ignored);
    return VisitNumeric(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
      return VisitIndex(k.in_spec(1).dtype, [&]<class I>(TypeTag<I>) -> absl::Status {
        using Body = IndexAddBody<T, I, std::remove_const_t<decltype(places)>>;
        using Acc = typename Body::Acc;
        const int64_t n = k.out_spec().num_elements();
        T* const y = k.out<T>();
        Acc* sums = k.workspace<Acc>();
        if constexpr (std::is_same_v<T, Acc>) {
          sums = y;
        } else {
          FIRN_RETURN_IF_ERROR(on.ForEach(n, CastBody<T, Acc>{y, sums}));
        }
        FIRN_RETURN_IF_ERROR(
            on.ForEach(p.batch * p.outer * p.inner,
                       Body{p.outer, p.count, p.inner, places, ConvertTo<Acc>(a.alpha), k.in<I>(1),
                            k.in<T>(2), sums}));
        if constexpr (std::is_same_v<T, Acc>) return absl::OkStatus();
        return on.ForEach(n, CastBody<Acc, T>{sums, y});
      });
    });
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_INDEX_SELECT_BODY_H_
