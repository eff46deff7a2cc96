// BMP (Microsoft's "Bitmap Storage"), little-endian:
//   offset 0   "BM", u32 file size, u32 0, u32 offset of the pixels
//   offset 14  u32 size of the header that starts here: 12 (OS/2), or 40 and more with
//              i32 width, i32 height (negative: rows from the top), u16 1, u16 bits,
//              u32 compression, u32 size, 2 x i32 resolution, u32 colours, u32, masks from 54 on
//   then       a palette of B, G, R (and 0) for up to 8 bits
// Rows come from the bottom, filled up to four bytes. Compression 0 is none, 1 and 2 are runs of
// 8 and 4 bits, 3 and 6 are masks of 16 or 32 bits. OS/2's second header has 64 bytes, or fewer,
// and other compressions of the numbers 3 (Huffman) and 4 (runs of 24 bits). Kinds that are legal
// and not read are told apart from damage by ReadSizes and Unread.
#include <array>
#include <bit>
#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/io/image/internal/raster.h"
#include "firn/io/internal/little_endian.h"
#include "firn/io/random_access.h"

namespace firn::io::internal {
namespace {

constexpr int64_t kFileHeader = 14, kOs2Header = 64;

struct Header {
  int64_t pixels_at = 0, header_bytes = 0, width = 0, height = 0, colors = 0;
  int bits = 0;
  uint32_t compression = 0, planes = 1;
  bool from_top = false;
  std::array<uint32_t, 4> masks = {};  // R, G, B, A
  int64_t palette_at = 0;
};

class Bytes {
 public:
  explicit Bytes(const EncodedImage& file) : file_(file) {}
  bool Has(int64_t at, int64_t n) const { return at >= 0 && at <= file_.size() - n; }
  // Requires: Has(at, n), n <= 4.
  uint32_t Number(int64_t at, int n) const {
    return static_cast<uint32_t>(LittleEndian(file_.data() + at, static_cast<size_t>(n)));
  }
  absl::Status Bad(int64_t at, const char* field, const std::string& what) const {
    return Damaged(file_.name, at, field, what);
  }

