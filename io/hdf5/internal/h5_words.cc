// Strings of one length are read as elements are, and end at a NUL, or where their padding of NULs
// or blanks begins. With strings of any length an element is: bytes 4, address of a collection in
// the global heap 8, number 4; no bytes: the empty string, wherever it should be.
#include "firn/io/hdf5/internal/h5_words.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/device/edit_distance.h"
#include "firn/device/status_macros.h"
#include "firn/io/hdf5/internal/h5_dataset.h"
#include "firn/io/hdf5/internal/h5_file.h"
#include "firn/io/hdf5/internal/h5_global_heap.h"
#include "firn/io/hdf5/internal/h5_message.h"
#include "firn/io/hdf5/internal/h5_plan.h"
#include "firn/io/hdf5/internal/h5_walk.h"

namespace firn::io::internal {
namespace {

std::string_view Unpadded(std::string_view word, H5WordType::Padding padding) {
  switch (padding) {
    case H5WordType::kTerminated:
      return word.substr(0, word.find('\0'));
    case H5WordType::kNuls:
      return word.substr(0, word.find_last_not_of('\0') + 1);
    case H5WordType::kBlanks:
      break;
  }
  return word.substr(0, word.find_last_not_of(' ') + 1);
}

absl::StatusOr<std::string_view> FromHeap(const H5File& file, const H5Plan& plan,
                                          std::string_view element, H5GlobalHeap* heap) {
  H5Cursor c(element, plan.offset);
  const uint64_t bytes = c.Uint(4), address = c.Uint(8), number = c.Uint(4);
  if (bytes == 0) return std::string_view();
  FIRN_ASSIGN_OR_RETURN(const std::string_view object, heap->Get(address, number));
  if (object.size() < bytes) {
    return file.DamagedAt(
        address, "global heap",
        absl::StrCat("expected a string of ", bytes, " bytes, got ", object.size()));
  }
  return object.substr(0, bytes);
}

absl::StatusOr<std::vector<std::string>> Words(H5File& file, const H5Object& dataset) {
  FIRN_ASSIGN_OR_RETURN(const H5Plan plan, MakeH5Plan(file, dataset, H5Elements::kWords));
  H5Budget budget(file);
  const int64_t n = plan.shape.num_elements();
  if (n > file.limits().max_tensors) {
    return ResourceExhausted(file.name(), ": ", n, " strings, more than the ",
                             file.limits().max_tensors, " allowed (limits.max_tensors)");
  }
  FIRN_ASSIGN_OR_RETURN(const std::string stored, ReadH5Stored(file, dataset, plan, &budget));
  const auto bytes = static_cast<size_t>(plan.type.bytes);
  H5GlobalHeap heap(file);
  std::vector<std::string> words;
  int64_t left = file.limits().max_metadata_bytes;  // many may name one object
  for (size_t at = 0; at < stored.size(); at += bytes) {
    std::string_view word = std::string_view(stored).substr(at, bytes);
    if (plan.word.in_heap) {
      FIRN_ASSIGN_OR_RETURN(word, FromHeap(file, plan, word, &heap));
    } else {
      word = Unpadded(word, plan.word.padding);
    }
    left -= static_cast<int64_t>(word.size());
    if (left < 0) {
      return ResourceExhausted(file.name(), ": the strings have more than the ",
                               file.limits().max_metadata_bytes,
                               " bytes allowed (limits.max_metadata_bytes)");
    }
    words.emplace_back(word);
  }
  return words;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ReadH5Words(const RandomAccess& file,
                                                     std::string_view name,
                                                     const LoadLimits& limits) {
  FIRN_ASSIGN_OR_RETURN(H5File opened, H5File::Open(file, limits));
  std::optional<std::vector<std::string>> words;
  std::vector<std::string> names;
  const auto want = [&](std::string_view other) {
    names.emplace_back(other);
    return other == name;
  };
  const auto take = [&](const H5Found& found) -> absl::Status {
    FIRN_RETURN_IF(words.has_value(), DataLoss(file.name(), ": two datasets are named ", name));
    FIRN_ASSIGN_OR_RETURN(words, Words(opened, *found.object));
    return absl::OkStatus();
  };
  FIRN_RETURN_IF_ERROR(WalkH5(opened, want, take).status());
  FIRN_RETURN_IF(!words.has_value(),
                 NotFound(file.name(), ": expected strings called ", name, ", got none",
                          inner::internal::InsteadOf(name, names)));
  return *std::move(words);
}

}  // namespace firn::io::internal
