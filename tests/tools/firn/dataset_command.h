#ifndef FIRN_TESTS_TOOLS_FIRN_DATASET_COMMAND_H_
#define FIRN_TESTS_TOOLS_FIRN_DATASET_COMMAND_H_

// Runs `firn dataset` in the test's own process, and makes and looks at its files.

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "firn/io/image/image.h"
#include "firn/tensor/ops.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/io/test_files.h"
#include "tests/tools/firn/firn_command.h"

namespace firn::cli {

inline Outcome Dataset(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "dataset");
  return Firn(arguments);
}
inline nlohmann::json Json(std::vector<std::string> arguments) {
  arguments.push_back("--json");
  const Outcome o = Dataset(arguments);
  EXPECT_EQ(o.status, 0) << o.err;
  return nlohmann::json::parse(o.out);
}

// A new folder of this name.
inline std::string Folder(const std::string& name) {
  std::filesystem::remove_all(io::TempPath(name));
  std::filesystem::create_directories(io::TempPath(name));
  return io::TempPath(name);
}

inline void AddImage(const std::string& path, int value, const Shape& shape) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  io::WriteImage(path, Full(shape, value).To(DType::kU8));
}

inline std::vector<std::string> Lines(const std::string& path) {
  std::istringstream in(io::ReadFile(path));
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace firn::cli

#endif  // FIRN_TESTS_TOOLS_FIRN_DATASET_COMMAND_H_
