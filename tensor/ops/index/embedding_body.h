#ifndef FIRN_TENSOR_OPS_INDEX_EMBEDDING_BODY_H_
#define FIRN_TENSOR_OPS_INDEX_EMBEDDING_BODY_H_

// one_hot: zeros, and then a one for each index, as words of the element's size. A row whose index
// is outside stays 0.

#include <cstring>
#include <type_traits>

#include "firn/device/status_macros.h"
#include "firn/tensor/kernels/for_each.h"
#include "firn/tensor/kernels/index_range.h"
#include "firn/tensor/kernels/width.h"
#include "firn/tensor/ops/index/embedding.h"

namespace firn {

template <class Word, class I, class Range>
struct OneHotBody {
  const I* indices;
  Word* y;
  Range classes;
  Word one;  // the bits of a 1

  FIRN_HOST_DEVICE void operator()(int64_t row) const {
    const int64_t label = classes(indices[row]);
    if (label >= 0) y[row * classes.high + label] = one;
  }
};

struct OneHotKernel {
  static constexpr IndexSite kSite = {"one_hot", "indices"};

  template <class On>
  static absl::Status Run(const On& on, KernelContext& k) {
    const DType d = k.out_spec().dtype;
    const auto classes = on.Indices(kSite, 0, k.attrs<OneHotAttrs>().num_classes);
    uint64_t one = 0;
    VisitDType(d, [&]<class T>(TypeTag<T>) {
      const T value = T(1);
      std::memcpy(&one, &value, sizeof(T));
    });
    FIRN_RETURN_IF_ERROR(FillZeros(on, k.out_spec(), k.out<void>()));
    return VisitWidth(d, [&]<class Word>(TypeTag<Word>) {
      return VisitIndex(k.in_spec(0).dtype, [&]<class I>(TypeTag<I>) {
        return on.ForEach(k.in_spec(0).num_elements(),
                          OneHotBody<Word, I, std::remove_const_t<decltype(classes)>>{
                              k.in<I>(0), k.out<Word>(), classes, static_cast<Word>(one)});
      });
    });
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_INDEX_EMBEDDING_BODY_H_
