#ifndef FIRN_TENSOR_PROBLEMS_INDEX_ATTRS_H_
#define FIRN_TENSOR_PROBLEMS_INDEX_ATTRS_H_

#include <cstdint>
#include <limits>

namespace firn::inner {

// Like IndexSelectAttrs::ignored: no index is special.
inline constexpr int64_t kNoIndex = std::numeric_limits<int64_t>::min();

// The attributes of index_select.
struct IndexSelectAttrs {
  int64_t dim = 0;
  int64_t batch_dims = 0;
  int64_t ignored = kNoIndex;  // this index stands for zeros (index_add: for nothing to add)
  template <class V>
  void Visit(V& v) {
    v.Field("dim", dim);
    v.Field("batch_dims", batch_dims);
    v.Field("ignored", ignored);
  }
};

// The attributes of index_add.
struct IndexAddAttrs {
  IndexSelectAttrs where = {};
  double alpha = 1;
  template <class V>
  void Visit(V& v) {
    where.Visit(v);
    v.Field("alpha", alpha);
  }
};

}  // namespace firn::inner

#endif  // FIRN_TENSOR_PROBLEMS_INDEX_ATTRS_H_
