#include "tests/io/image/image_bytes.h"

#include <zlib.h>

#include <algorithm>

namespace firn::io {

std::string Little(uint64_t v, int bytes) {
  std::string s;
  for (int i = 0; i < bytes; ++i) s += static_cast<char>(v >> 8 * i & 255);
  return s;
}

std::string Big(uint64_t v, int bytes) {
  std::string s = Little(v, bytes);
  std::reverse(s.begin(), s.end());
  return s;
}

std::string PngChunk(std::string_view name, std::string_view data) {
  const std::string body = std::string(name) + std::string(data);
  const auto crc = crc32_z(0, reinterpret_cast<const Bytef*>(body.data()), body.size());
  return Big(data.size(), 4) + body + Big(crc, 4);
}

std::string PngOf(const std::vector<std::string>& chunks) {
  std::string png("\x89PNG\r\n\x1a\n", 8);
  for (const std::string& chunk : chunks) png += chunk;
  return png + PngChunk("IEND", "");
}

std::string PngHeader(uint32_t width, uint32_t height, int bits, int color_type) {
  return Big(width, 4) + Big(height, 4) + static_cast<char>(bits) + static_cast<char>(color_type) +
         std::string(3, '\0');
}

std::string Deflate(std::string_view bytes) {
  uLongf n = compressBound(bytes.size());
  std::string packed(n, '\0');
  compress(reinterpret_cast<Bytef*>(packed.data()), &n,
           reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
  packed.resize(n);
  return packed;
}

std::string JpegSegment(int marker, std::string_view data) {
  return std::string("\xff") + static_cast<char>(marker) + Big(data.size() + 2, 2) +
         std::string(data);
}

std::string WithSegments(const std::string& jpeg, const std::string& segments) {
  return jpeg.substr(0, 2) + segments + jpeg.substr(2);
}

std::string GifOf(int width, int height, const std::vector<GifCode>& codes, std::string_view before,
                  size_t piece) {
  const std::string sides =
      Little(static_cast<uint64_t>(width), 2) + Little(static_cast<uint64_t>(height), 2);
  std::string gif = "GIF89a" + sides + std::string("\x81\0\0", 3) +
                    std::string("\0\0\0\xff\0\0\0\xff\0\0\0\xff", 12) + std::string(before) + "," +
                    std::string(4, '\0') + sides + std::string("\0\2", 2);
  std::string data;
  unsigned waiting = 0, have = 0;
  for (const GifCode& c : codes) {
    waiting |= c.code << have;
    for (have += c.bits; have >= 8; have -= 8, waiting >>= 8) data += static_cast<char>(waiting);
  }
  if (have > 0) data += static_cast<char>(waiting);
  for (size_t at = 0; at < data.size(); at += piece) {
    const std::string part = data.substr(at, piece);
    gif += static_cast<char>(part.size()) + part;
  }
  return gif + std::string("\0;", 2);
}

std::string TiffOf(const std::vector<TiffTag>& tags, std::string_view data, bool big_endian) {
  const auto number = [&](uint64_t v, int n) { return big_endian ? Big(v, n) : Little(v, n); };
  std::string body(data);
  if (body.size() % 2 != 0) body += '\0';
  const size_t directory = 8 + body.size();
  size_t behind = directory + 2 + tags.size() * 12 + 4;
  std::string entries, values;
  for (const TiffTag& tag : tags) {
    const int n = tag.type == 1 ? 1 : tag.type == 3 ? 2 : 4;
    std::string list;
    for (const uint32_t v : tag.values) list += number(v, n);
    entries += number(static_cast<uint64_t>(tag.tag), 2) +
               number(static_cast<uint64_t>(tag.type), 2) + number(tag.values.size(), 4);
    if (list.size() <= 4) {
      entries += list + std::string(4 - list.size(), '\0');
    } else {
      entries += number(behind + values.size(), 4);
      values += list + std::string(list.size() % 2, '\0');
    }
  }
  return (big_endian ? "MM" : "II") + number(42, 2) + number(directory, 4) + body +
         number(tags.size(), 2) + entries + number(0, 4) + values;
}

std::vector<TiffTag> TiffTags(uint32_t width, uint32_t height, uint32_t bits, uint32_t samples,
                              uint32_t photometric, uint32_t bytes,
                              const std::vector<TiffTag>& more) {
  std::vector<TiffTag> tags = {
      {256, 4, {width}},   {257, 4, {height}},      {258, 3, std::vector<uint32_t>(samples, bits)},
      {259, 3, {1}},       {262, 3, {photometric}}, {273, 4, {8}},
      {277, 3, {samples}}, {278, 4, {height}},      {279, 4, {bytes}}};
  for (const TiffTag& tag : more) {
    std::erase_if(tags, [&](const TiffTag& t) { return t.tag == tag.tag; });
    tags.push_back(tag);
  }
  std::sort(tags.begin(), tags.end(),
            [](const TiffTag& a, const TiffTag& b) { return a.tag < b.tag; });
  return tags;
}

}  // namespace firn::io
