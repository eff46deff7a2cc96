#ifndef FIRN_TENSOR_INTERNAL_KERNEL_FUNCTIONS_H_
#define FIRN_TENSOR_INTERNAL_KERNEL_FUNCTIONS_H_

#include <cstdint>

#include "absl/types/span.h"
#include "firn/device/macros.h"
#include "firn/tensor/dtype.h"

// Functions that are compiled like kernels and that other code calls. Where a program has them for
// several levels of processors (--config=portable), these are those of the level that it runs.
namespace firn::inner::internal {

struct CopyDim;
struct IndexInterval;
struct TextMasks;

struct KernelFunctions {
  // CopyStrided of strided_copy.h
  void (*copy_strided)(absl::Span<const CopyDim> dims, int64_t width, const void* src, void* dst);
  // AnyOutside of index_values.h
  bool (*any_outside)(DType dtype, const void* values, int64_t n, const IndexInterval& interval);
  // The masks of n bytes of text (text_masks.h). Requires: 0 <= n <= TextMasks::kBytes.
  void (*find_text_masks)(const char* text, int64_t n, char separator, TextMasks* masks);
};

// Set together with the registry of operations, before other global objects are made.
extern KernelFunctions kernel_functions;

// FIRN_OF_THIS_LEVEL(any_outside, AnyOutside); in the file that defines it: runs with the
// constructors of the level that the file was compiled for.
struct OfThisLevel {
  template <class F>
  OfThisLevel(F& member, F function) {
    member = function;
  }
};
#define FIRN_OF_THIS_LEVEL(member, function)                                                    \
  FIRN_BEFORE_GLOBALS static const ::firn::inner::internal::OfThisLevel of_this_level_##member( \
      ::firn::inner::internal::kernel_functions.member, function)

}  // namespace firn::inner::internal

#endif  // FIRN_TENSOR_INTERNAL_KERNEL_FUNCTIONS_H_