 private:
  const EncodedImage& file_;
};

// The name of a legal kind that is not read, else empty.
std::string Unread(const Header& h) {
  const bool os2 = h.header_bytes == kOs2Header;
  switch (h.compression) {
    case 0:
      if (h.bits == 2 || h.bits == 64) return absl::StrCat(h.bits, " bits a pixel");
      return "";
    case 3:
      return os2 ? "Huffman coding" : "";
    case 4:
      return os2 ? "runs of 24 bits" : "a JPEG within";
    case 5:
      return "a PNG within";
    case 11:
    case 12:
    case 13:
      return "CMYK";
    default:
      return "";
  }
}

absl::Status CheckHeader(const Bytes& bytes, const Header& h) {
  FIRN_RETURN_IF(h.planes != 1,
                 bytes.Bad(26, "planes", absl::StrCat("expected 1, got ", h.planes)));
  const bool plain = h.compression == 0 && (h.bits == 1 || h.bits == 4 || h.bits == 8 ||
                                            h.bits == 16 || h.bits == 24 || h.bits == 32);
  const bool runs = (h.compression == 1 && h.bits == 8) || (h.compression == 2 && h.bits == 4);
  const bool masks = (h.compression == 3 || h.compression == 6) && (h.bits == 16 || h.bits == 32);
  FIRN_RETURN_IF(!plain && !runs && !masks,
                 bytes.Bad(28, "bits and compression",
                           absl::StrCat("expected a pair that BMP has, got ", h.bits, " and ",
                                        h.compression)));
  FIRN_RETURN_IF(runs && h.from_top,
                 bytes.Bad(22, "height", "expected rows from the bottom with runs"));
  FIRN_RETURN_IF(
      h.bits <= 8 && (h.colors < 1 || h.colors > int64_t{1} << h.bits),
      bytes.Bad(46, "colours", absl::StrCat("expected 1 to ", 1 << h.bits, ", got ", h.colors)));
  const int64_t palette = h.bits <= 8 ? h.colors * (h.header_bytes == 12 ? 3 : 4) : 0;
  FIRN_RETURN_IF(!bytes.Has(h.palette_at, palette),
                 bytes.Bad(h.palette_at, "palette", "the file ends early"));
  FIRN_RETURN_IF(
      h.pixels_at < h.palette_at + palette || !bytes.Has(h.pixels_at, 1),
      bytes.Bad(10, "offset of the pixels",
                absl::StrCat("expected a place behind header and palette, got ", h.pixels_at)));
  uint32_t seen = 0;
  for (const uint32_t mask : h.masks) {
    const uint32_t low = mask == 0 ? 0 : mask >> std::countr_zero(mask);
    FIRN_RETURN_IF((low & (low + 1)) != 0, bytes.Bad(54, "masks", "expected adjacent bits"));
    FIRN_RETURN_IF((mask & seen) != 0, bytes.Bad(54, "masks", "expected no bit in two of them"));
    seen |= mask;
  }
  FIRN_RETURN_IF(masks && (h.masks[0] == 0 || h.masks[1] == 0 || h.masks[2] == 0),
                 bytes.Bad(54, "masks", "expected one for each colour"));
  return absl::OkStatus();
}

absl::Status ReadMasks(const Bytes& bytes, Header* h) {
  if (h->compression == 0) {
    h->masks = h->bits == 16 ? std::array<uint32_t, 4>{0x7c00, 0x3e0, 0x1f, 0}
                             : std::array<uint32_t, 4>{0xff0000, 0xff00, 0xff, 0};
    return absl::OkStatus();
  }
  // In the header from version 2 (52 bytes) on, behind one of 40.
  const int count = h->compression == 6 || h->header_bytes >= 56 ? 4 : 3;
  FIRN_RETURN_IF(!bytes.Has(54, count * 4), bytes.Bad(54, "masks", "the file ends early"));
  for (int i = 0; i < count; ++i) h->masks[static_cast<size_t>(i)] = bytes.Number(54 + 4 * i, 4);
  if (h->header_bytes == 40) h->palette_at += count * 4;
  return absl::OkStatus();
}

// Reads sides, bits and compression, whose places depend on the size of the header.
absl::StatusOr<Header> ReadSizes(const Bytes& bytes) {
  Header h;
  FIRN_RETURN_IF(!bytes.Has(0, 26), bytes.Bad(0, "header", "the file ends early"));
  h.pixels_at = bytes.Number(10, 4);
  h.header_bytes = bytes.Number(14, 4);
  h.palette_at = kFileHeader + h.header_bytes;
  const bool large = h.header_bytes >= 40 && h.header_bytes <= 124;
  FIRN_RETURN_IF((h.header_bytes != 12 && h.header_bytes != 16 && !large) ||
                     !bytes.Has(kFileHeader, h.header_bytes),
                 bytes.Bad(14, "size of the header",
                           absl::StrCat("expected 12, 16 or 40 to 124 bytes of the file, got ",
                                        h.header_bytes)));
  if (h.header_bytes == 12) {
    h.width = bytes.Number(18, 2);
    h.height = bytes.Number(20, 2);
    h.planes = bytes.Number(22, 2);
    h.bits = static_cast<int>(bytes.Number(24, 2));
    return h;
  }
  h.width = static_cast<int32_t>(bytes.Number(18, 4));
  h.height = static_cast<int32_t>(bytes.Number(22, 4));
  h.planes = bytes.Number(26, 2);
  h.bits = static_cast<int>(bytes.Number(28, 2));
  h.from_top = h.height < 0;
  if (h.from_top) h.height = -h.height;
  if (large) {
    h.compression = bytes.Number(30, 4);
    h.colors = bytes.Number(46, 4);
  }
  return h;
}

absl::StatusOr<Header> ReadHeader(const EncodedImage& file) {
  const Bytes bytes(file);
  FIRN_ASSIGN_OR_RETURN(Header h, ReadSizes(bytes));
  FIRN_RETURN_IF(h.header_bytes == 16, UnreadImage(file, "BMP", "OS/2's header of 16 bytes"));
  const std::string unread = Unread(h);
  FIRN_RETURN_IF(!unread.empty(), UnreadImage(file, "BMP", unread));
  if (h.colors == 0 && h.bits <= 8) h.colors = int64_t{1} << h.bits;
  if (h.bits == 16 || h.bits == 32) FIRN_RETURN_IF_ERROR(ReadMasks(bytes, &h));
  FIRN_RETURN_IF_ERROR(CheckHeader(bytes, h));
  return h;
}

// A pixel's bits under a mask, scaled to 0 .. 255.
unsigned char Masked(uint32_t v, uint32_t mask) {
  if (mask == 0) return 0;
  const int shift = std::countr_zero(mask);
  const uint64_t max = mask >> shift;
  return static_cast<unsigned char>((uint64_t{(v & mask) >> shift} * 255 + max / 2) / max);
}

int64_t Stride(const Header& h) { return (h.width * h.bits + 31) / 32 * 4; }

// Whether the file has all rows; the last one may end without being filled up.
absl::Status CheckRows(const EncodedImage& file, const Header& h) {
  const __int128 needed =
      static_cast<__int128>(Stride(h)) * (h.height - 1) + (h.width * h.bits + 7) / 8;
  FIRN_RETURN_IF(h.width > 0 && h.height > 0 && needed > file.size() - h.pixels_at,
                 Damaged(file.name, h.pixels_at, "pixels",
                         absl::StrCat("expected those of ", h.width, " x ", h.height, ", got ",
                                      file.size() - h.pixels_at, " bytes: the file ends early")));
  return absl::OkStatus();
}

class Decoder {
 public:
  Decoder(const EncodedImage& file, const Header& h, const Raster& raster)
      : bytes_(file), h_(h), raster_(raster) {}

  absl::Status Rows() {
    const int64_t stride = Stride(h_);
    for (int64_t y = 0; y < h_.height; ++y) {
      const int64_t from = h_.pixels_at + y * stride;
      for (int64_t x = 0; x < h_.width; ++x) FIRN_RETURN_IF_ERROR(Pixel(from, x, y));
    }
    return absl::OkStatus();
  }

