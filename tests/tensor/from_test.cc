#include "firn/tensor/from.h"

#include <gtest/gtest.h>

#include <cstring>

#include "firn/tensor/error.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/shape/slices.h"

namespace firn {
namespace {

TEST(FromBlobTest, BorrowsWithoutCopyingAndReleasesOnce) {
  float data[] = {1, 2, 3, 4, 5, 6};
  int released = 0;
  void* given = nullptr;
  {
    Tensor x = FromBlob(data, {2, 3}, DType::kF32, [&](void* p) {
      ++released;
      given = p;
    });
    EXPECT_EQ(x.impl()->data, reinterpret_cast<char*>(data));
    const Tensor view = Slice(x, 1, 1), copy = x;
    x = Tensor();
    data[2] = 30;
    EXPECT_EQ(view.ToVector<float>(), (std::vector<float>{2, 30, 5, 6}));
    EXPECT_EQ(released, 0);
  }
  EXPECT_EQ(released, 1);
  EXPECT_EQ(given, data);
}

TEST(FromBlobTest, TakesStrides) {
  const int32_t data[] = {0, 1, 2, 3, 4, 5, 6, 7};
  void* p = const_cast<int32_t*>(data);
  EXPECT_EQ(FromBlob(p, {2, 3}, {4, 1}, DType::kI32).ToVector<int32_t>(),
            (std::vector<int32_t>{0, 1, 2, 4, 5, 6}));
  EXPECT_EQ(FromBlob(p, {2, 3}, {1, 2}, DType::kI32).ToVector<int32_t>(),
            (std::vector<int32_t>{0, 2, 4, 1, 3, 5}));
  const Tensor repeated = FromBlob(p, {2, 3}, {0, 1}, DType::kI32);
  EXPECT_FALSE(repeated.is_contiguous());
  EXPECT_EQ(Add(repeated, repeated).ToVector<int32_t>(), (std::vector<int32_t>{0, 2, 4, 0, 2, 4}));
}

TEST(FromBlobTest, TakesDataAtAnyElement) {
  alignas(64) float values[41];
  for (int i = 0; i < 41; ++i) values[i] = static_cast<float>(i);
  const Tensor x = FromBlob(values + 1, {40}, DType::kF32);
  const std::vector<float> sums = Add(x, x).ToVector<float>();
  for (int i = 0; i < 40; ++i) EXPECT_EQ(sums[static_cast<size_t>(i)], 2 * values[i + 1]);
}

TEST(FromBlobTest, RefusesDataThatIsNotAlignedToItsElements) {
  alignas(8) char bytes[9] = {};
  EXPECT_THROW(FromBlob(bytes + 1, {1}, DType::kF32), Error);
  EXPECT_THROW(FromBlob(bytes + 4, {1}, DType::kI64), Error);
  EXPECT_NO_THROW(FromBlob(bytes + 1, {1}, DType::kU8));
}

TEST(FromBlobTest, TakesItsDtypeFromThePointer) {
  const uint8_t frame[] = {1, 2, 3, 4, 5, 6};
  const Tensor x = FromBlob(frame, {2, 3});
  EXPECT_EQ(x.dtype(), DType::kU8);
  EXPECT_EQ(x.host_view<uint8_t>().data(), frame);
  bool released = false;
  double value = 0.5;
  {
    EXPECT_EQ(FromBlob(&value, {}, [&](void*) { released = true; }).Item(), 0.5);
  }
  EXPECT_TRUE(released);
}

TEST(FromBlobTest, TakesNothing) {
  EXPECT_EQ(FromBlob(nullptr, {0, 3}, DType::kF32).num_elements(), 0);
}

TEST(FromBlobTest, RefusesBadArguments) {
  float data[4] = {};
  EXPECT_THROW(FromBlob(nullptr, {1}, DType::kF32), Error);
  EXPECT_THROW(FromBlob(data, {2, 2}, {1}, DType::kF32), Error);
  EXPECT_THROW(FromBlob(data, {2, 2}, {-1, 1}, DType::kF32), Error);
  EXPECT_THROW(FromBlob(data, {4, 4}, {int64_t{1} << 62, 1}, DType::kF32), Error);
}

TEST(FromVectorTest, TakesTheMemoryOver) {
  std::vector<double> values = {1, 2, 3, 4};
  const double* data = values.data();
  const Tensor x = FromVector(std::move(values), {2, 2});
  EXPECT_EQ(x.host_view<double>().data(), data);
  EXPECT_EQ(x.shape(), Shape({2, 2}));
}

TEST(FromValuesTest, TakesRows) {
  const Tensor x = FromValues({{1.f, 2.f, 3.f}, {4.f, 5.f, 6.f}});
  EXPECT_EQ(x.shape(), Shape({2, 3}));
  EXPECT_EQ(x.ToVector<float>(), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(FromValues<int64_t>({{1, 2}, {3, 4}}).dtype(), DType::kI64);
  EXPECT_EQ(FromValues<float>({}).shape(), Shape({0}));
  try {
    FromValues({{1.f, 2.f}, {3.f}});
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("rows of 2 values each are expected, one has 1"),
              std::string::npos)
        << e.what();
  }
}

TEST(FromVectorTest, TakesBools) {
  const Tensor x = FromVector<bool>({true, false, true});
  EXPECT_EQ(x.dtype(), DType::kBool);
  EXPECT_EQ(x.ToVector<int32_t>(), (std::vector<int32_t>{1, 0, 1}));
}

TEST(FromVectorTest, RefusesAnotherNumberOfValues) {
  EXPECT_THROW(FromVector<float>({1, 2, 3}, {2, 2}), Error);
  EXPECT_THROW(FromVector<float>({}, Shape()), Error);
}

}  // namespace
}  // namespace firn
