// Files that take any batch: run with other ones, they give what the function itself gives.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "firn/autograd/graph/static_graph.h"
#include "firn/io/onnx/internal/onnx_read.h"
#include "firn/io/onnx/onnx.h"
#include "firn/io/onnx/onnx_export.h"
#include "firn/io/onnx/onnx_status.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

using ::testing::HasSubstr;
using Function = std::function<Tensor(const Tensor&)>;

void ExpectAnyBatch(const Function& f, const Tensor& captured) {
  NoGradScope no_grad;
  const std::string path = TempPath("batch.onnx");
  ExportOnnx(path, Freeze(f, captured), {.dynamic_batch = true});
  const OnnxImport again = ImportOnnx(path);
  std::vector<int64_t> sizes(captured.shape().begin(), captured.shape().end());
  for (const int64_t batch : {1, 2, 3, 4, 7}) {
    SCOPED_TRACE(batch);
    sizes[0] = batch;
    const Tensor x = Randn(Shape(sizes));
    EXPECT_TRUE(again.network(x).Equals(f(x)));
  }
}

TEST(OnnxExportBatchTest, SlicesEndWithTheBatch) {
  ExpectAnyBatch([](const Tensor& x) { return Narrow(x, 0, 0, x.size(0)) * 2; }, Ones({4, 3}));
  ExpectAnyBatch([](const Tensor& x) { return Slice(x, 0, 1, x.size(0)) + 1; }, Ones({4, 3}));
  ExpectAnyBatch([](const Tensor& x) { return Slice(x, 0, 0, x.size(0), 2) + 1; }, Ones({4, 3}));
}

TEST(OnnxExportBatchTest, SlicesOfOtherDimensionsDoNot) {
  ExpectAnyBatch([](const Tensor& x) { return Slice(x, 1, 1, 4) + 1; }, Ones({4, 9}));
}

// A size that was computed from the batch is a number when it is captured.
TEST(OnnxExportBatchTest, PlacesFromTheFrontAreWarnedOf) {
  const auto warnings = [](const Function& f) {
    return ExportOnnx(TempPath("places.onnx"), Freeze(f, Ones({4, 3})), {.dynamic_batch = true})
        .warnings;
  };
  EXPECT_THAT(warnings([](const Tensor& x) { return Slice(x, 0, x.size(0) - 2, x.size(0)); }),
              ::testing::ElementsAre(HasSubstr("counts 2 from the front of the batch")));
  EXPECT_THAT(warnings([](const Tensor& x) { return Slice(x, 0, 0, x.size(0) - 1); }),
              ::testing::ElementsAre(HasSubstr("counts 3 from the front of the batch")));
  EXPECT_THAT(warnings([](const Tensor& x) { return Select(x, 0, x.size(0) - 1); }),
              ::testing::ElementsAre(HasSubstr("counts 3 from the front of the batch")));
  EXPECT_THAT(warnings([](const Tensor& x) { return Slice(x, 0, -2) + Select(x, 0, 0); }),
              ::testing::IsEmpty());
}

// Where the rest is inferred, the elements alone do not say which size is the batch's.
TEST(OnnxExportBatchTest, ReshapesKeepTheBatchInItsPlace) {
  ExpectAnyBatch([](const Tensor& x) { return Reshape(x, {x.size(0), -1}) + 1; }, Ones({4, 5, 8}));
  ExpectAnyBatch([](const Tensor& x) { return Reshape(x, {-1, 8}) + 1; }, Ones({4, 5, 8}));
  ExpectAnyBatch(
      [](const Tensor& x) {
        return Reshape(x.Transpose(0, 1), {4, -1}) + 1;
      },
      Ones({2, 4, 5}));
  ExpectAnyBatch(
      [](const Tensor& x) {
        return Reshape(x, {2 * x.size(0), -1}) + 1;
      },
      Ones({3, 4, 5}));
}

TEST(OnnxExportBatchTest, ABatchOfNothingSaysNothing) {
  const StaticGraph graph = Freeze(
      [](const Tensor& x) {
        return Reshape(x, {-1, 6});
      },
      Ones({0, 2, 3}));
  EXPECT_THAT(
      std::string(
          TryExportOnnx(TempPath("none.onnx"), graph, {.dynamic_batch = true}).status().message()),
      HasSubstr("dynamic_batch needs a run of one sample or more"));
}

TEST(OnnxExportBatchTest, OnlyMultiplesOfTheBatchAreCalledSo) {
  const std::string path = TempPath("names.onnx");
  ExportOnnx(path,
             Freeze(
                 [](const Tensor& x) {
                   return Pad(x, {0, 0, 0, 4});
                 },
                 Ones({4, 3})),
             {.dynamic_batch = true});
  const auto model = internal::ReadOnnxModel(path);
  ASSERT_TRUE(model.ok());
  EXPECT_EQ((*model->graph.outputs[0].type.shape)[0].name, "");
}

}  // namespace
}  // namespace firn::io
