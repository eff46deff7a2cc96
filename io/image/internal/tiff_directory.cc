// TIFF 6.0: "II" or "MM" for the byte order, u16 42, u32 offset of the first directory. That is a
// u16 count of entries, then for each entry u16 tag, u16 type, u32 count and a value of four bytes,
// or its offset if it is longer; then the offset of the next directory, which is ignored.
//
// libtiff reads directories too, but repairs wrong ones silently, and takes time n^2 for n unknown
// tags. So the tags that pixels depend on are read and checked here, each at most once, and the
// library is shown a directory that has no others (it is no longer than the file's).
#include "firn/io/image/internal/tiff_directory.h"

#include <algorithm>
#include <array>
#include <map>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/io/random_access.h"

namespace firn::io::internal {
namespace {

constexpr uint64_t kEntryBytes = 12;

enum Tag : uint32_t {
  kWidth = 256,
  kHeight = 257,
  kBits = 258,
  kCompression = 259,
  kPhotometric = 262,
  kFillOrder = 266,
  kStripOffsets = 273,
  kOrientation = 274,
  kSamples = 277,
  kRowsPerStrip = 278,
  kStripByteCounts = 279,
  kPlanes = 284,
  kT4Options = 292,
  kT6Options = 293,
  kPredictor = 317,
  kWhitePoint = 318,
  kColorMap = 320,
  kTileWidth = 322,
  kTileHeight = 323,
  kTileOffsets = 324,
  kTileByteCounts = 325,
  kInkSet = 332,
  kExtraSamples = 338,
  kSampleFormat = 339,
  kJpegTables = 347,
  kYcbcrCoefficients = 529,
  kYcbcrSubSampling = 530,
  kYcbcrPositioning = 531,
  kReferenceBlackWhite = 532,
  kDataType = 32996,
  kImageDepth = 32997,
};

constexpr uint32_t kTags[] = {kWidth,
                              kHeight,
                              kBits,
                              kCompression,
                              kPhotometric,
                              kFillOrder,
                              kStripOffsets,
                              kOrientation,
                              kSamples,
                              kRowsPerStrip,
                              kStripByteCounts,
                              kPlanes,
                              kT4Options,
                              kT6Options,
                              kPredictor,
                              kWhitePoint,
                              kColorMap,
                              kTileWidth,
                              kTileHeight,
                              kTileOffsets,
                              kTileByteCounts,
                              kInkSet,
                              kExtraSamples,
                              kSampleFormat,
                              kJpegTables,
                              kYcbcrCoefficients,
                              kYcbcrSubSampling,
                              kYcbcrPositioning,
                              kReferenceBlackWhite,
                              kDataType,
                              kImageDepth};
static_assert(std::is_sorted(std::begin(kTags), std::end(kTags)));  // they are looked up by halves

// Those that only the library looks at, of YCbCr and CIE L*a*b*.
bool IsOfConversion(uint32_t tag) {
  return tag == kWhitePoint || (tag >= kYcbcrCoefficients && tag <= kReferenceBlackWhite);
}

bool IsDeflate(uint32_t compression) { return compression == 8 || compression == 32946; }

// A tag of a codec that was not used: it has no meaning, and the library does not know it.
bool IsForeign(uint32_t tag, uint32_t compression) {
  switch (tag) {
    case kT4Options:
      return compression != 3;
    case kT6Options:
      return compression != 4;
    case kPredictor:
      return compression != 5 && !IsDeflate(compression);
    case kJpegTables:
      return compression != 7;
    default:
      return false;
  }
}

struct Entry {
  uint64_t at;  // of the entry in the file
  uint32_t type, count;
};

class Reader {
 public:
  explicit Reader(const EncodedImage& file) : file_(file) {}

  absl::StatusOr<TiffDirectory> Read() {
    dir_.big_endian = file_.bytes.starts_with("MM");
    FIRN_RETURN_IF_ERROR(ReadEntries());
    FIRN_RETURN_IF_ERROR(ReadNumbers());
    FIRN_RETURN_IF_ERROR(ReadSegments());
    FIRN_RETURN_IF_ERROR(CheckSegments());
    Prune();
    return std::move(dir_);
  }

 private:
  bool Has(uint64_t at, uint64_t n) const {
    const auto size = static_cast<uint64_t>(file_.size());
    return at <= size && n <= size - at;
  }

