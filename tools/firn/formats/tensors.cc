// Files of tensors: HDF5 and checkpoints, graphs, NumPy's, IDX, CIFAR's.
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "firn/io/checkpoints/checkpoint.h"
#include "firn/io/data/cifar_status.h"
#include "firn/io/graph/graph_file_contents.h"
#include "firn/io/hdf5/hdf5.h"
#include "firn/io/idx/idx.h"
#include "firn/io/internal/value_or_raise.h"
#include "firn/io/npy/npy.h"
#include "firn/tensor/error.h"
#include "tools/firn/files.h"

namespace firn::cli {
namespace {

using io::internal::ValueOrRaise;

// What a graph's numbers mean, as far as its file says so.
void DescribeInfo(const io::GraphInfo& info, FileContents* contents) {
  const auto add = [&](const char* name, const nlohmann::json& value) {
    contents->facts.emplace_back(name, value);
  };
  if (info.pixel_scale.has_value()) add("pixel scale", *info.pixel_scale);
  if (info.scale != 1) add("scale", info.scale);
  if (!info.mean.empty()) add("mean", info.mean);
  if (!info.stddev.empty()) add("deviation", info.stddev);
  nlohmann::json columns = nlohmann::json::array();
  for (const io::GraphColumn& c : info.columns) {
    columns.push_back(c.name.empty() ? nlohmann::json(c.place) : nlohmann::json(c.name));
  }
  if (!columns.empty()) add("columns", columns);
  if (!info.classes.empty()) add("classes", info.classes);
}

// A checkpoint's account of itself, in place of the tensors that hold it.
void DescribeCheckpoint(const std::string& path, const io::LoadLimits& limits,
                        FileContents* contents) {
  const io::CheckpointInfo info = io::ReadCheckpointInfo(path, {.limits = limits});
  contents->format = "Firn checkpoint";
  contents->facts = {{"step", info.step}, {"parts", info.parts}};
  if (info.metric.has_value()) contents->facts.emplace_back("metric", *info.metric);
  for (const auto& [key, value] : info.metadata) contents->facts.emplace_back(key, value);
  for (const char* name : {"version", "step", "header"}) {
    contents->tensors.Erase(absl::StrCat("firn_checkpoint.", name));
  }
}

// Only files with the names that CIFAR has: they have no signature. 0: none of them.
int CifarLabels(const std::string& name) {
  std::string plain = name;
  if (absl::EndsWith(plain, ".gz")) plain.resize(plain.size() - 3);
  if (plain == "train.bin" || plain == "test.bin") return 2;
  const bool batch = absl::StartsWith(plain, "data_batch_") && absl::EndsWith(plain, ".bin");
  return batch || plain == "test_batch.bin" ? 1 : 0;
}

bool IsGzip(const FileHead& head) { return head.bytes.starts_with("\x1f\x8b"); }

}  // namespace

FIRN_FILE_FORMAT(hdf5, "HDF5") {
  return {[](const FileHead& head) { return head.hdf5; },
          [](const std::string& path, const io::LoadLimits& limits) {
            FileContents contents;
            contents.tensors = ValueOrRaise(io::ReadHdf5(path, {.limits = limits}), "file");
            if (contents.tensors.Contains("firn_checkpoint.header")) {
              DescribeCheckpoint(path, limits, &contents);
            }
            return contents;
          }};
}

FIRN_FILE_FORMAT(graph, "Firn graph") {
  return {[](const FileHead& head) {
            return head.bytes.substr(0, 5) ==
                   "\x89"
                   "FIRN";
          },
          [](const std::string& path, const io::LoadLimits& limits) {
            io::GraphFile file = ValueOrRaise(io::ReadGraph(path, {.limits = limits}), "graph");
            FileContents contents;
            contents.tensors = std::move(file.states);
            contents.graph = std::move(file.graph);
            DescribeInfo(file.info, &contents);
            return contents;
          }};
}

FIRN_FILE_FORMAT(npy, "NPY") {
  return {[](const FileHead& head) { return head.bytes.starts_with("\x93NUMPY"); },
          [](const std::string& path, const io::LoadLimits& limits) {
            FileContents contents;
            contents.tensors.Insert("array", io::ReadNpy(path, {.limits = limits}));
            return contents;
          }};
}

FIRN_FILE_FORMAT(npz, "NPZ") {
  return {[](const FileHead& head) {
            return head.bytes.starts_with("PK\x03\x04") || head.bytes.starts_with("PK\x05\x06");
          },
          [](const std::string& path, const io::LoadLimits& limits) {
            FileContents contents;
            contents.tensors = io::ReadNpz(path, {.limits = limits});
            return contents;
          }};
}

FIRN_FILE_FORMAT(cifar, "CIFAR") {
  return {[](const FileHead& head) { return CifarLabels(head.name) > 0; },
          [](const std::string& path, const io::LoadLimits&) {
            const std::string name = path.substr(path.rfind('/') + 1);
            io::CifarRecords records =
                ValueOrRaise(io::ReadCifarRecords(path, CifarLabels(name)), "cifar");
            FileContents contents;
            contents.tensors.Insert("labels", records.labels);
            contents.tensors.Insert("images", records.images);
            return contents;
          }};
}

// Two zeros, a type, how many dimensions. Packed ones are told from tables by the name.
FIRN_FILE_FORMAT(idx, "IDX") {
  return {[](const FileHead& head) {
            if (CifarLabels(head.name) > 0) return false;
            if (IsGzip(head)) return !absl::EndsWithIgnoreCase(head.name, ".csv.gz");
            return head.bytes.size() >= 4 && head.bytes[0] == 0 && head.bytes[1] == 0 &&
                   head.bytes[2] >= 8 && head.bytes[2] <= 14;
          },
          [](const std::string& path, const io::LoadLimits& limits) {
            FileContents contents;
            contents.tensors.Insert("elements", ValueOrRaise(io::ReadIdx(path, limits), "idx"));
            return contents;
          }};
}

}  // namespace firn::cli
