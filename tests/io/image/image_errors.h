#ifndef FIRN_TESTS_IO_IMAGE_IMAGE_ERRORS_H_
#define FIRN_TESTS_IO_IMAGE_IMAGE_ERRORS_H_

// The results and errors of reading images, and changed ones.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "firn/io/image/image_status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace firn::io {

inline constexpr auto kDamage = absl::StatusCode::kDataLoss;
inline constexpr auto kUnread = absl::StatusCode::kUnimplemented;
inline constexpr auto kLimit = absl::StatusCode::kResourceExhausted;

inline void ExpectError(const std::string& bytes, absl::StatusCode code, const std::string& text,
                        const DecodeImageOptions& options = {}) {
  const absl::StatusOr<Tensor> image = TryParseImage(bytes, "x", options);
  EXPECT_EQ(image.status().code(), code) << text << ": " << image.status();
  EXPECT_THAT(std::string(image.status().message()), ::testing::HasSubstr(text));
}

inline std::vector<int64_t> Values(const std::string& bytes,
                                   const DecodeImageOptions& options = {}) {
  const absl::StatusOr<Tensor> image = TryParseImage(bytes, "x", options);
  EXPECT_TRUE(image.ok()) << image.status();
  return image.ok() ? image->ToVector<int64_t>() : std::vector<int64_t>();
}

inline std::string With(std::string bytes, size_t at, std::string_view by) {
  return bytes.replace(at, by.size(), by);
}

}  // namespace firn::io

#endif  // FIRN_TESTS_IO_IMAGE_IMAGE_ERRORS_H_
