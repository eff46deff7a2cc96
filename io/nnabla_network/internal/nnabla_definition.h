#ifndef FIRN_IO_NNABLA_NETWORK_INTERNAL_NNABLA_DEFINITION_H_
#define FIRN_IO_NNABLA_NETWORK_INTERNAL_NNABLA_DEFINITION_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "firn/autograd/network/network.h"
#include "firn/io/nnabla_model/nnabla_model.h"
#include "firn/tensor/state_dict.h"

namespace firn::io::internal {

// The wanted inputs and outputs of an expanded network.
struct NnablaWanted {
  std::vector<std::string> inputs, outputs;
  std::vector<nnabla::GeneratorVariable> generators;
};

// The network's own inputs and outputs: the buffers that no function makes, and those that no
// function takes.
NnablaWanted EndsOf(const nnabla::Network& network);

// Unimplemented for functions that Firn does not have, those of all expanded networks in one list,
// also where no output needs them. `source` is the file, in messages.
absl::Status CheckNnablaFunctions(absl::Span<const nnabla::Network> networks,
                                  const std::string& source);

// The functions that the outputs need, with the parameters in `state` that they take. `source` is
// file and network, in messages. Errors: those of ImportNnabla.
absl::StatusOr<Network> NnablaNetworkOf(const nnabla::Network& network, const NnablaWanted& wanted,
                                        const StateDict& state, const std::string& source);

}  // namespace firn::io::internal

#endif  // FIRN_IO_NNABLA_NETWORK_INTERNAL_NNABLA_DEFINITION_H_
