#ifndef FIRN_TESTS_FUZZ_MONITORS_MESSAGES_H_
#define FIRN_TESTS_FUZZ_MONITORS_MESSAGES_H_

#include <string>
#include <vector>

namespace firn::testing {

// The contents of the records of an intact event file, one after the other.
std::vector<std::string> EventMessages(const std::string& path);

}  // namespace firn::testing

#endif  // FIRN_TESTS_FUZZ_MONITORS_MESSAGES_H_
