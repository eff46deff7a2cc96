// Two IDX files: images u8 [n, height, width] and labels u8 [n]. Any height and width is accepted,
// so that test files can be small; labels must be digits.
#include "firn/io/data/mnist.h"

#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/io/data/image_dataset_status.h"
#include "firn/io/data/mnist_status.h"
#include "firn/io/idx/idx_status.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn::io {
namespace {

constexpr int64_t kClasses = 10;

// The file, or its compressed form when only that exists.
std::string Find(const std::string& directory, const char* name) {
  const std::string path = absl::StrCat(directory, "/", name);
  const std::string packed = absl::StrCat(path, ".gz");
  return access(path.c_str(), F_OK) != 0 && access(packed.c_str(), F_OK) == 0 ? packed : path;
}

absl::StatusOr<Tensor> ReadBytes(const std::string& path, int rank) {
  FIRN_ASSIGN_OR_RETURN(Tensor t, TryReadIdx(path));
  FIRN_RETURN_IF(t.dtype() != DType::kU8 || t.rank() != rank,
                 InvalidArgument(path, ": expected u8 of rank ", rank, ", got ",
                                 t.spec().ToString(), ": a sound IDX file of another kind"));
  return t;
}

absl::StatusOr<Tensor> ReadLabels(const std::string& path, int64_t images) {
  FIRN_ASSIGN_OR_RETURN(const Tensor bytes, ReadBytes(path, 1));
  FIRN_RETURN_IF(
      bytes.size(0) != images,
      DataLoss(path, ": expected ", images, " labels, as many as images, got ", bytes.size(0)));
  std::vector<int64_t> labels = bytes.ToVector<int64_t>();
  const auto bad =
      std::find_if(labels.begin(), labels.end(), [](int64_t v) { return v >= kClasses; });
  FIRN_RETURN_IF(bad != labels.end(),
                 DataLoss(path, ": label ", *bad, " at index ", bad - labels.begin(),
                          " is outside [0, ", kClasses, ")"));
  return FromVector(std::move(labels));
}

}  // namespace

absl::StatusOr<DatasetPtr> TryMnist(const std::string& directory, const MnistOptions& options) {
  const bool train = options.train;
  FIRN_ASSIGN_OR_RETURN(
      const Tensor images,
      ReadBytes(Find(directory, train ? "train-images-idx3-ubyte" : "t10k-images-idx3-ubyte"), 3));
  FIRN_ASSIGN_OR_RETURN(
      const Tensor labels,
      ReadLabels(Find(directory, train ? "train-labels-idx1-ubyte" : "t10k-labels-idx1-ubyte"),
                 images.size(0)));
  return TryMakeImageDataset(Reshape(images, {images.size(0), 1, images.size(1), images.size(2)}),
                             labels,
                             {.scale = 255, .mean = options.mean, .stddev = options.stddev});
}

DatasetPtr Mnist(const std::string& directory, const MnistOptions& options) {
  absl::StatusOr<DatasetPtr> dataset = TryMnist(directory, options);
  RaiseIfError(dataset.status(), "mnist");
  return *std::move(dataset);
}

}  // namespace firn::io
