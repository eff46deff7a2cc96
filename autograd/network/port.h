#ifndef FIRN_AUTOGRAD_NETWORK_PORT_H_
#define FIRN_AUTOGRAD_NETWORK_PORT_H_

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "firn/tensor/dtype.h"

namespace firn::autograd {

// A size that is known, one that has a name (all of that name are equal), or neither.
struct NetworkDim {
  std::optional<int64_t> size = {};
  std::string symbol = {};
};

// An input or output of a network:
//
//   for (const auto& input : net.inputs()) std::cout << input << "\n";   // image: f32 [N, 1, 8, 8]
struct NetworkPort {
  std::string name;
  std::optional<DType> dtype = {};                   // nothing: any
  std::optional<std::vector<NetworkDim>> dims = {};  // nothing: any number of them

  // Its dtype and sizes: "f32 [N, 8]"; an unknown size is "?".
  std::string Type() const;
};

std::ostream& operator<<(std::ostream& out, const NetworkPort& port);

}  // namespace firn::autograd

#endif  // FIRN_AUTOGRAD_NETWORK_PORT_H_
