#ifndef FIRN_TESTS_FUZZ_RANKS_STRANGE_RANKS_H_
#define FIRN_TESTS_FUZZ_RANKS_STRANGE_RANKS_H_

// The bytes that other ranks have sent: for each call in order, those of one rank after another.

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "firn/device/comm/communicator.h"

namespace firn::testing {

// A rank to which the others send these bytes, whatever it sends itself. Once all bytes are used
// up, calls are errors. A call that wants much memory for bytes that have not come ends the
// process.
std::unique_ptr<comm::Communicator> StrangeRank(int rank, int size, std::string_view bytes);

// The bytes that one rank receives if `size` correct ranks, which are threads, call `body`.
std::string Received(int rank, int size,
                     const std::function<void(std::unique_ptr<comm::Communicator>)>& body);

}  // namespace firn::testing

#endif  // FIRN_TESTS_FUZZ_RANKS_STRANGE_RANKS_H_
