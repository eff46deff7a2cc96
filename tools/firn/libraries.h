#ifndef FIRN_TOOLS_FIRN_LIBRARIES_H_
#define FIRN_TOOLS_FIRN_LIBRARIES_H_

#include <string>
#include <utility>
#include <vector>

namespace firn::cli {

// The libraries of the system that are linked in, with the versions that they report.
std::vector<std::pair<std::string, std::string>> Libraries();

}  // namespace firn::cli

#endif  // FIRN_TOOLS_FIRN_LIBRARIES_H_
