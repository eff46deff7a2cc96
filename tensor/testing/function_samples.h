#ifndef FIRN_TENSOR_TESTING_FUNCTION_SAMPLES_H_
#define FIRN_TENSOR_TESTING_FUNCTION_SAMPLES_H_

// The functions that users call, in the form in which the conformance suite calls them: from a
// sample's inputs and attributes to tensors. Test code only; see tensor/testing/samples.h.

#include <concepts>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#include "firn/device/inner.h"
#include "firn/tensor/attrs.h"
#include "firn/tensor/tensor.h"

namespace firn::testing {

// The inputs of a call, in the order of the declaration.
class In {
 public:
  explicit In(const std::vector<Tensor>& all) : all_(all) {}
  // Undefined when the call leaves the input out.
  const Tensor& operator[](size_t i) const {
    static const Tensor undefined;
    return i < all_.size() ? all_[i] : undefined;
  }
  size_t size() const { return all_.size(); }
  const std::vector<Tensor>& all() const { return all_; }
  // The inputs from i on: a list.
  std::vector<Tensor> From(size_t i) const {
    return i < all_.size()
               ? std::vector<Tensor>(all_.begin() + static_cast<std::ptrdiff_t>(i), all_.end())
               : std::vector<Tensor>();
  }

 private:
  const std::vector<Tensor>& all_;
};

using TestedFunction = std::function<std::vector<Tensor>(In in, AttrsRef attrs)>;

namespace function_samples {

// What a function gives, as a list.
inline std::vector<Tensor> Listed(Tensor y) { return {std::move(y)}; }
inline std::vector<Tensor> Listed(std::vector<Tensor> list) { return list; }
template <class T>
requires requires(T t) {
  { t.values } -> std::convertible_to<Tensor>;
  { t.indices } -> std::convertible_to<Tensor>;
}
std::vector<Tensor> Listed(T pair) { return {pair.values, pair.indices}; }

// The attributes that f(in) or f(in, attrs) takes; void for none.
template <class F>
struct AttrsTaken : AttrsTaken<decltype(&F::operator())> {};
template <class R>
struct AttrsTaken<R (*)(In)> {
  using Type = void;
};
template <class R, class A>
struct AttrsTaken<R (*)(In, const A&)> {
  using Type = A;
};
template <class F, class R>
struct AttrsTaken<R (F::*)(In) const> {
  using Type = void;
};
template <class F, class R, class A>
struct AttrsTaken<R (F::*)(In, const A&) const> {
  using Type = A;
};

template <class F, class... Args>
std::vector<Tensor> Call(const F& f, const Args&... args) {
  if constexpr (std::is_void_v<decltype(f(args...))>) {
    f(args...);
    return {};
  } else {
    return Listed(f(args...));
  }
}

}  // namespace function_samples

// `f` takes (In in) or (In in, const FooAttrs& a), and gives a tensor, a list, a struct of values
// and indices, or nothing.
template <class F>
TestedFunction TestedFunctionOf(F f) {
  using A = typename function_samples::AttrsTaken<F>::Type;
  if constexpr (std::is_void_v<A>) {
    return [f](In in, AttrsRef) { return function_samples::Call(f, in); };
  } else {
    return [f](In in, AttrsRef attrs) { return function_samples::Call(f, in, attrs.get<A>()); };
  }
}

// Their type; null when `f` takes none.
template <class F>
const AttrsType* AttrsTypeTakenBy() {
  using A = typename function_samples::AttrsTaken<F>::Type;
  if constexpr (std::is_void_v<A>) {
    return nullptr;
  } else {
    return AttrsOf<A>();
  }
}

}  // namespace firn::testing

#endif  // FIRN_TENSOR_TESTING_FUNCTION_SAMPLES_H_
