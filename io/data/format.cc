// CIFAR's files have no signature, so they are recognised by the data set's own file names alone.
#include "firn/io/data/cifar_status.h"
#include "firn/io/formats/formats.h"
#include "firn/io/value_or_raise.h"

namespace firn::io {
namespace {

// How many labels a record has; 0: no file of CIFAR.
int CifarLabels(std::string_view name) {
  if (name.ends_with(".gz")) name.remove_suffix(3);
  if (name == "train.bin" || name == "test.bin") return 2;
  const bool batch = name.starts_with("data_batch_") && name.ends_with(".bin");
  return batch || name == "test_batch.bin" ? 1 : 0;
}

}  // namespace

FIRN_FILE_FORMAT(cifar) {
  return {.name = "CIFAR",
          .recognises = [](const FileHead& head) { return CifarLabels(head.name) > 0; },
          .read_tensors =
              [](const std::string& path, const LoadOptions&) {
                const std::string name = path.substr(path.rfind('/') + 1);
                const CifarRecords records =
                    ValueOrRaise(TryReadCifarRecords(path, CifarLabels(name)), "cifar");
                return StateDict{{"labels", records.labels}, {"images", records.images}};
              }};
}

}  // namespace firn::io
