#include "tools/firn/libraries.h"

#include <gif_lib.h>
#include <hdf5.h>
#include <jpeglib.h>
#include <oneapi/dnnl/dnnl.h>
#include <png.h>
#include <stdio.h>  // jpeglib.h wants FILE
#include <tiffio.h>
#include <zlib.h>

#include <string_view>

#include "absl/base/config.h"
#include "absl/strings/str_cat.h"

namespace firn::cli {
namespace {

std::string Hdf5Version() {
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  return absl::StrCat(major, ".", minor, ".", release);
}

// "LIBTIFF, Version 4.5.0\nCopyright ..."
std::string TiffVersion() {
  const std::string_view text = TIFFGetVersion();
  const std::string_view line = text.substr(0, text.find('\n'));
  return std::string(line.substr(line.rfind(' ') + 1));
}

std::string OneDnnVersion() {
  const dnnl_version_t* const v = dnnl_version();
  return absl::StrCat(v->major, ".", v->minor, ".", v->patch);
}

}  // namespace

std::vector<std::pair<std::string, std::string>> Libraries() {
  return {{"Abseil", absl::StrCat(ABSL_LTS_RELEASE_VERSION, ".", ABSL_LTS_RELEASE_PATCH_LEVEL)},
          {"HDF5", Hdf5Version()},
          {"giflib", absl::StrCat(GIFLIB_MAJOR, ".", GIFLIB_MINOR, ".", GIFLIB_RELEASE)},
          {"libjpeg", absl::StrCat("interface ", JPEG_LIB_VERSION)},
          {"libpng", png_get_libpng_ver(nullptr)},
          {"libtiff", TiffVersion()},
          {"oneDNN", OneDnnVersion()},
          {"zlib", zlibVersion()}};
}

}  // namespace firn::cli
