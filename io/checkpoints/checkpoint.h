#ifndef FIRN_IO_CHECKPOINTS_CHECKPOINT_H_
#define FIRN_IO_CHECKPOINTS_CHECKPOINT_H_

// All that a training run needs to go on to the bit, in one file:
//
//   io::SaveCheckpoint("run.h5", {{"model", net}, {"optimizer", adam}, {"data", train},
//                                 {"random", DefaultGenerator()}}, {.step = step});
//   step = io::LoadCheckpoint("run.h5", {{"model", net}, ...}).step;
//
// io/checkpoints/checkpoint_manager.h keeps several of them while a run goes on.

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "firn/io/load_limits.h"
#include "firn/tensor/rng.h"
#include "firn/tensor/state_dict.h"

namespace firn::comm {
class Communicator;  // firn/device/comm/communicator.h
}

namespace firn::io {

// The layout of files that SaveCheckpoint writes; files of later ones are refused.
inline constexpr int64_t kCheckpointVersion = 1;

// One object of a checkpoint, by the name that it has there: modules, optimizers, schedulers, loss
// scalers, averages of weights, data loaders, CheckpointValues, whatever has `state_dict()` and
// `LoadStateDict(state)`, and random generators. The object must live longer. A constant object can
// be saved, not loaded.
class CheckpointPart {
 public:
  template <class T>
  requires requires(const T& t) {
    { t.state_dict() } -> std::convertible_to<StateDict>;
  }
  CheckpointPart(std::string_view name, T& object)
      : name_(name), save_([&object] { return StateDict(object.state_dict()); }) {
    if constexpr (!std::is_const_v<T>) {
      load_ = [&object](const StateDict& state) { object.LoadStateDict(state); };
    }
  }
  CheckpointPart(std::string_view name, RandomGenerator& generator);
  // For several ranks, each with a generator of its own: all ranks save and load together, and each
  // gets its own state back. If more ranks load than saved, the additional ones go on from rank 0's
  // place in streams of their own. With a null communicator like the constructor above. The
  // communicator must live longer, too.
  CheckpointPart(std::string_view name, RandomGenerator& generator, comm::Communicator* ranks);

  const std::string& name() const { return name_; }
  // The state that goes into the file; it shares elements with the object.
  StateDict Save() const { return save_(); }
  bool can_load() const { return load_ != nullptr; }
  // Loads the object. Throws what the object throws, and kFailedPrecondition unless can_load().
  void Load(const StateDict& state) const;

 private:
  std::string name_;
  std::function<StateDict()> save_;
  std::function<void(const StateDict&)> load_;  // empty: constant
};

using CheckpointParts = std::vector<CheckpointPart>;

// A program's own values beside what has a state: tensors, numbers, strings. Thread-compatible.
//
//   io::CheckpointValues values;
//   values.Set("note", "third try");
class CheckpointValues {
 public:
  // Adds the value or replaces the one of that name.
  void Set(std::string_view name, const Tensor& value);
  void Set(std::string_view name, std::string_view text);  // UTF-8; stored as u8
  void Set(std::string_view name, const char* text) { Set(name, std::string_view(text)); }
  void Set(std::string_view name, std::integral auto value) {
    SetInteger(name, static_cast<int64_t>(value));
  }
  void Set(std::string_view name, std::floating_point auto value) {
    SetReal(name, static_cast<double>(value));
  }

  bool Contains(std::string_view name) const { return values_.Contains(name); }
  // These throw kNotFound when there is no such value, and kInvalidArgument when it is of another
  // kind. An integer reads as a real number too.
  Tensor GetTensor(std::string_view name) const;
  std::string GetText(std::string_view name) const;
  int64_t GetInteger(std::string_view name) const;
  double GetReal(std::string_view name) const;

  // Numbers are i64 and f64, 0-d.
  const StateDict& state_dict() const { return values_; }
  // Replaces all values.
  void LoadStateDict(const StateDict& state) { values_ = state; }

 private:
  void SetInteger(std::string_view name, int64_t value);
  void SetReal(std::string_view name, double value);

  StateDict values_;
};

// What a checkpoint says about itself.
struct CheckpointInfo {
  int64_t version = kCheckpointVersion;
  int64_t step = 0;
  std::optional<double> metric;  // of the run at that step, if it was given
  std::vector<std::pair<std::string, std::string>> metadata;
  std::vector<std::string> parts;  // their names, in the order of the file
};

struct SaveCheckpointOptions {
  int64_t step = 0;
  std::optional<double> metric = {};  // of the run at that step, by which a manager finds the best
  // Notes for a reader of the file, in a fixed order.
  std::vector<std::pair<std::string, std::string>> metadata = {};
};

// Writes the parts to `path`, in HDF5 whatever its end, as io::SaveHdf5 does: the file holds all
// of them or what it held before, and each dataset has a checksum. A part's entry is the dataset
// /<part>/<entry>; "/firn_checkpoint" holds "version" and "step" (i64, 0-d) and "header", the rest
// of CheckpointInfo as bytes. Throws firn::Error: kInvalidArgument for names that are empty, twice
// there, "firn_checkpoint" or have a dot, and for no parts; what the parts and SaveHdf5 say.
void SaveCheckpoint(const std::string& path, const CheckpointParts& parts,
                    const SaveCheckpointOptions& options = {});

struct LoadCheckpointOptions {
  LoadLimits limits = {};
};

// Loads the parts from the file. The file may have more parts, which are not read, and may come
// from anywhere. Throws firn::Error, and nothing has changed then: kDataLoss, naming file and
// dataset, for a damaged or cut off file, and one that is no checkpoint; kUnimplemented for a later
// version; kFailedPrecondition when a part is not in the file; a part's own error about its state,
// with the part's name. The whole file is read and checked before the first part is loaded; if a
// part refuses, the parts before it get their old state back. A part that has no old state, such as
// a module before its first forward, is loaded last; if there are two such parts and the second
// refuses, the first keeps what was loaded.
CheckpointInfo LoadCheckpoint(const std::string& path, const CheckpointParts& parts,
                              const LoadCheckpointOptions& options = {});

// Reads only the CheckpointInfo of a file; throws as LoadCheckpoint.
CheckpointInfo ReadCheckpointInfo(const std::string& path,
                                  const LoadCheckpointOptions& options = {});

}  // namespace firn::io

#endif  // FIRN_IO_CHECKPOINTS_CHECKPOINT_H_
