#ifndef FIRN_TESTS_TOOLS_FIRN_TRAIN_TRAINING_H_
#define FIRN_TESTS_TOOLS_FIRN_TRAIN_TRAINING_H_

// Runs of firn train in tests.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "gtest/gtest.h"
#include "tests/io/test_files.h"
#include "tests/tools/firn/firn_command.h"

namespace firn::cli {

// A folder of a test's own, with the configuration in it.
inline std::string WriteConfig(const std::string& name, const nlohmann::json& config) {
  const std::string folder = io::TempPath(name);
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  io::WriteFile(folder + "/train.json", config.dump());
  return folder + "/train.json";
}

inline nlohmann::json Trained(const std::string& config) {
  const Outcome o = Firn({"train", config, "--json", "--quiet"});
  EXPECT_EQ(o.status, 0) << o.err;
  return o.status == 0 ? nlohmann::json::parse(o.out) : nlohmann::json();
}

}  // namespace firn::cli

#endif  // FIRN_TESTS_TOOLS_FIRN_TRAIN_TRAINING_H_
