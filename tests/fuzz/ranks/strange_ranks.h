#ifndef FIRN_TESTS_FUZZ_RANKS_STRANGE_RANKS_H_
#define FIRN_TESTS_FUZZ_RANKS_STRANGE_RANKS_H_

// What other ranks have sent, as bytes: those of each call in their order, a rank's after
// another's.

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "firn/device/comm/communicator.h"

namespace firn::testing {

// A rank whose others have sent the bytes, whatever it sends. Calls are errors once all are used
// up, and end the process where they want much memory for what has not come.
std::unique_ptr<comm::Communicator> StrangeRank(int rank, int size, std::string_view bytes);

// What comes to one rank where `size` of them, threads that understand each other, call `body`.
std::string Received(int rank, int size,
                     const std::function<void(std::unique_ptr<comm::Communicator>)>& body);

}  // namespace firn::testing

#endif  // FIRN_TESTS_FUZZ_RANKS_STRANGE_RANKS_H_