  // Requires: Has(at, n), n <= 4.
  uint32_t Number(uint64_t at, unsigned n) const {
    const unsigned char* p = file_.data() + at;
    uint32_t v = 0;
    for (unsigned i = 0; i < n; ++i) v |= uint32_t{p[i]} << 8 * (dir_.big_endian ? n - 1 - i : i);
    return v;
  }

  absl::Status Bad(uint64_t at, const std::string& field, const std::string& what) const {
    return Damaged(file_.name, static_cast<int64_t>(at), absl::StrCat("TIFF, ", field), what);
  }

  absl::Status BadTag(uint32_t tag, const std::string& what) const {
    const auto found = entries_.find(tag);
    return Bad(found == entries_.end() ? dir_.pruned_at : found->second.at,
               absl::StrCat("tag ", tag), what);
  }

  absl::Status ReadEntries() {
    FIRN_RETURN_IF(!Has(0, 8), Bad(0, "header", "the file ends early"));
    dir_.pruned_at = Number(4, 4);
    FIRN_RETURN_IF(!Has(dir_.pruned_at, 2),
                   Bad(4, "offset of the directory", "is not in the file"));
    const uint32_t count = Number(dir_.pruned_at, 2);
    FIRN_RETURN_IF(!Has(dir_.pruned_at + 2, count * kEntryBytes),
                   Bad(dir_.pruned_at, "directory", "the file ends early"));
    for (uint32_t i = 0; i < count; ++i) {
      const uint64_t at = dir_.pruned_at + 2 + i * kEntryBytes;
      const uint32_t tag = Number(at, 2);
      if (!std::binary_search(std::begin(kTags), std::end(kTags), tag)) continue;
      const Entry entry = {at, Number(at + 2, 2), Number(at + 4, 4)};
      FIRN_RETURN_IF(!entries_.emplace(tag, entry).second,
                     Bad(at, absl::StrCat("tag ", tag), "is there twice"));
    }
    return absl::OkStatus();
  }

  // Numbers of type BYTE, SHORT or LONG; none where there is no such tag.
  absl::StatusOr<std::vector<uint64_t>> Values(uint32_t tag) const {
    std::vector<uint64_t> values;
    const auto found = entries_.find(tag);
    if (found == entries_.end()) return values;
    const Entry& e = found->second;
    // Bytes are legal in none of the tags that are read, and other readers disagree about them.
    const unsigned bytes = e.type == 3 ? 2 : e.type == 4 ? 4 : 0;
    FIRN_RETURN_IF(
        bytes == 0,
        BadTag(tag,
               absl::StrCat("expected 16- or 32-bit numbers without a sign, got type ", e.type)));
    FIRN_RETURN_IF(e.count == 0, BadTag(tag, "expected a value, got none"));
    const uint64_t size = uint64_t{bytes} * e.count;
    const uint64_t at = size <= 4 ? e.at + 8 : Number(e.at + 8, 4);
    FIRN_RETURN_IF(!Has(at, size), BadTag(tag, "its values are not in the file"));
    values.reserve(e.count);
    for (uint32_t i = 0; i < e.count; ++i)
      values.push_back(Number(at + uint64_t{i} * bytes, bytes));
    return values;
  }

  // One number, or as many equal ones as there are samples; what it was where there is no such tag.
  absl::Status One(uint32_t tag, uint32_t* value, bool by_sample = false) const {
    FIRN_ASSIGN_OR_RETURN(const std::vector<uint64_t> values, Values(tag));
    if (values.empty()) return absl::OkStatus();
    FIRN_RETURN_IF(values.size() != 1 && (!by_sample || values.size() < dir_.samples),
                   BadTag(tag, absl::StrCat("expected one value", by_sample ? " a sample" : "",
                                            ", got ", values.size())));
    const size_t n = values.size() == 1 ? 1 : dir_.samples;
    for (size_t i = 1; i < n; ++i) {
      FIRN_RETURN_IF(values[i] != values[0],
                     UnreadImage(file_, "TIFF", "bits or formats that differ among the samples"));
    }
    *value = static_cast<uint32_t>(values[0]);
    return absl::OkStatus();
  }

