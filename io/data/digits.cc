// The compressed table lies in the program as an array that the build makes from
// data/digits.csv.gz: 64 pixels 0 to 16, row by row, then the label, in each line.
#include "firn/io/data/digits.h"

#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "firn/device/check.h"
#include "firn/device/status_macros.h"
#include "firn/io/csv/csv.h"
#include "firn/io/csv/csv_status.h"
#include "firn/io/data/image_dataset_status.h"
#include "firn/io/data/internal/digits_data.h"
#include "firn/io/internal/byte_source.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"

namespace firn::io {
namespace {

constexpr int64_t kImages = 1797;
constexpr int64_t kTrainImages = 1500;
constexpr int64_t kPixels = 64;

absl::StatusOr<Tensor> ReadTable() {
  FIRN_ASSIGN_OR_RETURN(const std::unique_ptr<internal::ByteSource> source,
                        internal::ByteSource::Make(RandomAccess::FromMemory(
                            "digits.csv.gz", {internal::kDigitsData, internal::kDigitsBytes})));
  FIRN_ASSIGN_OR_RETURN(const std::string text, source->ReadAll(LoadLimits().max_metadata_bytes));
  return TryParseCsv(text, "digits.csv.gz");
}

absl::StatusOr<DatasetPtr> MakeDigits(const DigitsOptions& options) {
  FIRN_ASSIGN_OR_RETURN(const Tensor table, ReadTable());
  FIRN_CHECK(table.size(0) == kImages && table.size(1) == kPixels + 1);
  std::vector<uint8_t> pixels;
  std::vector<int64_t> labels;
  const float* row = table.host_view<float>().data();
  for (int64_t i = 0; i < kImages; ++i, row += kPixels + 1) {
    for (int64_t k = 0; k < kPixels; ++k) pixels.push_back(static_cast<uint8_t>(row[k]));
    labels.push_back(static_cast<int64_t>(row[kPixels]));
  }
  return TryMakeImageDataset(FromVector(std::move(pixels), {kImages, 1, 8, 8}),
                             FromVector(std::move(labels)),
                             {.scale = 16, .mean = options.mean, .stddev = options.stddev});
}

}  // namespace

DatasetPtr Digits(const DigitsOptions& options) {
  absl::StatusOr<DatasetPtr> all = MakeDigits(options);
  RaiseIfError(all.status(), "digits");
  switch (options.part) {
    case DigitsOptions::Part::kTrain:
      return Subset(*all, 0, kTrainImages);
    case DigitsOptions::Part::kTest:
      return Subset(*all, kTrainImages, kImages);
    case DigitsOptions::Part::kAll:
      break;
  }
  return *all;
}

}  // namespace firn::io
