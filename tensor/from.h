#ifndef FIRN_TENSOR_FROM_H_
#define FIRN_TENSOR_FROM_H_

// Tensors from data that the program already has.

#include <functional>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

#include "firn/tensor/tensor.h"

namespace firn {

// Takes over the vector's memory (no copy, except for std::vector<bool>). `shape` is {size} when
// not given. Throws when shape and size disagree.
template <class T>
Tensor FromVector(std::vector<T> values, const Shape& shape);
template <class T>
Tensor FromVector(std::vector<T> values) {
  const Shape shape{static_cast<int64_t>(values.size())};
  return FromVector(std::move(values), shape);
}

// Borrows `data` (row-major, on the host) without copying: whoever owns it must keep it until
// `release(data)` is called, when the last tensor using it is gone. Throws on a null pointer with a
// non-empty shape and on data that is not aligned to its elements.
Tensor FromBlob(void* data, const Shape& shape, DType dtype,
                std::function<void(void*)> release = nullptr);
// Like the above, with strides, in elements; they may be zero, not negative.
Tensor FromBlob(void* data, const Shape& shape, const std::vector<int64_t>& strides, DType dtype,
                std::function<void(void*)> release = nullptr);

// A 1-D tensor of the listed values: FromValues({1.f, 2.f}), FromValues<int64_t>({3, 4}).
template <class T>
Tensor FromValues(std::initializer_list<T> values) {
  return FromVector(std::vector<T>(values));
}

namespace inner::internal {
// Throws unless a vector of `size` elements fills `shape`.
void CheckVectorShape(size_t size, const Shape& shape);
}  // namespace inner::internal

template <class T>
Tensor FromVector(std::vector<T> values, const Shape& shape) {
  inner::internal::CheckVectorShape(values.size(), shape);
  if constexpr (std::is_same_v<T, bool>) {  // std::vector<bool> has no array of bools inside
    auto owner = std::make_shared<std::vector<uint8_t>>(values.begin(), values.end());
    return FromBlob(owner->data(), shape, DType::kBool, [owner](void*) {});
  } else {
    auto owner = std::make_shared<std::vector<T>>(std::move(values));
    return FromBlob(owner->data(), shape, DTypeOf<T>(), [owner](void*) {});
  }
}

}  // namespace firn

#endif  // FIRN_TENSOR_FROM_H_
