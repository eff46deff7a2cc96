// The first image of a GIF on its canvas. giflib reads the part before its pixels: it returns codes
// and keeps only what its handle owns. Its DGifSlurp is not used, since it takes memory for every
// image, and neither is its LZW decoder, which makes up pixels that damaged data lack.
#include <gif_lib.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/io/image/internal/gif_lzw.h"
#include "firn/io/image/internal/raster.h"

namespace firn::io::internal {
namespace {

struct Input {
  const unsigned char* next;
  size_t left;
};

int OnRead(GifFileType* gif, GifByteType* out, int n) {
  auto* input = static_cast<Input*>(gif->UserData);
  const size_t got = std::min(input->left, static_cast<size_t>(std::max(n, 0)));
  std::memcpy(out, input->next, got);
  input->next += got;
  input->left -= got;
  return static_cast<int>(got);
}

struct Close {
  void operator()(GifFileType* gif) const {
    int code = 0;
    DGifCloseFile(gif, &code);
  }
};
using Handle = std::unique_ptr<GifFileType, Close>;

absl::Status Damage(const EncodedImage& file, const Input& input, const std::string& what) {
  return DamagedImage(file, "GIF",
                      absl::StrCat("before byte ", file.bytes.size() - input.left, ": ", what));
}

absl::Status Failed(const EncodedImage& file, const Input& input, int code) {
  if (code == D_GIF_ERR_NOT_ENOUGH_MEM) {
    return ResourceExhausted(file.name, ": no memory to read a GIF");
  }
  const char* text = GifErrorString(code);
  return Damage(file, input, text != nullptr ? text : "the file ends early");
}

// Goes on to the first image; the transparent colour that an extension before it names, else -1.
absl::StatusOr<int> FindImage(const EncodedImage& file, const Input& input, GifFileType* gif) {
  int transparent = NO_TRANSPARENT_COLOR;
  for (;;) {
    GifRecordType type = UNDEFINED_RECORD_TYPE;
    if (DGifGetRecordType(gif, &type) != GIF_OK) return Failed(file, input, gif->Error);
    if (type == IMAGE_DESC_RECORD_TYPE) return transparent;
    if (type == TERMINATE_RECORD_TYPE) return DamagedImage(file, "GIF", "it has no image");
    if (type != EXTENSION_RECORD_TYPE) continue;
    int code = 0;
    GifByteType* block = nullptr;
    if (DGifGetExtension(gif, &code, &block) != GIF_OK) return Failed(file, input, gif->Error);
    while (block != nullptr) {
      if (code == GRAPHICS_EXT_FUNC_CODE) {
        GraphicsControlBlock control;
        if (DGifExtensionToGCB(block[0], block + 1, &control) != GIF_OK) {
          return Damage(file, input, "a graphic control of another size than 4");
        }
        transparent = control.TransparentColor;
      }
      if (DGifGetExtensionNext(gif, &block) != GIF_OK) return Failed(file, input, gif->Error);
    }
  }
}

// The order in which rows of an interlaced image of `height` rows come (GIF89a, appendix E).
std::vector<int> RowOrder(int height, bool interlaced) {
  std::vector<int> rows;
  rows.reserve(static_cast<size_t>(height));
  constexpr int kStart[] = {0, 4, 2, 1}, kStep[] = {8, 8, 4, 2};
  for (int pass = 0; pass < (interlaced ? 4 : 1); ++pass) {
    for (int y = kStart[pass]; y < height; y += interlaced ? kStep[pass] : 1) rows.push_back(y);
  }
  return rows;
}

// Colour numbers of the image, row after row as they come.
absl::StatusOr<std::vector<uint8_t>> ReadPixels(const EncodedImage& file, Input* input,
                                                const GifImageDesc& image) {
  // The library has read up to this byte and no further.
  const unsigned code_bits = input->next[-1];
  FIRN_RETURN_IF(code_bits < 1 || code_bits > 8,
                 Damage(file, *input, absl::StrCat("codes of ", code_bits, " bits")));
  std::vector<uint8_t> pixels(static_cast<size_t>(image.Width) * static_cast<size_t>(image.Height));
  const GifPixels read =
      ReadGifPixels(input->next, input->left, code_bits, pixels.data(), pixels.size());
  input->next += read.read;
  input->left -= read.read;
  FIRN_RETURN_IF(read.damage != nullptr, Damage(file, *input, read.damage));
  return pixels;
}

}  // namespace

absl::StatusOr<Raster> DecodeGif(const EncodedImage& file) {
  Input input{file.data(), file.bytes.size()};
  int code = 0;
  const Handle gif(DGifOpen(&input, OnRead, &code));
  if (gif == nullptr) return Failed(file, input, code);
  FIRN_ASSIGN_OR_RETURN(const int transparent, FindImage(file, input, gif.get()));
  if (DGifGetImageDesc(gif.get()) != GIF_OK) {
    // giflib has no error code of its own for a wrong code size.
    const bool size = input.left > 0 && (gif->Error == 0 || gif->Error == D_GIF_ERR_READ_FAILED);
    return size ? Damage(file, input, "the size of its codes") : Failed(file, input, gif->Error);
  }
  const GifImageDesc& image = gif->Image;
  const ColorMapObject* map = image.ColorMap != nullptr ? image.ColorMap : gif->SColorMap;
  FIRN_RETURN_IF(map == nullptr, UnreadImage(file, "GIF", "an image without a table of colours"));
  FIRN_RETURN_IF(image.Left < 0 || image.Top < 0 || image.Width < 1 || image.Height < 1 ||
                     image.Left + image.Width > gif->SWidth ||
                     image.Top + image.Height > gif->SHeight,
                 DamagedImage(file, "GIF",
                              absl::StrCat("image of ", image.Width, " x ", image.Height, " at (",
                                           image.Left, ", ", image.Top, ") outside its canvas of ",
                                           gif->SWidth, " x ", gif->SHeight)));
  const bool covers = image.Width == gif->SWidth && image.Height == gif->SHeight;
  const bool alpha = transparent != NO_TRANSPARENT_COLOR || !covers;
  FIRN_ASSIGN_OR_RETURN(Raster raster,
                        MakeRaster(file, gif->SWidth, gif->SHeight, alpha ? 4 : 3, false, 8));
  if (!covers) std::memset(raster.row(0), 0, raster.samples.num_elements());
  FIRN_ASSIGN_OR_RETURN(const std::vector<uint8_t> pixels, ReadPixels(file, &input, image));
  const uint8_t* from = pixels.data();
  for (const int y : RowOrder(image.Height, image.Interlace)) {
    unsigned char* to = raster.row(image.Top + y) + image.Left * raster.channels;
    for (int x = 0; x < image.Width; ++x) {
      const int index = *from++;
      FIRN_RETURN_IF(
          index >= map->ColorCount,
          DamagedImage(file, "GIF", absl::StrCat("colour ", index, " of ", map->ColorCount)));
      const GifColorType& color = map->Colors[index];
      *to++ = color.Red;
      *to++ = color.Green;
      *to++ = color.Blue;
      if (alpha) *to++ = index == transparent ? 0 : 255;
    }
  }
  return raster;
}

}  // namespace firn::io::internal
