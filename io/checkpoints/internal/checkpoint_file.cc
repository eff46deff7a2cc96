// Note [Checkpoints]
// A checkpoint is an HDF5 file of io/hdf5/hdf5.h, whose checksums say whether it is whole. Beside
// the parts it has
//   /firn_checkpoint/version   i64, 0-d: how all else is to be read
//   /firn_checkpoint/step      i64, 0-d
//   /firn_checkpoint/header    u8: StoredHeader, by struct_archive.h
// The header says how many entries each part has, so that a missing entry is noticed even if only
// some parts are read, which the file's own checksum does not cover. A change that older programs
// cannot read gets a new kCheckpointVersion.
#include "firn/io/checkpoints/internal/checkpoint_file.h"

#include <algorithm>
#include <exception>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/io/hdf5/hdf5_status.h"
#include "firn/io/hdf5/internal/h5_writer.h"
#include "firn/io/internal/struct_archive.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops/shape/copies.h"

namespace firn::io::internal {

struct StoredPart {
  std::string name;
  int64_t entries = 0;
};

struct StoredText {
  std::string key, value;
};

struct StoredHeader {
  std::vector<StoredPart> parts;
  bool has_metric = false;
  double metric = 0;
  std::vector<StoredText> metadata;
};

template <class Archive>
void serialize(Archive& ar, StoredPart& p) {
  ar(cereal::make_nvp("part name", p.name), cereal::make_nvp("entries", p.entries));
}

template <class Archive>
void serialize(Archive& ar, StoredText& t) {
  ar(cereal::make_nvp("metadata key", t.key), cereal::make_nvp("metadata", t.value));
}

template <class Archive>
void serialize(Archive& ar, StoredHeader& h) {
  ar(cereal::make_nvp("parts", h.parts), cereal::make_nvp("has metric", h.has_metric),
     cereal::make_nvp("metric", h.metric), cereal::make_nvp("metadata", h.metadata));
}

namespace {

constexpr std::string_view kReserved = "firn_checkpoint";
constexpr char kVersion[] = "firn_checkpoint.version";
constexpr char kStep[] = "firn_checkpoint.step";
constexpr char kHeader[] = "firn_checkpoint.header";

bool IsOf(std::string_view entry, std::string_view part) {
  return entry.size() > part.size() && entry.starts_with(part) && entry[part.size()] == '.';
}

Tensor Integer(int64_t value) { return FromVector(std::vector<int64_t>{value}, Shape()); }

// Throws the present exception again with the part's name; to be called in a handler.
[[noreturn]] void RaisePart(const std::string& part, const std::string& more, const char* who) {
  try {
    throw;
  } catch (const Error& e) {
    RaiseStatus(absl::Status(e.code(), absl::StrCat("part '", part, "': ", e.what(), more)), who);
  } catch (const std::exception& e) {
    RaiseStatus(Internal("part '", part, "': ", e.what(), more), who);
  }
}

// --- Reading -------------------------------------------------------------------------------------

absl::StatusOr<Tensor> FindEntry(const std::string& path, const StateDict& state, const char* name,
                                 DType dtype, int rank) {
  const Tensor* entry = state.Find(name);
  FIRN_RETURN_IF(entry == nullptr,
                 DataLoss(path, ": there is no ", name, ": it is not a checkpoint, or damaged"));
  FIRN_RETURN_IF(entry->dtype() != dtype || entry->rank() != rank,
                 DataLoss(path, ": ", name, ": expected ", DTypeName(dtype), ", ", rank, "-D, got ",
                          entry->spec().ToString()));
  return *entry;
}

absl::StatusOr<int64_t> ReadInteger(const std::string& path, const StateDict& state,
                                    const char* name) {
  FIRN_ASSIGN_OR_RETURN(const Tensor entry, FindEntry(path, state, name, DType::kI64, 0));
  return entry.Item<int64_t>();
}

// Takes the info about the file out of `state`.
absl::StatusOr<StoredHeader> TakeHeader(const std::string& path, StateDict* state,
                                        CheckpointInfo* info) {
  FIRN_ASSIGN_OR_RETURN(info->version, ReadInteger(path, *state, kVersion));
  FIRN_RETURN_IF(info->version != kCheckpointVersion,
                 Unimplemented(path, ": ", kVersion, " is ", info->version, ", this program reads ",
                               kCheckpointVersion));
  FIRN_ASSIGN_OR_RETURN(info->step, ReadInteger(path, *state, kStep));
  FIRN_ASSIGN_OR_RETURN(const Tensor bytes, FindEntry(path, *state, kHeader, DType::kU8, 1));
  const auto text = bytes.ToVector<uint8_t>();
  FIRN_ASSIGN_OR_RETURN(
      StoredHeader header,
      DecodeStruct<StoredHeader>({reinterpret_cast<const char*>(text.data()), text.size()},
                                 absl::StrCat(path, ": ", kHeader), 0));
  if (header.has_metric) info->metric = header.metric;
  for (StoredText& t : header.metadata) {
    info->metadata.emplace_back(std::move(t.key), std::move(t.value));
  }
  for (const StoredPart& p : header.parts) info->parts.push_back(p.name);
  for (const char* name : {kVersion, kStep, kHeader}) state->Erase(name);
  return header;
}

absl::Status CheckParts(const std::string& path, const StoredHeader& header, const StateDict& state,
                        const std::vector<std::string>& wanted) {
  for (const std::string& part : wanted) {
    const auto stored = std::find_if(header.parts.begin(), header.parts.end(),
                                     [&](const StoredPart& p) { return p.name == part; });
    if (stored == header.parts.end()) {
      std::string there;
      for (const StoredPart& p : header.parts) absl::StrAppend(&there, " '", p.name, "'");
      return FailedPrecondition(path, ": there is no part '", part, "', it has", there);
    }
    const auto entries = std::count_if(state.begin(), state.end(),
                                       [&](const auto& entry) { return IsOf(entry.first, part); });
    FIRN_RETURN_IF(entries != stored->entries,
                   DataLoss(path, ": part '", part, "': expected ", stored->entries,
                            " datasets, got ", entries));
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<std::string> PartNames(const CheckpointParts& parts) {
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (const CheckpointPart& p : parts) {
    const char* wrong = p.name().empty()                          ? "is empty"
                        : p.name().find('.') != std::string::npos ? "has a dot"
                        : p.name() == kReserved                   ? "is taken"
                        : !seen.insert(p.name()).second           ? "occurs twice"
                                                                  : nullptr;
    if (wrong != nullptr) {
      RaiseStatus(InvalidArgument("the part's name '", p.name(), "' ", wrong), "checkpoint");
    }
    names.push_back(p.name());
  }
  if (names.empty()) RaiseStatus(InvalidArgument("there are no parts"), "checkpoint");
  return names;
}

CheckpointContents CollectParts(const CheckpointParts& parts,
                                const SaveCheckpointOptions& options) {
  CheckpointContents contents;
  contents.info = {.step = options.step,
                   .metric = options.metric,
                   .metadata = options.metadata,
                   .parts = PartNames(parts)};
  for (const CheckpointPart& p : parts) {
    try {
      for (const auto& [name, tensor] : p.Save()) {
        contents.state.Insert(absl::StrCat(p.name(), ".", name), tensor);
      }
    } catch (...) {
      RaisePart(p.name(), "", "save checkpoint");
    }
  }
  return contents;
}

void CopyElements(CheckpointContents* contents) {
  const NoGradScope no_grad;
  StateDict copies;
  for (const auto& [name, tensor] : contents->state) {
    if (!tensor.defined()) {
      RaiseStatus(InvalidArgument(name, " is an undefined tensor"), "save checkpoint");
    }
    Tensor copy =
        tensor.device().is_cpu() ? Clone(tensor.Detach()) : tensor.Detach().To(Device::Cpu());
    if (tensor.requires_grad()) copy.SetRequiresGrad();
    copies.Insert(name, std::move(copy));
  }
  contents->state = std::move(copies);
}

absl::Status WriteCheckpoint(const std::string& path, const CheckpointContents& contents,
                             absl::FunctionRef<void()> pace) {
  const CheckpointInfo& info = contents.info;
  StoredHeader header;
  header.has_metric = info.metric.has_value();
  header.metric = info.metric.value_or(0);
  for (const auto& [key, value] : info.metadata) header.metadata.push_back({key, value});
  for (const std::string& part : info.parts) {
    header.parts.push_back(
        {part, std::count_if(contents.state.begin(), contents.state.end(),
                             [&](const auto& entry) { return IsOf(entry.first, part); })});
  }
  const std::string bytes = EncodeStruct(header);
  StateDict file = contents.state;
  file.Insert(kVersion, Integer(info.version));
  file.Insert(kStep, Integer(info.step));
  file.Insert(kHeader, FromVector(std::vector<uint8_t>(bytes.begin(), bytes.end())));
  return WriteH5(path, file, {}, pace);
}

absl::StatusOr<CheckpointContents> ReadCheckpoint(const std::string& path,
                                                  const std::vector<std::string>& parts,
                                                  const LoadLimits& limits) {
  const auto want = [&](std::string_view name) {
    return IsOf(name, kReserved) || std::any_of(parts.begin(), parts.end(),
                                                [&](const auto& part) { return IsOf(name, part); });
  };
  FIRN_ASSIGN_OR_RETURN(StateDict file, TryLoadHdf5(path, {.limits = limits, .want = want}));
  return CheckpointOf(path, std::move(file), parts);
}

absl::StatusOr<CheckpointContents> CheckpointOf(const std::string& path, StateDict file,
                                                const std::vector<std::string>& parts) {
  CheckpointContents contents;
  contents.state = std::move(file);
  FIRN_ASSIGN_OR_RETURN(const StoredHeader header,
                        TakeHeader(path, &contents.state, &contents.info));
  FIRN_RETURN_IF_ERROR(CheckParts(path, header, contents.state, parts));
  return contents;
}

namespace {

// A part that is to be loaded.
struct Loading {
  const CheckpointPart* part;
  std::optional<StateDict> before;  // its state; none if it cannot give one
};

std::vector<Loading> InOrder(const CheckpointParts& parts) {
  std::vector<Loading> order;
  for (const CheckpointPart& p : parts) {
    Loading loading = {&p, {}};
    try {
      loading.before = p.Save();
    } catch (const Error&) {  // a module that waits for its first forward
    }
    order.push_back(std::move(loading));
  }
  std::stable_partition(order.begin(), order.end(),
                        [](const Loading& l) { return l.before.has_value(); });
  return order;
}

StateDict Cloned(const StateDict& state) {
  StateDict copies;
  for (const auto& [name, tensor] : state) copies.Insert(name, Clone(tensor.Detach()));
  return copies;
}

// Gives the first `count` parts their old states back. Returns the parts that keep the new one, for
// a message.
std::string PutBack(const std::vector<Loading>& order, size_t count) {
  std::string failed;
  for (size_t i = count; i-- > 0;) {
    try {
      if (order[i].before.has_value()) {
        order[i].part->Load(*order[i].before);
        continue;
      }
    } catch (const std::exception&) {
    }
    absl::StrAppend(&failed, "; part '", order[i].part->name(), "' keeps what was loaded");
  }
  return failed;
}

}  // namespace

void LoadParts(const std::string& path, const CheckpointContents& contents,
               const CheckpointParts& parts) {
  const NoGradScope no_grad;
  for (const CheckpointPart& p : parts) {
    if (!p.can_load()) p.Load({});  // throws
  }
  std::vector<Loading> order = InOrder(parts);
  for (size_t i = 0; i < order.size(); ++i) {
    Loading& l = order[i];
    try {
      // The last one needs no copy: nothing can fail after it.
      if (i + 1 < order.size() && l.before.has_value()) l.before = Cloned(*l.before);
      l.part->Load(contents.state.Part(l.part->name()));
    } catch (...) {
      RaisePart(l.part->name(), PutBack(order, i), absl::StrCat("load checkpoint ", path).c_str());
    }
  }
}

}  // namespace firn::io::internal
