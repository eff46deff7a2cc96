#ifndef FIRN_TESTS_TOOLS_FIRN_FIRN_COMMAND_H_
#define FIRN_TESTS_TOOLS_FIRN_FIRN_COMMAND_H_

// Runs a command line of `firn` in the test's own process.

#include <sstream>
#include <string>
#include <vector>

#include "tools/firn/command.h"

namespace firn::cli {

struct Outcome {
  int status;
  std::string out, err;
};
inline Outcome Firn(const std::vector<std::string>& arguments) {
  std::ostringstream out, err;
  const int status = RunCommandLine(arguments, out, err);
  return {status, out.str(), err.str()};
}

}  // namespace firn::cli

#endif  // FIRN_TESTS_TOOLS_FIRN_FIRN_COMMAND_H_