  absl::Status ReadNumbers() {
    const std::array<std::pair<uint32_t, uint32_t*>, 12> numbers = {{
        {kWidth, &dir_.width},
        {kHeight, &dir_.height},
        {kSamples, &dir_.samples},
        {kCompression, &dir_.compression},
        {kPhotometric, &dir_.photometric},
        {kOrientation, &dir_.orientation},
        {kPlanes, &dir_.planes},
        {kFillOrder, &dir_.fill_order},
        {kPredictor, &dir_.predictor},
        {kInkSet, &dir_.ink_set},
        {kT4Options, &dir_.t4_options},
        {kT6Options, &dir_.t6_options},
    }};
    for (const auto& [tag, value] : numbers) FIRN_RETURN_IF_ERROR(One(tag, value));
    for (const uint32_t tag : {kWidth, kHeight, kPhotometric}) {
      FIRN_RETURN_IF(!entries_.contains(tag), BadTag(tag, "is missing"));
    }
    FIRN_RETURN_IF(dir_.samples < 1 || dir_.samples > 65535,
                   BadTag(kSamples, "expected 1 to 65535"));
    FIRN_RETURN_IF(dir_.planes < 1 || dir_.planes > 2, BadTag(kPlanes, "expected 1 or 2"));
    FIRN_RETURN_IF(dir_.fill_order < 1 || dir_.fill_order > 2,
                   BadTag(kFillOrder, "expected 1 or 2"));
    FIRN_RETURN_IF_ERROR(One(kBits, &dir_.bits, true));
    FIRN_RETURN_IF_ERROR(One(kSampleFormat, &dir_.format, true));
    FIRN_RETURN_IF(dir_.bits < 1 || dir_.bits > 128, BadTag(kBits, "expected 1 to 128"));
    // Before SampleFormat existed this tag told it: 2 means unsigned, and 0 (unknown) is taken as
    // unsigned.
    uint32_t data_type = 2, depth = 1;
    FIRN_RETURN_IF_ERROR(One(kDataType, &data_type, true));
    FIRN_RETURN_IF_ERROR(One(kImageDepth, &depth));
    FIRN_RETURN_IF((data_type != 2 && data_type != 0) || depth != 1,
                   UnreadImage(file_, "TIFF", "a volume or a data type of SGI's"));
    FIRN_ASSIGN_OR_RETURN(dir_.extra_samples, Values(kExtraSamples));
    FIRN_RETURN_IF(dir_.extra_samples.size() >= dir_.samples,
                   BadTag(kExtraSamples, absl::StrCat("expected fewer than ", dir_.samples,
                                                      " values, got ", dir_.extra_samples.size())));
    FIRN_ASSIGN_OR_RETURN(dir_.color_map, Values(kColorMap));
    return absl::OkStatus();
  }

  absl::Status ReadSegments() {
    dir_.tiled = entries_.contains(kTileWidth) || entries_.contains(kTileOffsets);
    FIRN_RETURN_IF(dir_.tiled && entries_.contains(kStripOffsets),
                   BadTag(kStripOffsets, "expected strips or tiles, got both"));
    if (dir_.tiled) {
      FIRN_RETURN_IF_ERROR(One(kTileWidth, &dir_.segment_width));
      FIRN_RETURN_IF_ERROR(One(kTileHeight, &dir_.segment_height));
      FIRN_RETURN_IF(dir_.segment_width == 0 || dir_.segment_height == 0,
                     BadTag(kTileWidth, "expected tiles of 1 x 1 pixels at least"));
    } else {
      dir_.segment_width = std::max<uint32_t>(dir_.width, 1);
      dir_.segment_height = ~uint32_t{0};
      FIRN_RETURN_IF_ERROR(One(kRowsPerStrip, &dir_.segment_height));
      FIRN_RETURN_IF(dir_.segment_height == 0, BadTag(kRowsPerStrip, "expected 1 at least"));
      dir_.segment_height = std::min(dir_.segment_height, std::max<uint32_t>(dir_.height, 1));
    }
    FIRN_ASSIGN_OR_RETURN(dir_.offsets, Values(dir_.tiled ? kTileOffsets : kStripOffsets));
    FIRN_ASSIGN_OR_RETURN(dir_.byte_counts,
                          Values(dir_.tiled ? kTileByteCounts : kStripByteCounts));
    return absl::OkStatus();
  }

