#ifndef FIRN_IO_TORCH_INTERNAL_PICKLE_H_
#define FIRN_IO_TORCH_INTERNAL_PICKLE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "firn/io/load_limits.h"

namespace firn::io::internal {

// One value of a pickle. It refers to its parts by their places in Pickle::values.
struct PickleValue {
  enum class Kind : uint8_t {
    // Kinds without items:
    kNone,
    kBool,    // integer
    kInt,     // integer
    kFloat,   // number
    kString,  // text
    // Kinds with items:
    kTuple,   // items
    kList,    // items
    kDict,    // items: key, value, key, value ...
    kGlobal,  // text: "module name"
    kObject,  // text: "module name" of what was called; items: its arguments (a tuple), then what
              // objects of the kind were given afterwards
    kStored,  // items: the one that stands for something outside the pickle
  };
  Kind kind = Kind::kNone;
  int64_t integer = 0;
  double number = 0;
  std::string text = {};
  std::vector<uint32_t> items = {};
};

// The values of a pickle. Values may share parts and may contain themselves.
struct Pickle {
  std::vector<PickleValue> values;
  uint32_t root = 0;
  size_t end = 0;  // where the bytes behind it begin

  const PickleValue& operator[](uint32_t at) const { return values[at]; }
  const PickleValue& top() const { return values[root]; }
};

// Reads the pickle at the front of `bytes` as data: nothing that it names is looked up, made or
// called. It knows the operations that PyTorch's weights-only reader (2.15) does. DataLoss for a
// damaged one, Unimplemented for other operations and for integers beyond i64, as "offset 12:
// expected ..., got ..."; ResourceExhausted where its values take more than `max_metadata_bytes`.
absl::StatusOr<Pickle> ReadPickle(std::string_view bytes, const LoadLimits& limits);

}  // namespace firn::io::internal

#endif  // FIRN_IO_TORCH_INTERNAL_PICKLE_H_
