// deflate is zlib's format. shuffle puts bytes 0 of all elements first, then bytes 1 of all, ...;
// bytes behind the last whole element stay at the end. fletcher32 appends the two sums of J.
// Fletcher ("An Arithmetic Checksum for Serial Transmissions", 1982) over big-endian numbers of 16
// bits.
#include "firn/io/hdf5/internal/h5_filters.h"

#include <zlib.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/io/internal/little_endian.h"

namespace firn::io::internal {
namespace {

constexpr size_t kSumBytes = 4;  // of fletcher32

// Filters of other programs, so that a message can name them.
std::string FilterName(uint64_t id) {
  struct Known {
    uint64_t id;
    const char* name;
  };
  constexpr Known kKnown[] = {{4, "szip"},     {5, "nbit"},           {6, "scale and offset"},
                              {307, "bzip2"},  {32000, "lzf"},        {32001, "blosc"},
                              {32004, "lz4"},  {32008, "bitshuffle"}, {32013, "zfp"},
                              {32015, "zstd"}, {32026, "blosc2"}};
  for (const Known& known : kKnown) {
    if (id == known.id) return absl::StrCat("filter ", id, ", ", known.name);
  }
  return absl::StrCat("filter ", id);
}

void Unshuffle(const char* in, size_t bytes, size_t element_bytes, char* out) {
  const size_t n = bytes / element_bytes;
  for (size_t b = 0; b < element_bytes; ++b) {
    for (size_t i = 0; i < n; ++i) out[i * element_bytes + b] = in[b * n + i];
  }
  std::copy(in + n * element_bytes, in + bytes, out + n * element_bytes);
}

uint32_t Fletcher32(std::string_view bytes) {
  uint32_t a = 0, b = 0;
  const auto fold = [](uint32_t v) { return (v & 0xffff) + (v >> 16); };
  const auto byte = [&](size_t i) { return uint32_t{static_cast<unsigned char>(bytes[i])}; };
  const size_t words = bytes.size() / 2;
  for (size_t i = 0; i < words;) {
    for (const size_t end = std::min(words, i + 360); i < end; ++i) {  // what 32 bits can hold
      a += byte(2 * i) << 8 | byte(2 * i + 1);
      b += a;
    }
    a = fold(a), b = fold(b);
  }
  if (bytes.size() % 2 == 1) {
    a += byte(bytes.size() - 1) << 8;
    b += a;
    a = fold(a), b = fold(b);
  }
  return fold(b) << 16 | fold(a);
}

// HDF5 before 1.6.3 wrote the bytes of each sum in the machine's order, which its readers still
// take.
uint32_t SwappedHalves(uint32_t v) { return (v & 0x00ff00ff) << 8 | (v >> 8 & 0x00ff00ff); }

}  // namespace

absl::StatusOr<H5Filters> ParseH5Filters(const H5File& file, H5Cursor c) {
  const uint64_t offset = c.offset();
  const uint64_t version = c.Uint(1), n = c.Uint(1);
  if (version != 1 && version != 2) {
    return file.DamagedAt(offset, "filters", absl::StrCat("version ", version));
  }
  if (version == 1) c.Skip(6);
  H5Filters filters;
  for (uint64_t i = 0; i < n; ++i) {
    const uint64_t id = c.Uint(2);
    const uint64_t name_bytes = version == 1 || id >= 256 ? c.Uint(2) : 0;
    c.Skip(2);
    const uint64_t values = c.Uint(2);
    c.Skip(version == 1 ? (name_bytes + 7) / 8 * 8 : name_bytes);
    const uint64_t first = values > 0 ? c.Uint(4) : 0;
    c.Skip((values > 0 ? (values - 1) * 4 : 0) + (version == 1 && values % 2 == 1 ? 4 : 0));
    FIRN_RETURN_IF_ERROR(file.Check(c, "filters"));
    if (id < H5Filter::kDeflate || id > H5Filter::kFletcher32) {
      return file.Refused(absl::StrCat(FilterName(id), " (only shuffle, deflate and fletcher32)"));
    }
    const auto kind = static_cast<H5Filter::Kind>(id);
    if (std::any_of(filters.begin(), filters.end(),
                    [&](const H5Filter& f) { return f.kind == kind; })) {
      return file.Refused(absl::StrCat("filter ", id, " twice"));
    }
    if (kind == H5Filter::kShuffle && first == 0) {
      return file.DamagedAt(offset, "filters", "shuffle of elements of 0 bytes");
    }
    filters.push_back({kind, first});
  }
  return filters;
}

bool ChangesSize(const H5Filters& filters) {
  return std::any_of(filters.begin(), filters.end(),
                     [](const H5Filter& f) { return f.kind != H5Filter::kShuffle; });
}

absl::Status H5Unfilter::Run(const H5File& file, const H5Filters& filters, uint64_t skipped,
                             uint64_t address, size_t chunk_bytes, H5Buffer* bytes) {
  for (size_t i = filters.size(); i-- > 0;) {
    if ((skipped >> i & 1) != 0) continue;
    switch (filters[i].kind) {
      case H5Filter::kDeflate: {
        // A filter before deflate may have added a checksum.
        size_t plain = chunk_bytes;
        for (size_t k = 0; k < i; ++k) {
          const bool sums = filters[k].kind == H5Filter::kFletcher32 && (skipped >> k & 1) == 0;
          plain += sums ? kSumBytes : 0;
        }
        uLongf got = plain;
        uLong used = bytes->size();
        const int code = uncompress2(reinterpret_cast<Bytef*>(other_.Resize(plain)), &got,
                                     reinterpret_cast<const Bytef*>(bytes->data()), &used);
        if (code != Z_OK || got != plain || used != bytes->size()) {
          return file.DamagedAt(address, "chunk", "damaged deflate data");
        }
        std::swap(*bytes, other_);
        break;
      }
      case H5Filter::kShuffle:
        if (filters[i].element_bytes > 1 && filters[i].element_bytes <= bytes->size()) {
          Unshuffle(bytes->data(), bytes->size(), filters[i].element_bytes,
                    other_.Resize(bytes->size()));
          std::swap(*bytes, other_);
        }
        break;
      case H5Filter::kFletcher32: {
        if (bytes->size() < kSumBytes) {
          return file.DamagedAt(address, "chunk", "no room for a checksum");
        }
        const size_t n = bytes->size() - kSumBytes;
        const auto stored = static_cast<uint32_t>(LittleEndian(bytes->data() + n, kSumBytes));
        const uint32_t sum = Fletcher32(std::string_view(bytes->data(), n));
        if (stored != sum && stored != SwappedHalves(sum)) {
          return file.DamagedAt(address, "chunk", "the checksum (fletcher32) is wrong");
        }
        bytes->Shrink(n);
        break;
      }
    }
  }
  if (bytes->size() != chunk_bytes) {
    return file.DamagedAt(address, "chunk", "it has the wrong size");
  }
  return absl::OkStatus();
}

}  // namespace firn::io::internal
