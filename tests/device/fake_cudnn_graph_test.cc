// The stand-in for cuDNN's graph API refuses what cuDNN's documentation refuses.
#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "firn/tensor/kernels/cuda/dnn_descriptor.h"
#include "firn/tensor/kernels/cuda/library_api.h"
#include "tests/device/fake_libraries.h"
#include "tests/on_cuda.h"

namespace firn {
namespace {

using cuda::Descriptor;
using Four = std::array<int64_t, 4>;

class FakeCudnnGraphTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (cuda_.fake() == nullptr) GTEST_SKIP() << "a GPU has the library itself";
    libraries_.emplace(cuda_.fake());
    api_ = cuda::LibraryApi<cuda::DnnApi>::Of(Device::Cuda(0));
    ASSERT_NE(api_, nullptr);
  }

  Descriptor Begun(int64_t id, bool between = false) const {
    const Four sizes = {1, 1, 2, 8}, strides = {16, 16, 8, 1};
    Descriptor d(CUDNN_BACKEND_TENSOR_DESCRIPTOR, *api_);
    d.Set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_DATA_FLOAT)
        .Set(CUDNN_ATTR_TENSOR_DIMENSIONS, absl::MakeConstSpan(sizes))
        .Set(CUDNN_ATTR_TENSOR_STRIDES, absl::MakeConstSpan(strides))
        .Set(CUDNN_ATTR_TENSOR_UNIQUE_ID, id);
    if (between) d.Set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, true);
    return d;
  }
  Descriptor Tensor(int64_t id, bool between = false) const {
    Descriptor d = Begun(id, between);
    d.Set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, int64_t{16});
    EXPECT_TRUE(d.Finalize().ok());
    return d;
  }
  Descriptor Exponential() const {
    Descriptor d(CUDNN_BACKEND_POINTWISE_DESCRIPTOR, *api_);
    d.Set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_POINTWISE_EXP)
        .Set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_DATA_FLOAT);
    EXPECT_TRUE(d.Finalize().ok());
    return d;
  }
  Descriptor Operation(const Descriptor& how, const Descriptor& x, const Descriptor& y) const {
    Descriptor d(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, *api_);
    d.Set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, how)
        .Set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x)
        .Set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y);
    return d;
  }
  // Makes a graph of operations y = exp(x) from their tensors.
  absl::Status Graph(
      const std::vector<std::pair<const Descriptor*, const Descriptor*>>& all) const {
    const Descriptor how = Exponential();
    std::vector<Descriptor> operations;
    for (const auto& [x, y] : all) {
      operations.push_back(Operation(how, *x, *y));
      FIRN_RETURN_IF_ERROR(operations.back().Finalize());
    }
    cudnnHandle_t handle = nullptr;
    EXPECT_EQ(api_->create(&handle), CUDNN_STATUS_SUCCESS);
    return Descriptor(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, *api_)
        .Set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, handle)
        .Set(CUDNN_ATTR_OPERATIONGRAPH_OPS, operations)
        .Finalize();
  }

  testing::CudaOrFake cuda_;
  std::optional<FakeLibraries> libraries_;
  const cuda::DnnApi* api_ = nullptr;
};

bool Refused(const absl::Status& s, int code) {
  return s.ToString().find("cudnnStatus_t " + std::to_string(code)) != std::string::npos;
}

TEST_F(FakeCudnnGraphTest, AttributesOfAnotherTypeOrNumber) {
  const std::array<int64_t, 3> three = {1, 2, 8};
  EXPECT_TRUE(Refused(Begun(1).Set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, 16.0f).Finalize(),
                      CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE));
  EXPECT_TRUE(
      Refused(Begun(1).Set(CUDNN_ATTR_TENSOR_DIMENSIONS, absl::MakeConstSpan(three)).Finalize(),
              CUDNN_STATUS_BAD_PARAM_OUT_OF_BOUND));
  EXPECT_TRUE(Refused(Begun(1).Set(CUDNN_ATTR_POINTWISE_AXIS, int64_t{1}).Finalize(),
                      CUDNN_STATUS_NOT_SUPPORTED));
}

TEST_F(FakeCudnnGraphTest, WhatIsNotFinishedOrIsChangedAfter) {
  EXPECT_TRUE(Refused(Begun(1).Finalize(), CUDNN_STATUS_BAD_PARAM)) << "no alignment";
  const Descriptor begun = Begun(1), y = Tensor(2), how = Exponential();
  EXPECT_TRUE(Refused(Operation(how, begun, y).Finalize(), CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED));
  Descriptor done = Tensor(3);
  EXPECT_TRUE(Refused(done.Set(CUDNN_ATTR_TENSOR_UNIQUE_ID, int64_t{4}).Finalize(),
                      CUDNN_STATUS_BAD_PARAM));
}

TEST_F(FakeCudnnGraphTest, OperationsThatLackAnOperand) {
  Descriptor sum(CUDNN_BACKEND_POINTWISE_DESCRIPTOR, *api_);
  ASSERT_TRUE(sum.Set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_POINTWISE_ADD)
                  .Set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_DATA_FLOAT)
                  .Finalize()
                  .ok());
  EXPECT_TRUE(Refused(Operation(sum, Tensor(1), Tensor(2)).Finalize(), CUDNN_STATUS_BAD_PARAM));
}

TEST_F(FakeCudnnGraphTest, GraphsThatReadWhatNobodyWrites) {
  const Descriptor x = Tensor(1), between = Tensor(2, true), y = Tensor(3);
  EXPECT_TRUE(Graph({{&x, &between}, {&between, &y}}).ok());
  EXPECT_TRUE(Refused(Graph({{&between, &y}, {&x, &between}}), CUDNN_STATUS_BAD_PARAM));
  EXPECT_TRUE(Refused(Graph({{&x, &y}, {&x, &y}}), CUDNN_STATUS_BAD_PARAM)) << "written twice";
}

}  // namespace
}  // namespace firn
