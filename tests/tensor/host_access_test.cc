// Elements on the host, in every type that elements have, through every way in and out.
#include <gtest/gtest.h>

#include <cstdint>
#include <type_traits>
#include <vector>

#include "firn/tensor/from.h"
#include "firn/tensor/index.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/tensor.h"

namespace firn {
namespace {

template <class T>
class HostAccessTest : public ::testing::Test {
 protected:
  // Five elements, not all equal, which every T holds.
  static std::vector<T> Elements() { return {T(1), T(0), T(1), T(1), T(0)}; }
  static Tensor Five() {
    Tensor t = Zeros({5}, DTypeOf<T>());
    const absl::Span<T> to = t.mutable_host_view<T>();
    const std::vector<T> from = Elements();
    EXPECT_EQ(to.size(), from.size());
    for (size_t i = 0; i < to.size(); ++i) to[i] = from[i];
    return t;
  }
  static void ExpectElements(const Tensor& t) {
    ASSERT_EQ(t.dtype(), DTypeOf<T>());
    EXPECT_EQ(t.ToVector<int>(), (std::vector<int>{1, 0, 1, 1, 0}));
  }
};
using ElementTypes =
    ::testing::Types<float, double, Half, BFloat16, int8_t, int32_t, int64_t, uint8_t, bool>;
TYPED_TEST_SUITE(HostAccessTest, ElementTypes);

TYPED_TEST(HostAccessTest, ViewsAreOfTheTensorsOwnElements) {
  Tensor t = this->Five();
  this->ExpectElements(t);
  const absl::Span<const TypeParam> view = t.host_view<TypeParam>();
  ASSERT_EQ(view.size(), 5u);
  EXPECT_EQ(static_cast<const void*>(view.data()), t.impl()->data);
  EXPECT_EQ(view.data(), t.mutable_host_view<TypeParam>().data());
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(static_cast<double>(view[i]), static_cast<double>(this->Elements()[i]));
  }
  const Tensor none = Zeros({0}, DTypeOf<TypeParam>());
  EXPECT_EQ(none.host_view<TypeParam>().size(), 0u);
}

TYPED_TEST(HostAccessTest, VectorsAndListsBecomeTensors) {
  this->ExpectElements(FromVector(this->Elements()));
  this->ExpectElements(FromVector(this->Elements(), {5, 1}).Reshape({5}));
  this->ExpectElements(
      FromValues({TypeParam(1), TypeParam(0), TypeParam(1), TypeParam(1), TypeParam(0)}));
  alignas(8)
      TypeParam own[] = {TypeParam(1), TypeParam(0), TypeParam(1), TypeParam(1), TypeParam(0)};
  this->ExpectElements(FromBlob(own, {5}, DTypeOf<TypeParam>()));
}

TYPED_TEST(HostAccessTest, ItemAndToVectorConvert) {
  const Tensor t = this->Five();
  EXPECT_EQ(t[0].Item(), 1);
  EXPECT_EQ(t[1].Item(), 0);
  if constexpr (std::is_arithmetic_v<TypeParam>) {
    EXPECT_EQ(t.ToVector<TypeParam>(), this->Elements());
    EXPECT_EQ(t[0].template Item<TypeParam>(), TypeParam(1));
    EXPECT_EQ(t[4].template Item<TypeParam>(), TypeParam(0));
    const Tensor number(TypeParam{1});
    EXPECT_EQ(number.Item<TypeParam>(), TypeParam{1});
  }
  EXPECT_EQ(t.ToVector<bool>(), (std::vector<bool>{true, false, true, true, false}));
  EXPECT_EQ(t.ToVector<uint64_t>(), (std::vector<uint64_t>{1, 0, 1, 1, 0}));
}

}  // namespace
}  // namespace firn
