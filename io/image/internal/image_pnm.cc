// PNM (netpbm's pbm, pgm and ppm manual pages): "P" and 1 to 6, then width, height and, but for
// bitmaps, the largest value, in decimal, with white space and comments ("#" to the end of the
// line) between. P1 to P3 go on in decimal; P4 to P6 after one white space in bits (1 is black,
// rows end at bytes), bytes, or from 256 values on in 16 bits, big-endian. Values are scaled to the
// full range. Bytes behind the pixels belong to another image and are ignored. P7 (PAM) and Pf and
// PF (floats) are not read.
#include <algorithm>
#include <cctype>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/io/image/internal/raster.h"
#include "firn/io/random_access.h"

namespace firn::io::internal {
namespace {

class Text {
 public:
  explicit Text(const EncodedImage& file) : file_(file) {}

  int64_t at() const { return at_; }
  int64_t left() const { return file_.size() - at_; }
  unsigned char Next() { return file_.data()[at_++]; }

  absl::StatusOr<int64_t> Number(const char* field, int64_t max) {
    SkipBlanks();
    const int64_t start = at_;
    int64_t v = 0;
    while (left() > 0 && std::isdigit(file_.data()[at_]) != 0 && v <= max) v = v * 10 + Digit();
    FIRN_RETURN_IF(
        at_ == start || v > max,
        Damaged(file_.name, start, field, absl::StrCat("expected a number of at most ", max)));
    FIRN_RETURN_IF(left() > 0 && file_.data()[at_] != '#' && std::isspace(file_.data()[at_]) == 0,
                   Damaged(file_.name, at_, field, "expected a white space behind the number"));
    return v;
  }

  // How many bytes stand between the header and binary pixels: a white space, which may end a
  // comment.
  int64_t Gap() const {
    const std::string_view rest = file_.bytes.substr(static_cast<size_t>(at_));
    const size_t end = rest.starts_with('#') ? rest.find('\n') : 0;
    return end == std::string_view::npos ? left() : static_cast<int64_t>(end) + 1;
  }
  void Skip(int64_t n) { at_ += n; }

  // A bit of P1, whose digits need no space between.
  absl::StatusOr<int64_t> Bit() {
    SkipBlanks();
    FIRN_RETURN_IF(left() <= 0 || (file_.data()[at_] != '0' && file_.data()[at_] != '1'),
                   Damaged(file_.name, at_, "pixel", "expected 0 or 1"));
    return Digit();
  }

 private:
  int64_t Digit() { return Next() - '0'; }
  void SkipBlanks() {
    bool comment = false;
    for (; left() > 0; ++at_) {
      const unsigned char c = file_.data()[at_];
      if (c == '#') comment = true;
      if (c == '\n') comment = false;
      if (!comment && std::isspace(c) == 0) return;
    }
  }

  const EncodedImage& file_;
  int64_t at_ = 2;
};

void Put(const Raster& raster, int64_t i, int64_t v, int64_t max) {
  if (raster.wide) {
    reinterpret_cast<uint16_t*>(raster.row(0))[i] =
        static_cast<uint16_t>((v * 65535 + max / 2) / max);
  } else {
    raster.row(0)[i] = static_cast<unsigned char>((v * 255 + max / 2) / max);
  }
}

absl::Status ReadBits(Text* text, const Raster& raster) {
  for (int64_t y = 0; y < raster.height; ++y) {
    int byte = 0;
    for (int64_t x = 0; x < raster.width; ++x) {
      if (x % 8 == 0) byte = text->Next();
      Put(raster, y * raster.width + x, (byte >> (7 - x % 8) & 1) == 0, 1);
    }
  }
  return absl::OkStatus();
}

absl::Status ReadSamples(const EncodedImage& file, Text* text, char kind, int64_t max,
                         const Raster& raster) {
  const int64_t n = raster.width * raster.height * raster.channels;
  for (int64_t i = 0; i < n; ++i) {
    int64_t v = 0;
    const int64_t at = text->at();
    if (kind == '1') {
      FIRN_ASSIGN_OR_RETURN(v, text->Bit());
      v = 1 - v;
    } else if (kind < '4') {
      FIRN_ASSIGN_OR_RETURN(v, text->Number("pixel", max));
    } else {
      v = text->Next();
      if (max > 255) v = v << 8 | text->Next();
      FIRN_RETURN_IF(v > max, Damaged(file.name, at, "pixel",
                                      absl::StrCat("expected at most ", max, ", got ", v)));
    }
    Put(raster, i, v, max);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Raster> DecodePnm(const EncodedImage& file) {
  constexpr int64_t kMaxSide = (int64_t{1} << 31) - 1;
  const char kind = file.bytes[1];  // '1' to '6', which told the format
  const bool bitmap = kind == '1' || kind == '4', text_pixels = kind < '4';
  const int channels = kind == '3' || kind == '6' ? 3 : 1;
  Text text(file);
  FIRN_ASSIGN_OR_RETURN(const int64_t width, text.Number("width", kMaxSide));
  FIRN_ASSIGN_OR_RETURN(const int64_t height, text.Number("height", kMaxSide));
  int64_t max = 1;
  if (!bitmap) {
    FIRN_ASSIGN_OR_RETURN(max, text.Number("largest value", 65535));
  }
  FIRN_RETURN_IF(max == 0, Damaged(file.name, text.at(), "largest value", "expected at least 1"));
  // Before memory is taken: the shortest text has one character a sample.
  const int sample_bytes = !text_pixels && max > 255 ? 2 : 1;
  const __int128 row = kind == '4' ? (width + 7) / 8 : width * channels * sample_bytes;
  const int64_t gap = text_pixels ? 0 : text.Gap();
  const __int128 needed = row * height + gap;
  FIRN_RETURN_IF(needed > text.left(),
                 Damaged(file.name, text.at(), "pixels",
                         absl::StrCat("expected those of ", width, " x ", height, ", got ",
                                      text.left(), " bytes: the file ends early")));
  FIRN_ASSIGN_OR_RETURN(Raster raster, MakeRaster(file, width, height, channels, max > 255,
                                                  bitmap ? 1 : channels * sample_bytes * 8));
  text.Skip(gap);
  FIRN_RETURN_IF_ERROR(kind == '4' ? ReadBits(&text, raster)
                                   : ReadSamples(file, &text, kind, max, raster));
  return raster;
}

}  // namespace firn::io::internal
