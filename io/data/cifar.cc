// A. Krizhevsky's binary version: records without a header, each one label (CIFAR-10) or two, the
// coarse one first (CIFAR-100), then 3 x 32 x 32 bytes, planes of red, green and blue. A file is as
// long as it has records; any number of records is accepted, so that test files can be small.
#include "firn/io/data/cifar.h"

#include <unistd.h>

#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/io/data/cifar_status.h"
#include "firn/io/data/image_dataset_status.h"
#include "firn/io/internal/byte_source.h"
#include "firn/io/value_or_raise.h"
#include "firn/tensor/from.h"

namespace firn::io {
namespace {

constexpr int64_t kPixels = 3 * 32 * 32;
constexpr int64_t kMaxFile = int64_t{1} << 30;  // six times CIFAR-100; what a gzip may unpack to

// The form of a data set's records.
struct Records {
  int labels;   // bytes before the pixels
  int which;    // of them
  int classes;  // a label is below this
};

struct Images {
  std::vector<uint8_t> pixels;
  std::vector<int64_t> labels;
};

// The file, or its packed version where only that one is there.
std::string PathOf(const std::string& directory, const std::string& name) {
  std::string path = absl::StrCat(directory, "/", name);
  const std::string packed = absl::StrCat(path, ".gz");
  return access(path.c_str(), F_OK) != 0 && access(packed.c_str(), F_OK) == 0 ? packed : path;
}

absl::Status ReadRecords(const std::string& path, const Records& records, Images* images) {
  FIRN_ASSIGN_OR_RETURN(const auto source, internal::ByteSource::Open(path));
  FIRN_ASSIGN_OR_RETURN(const std::string bytes, source->ReadAll(kMaxFile));
  const int64_t record = records.labels + kPixels, n = static_cast<int64_t>(bytes.size());
  FIRN_RETURN_IF(n == 0 || n % record != 0,
                 Damaged(path, n / record * record, "record",
                         absl::StrCat("expected records of ", record, " bytes, got ", n % record,
                                      " bytes at the end of ", n)));
  const auto* p = reinterpret_cast<const uint8_t*>(bytes.data());
  images->pixels.reserve(images->pixels.size() + static_cast<size_t>(n / record * kPixels));
  for (int64_t at = 0; at < n; at += record) {
    const int label = p[at + records.which];
    FIRN_RETURN_IF(label >= records.classes,
                   Damaged(path, at + records.which, "label",
                           absl::StrCat("expected one below ", records.classes, ", got ", label)));
    images->labels.push_back(label);
    const uint8_t* pixels = p + at + records.labels;
    images->pixels.insert(images->pixels.end(), pixels, pixels + kPixels);
  }
  return absl::OkStatus();
}

absl::StatusOr<DatasetPtr> ReadFiles(const std::string& directory,
                                     const std::vector<std::string>& names, const Records& records,
                                     const CifarOptions& options) {
  Images images;
  for (const std::string& name : names) {
    FIRN_RETURN_IF_ERROR(ReadRecords(PathOf(directory, name), records, &images));
  }
  const auto n = static_cast<int64_t>(images.labels.size());
  return TryMakeImageDataset(FromVector(std::move(images.pixels), {n, 3, 32, 32}),
                             FromVector(std::move(images.labels)),
                             {.scale = 255, .mean = options.mean, .stddev = options.stddev});
}

}  // namespace

absl::StatusOr<DatasetPtr> TryCifar10(const std::string& directory, const CifarOptions& options) {
  FIRN_RETURN_IF(options.coarse_labels,
                 InvalidArgument("coarse_labels: CIFAR-10 has one label an image"));
  std::vector<std::string> names = {"test_batch.bin"};
  if (options.train) {
    names.clear();
    for (int i = 1; i <= 5; ++i) names.push_back(absl::StrCat("data_batch_", i, ".bin"));
  }
  return ReadFiles(directory, names, {.labels = 1, .which = 0, .classes = 10}, options);
}

absl::StatusOr<DatasetPtr> TryCifar100(const std::string& directory, const CifarOptions& options) {
  const Records records = options.coarse_labels ? Records{.labels = 2, .which = 0, .classes = 20}
                                                : Records{.labels = 2, .which = 1, .classes = 100};
  return ReadFiles(directory, {options.train ? "train.bin" : "test.bin"}, records, options);
}

absl::StatusOr<CifarRecords> TryReadCifarRecords(const std::string& path, int labels) {
  FIRN_RETURN_IF(labels != 1 && labels != 2,
                 InvalidArgument("labels is ", labels, " (want 1 for CIFAR-10, 2 for CIFAR-100)"));
  Images images;
  FIRN_RETURN_IF_ERROR(ReadRecords(
      path, {.labels = labels, .which = labels - 1, .classes = labels == 1 ? 10 : 100}, &images));
  const auto n = static_cast<int64_t>(images.labels.size());
  return CifarRecords{FromVector(std::move(images.labels)),
                      FromVector(std::move(images.pixels), {n, 3, 32, 32})};
}

DatasetPtr Cifar10(const std::string& directory, const CifarOptions& options) {
  return ValueOrRaise(TryCifar10(directory, options), "cifar");
}

DatasetPtr Cifar100(const std::string& directory, const CifarOptions& options) {
  return ValueOrRaise(TryCifar100(directory, options), "cifar");
}

}  // namespace firn::io
