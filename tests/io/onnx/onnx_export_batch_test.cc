// Files that take any batch: with other sizes they give the same results as the function itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "firn/autograd/graph/static_graph.h"
#include "firn/io/onnx/internal/onnx_read.h"
#include "firn/io/onnx/onnx.h"
#include "firn/io/onnx/onnx_export.h"
#include "firn/io/onnx/onnx_status.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/rng.h"
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

// Numbers are drawn for as many samples as there are.
TEST(OnnxExportBatchTest, DrawsForAnyBatch) {
  const auto shape_of = [](const Function& f, int64_t batch) {
    const std::string path = TempPath("draws.onnx");
    ExportOnnx(path, Freeze(f, Ones({4, 3})), {.dynamic_batch = true});
    return ImportOnnx(path).network(Ones({batch, 3})).shape();
  };
  for (const int64_t batch : {1, 4, 7}) {
    EXPECT_EQ(shape_of(
                  [](const Tensor& x) {
                    return Rand({x.size(0), 5});
                  },
                  batch),
              Shape({batch, 5}));
    EXPECT_EQ(shape_of(
                  [](const Tensor& x) {
                    return Randn({2, x.size(0)});
                  },
                  batch),
              Shape({2, batch}));
    EXPECT_EQ(shape_of([](const Tensor& x) { return Randint(0, 9, {x.size(0)}); }, batch),
              Shape({batch}));
  }
}

// The inputs are ones, so results have two values: of kept and of dropped elements.
TEST(OnnxExportBatchTest, DropsElementsAndChannelsOfAnyBatch) {
  ManualSeed(3);
  constexpr double kP = 0.3;
  const Tensor eager = AlphaDropout(Ones({1000}), kP);
  const double kept = Amax(eager).Item(), dropped = Amin(eager).Item();
  for (const bool per_channel : {false, true}) {
    const std::string path = TempPath("alpha.onnx");
    const auto drop = [&](const Tensor& x) { return AlphaDropout(x, kP, true, per_channel); };
    ExportOnnx(path, Freeze(drop, Ones({4, 50, 6})), {.dynamic_batch = true});
    const OnnxImport again = ImportOnnx(path);
    for (const int64_t batch : {2, 4, 9}) {
      SCOPED_TRACE(batch);
      const Tensor y = again.network(Ones({batch, 50, 6}));
      ASSERT_EQ(y.shape(), Shape({batch, 50, 6}));
      const int64_t drawn = batch * 50 * (per_channel ? 1 : 6);
      const std::vector<float> v = y.ToVector<float>();
      double count = 0;
      for (size_t i = 0; i < v.size(); ++i) {
        const bool is_dropped = std::abs(static_cast<double>(v[i]) - dropped) < 1e-6;
        EXPECT_NEAR(v[i], is_dropped ? dropped : kept, 1e-6);
        EXPECT_TRUE(!per_channel || v[i] == v[i - i % 6]);
        count += is_dropped ? 1 : 0;
      }
      const double share = count / static_cast<double>(batch * 300);
      EXPECT_NEAR(share, kP, 5 * std::sqrt(kP * (1 - kP) / static_cast<double>(drawn)));
    }
  }
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
