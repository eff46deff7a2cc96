// Writing and reading a graph take a time that grows with its operations, states and constants.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "firn/device/parallel.h"
#include "firn/io/graph/graph_file.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "tests/growth.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

TEST(GraphFileGrowthTest, ManyStatesAndConstants) {
  SetNumThreads(1);
  const std::string path = TempPath("many.firn");
  const auto write_and_read = [&path](int n) {
    std::vector<Tensor> states;
    for (int i = 0; i < n; ++i) states.push_back(Ones({2}));
    const StaticGraph graph = Freeze(
        [&](const Tensor& x) {
          Tensor y = x;
          for (int i = 0; i < n; ++i) y = y * states[static_cast<size_t>(i)] + 0.5 * i;
          return y;
        },
        Ones({2}));
    SaveGraph(path, graph);
    StaticGraph loaded = LoadGraph(path);
    EXPECT_EQ(loaded(Ones({2})).shape(), Shape({2}));
  };
  const double growth = testing::GrowthOf(write_and_read, 4000, testing::kLinear);
  EXPECT_LT(growth, testing::kLinear);
}

}  // namespace
}  // namespace firn::io
