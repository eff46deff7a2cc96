#ifndef FIRN_AUTOGRAD_FUNCTION_H_
#define FIRN_AUTOGRAD_FUNCTION_H_

// Differentiable functions of one's own, where composing operations gives the wrong gradient or a
// slow one:
//
//   struct ClampSte {  // straight-through clamp
//     static Tensor Forward(FunctionContext& ctx, const Tensor& x, double lo, double hi) {
//       return Clamp(x, lo, hi);
//     }
//     static Tensor Backward(FunctionContext& ctx, const Tensor& dy) { return dy; }
//   };
//   Tensor y = Call<ClampSte>(x, -1.0, 1.0);
//
// Forward takes tensors (also lists of them) and anything else, and returns a tensor or a vector of
// tensors. What it computes is not recorded. Backward takes the gradient of each result (of a
// vector: one vector) and returns that of each tensor argument in order: a tensor when there is
// one, else a vector; an undefined tensor means no gradient. It is made of operations, so it can be
// differentiated again.
//
// GradCheck (autograd/gradcheck.h) tells whether Backward is right.

#include <any>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "firn/tensor/dispatch.h"
#include "firn/tensor/state_dict.h"
#include "firn/tensor/tensor.h"

namespace firn {

// What Forward leaves for Backward. Belongs to one call.
class FunctionContext {
 public:
  // Keeps tensors. Arguments and results of the function are kept with their history and checked
  // for changes in place. Others are values: Backward may read them, but asking for derivatives of
  // it (create_graph) throws, because the path from them to the arguments is not recorded.
  // In Forward only; a second call replaces the first.
  void Save(std::vector<Tensor> tensors);
  // The i-th of them. Throws when there is none, or when it was changed or freed since.
  const Tensor& saved(size_t i) const;

  // Keeps a plain value by name, and reads it back; T must be the type it was put with.
  template <class T>
  void Put(const std::string& name, T value) {
    values_.Set(name, std::move(value));
  }
  template <class T>
  const T& Get(const std::string& name) const {
    const T* value = std::any_cast<T>(&Find(name));
    if (value == nullptr) RaiseWrongType(name);
    return *value;
  }

  // In Backward: whether the gradient of tensor argument i is wanted. Gradients that are not wanted
  // need not be computed.
  bool needs(size_t i) const { return i < needs_.size() && needs_[i]; }

 private:
  friend class FunctionNode;
  const std::any& Find(const std::string& name) const;
  [[noreturn]] void RaiseWrongType(const std::string& name) const;

  std::vector<Tensor> to_save_;
  std::vector<Tensor> saved_;  // during Backward
  std::vector<bool> needs_;
  OrderedMap<std::any> values_;
};

namespace inner::internal {

using FunctionBackward = std::vector<Tensor> (*)(FunctionContext& ctx, std::vector<Tensor> grads);

// Records a call whose Forward has run. `type` names it in messages.
void RecordFunction(const std::type_info& type, FunctionBackward backward, FunctionContext ctx,
                    const std::vector<Tensor>& inputs, std::vector<Tensor>& outputs);

template <class T>
void CollectTensors(std::vector<Tensor>& to, const T& argument) {
  if constexpr (std::is_same_v<T, Tensor>) {
    to.push_back(argument);
  } else if constexpr (std::is_same_v<T, std::vector<Tensor>> || std::is_same_v<T, TensorList>) {
    to.insert(to.end(), argument.begin(), argument.end());
  }
}

template <class F>
std::vector<Tensor> CallBackward(FunctionContext& ctx, std::vector<Tensor> grads) {
  const auto call = [&] {
    if constexpr (std::is_invocable_v<decltype(&F::Backward), FunctionContext&,
                                      std::vector<Tensor>&>) {
      return F::Backward(ctx, grads);
    } else {
      return F::Backward(ctx, grads[0]);
    }
  };
  if constexpr (std::is_same_v<decltype(call()), Tensor>) {
    return {call()};
  } else {
    return call();
  }
}

}  // namespace inner::internal

// Runs F::Forward on the arguments and records F::Backward as its gradient.
template <class F, class... Args>
auto Call(const Args&... args) {
  FunctionContext ctx;
  const auto forward = [&] {
    NoGradScope no_grad;
    return F::Forward(ctx, args...);
  };
  std::vector<Tensor> inputs;
  (inner::internal::CollectTensors(inputs, args), ...);
  auto result = forward();
  if constexpr (std::is_same_v<decltype(result), Tensor>) {
    std::vector<Tensor> outputs{std::move(result)};
    inner::internal::RecordFunction(typeid(F), inner::internal::CallBackward<F>, std::move(ctx),
                                    inputs, outputs);
    return std::move(outputs[0]);
  } else {
    inner::internal::RecordFunction(typeid(F), inner::internal::CallBackward<F>, std::move(ctx),
                                    inputs, result);
    return result;
  }
}

}  // namespace firn

#endif  // FIRN_AUTOGRAD_FUNCTION_H_
