// Captured code would write a file once, and later runs would not. So writing is refused, like all
// reading of elements there.

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/io/graph/graph_file.h"
#include "firn/io/npy/npy.h"
#include "firn/io/parameters.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/state_dict.h"
#include "tests/error_of.h"

namespace firn {
namespace {

void ExpectRefused(const Tensor& state, const std::function<void()>& write) {
  const absl::Status status = testing::StatusOf([&] {
    Freeze(
        [&](const Tensor& x) {
          write();
          return x + state;
        },
        Ones({3}));
  });
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
  const std::string why(status.message());
  EXPECT_NE(why.find("elements of f32 [3] on cpu are read on the host while"), why.npos) << why;
}

TEST(SavingInCaptureTest, IsRefused) {
  const Tensor state = Ones({3});
  const StaticGraph graph = Freeze([&](const Tensor& x) { return x * state; }, Ones({3}));
  StateDict dict;
  dict.Insert("w", state);
  const std::string path = ::testing::TempDir() + "/captured";
  ExpectRefused(state, [&] { io::Save(path + ".h5", dict); });
  ExpectRefused(state, [&] { io::WriteNpy(path + ".npy", state); });
  ExpectRefused(state, [&] { io::WriteNpz(path + ".npz", dict); });
  ExpectRefused(state, [&] { io::SaveGraph(path + ".firn", graph); });
}

}  // namespace
}  // namespace firn
