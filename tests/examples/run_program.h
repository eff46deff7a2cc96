#ifndef FIRN_TESTS_EXAMPLES_RUN_PROGRAM_H_
#define FIRN_TESTS_EXAMPLES_RUN_PROGRAM_H_

#include <functional>
#include <string>
#include <vector>

namespace firn::testing {

struct ProgramResult {
  int exit_code = -1;  // -1: the program could not be started, or a signal ended it
  std::string output;  // what it wrote to stdout
  std::string errors;  // and to stderr
};

// Runs a program of this repository, "examples/mnist", to its end, with `input` as its stdin.
ProgramResult RunProgram(const std::string& program, const std::vector<std::string>& arguments = {},
                         const std::string& input = "");

// Starts a program and kills it, as a power cut would, once `now` returns true. Returns whether it
// was still running.
bool KillProgram(const std::string& program, const std::vector<std::string>& arguments,
                 const std::function<bool()>& now);

// The number that follows `text` where it occurs last; NaN when it does not occur.
double NumberAfter(const std::string& output, const std::string& text);

}  // namespace firn::testing

#endif  // FIRN_TESTS_EXAMPLES_RUN_PROGRAM_H_
