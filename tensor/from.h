#ifndef FIRN_TENSOR_FROM_H_
#define FIRN_TENSOR_FROM_H_

// Tensors from data that the program already has.

#include <functional>
#include <initializer_list>
#include <memory>
#include <type_traits>
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

// Borrows `data` (row-major, on the host) without copying: its owner must keep it until
// `release(data)` is called, when the last tensor using it is gone. Throws on a null pointer with a
// non-empty shape and on data that is not aligned to its elements.
Tensor FromBlob(void* data, const Shape& shape, DType dtype,
                std::function<void(void*)> release = nullptr);
// Like the above, with strides, in elements; they may be zero, not negative.
Tensor FromBlob(void* data, const Shape& shape, const std::vector<int64_t>& strides, DType dtype,
                std::function<void(void*)> release = nullptr);

// With the dtype of the elements: FromBlob(frame, {480, 640, 3}) of uint8_t* frame. Nobody may
// write into a tensor of const elements.
template <class T>
requires(!std::is_void_v<T>) Tensor
    FromBlob(T* data, const Shape& shape, std::function<void(void*)> release = nullptr) {
  return FromBlob(const_cast<std::remove_const_t<T>*>(data), shape,
                  DTypeOf<std::remove_const_t<T>>(), std::move(release));
}

// A 1-D tensor of the listed values: FromValues({1.f, 2.f}), FromValues<int64_t>({3, 4}).
template <class T>
Tensor FromValues(std::initializer_list<T> values) {
  return FromVector(std::vector<T>(values));
}

namespace inner::internal {
// Throws unless a vector of `size` elements fills `shape`.
void CheckVectorShape(size_t size, const Shape& shape);
// Throws unless a row has as many values as the first one.
void CheckRowSize(size_t size, size_t first);
}  // namespace inner::internal

// A 2-D tensor of rows of equal length: FromValues({{1.f, 2.f}, {3.f, 4.f}}). Throws otherwise.
template <class T>
Tensor FromValues(std::initializer_list<std::initializer_list<T>> rows) {
  if (rows.size() == 0) return FromVector(std::vector<T>());  // FromValues<float>({})
  std::vector<T> values;
  const size_t columns = rows.begin()->size();
  for (const auto& row : rows) {
    inner::internal::CheckRowSize(row.size(), columns);
    values.insert(values.end(), row.begin(), row.end());
  }
  return FromVector(std::move(values),
                    {static_cast<int64_t>(rows.size()), static_cast<int64_t>(columns)});
}

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
