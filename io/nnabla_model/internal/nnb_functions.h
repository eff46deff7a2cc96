#ifndef FIRN_IO_NNABLA_MODEL_INTERNAL_NNB_FUNCTIONS_H_
#define FIRN_IO_NNABLA_MODEL_INTERNAL_NNB_FUNCTIONS_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace firn::io::internal {

// The number of a function in files of NNabla's C runtime, for the arguments of API level 45. Null
// for functions that it does not have.
const uint16_t* NnbNumberOf(std::string_view type);

// How a file stores an argument that differs from the network's.
enum class NnbWeight : uint8_t {
  kNone,        // nothing else
  kTransposed,  // [out, in], behind the shape [in, out]
  kUnread,      // its first number: the runtime reads the binary weight alone
};
NnbWeight NnbWeightAt(std::string_view type, size_t input);

}  // namespace firn::io::internal

#endif  // FIRN_IO_NNABLA_MODEL_INTERNAL_NNB_FUNCTIONS_H_
