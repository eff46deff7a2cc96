#ifndef FIRN_TENSOR_KERNELS_CUDA_EMBEDDED_HEADERS_H_
#define FIRN_TENSOR_KERNELS_CUDA_EMBEDDED_HEADERS_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace firn::cuda {

// A header of Firn as text in the program: nothing is read from disk at run time.
struct EmbeddedHeader {
  std::string_view name;  // in #include lines: "firn/tensor/ops/elementwise/exponential_fn.h"
  std::string_view text;
};

// All of them; the last has no name. The build makes the file that defines it (BUILD); without
// --config=cuda there are none (embedded_headers_none.cc).
extern const EmbeddedHeader kEmbeddedHeaders[];

// The functors' header (*_fn.h) that declares struct `name` ("EluFn"), or null.
const EmbeddedHeader* HeaderThatDeclares(std::string_view name);

// The headers that `source` includes, and those that they include: name and text. A header that is
// not embedded becomes one that includes nvrtc/stand_in.h.
std::vector<std::pair<std::string, std::string>> HeadersFor(std::string_view source);

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_EMBEDDED_HEADERS_H_