  // Pairs: a count and what to repeat, or 0 and 0 (end of row), 1 (end), 2 (a step right and up),
  // or how many pixels follow as they are. Pixels that no pair writes have colour 0.
  absl::Status Runs() {
    FIRN_RETURN_IF_ERROR(Background());
    int64_t at = h_.pixels_at, x = 0, y = 0;
    for (;;) {
      FIRN_RETURN_IF(!bytes_.Has(at, 2), bytes_.Bad(at, "runs", "the file ends early"));
      const int count = static_cast<int>(bytes_.Number(at, 1));
      const int value = static_cast<int>(bytes_.Number(at + 1, 1));
      at += 2;
      if (count > 0) {
        for (int i = 0; i < count; ++i) {
          FIRN_RETURN_IF_ERROR(Put(at, x++, y, h_.bits == 8 ? value : Nibble(value, i)));
        }
      } else if (value == 0) {
        x = 0;
        ++y;
      } else if (value == 1) {
        return absl::OkStatus();
      } else if (value == 2) {
        FIRN_RETURN_IF(!bytes_.Has(at, 2), bytes_.Bad(at, "runs", "the file ends early"));
        x += bytes_.Number(at, 1);
        y += bytes_.Number(at + 1, 1);
        at += 2;
      } else {
        FIRN_RETURN_IF_ERROR(Literal(value, &at, &x, y));
      }
    }
  }

 private:
  static int Nibble(int byte, int i) { return i % 2 == 0 ? byte >> 4 : byte & 15; }

  absl::Status Literal(int count, int64_t* at, int64_t* x, int64_t y) {
    const int64_t n = h_.bits == 8 ? count : (count + 1) / 2;
    FIRN_RETURN_IF(!bytes_.Has(*at, n), bytes_.Bad(*at, "runs", "the file ends early"));
    for (int i = 0; i < count; ++i) {
      const int byte = static_cast<int>(bytes_.Number(*at + (h_.bits == 8 ? i : i / 2), 1));
      FIRN_RETURN_IF_ERROR(Put(*at, (*x)++, y, h_.bits == 8 ? byte : Nibble(byte, i)));
    }
    *at += n + n % 2;
    return absl::OkStatus();
  }

  absl::Status Background() {
    for (int64_t y = 0; y < h_.height; ++y) {
      for (int64_t x = 0; x < h_.width; ++x) FIRN_RETURN_IF_ERROR(Put(h_.pixels_at, x, y, 0));
    }
    return absl::OkStatus();
  }

  absl::Status Pixel(int64_t row, int64_t x, int64_t y) {
    if (h_.bits <= 8) {
      const int64_t at = row + x * h_.bits / 8;
      const int shift = static_cast<int>(8 - h_.bits - x * h_.bits % 8);
      return Put(at, x, y, static_cast<int>(bytes_.Number(at, 1)) >> shift & ((1 << h_.bits) - 1));
    }
    const int n = h_.bits / 8;
    const uint32_t v = bytes_.Number(row + x * n, n);
    unsigned char* to = At(x, y);
    if (n == 3) {
      for (int c = 0; c < 3; ++c) to[c] = static_cast<unsigned char>(v >> (16 - 8 * c));
    } else {
      for (int c = 0; c < raster_.channels; ++c)
        to[c] = Masked(v, h_.masks[static_cast<size_t>(c)]);
    }
    return absl::OkStatus();
  }

  absl::Status Put(int64_t at, int64_t x, int64_t y, int color) {
    FIRN_RETURN_IF(x >= h_.width || y >= h_.height,
                   bytes_.Bad(at, "runs", "a pixel outside the image"));
    FIRN_RETURN_IF(color >= h_.colors,
                   bytes_.Bad(at, "pixels", absl::StrCat("colour ", color, " of ", h_.colors)));
    const int64_t entry = h_.palette_at + color * (h_.header_bytes == 12 ? 3 : 4);
    unsigned char* to = At(x, y);
    for (int c = 0; c < 3; ++c) to[c] = static_cast<unsigned char>(bytes_.Number(entry + 2 - c, 1));
    return absl::OkStatus();
  }

  unsigned char* At(int64_t x, int64_t y) const {
    return raster_.row(h_.from_top ? y : h_.height - 1 - y) + x * raster_.channels;
  }

  const Bytes bytes_;
  const Header& h_;
  const Raster& raster_;
};

}  // namespace

absl::StatusOr<Raster> DecodeBmp(const EncodedImage& file) {
  FIRN_ASSIGN_OR_RETURN(const Header h, ReadHeader(file));
  const bool runs = h.compression == 1 || h.compression == 2;
  if (!runs) FIRN_RETURN_IF_ERROR(CheckRows(file, h));
  FIRN_ASSIGN_OR_RETURN(Raster raster, MakeRaster(file, h.width, h.height, h.masks[3] != 0 ? 4 : 3,
                                                  false, runs ? 1 : h.bits));
  Decoder decoder(file, h, raster);
  FIRN_RETURN_IF_ERROR(runs ? decoder.Runs() : decoder.Rows());
  return raster;
}

}  // namespace firn::io::internal
