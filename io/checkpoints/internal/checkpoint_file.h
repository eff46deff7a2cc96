#ifndef FIRN_IO_CHECKPOINTS_INTERNAL_CHECKPOINT_FILE_H_
#define FIRN_IO_CHECKPOINTS_INTERNAL_CHECKPOINT_FILE_H_

// The steps of reading and writing checkpoints that io/checkpoints/checkpoint.h and
// io/checkpoints/checkpoint_manager.h need.

#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "firn/io/checkpoints/checkpoint.h"
#include "firn/io/load_limits.h"
#include "firn/tensor/state_dict.h"

namespace firn::io::internal {

// The contents of a checkpoint's file.
struct CheckpointContents {
  CheckpointInfo info;
  StateDict state;  // "<part>.<entry>"
};

// The names of the parts. Throws kInvalidArgument for a name that is not allowed.
std::vector<std::string> PartNames(const CheckpointParts& parts);

// The parts' present states, sharing their elements. Throws what they throw, and as PartNames.
CheckpointContents CollectParts(const CheckpointParts& parts, const SaveCheckpointOptions& options);

// The same elements in memory of their own, on the CPU: the parts may change from now on. Throws,
// naming the entry, for a tensor that has no elements yet.
void CopyElements(CheckpointContents* contents);

// `pace` is called between pieces of the work, so that a caller can slow it down.
absl::Status WriteCheckpoint(
    const std::string& path, const CheckpointContents& contents,
    absl::FunctionRef<void()> pace = [] {});

// The entries of these parts; for no parts only the info. Errors: as LoadCheckpoint's.
absl::StatusOr<CheckpointContents> ReadCheckpoint(const std::string& path,
                                                  const std::vector<std::string>& parts,
                                                  const LoadLimits& limits);

// The same for a file's contents in memory; `path` is for messages.
absl::StatusOr<CheckpointContents> CheckpointOf(const std::string& path, StateDict file,
                                                const std::vector<std::string>& parts);

// All parts or none, as LoadCheckpoint says; throws as it does. `path` is for messages.
void LoadParts(const std::string& path, const CheckpointContents& contents,
               const CheckpointParts& parts);

}  // namespace firn::io::internal

#endif  // FIRN_IO_CHECKPOINTS_INTERNAL_CHECKPOINT_FILE_H_
