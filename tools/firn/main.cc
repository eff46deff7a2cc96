// The command line `firn`.

#include <iostream>
#include <string>
#include <vector>

#include "tools/firn/command.h"

int main(int argc, char** argv) {
  return firn::cli::RunCommandLine(std::vector<std::string>(argv + 1, argv + argc), std::cout,
                                   std::cerr);
}
