#ifndef FIRN_TENSOR_KERNELS_CUDA_CHAIN_SOURCE_H_
#define FIRN_TENSOR_KERNELS_CUDA_CHAIN_SOURCE_H_

// A chain of elementwise operations as CUDA C++, to be compiled when a graph is.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "firn/device/internal/nvrtc.h"
#include "firn/tensor/internal/elementwise_program.h"

namespace firn::cuda {

// The kernel `firn_chain`, which has one argument:
//
//   struct Arguments {
//     void* p[];          // the call's inputs, then its results
//     int64_t n;          // elements
//     uint32_t zero;      // 0: see nvrtc/chain.h
//     alignas(16) unsigned char functors[];
//   };
struct ChainSource {
  static constexpr const char* kKernel = "firn_chain";

  firn::inner::internal::CudaSource source;
  std::vector<unsigned char> functors;  // their bytes, which are not part of the text
  size_t functors_at = 0;               // in Arguments
  int pack = 1;                         // elements a thread takes at a time

  size_t argument_bytes() const { return functors_at + functors.size(); }
};

// Whether there is source for the functor that the operation declares (OpDef::elementwise).
bool HasSource(const OpDef& op);

// Programs that differ only in shapes and attributes have the same text.
// Errors: Unimplemented when there is no source for a step, or functors have too many bytes.
absl::StatusOr<ChainSource> MakeChainSource(
    const firn::inner::internal::ElementwiseProgram& program);

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_CHAIN_SOURCE_H_
