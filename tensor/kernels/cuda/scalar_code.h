#ifndef FIRN_TENSOR_KERNELS_CUDA_SCALAR_CODE_H_
#define FIRN_TENSOR_KERNELS_CUDA_SCALAR_CODE_H_

// What elementwise kernels tell about themselves, so that a row of them can be compiled into one
// (row_source.h). Host code: it is part of every build.

#include <cstddef>
#include <new>
#include <string>
#include <type_traits>
#include <typeinfo>

#include "absl/status/status.h"
#include "tensor/kernels/functor.h"
#include "tensor/op.h"

namespace firn::cuda {

// How source code computes one element as a kernel does.
struct ScalarCode {
  enum class Kind {
    kComputed,   // functor(x...) on each input's ComputeOf type, rounded to the result's dtype
    kMoved,      // functor(x...) on the elements as they are
    kConverted,  // the input as the result's dtype; no functor
  };
  Kind kind = Kind::kComputed;
  std::string functor = {};  // its type, declared in one of the embedded headers: "firn::EluFn"
  size_t bytes = 0;          // of the functor; 0: it has no state
  // Makes the functor of a call at `to`, which has room for it and is aligned to 16 bytes. The
  // call's operands have no memory yet. Null: functor().
  void (*make)(const KernelContext& call, void* to) = nullptr;
  int absent = -1;  // the input that stands for those that are not given
};

// "firn::EluFn".
std::string TypeName(const std::type_info& type);

template <class F>
ScalarCode ScalarCodeOf() {
  static_assert(std::is_trivially_copyable_v<F> && alignof(F) <= 16, "its bytes are passed on");
  ScalarCode code = {.functor = TypeName(typeid(F))};
  if constexpr (!std::is_empty_v<F> || !std::is_default_constructible_v<F>) {
    code.bytes = sizeof(F);
    code.make = [](const KernelContext& call, void* to) { new (to) F(MakeFunctor<F>(call)); };
  }
  return code;
}

using KernelRun = absl::Status (*)(KernelContext&);

// Kernels are known by their function. To be called while they are registered.
void AddScalarCode(KernelRun run, ScalarCode code);
// Null for a kernel that has told nothing.
const ScalarCode* FindScalarCode(KernelRun run);

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_SCALAR_CODE_H_
