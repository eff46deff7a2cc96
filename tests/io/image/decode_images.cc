// Decodes images for image_compare_test.py. Reads, for each image, a line with its number of bytes,
// then the bytes. Writes for each a line with the status's code and message, or with "OK",
// channels, height, width and bytes a sample, then the samples [channels, height, width], those of
// 16 bits little-endian.
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <string>

#include "absl/strings/str_replace.h"
#include "firn/io/image/image_status.h"
#include "firn/tensor/tensor.h"

namespace {

void Answer(const std::string& bytes) {
  const auto image =
      firn::io::TryParseImage(bytes, "image", {.keep_16_bits = true, .orient = false});
  if (!image.ok()) {
    std::cout << absl::StatusCodeToString(image.status().code()) << " "
              << absl::StrReplaceAll(std::string(image.status().message()), {{"\n", " "}}) << "\n";
    return;
  }
  const bool wide = image->dtype() != firn::DType::kU8;
  std::cout << "OK " << image->size(0) << " " << image->size(1) << " " << image->size(2) << " "
            << (wide ? 2 : 1) << "\n";
  std::string samples;
  for (const int64_t v : image->ToVector<int64_t>()) {
    samples += static_cast<char>(v & 255);
    if (wide) samples += static_cast<char>(v >> 8);
  }
  std::cout << samples;
}

}  // namespace

int main() {
  std::ios::sync_with_stdio(false);
  for (std::string line; std::getline(std::cin, line);) {
    std::string bytes(std::stoul(line), '\0');
    std::cin.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    Answer(bytes);
  }
  return 0;
}
