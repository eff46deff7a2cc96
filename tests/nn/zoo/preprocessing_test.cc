// How images become inputs of torchvision's weights, as torchvision tells it
// (make_preprocessing.py), beside what the zoo tells of the same networks.
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "firn/nn/zoo/zoo.h"

namespace firn::zoo {
namespace {

struct Row {
  std::string name, interpolation;
  int64_t resize = 0, crop = 0;
  std::vector<double> mean = std::vector<double>(3), stddev = std::vector<double>(3);
};

std::vector<Row> Table() {
  std::ifstream file("tests/nn/zoo/preprocessing.txt");
  std::vector<Row> rows;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    Row row;
    words >> row.name >> row.resize >> row.crop >> row.interpolation;
    for (double& value : row.mean) words >> value;
    for (double& value : row.stddev) words >> value;
    EXPECT_TRUE(words) << line;
    rows.push_back(row);
  }
  return rows;
}

TEST(PreprocessingTest, IsTorchvisionsOfEveryNetwork) {
  for (const Row& row : Table()) {
    SCOPED_TRACE(row.name);
    const Network& network = Find(row.name);
    EXPECT_EQ(network.resize, row.resize);
    EXPECT_EQ(network.inputs[0].shape, Shape({3, row.crop, row.crop}));
    EXPECT_EQ(network.bicubic ? "bicubic" : "bilinear", row.interpolation);
    EXPECT_EQ(network.colours.mean, row.mean);
    EXPECT_EQ(network.colours.stddev, row.stddev);
  }
}

TEST(PreprocessingTest, NoClassifierOfTorchvisionIsLeftOut) {
  std::set<std::string> rows, classifiers;
  for (const Row& row : Table()) rows.insert(row.name);
  for (const std::string& name : Names()) {
    const Network& network = Find(name);
    if (network.origin == "torchvision.models." + name) classifiers.insert(name);
  }
  EXPECT_EQ(rows, classifiers);
}

}  // namespace
}  // namespace firn::zoo
