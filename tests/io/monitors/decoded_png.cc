// Only what the encoder writes is read: one IDAT, and the filters "Sub" and "Up".
#include "tests/io/monitors/decoded_png.h"

#include <zlib.h>

#include <cstdint>

#include "gtest/gtest.h"

namespace firn::io {
namespace {

uint32_t Word(const std::string& bytes, size_t at) {
  uint32_t word = 0;
  for (size_t i = 0; i < 4; ++i) word = word << 8 | static_cast<unsigned char>(bytes[at + i]);
  return word;
}

}  // namespace

internal::Picture DecodedPng(const std::string& png) {
  EXPECT_EQ(png.substr(0, 8), "\x89PNG\r\n\x1a\n");
  std::string types, packed, header;
  for (size_t at = 8; at < png.size();) {
    const size_t size = Word(png, at);
    const std::string type = png.substr(at + 4, 4), data = png.substr(at + 8, size);
    const auto* body = reinterpret_cast<const Bytef*>(png.data() + at + 4);
    EXPECT_EQ(Word(png, at + 8 + size), crc32_z(0, body, size + 4));
    types += type;
    if (type == "IHDR") header = data;
    if (type == "IDAT") packed = data;
    at += size + 12;
  }
  EXPECT_EQ(types, "IHDRIDATIEND");
  internal::Picture p{Word(header, 0), Word(header, 4), header[9] == 2 ? 3 : 1, {}};
  const auto stride = static_cast<size_t>(p.width * p.channels);
  const auto step = static_cast<size_t>(p.channels);
  std::string rows((stride + 1) * static_cast<size_t>(p.height), '\0');
  uLongf size = rows.size();
  EXPECT_EQ(uncompress(reinterpret_cast<Bytef*>(rows.data()), &size,
                       reinterpret_cast<const Bytef*>(packed.data()), packed.size()),
            Z_OK);
  EXPECT_EQ(size, rows.size());
  for (size_t y = 0; y < static_cast<size_t>(p.height); ++y) {
    const char filter = rows[y * (stride + 1)];
    for (size_t x = 0; x < stride; ++x) {
      const char raw = rows[y * (stride + 1) + 1 + x];
      const char left = x < step ? '\0' : p.pixels[y * stride + x - step];
      p.pixels += static_cast<char>(raw + (filter == 2 ? p.pixels[(y - 1) * stride + x] : left));
    }
  }
  return p;
}

}  // namespace firn::io
