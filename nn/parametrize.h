#ifndef FIRN_NN_PARAMETRIZE_H_
#define FIRN_NN_PARAMETRIZE_H_

#include <array>
#include <cstddef>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "firn/nn/describe.h"
#include "firn/nn/module.h"
#include "firn/nn/type_names.h"

// Parameters that every call computes from other parameters, which are trained in their place
// (PyTorch's torch.nn.utils.parametrize):
//
//   parametrize::Register(net.fc, "weight", parametrize::WeightNorm{.dim = 0});
//
// From then on `net.fc` has, instead of "weight", the parameters
// "parametrizations.weight.original0" and "...original1", which optimizers and state dicts see, and
// its weight is made of them before each Forward and given up after it. Between calls the weight
// has a shape and no elements: reading them is an error, since they would be older than the last
// step. Value() computes it, Held keeps it.
//
// A parametrization is a copyable struct of options:
//
//   struct Symmetric {
//     Tensor Forward(const Tensor& x) const { return Triu(x) + Triu(x, 1).T(); }
//     Tensor RightInverse(const Tensor& weight) const { return Triu(weight); }
//   };
//
//   Forward takes as many originals as RightInverse gives; a last argument, const State&, has
//                 the mode and the buffers
//   RightInverse  originals of which Forward makes this value: a Tensor, or a std::array of them.
//                 Without it the original is the value itself. A last argument, const State&, has
//                 the buffers, into which it may write.
//   Buffers       std::vector<NamedTensor>, made from the value, which are saved and moved
//   Visit         its options, to be printed (nn/options.h)
//
// Only Forward is required. nn/parametrizations.h has the existing parametrizations.
namespace firn::nn::parametrize {

// The arguments of the functions beside tensors. Lives as long as the call.
class State {
 public:
  explicit State(const Module& transform) : transform_(&transform) {}
  // The mode of the module whose parameter it is.
  bool training() const { return transform_->training(); }
  // The buffer at that place in the result of Buffers. Throws if there is none.
  const Tensor& buffer(size_t i) const;

 private:
  const Module* transform_;
};

namespace internal {

// A parametrization as a module, the child "parametrizations.weight.0".
class Transform : public Module {
 public:
  virtual size_t num_originals() const = 0;
  virtual bool has_right_inverse() const = 0;
  virtual Tensor Forward(absl::Span<const Tensor> originals) const = 0;
  virtual TensorList RightInverse(const Tensor& value) const = 0;
  virtual std::vector<NamedTensor> Buffers(const Tensor& value) const = 0;
};

template <class T>
inline constexpr size_t kTensors = 1;
template <size_t n>
inline constexpr size_t kTensors<std::array<Tensor, n>> = n;

template <class P>
class TransformOf final : public Transform {
  static constexpr bool kInvertsWithState = requires(const P& p, const Tensor& t, const State& s) {
    p.RightInverse(t, s);
  };
  static constexpr bool kInverts = kInvertsWithState || requires(const P& p, const Tensor& t) {
    p.RightInverse(t);
  };
  static auto Inverse(const P& p, const Tensor& value, const State& state) {
    if constexpr (kInvertsWithState) {
      return p.RightInverse(value, state);
    } else if constexpr (kInverts) {
      return p.RightInverse(value);
    } else {
      return value;
    }
  }
  static constexpr size_t Originals() {
    return kTensors<decltype(Inverse(std::declval<const P&>(), std::declval<const Tensor&>(),
                                     std::declval<const State&>()))>;
  }

 public:
  explicit TransformOf(const P& p) : p_(p) {}
  std::string type_name() const override { return ClassName(typeid(P)); }
  std::string Describe() const override { return DescribeOptions(p_); }
  size_t num_originals() const override { return Originals(); }
  bool has_right_inverse() const override { return kInverts; }
  Tensor Forward(absl::Span<const Tensor> originals) const override {
    return Call(originals, std::make_index_sequence<Originals()>());
  }
  TensorList RightInverse(const Tensor& value) const override {
    const auto originals = Inverse(p_, value, State(*this));
    if constexpr (Originals() == 1) {
      return {originals};
    } else {
      return TensorList(originals.begin(), originals.end());
    }
  }
  std::vector<NamedTensor> Buffers(const Tensor& value) const override {
    if constexpr (requires { p_.Buffers(value); }) return p_.Buffers(value);
    return {};
  }

 private:
  template <size_t... I>
  Tensor Call(absl::Span<const Tensor> originals, std::index_sequence<I...>) const {
    if constexpr (requires { p_.Forward(originals[I]..., State(*this)); }) {
      return p_.Forward(originals[I]..., State(*this));
    } else {
      return p_.Forward(originals[I]...);
    }
  }

  const P p_;
};

void RegisterMade(Module& module, const std::string& name, const ModuleFactory& factory);

}  // namespace internal

// Makes `p` compute the parameter `name` of this module itself: "weight", not "fc.weight". The
// originals are RightInverse of what it is now. One original of the same shape and dtype is the
// same tensor, so that optimizers which have the parameter go on with it; others are new
// parameters, which must be added to an optimizer that was made before (AddGroup). Another module
// that shares the parameter goes on with the original. Graphs that were frozen before and read the
// parameter refuse to run, unless it is a constant of theirs (constant_states); a StaticModule is
// captured again. An optim::WeightAverage of a parameter that is no longer one refuses too; a
// parameter that became the original is averaged as before.
//
// A second parametrization, registered later, computes from the first one's value as its only
// original; the originals stay those of the first.
//
// Throws firn::Error, and nothing has changed, when there is no such parameter, it pends, a value
// of it is held, a capture is running, or `p` gives another shape, dtype or device.
template <class P>
void Register(Module& module, const std::string& name, const P& p) {
  internal::RegisterMade(module, name, FactoryFrom<internal::TransformOf<P>>(p));
}

// Makes the parameter an ordinary one again: with the value that it has in evaluation, or, with
// leave_parametrized = false, with the original's, of which there must be one. One original of that
// shape stays the same tensor. Graphs and averages behave as for Register. Throws, and nothing has
// changed, when it has no parametrization, and as Register.
void RemoveParametrizations(Module& module, const std::string& name,
                            inner::Flag leave_parametrized = true);

// Whether `name`, or any parameter of this module itself, is computed.
bool IsParametrized(const Module& module);
bool IsParametrized(const Module& module, const std::string& name);

// The value that a call would compute now, with history while gradients are recorded, in the
// module's present mode: spectral norms move their vectors in training. A parameter without a
// parametrization is returned itself. Throws if there is no such parameter.
Tensor Value(Module& module, const std::string& name);

// Overwrites the originals with those that RightInverse gives for `value`. Throws unless shape,
// dtype and device are the parameter's and each parametrization has a RightInverse, and as
// Register.
void SetValue(Module& module, const std::string& name, const Tensor& value);

// While it lives, all parametrized parameters of a network have the values that it computed at its
// start, and calls compute none (PyTorch's parametrize.cached). It serves steps that call a layer
// often, evaluation, forwards on several threads, and modules that are no Layers, whose parameters
// nothing else computes. The network outlives it. A graph that is frozen meanwhile reads the values
// as they are then: without constant_states it refuses to run afterwards.
class Held {
 public:
  [[nodiscard]] explicit Held(Module& network);
  ~Held();
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

 private:
  std::vector<ComputedParameters*> begun_;
};

}  // namespace firn::nn::parametrize

#endif  // FIRN_NN_PARAMETRIZE_H_