  absl::Status CheckSegments() {
    const __int128 wanted = static_cast<__int128>(dir_.segments_across()) * dir_.segments_down() *
                            (dir_.planar() ? dir_.samples : 1);
    const uint32_t tag = dir_.tiled ? kTileOffsets : kStripOffsets;
    FIRN_RETURN_IF(wanted != static_cast<__int128>(dir_.offsets.size()),
                   BadTag(tag, absl::StrCat("expected as many as ", dir_.width, " x ", dir_.height,
                                            " pixels have, got ", dir_.offsets.size())));
    // Old writers left this tag out if it is redundant. For planes without it, other readers make
    // different images.
    if (dir_.byte_counts.empty() && dir_.compression == 1 && !dir_.planar()) FillInByteCounts();
    FIRN_RETURN_IF(
        dir_.byte_counts.size() != dir_.offsets.size(),
        BadTag(dir_.tiled ? kTileByteCounts : kStripByteCounts,
               absl::StrCat("expected ", dir_.offsets.size(), ", got ", dir_.byte_counts.size())));
    __int128 total = 0;
    for (size_t i = 0; i < dir_.offsets.size(); ++i) {
      FIRN_RETURN_IF(dir_.offsets[i] == 0 && dir_.byte_counts[i] == 0,
                     UnreadImage(file_, "TIFF", "a strip or tile that is left out"));
      FIRN_RETURN_IF(
          !Has(dir_.offsets[i], dir_.byte_counts[i]),
          BadTag(tag, absl::StrCat("strip or tile ", i, " of ", dir_.byte_counts[i], " bytes at ",
                                   dir_.offsets[i], ": the file ends early")));
      total += static_cast<__int128>(dir_.byte_counts[i]);
    }
    // Equal segments may share their bytes, but many that share all bytes of the file would take
    // time n^2.
    constexpr int kShares = 16, kShared = 1 << 16;
    FIRN_RETURN_IF(total > static_cast<__int128>(file_.size()) * kShares + kShared,
                   ResourceExhausted(file_.name, ": TIFF: strips or tiles share more than ",
                                     kShares, " times the bytes of the file"));
    return absl::OkStatus();
  }

  void FillInByteCounts() {
    for (size_t i = 0; i < dir_.offsets.size(); ++i) {
      const int64_t row = static_cast<int64_t>(i) / dir_.segments_across() % dir_.segments_down();
      const int64_t left = int64_t{dir_.height} - row * dir_.segment_height;
      const int64_t rows =
          dir_.tiled ? int64_t{dir_.segment_height} : std::min<int64_t>(dir_.segment_height, left);
      const __int128 bytes = static_cast<__int128>(rows) * dir_.segment_row_bytes();
      // A size beyond the file is refused elsewhere.
      dir_.byte_counts.push_back(
          static_cast<uint64_t>(std::min<__int128>(bytes, file_.size() + __int128{1})));
    }
  }

  void Prune() {
    const auto put = [&](uint64_t v, unsigned n) {
      for (unsigned i = 0; i < n; ++i) {
        dir_.pruned += static_cast<char>(v >> 8 * (dir_.big_endian ? n - 1 - i : i) & 255);
      }
    };
    const bool converted = dir_.photometric == 6 || dir_.photometric == 8;
    const bool deflate = IsDeflate(dir_.compression);
    std::erase_if(entries_, [&](const auto& entry) {
      // Firn turns the image itself, since the library would refuse some orientations; it also
      // undoes differences of deflated samples itself.
      return entry.first == kOrientation || (deflate && !converted && entry.first == kPredictor) ||
             (!converted && IsOfConversion(entry.first)) ||
             IsForeign(entry.first, dir_.compression);
    });
    put(entries_.size(), 2);
    for (const auto& [tag, entry] : entries_) {
      dir_.pruned.append(file_.bytes.substr(entry.at, kEntryBytes));
    }
    put(0, 4);
  }

  const EncodedImage& file_;
  TiffDirectory dir_;
  std::map<uint32_t, Entry> entries_;  // of kTags, by the tag: in the order that TIFF asks for
};

}  // namespace

absl::StatusOr<TiffDirectory> ReadTiffDirectory(const EncodedImage& file) {
  return Reader(file).Read();
}

}  // namespace firn::io::internal
