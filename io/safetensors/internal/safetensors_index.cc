#include "firn/io/safetensors/internal/safetensors_index.h"

#include <string_view>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "firn/device/escape.h"
#include "firn/device/status_macros.h"
#include "firn/io/json/internal/json_events.h"

namespace firn::io::internal {
namespace {

using firn::inner::internal::JsonString;

// Reads the object "weight_map" of an index alone.
class Reader final : public JsonEvents {
 public:
  Reader(const LoadLimits& limits, SafetensorsIndex* index) : limits_(limits), index_(index) {}

  bool found() const { return found_; }

  absl::Status BeginObject() override {
    FIRN_RETURN_IF(depth_ == 2 && in_map_, NoWord("an object"));
    if (++depth_ == 2 && key_ == kMap) {
      FIRN_RETURN_IF(std::exchange(found_, true), DataLoss("expected one ", kMap, ", got two"));
      in_map_ = true;
    }
    return absl::OkStatus();
  }
  absl::Status EndObject() override {
    if (--depth_ == 1) in_map_ = false;
    return absl::OkStatus();
  }
  absl::Status BeginArray() override {
    FIRN_RETURN_IF_ERROR(Other("an array"));
    ++depth_;
    return absl::OkStatus();
  }
  absl::Status EndArray() override {
    --depth_;
    return absl::OkStatus();
  }
  absl::Status Key(std::string name) override {
    if (depth_ == 1 || in_map_) key_ = std::move(name);
    return absl::OkStatus();
  }
  absl::Status String(std::string text) override {
    if (!in_map_) return Other("a string");
    FIRN_RETURN_IF(text.empty() || text == "." || text == ".." ||
                       text.find_first_of(std::string_view("/\\\0", 3)) != std::string::npos,
                   DataLoss(kMap, ", ", JsonString(key_),
                            ": expected the name of a file beside, got ", JsonString(text)));
    FIRN_RETURN_IF(static_cast<int64_t>(key_.size()) > limits_.max_name_bytes,
                   ResourceExhausted("a name of more than the ", limits_.max_name_bytes,
                                     " bytes allowed (limits.max_name_bytes)"));
    FIRN_RETURN_IF(static_cast<int64_t>(index_->file_of.size()) == limits_.max_tensors,
                   ResourceExhausted("more than the ", limits_.max_tensors,
                                     " tensors allowed (limits.max_tensors)"));
    if (files_.insert(text).second) index_->files.push_back(text);
    FIRN_RETURN_IF(!index_->file_of.emplace(key_, std::move(text)).second,
                   DataLoss(kMap, ": expected different names, got ", JsonString(key_), " twice"));
    return absl::OkStatus();
  }
  absl::Status Whole(uint64_t) override { return Other("a number"); }
  absl::Status Number(double, std::string_view) override { return Other("a number"); }
  absl::Status Bool(bool) override { return Other("a bool"); }
  absl::Status Null() override { return Other("null"); }

 private:
  static constexpr const char* kMap = "weight_map";

  absl::Status NoWord(const char* got) const {
    return DataLoss(kMap, ", ", JsonString(key_), ": expected the name of a file, got ", got);
  }
  absl::Status Other(const char* got) const {
    FIRN_RETURN_IF(in_map_, NoWord(got));
    FIRN_RETURN_IF(depth_ == 0, DataLoss("expected an object, got ", got));
    FIRN_RETURN_IF(depth_ == 1 && key_ == kMap,
                   DataLoss(kMap, ": expected an object of names of files, got ", got));
    return absl::OkStatus();
  }

  const LoadLimits& limits_;
  SafetensorsIndex* index_;
  absl::flat_hash_set<std::string> files_;
  int depth_ = 0;
  bool in_map_ = false, found_ = false;
  std::string key_;
};

}  // namespace

absl::StatusOr<SafetensorsIndex> ReadSafetensorsIndex(const RandomAccess& file,
                                                      const LoadLimits& limits) {
  constexpr int64_t kMost = 100'000'000;
  FIRN_RETURN_IF(file.size() > std::min(kMost, limits.max_metadata_bytes),
                 ResourceExhausted(file.name(), ": an index of more than the ",
                                   std::min(kMost, limits.max_metadata_bytes),
                                   " bytes allowed (limits.max_metadata_bytes)"));
  std::string text(static_cast<size_t>(file.size()), '\0');
  FIRN_RETURN_IF_ERROR(file.ReadAt(0, text.data(), file.size(), "index"));
  SafetensorsIndex index;
  Reader reader(limits, &index);
  absl::Status status = ReadJson(text, limits.max_depth, &reader);
  if (status.ok() && !reader.found()) status = DataLoss("expected an object weight_map, got none");
  FIRN_RETURN_IF(!status.ok(),
                 absl::Status(status.code(), absl::StrCat(file.name(), ": ", status.message())));
  return index;
}

}  // namespace firn::io::internal
