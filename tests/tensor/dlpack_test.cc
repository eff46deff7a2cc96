#include "firn/tensor/dlpack.h"

#include <gtest/gtest.h>

#include <string>

#include "firn/device/cpu_allocator.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/internal/dlpack_abi.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/shape/slices.h"
#include "firn/tensor/reorder.h"

namespace firn {
namespace {

using dlpack::DLManagedTensor;

// A tensor of another library: 2 x 3 floats with a gap after each row.
struct Foreign {
  float data[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  int64_t shape[2] = {2, 3}, strides[2] = {4, 1};
  int deleted = 0;
  DLManagedTensor managed;

  Foreign() {
    managed.dl_tensor = {data, {dlpack::kDlCpu, 0}, 2, {dlpack::kDlFloat, 32, 1}, shape, strides,
                         4};
    managed.manager_ctx = this;
    managed.deleter = [](DLManagedTensor* m) { ++static_cast<Foreign*>(m->manager_ctx)->deleted; };
  }
  // The message with which the import is refused. The deleter must not have been called.
  std::string Refused() {
    try {
      FromDlpack(&managed);
    } catch (const Error& e) {
      EXPECT_EQ(deleted, 0);
      return e.what();
    }
    return "taken";
  }
};

TEST(DlpackTest, SharesForeignMemoryAndDeletesItOnce) {
  Foreign f;
  {
    Tensor x = FromDlpack(&f.managed);
    EXPECT_EQ(x.spec().shape, Shape({2, 3}));
    EXPECT_EQ(x.ToVector<float>(), (std::vector<float>{1, 2, 3, 5, 6, 7}));
    const Tensor view = Slice(x, 0, 1);
    x = Tensor();
    EXPECT_EQ(f.deleted, 0);
    f.data[5] = -5;
    EXPECT_EQ(view.ToVector<float>(), (std::vector<float>{-5, 6, 7}));
  }
  EXPECT_EQ(f.deleted, 1);
}

TEST(DlpackTest, TakesRowMajorOrderForMissingStrides) {
  Foreign f;
  f.managed.dl_tensor.strides = nullptr;
  EXPECT_EQ(FromDlpack(&f.managed).ToVector<float>(), (std::vector<float>{1, 2, 3, 4, 5, 6}));
}

TEST(DlpackTest, TakesEmptyTensorsWithoutData) {
  Foreign f;
  f.shape[0] = 0;
  f.managed.dl_tensor.data = nullptr;
  EXPECT_EQ(FromDlpack(&f.managed).shape(), Shape({0, 3}));
  EXPECT_EQ(f.deleted, 1);
}

TEST(DlpackTest, NeedsNoDeleter) {
  Foreign f;
  f.managed.deleter = nullptr;
  EXPECT_EQ(FromDlpack(&f.managed).num_elements(), 6);
}

TEST(DlpackTest, RefusesWhatItCannotHold) {
  EXPECT_THROW(FromDlpack(nullptr), Error);
  Foreign device, type, lanes, rank, null, negative, overflow, size, align;
  device.managed.dl_tensor.device = {dlpack::kDlCuda, 0};
  EXPECT_NE(device.Refused().find("device of type 2"), std::string::npos);
  type.managed.dl_tensor.dtype = {5, 64, 1};  // complex
  EXPECT_NE(type.Refused().find("type code 5, 64 bits and 1 lanes"), std::string::npos);
  lanes.managed.dl_tensor.dtype.lanes = 4;
  EXPECT_NE(lanes.Refused().find("4 lanes"), std::string::npos);
  rank.managed.dl_tensor.ndim = 9;
  EXPECT_NE(rank.Refused().find("9 dimensions"), std::string::npos);
  null.managed.dl_tensor.data = nullptr;
  EXPECT_NE(null.Refused().find("null data for shape [2, 3]"), std::string::npos);
  negative.strides[1] = -1;
  EXPECT_NE(negative.Refused().find("stride -1 of dim 1"), std::string::npos);
  overflow.strides[0] = int64_t{1} << 62;
  EXPECT_NE(overflow.Refused().find("overflows"), std::string::npos);
  size.shape[1] = -3;
  EXPECT_NE(size.Refused().find("-3"), std::string::npos);
  align.managed.dl_tensor.byte_offset = 2;
  EXPECT_NE(align.Refused().find("not aligned to 4 bytes"), std::string::npos);
}

TEST(DlpackTest, LendsMemoryUntilTheDeleterIsCalled) {
  const int64_t before = CpuAllocator().stats().live_bytes;
  DLManagedTensor* m = nullptr;
  {
    const Tensor x = Full({2, 3}, 7, DType::kI32);
    m = static_cast<DLManagedTensor*>(ToDlpack(Slice(x, 1, 1)));
  }
  EXPECT_GT(CpuAllocator().stats().live_bytes, before);
  EXPECT_EQ(m->dl_tensor.ndim, 2);
  EXPECT_EQ(m->dl_tensor.shape[1], 2);
  EXPECT_EQ(m->dl_tensor.strides[0], 3);
  EXPECT_EQ(m->dl_tensor.dtype.code, dlpack::kDlInt);
  EXPECT_EQ(m->dl_tensor.dtype.bits, 32);
  EXPECT_EQ(static_cast<int32_t*>(m->dl_tensor.data)[0], 7);
  m->deleter(m);
  EXPECT_EQ(CpuAllocator().stats().live_bytes, before);
}

TEST(DlpackTest, GoesThereAndBackInEveryDType) {
  for (DType d : {DType::kF32, DType::kF64, DType::kF16, DType::kBF16, DType::kI8, DType::kI32,
                  DType::kI64, DType::kU8, DType::kBool}) {
    const Tensor x = Full({2, 2}, 1, d);
    const Tensor y = FromDlpack(ToDlpack(x));
    EXPECT_TRUE(y.Equals(x)) << DTypeName(d);
    EXPECT_EQ(y.impl()->data, x.impl()->data) << DTypeName(d);
  }
}

TEST(DlpackTest, ShowsBlockedTensorsRowMajor) {
  const Tensor x = Full({1, 8, 2}, 3);
  const Tensor y = FromDlpack(ToDlpack(*Reordered(x, 8)));
  EXPECT_TRUE(y.is_contiguous());
  EXPECT_TRUE(y.Equals(x));
}

TEST(DlpackTest, RefusesToLendWhatHasAGradient) {
  EXPECT_THROW(ToDlpack(Zeros({2}).SetRequiresGrad()), Error);
  EXPECT_THROW(ToDlpack(Tensor()), Error);
}

}  // namespace
}  // namespace firn
