#ifndef FIRN_IO_CHECKPOINTS_CHECKPOINT_MANAGER_H_
#define FIRN_IO_CHECKPOINTS_CHECKPOINT_MANAGER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "firn/io/checkpoints/checkpoint.h"
#include "firn/io/load_limits.h"

namespace firn::comm {
class Communicator;  // firn/device/comm/communicator.h
}

namespace firn::io {

struct CheckpointManagerOptions {
  int64_t keep_last = 3;   // checkpoints of the highest steps that stay
  int64_t keep_best = 0;   // and those with the best metrics that stay beside them
  bool maximize = false;   // the metric: an accuracy and not a loss
  bool background = true;  // write on a thread of its own, while training goes on
  LoadLimits limits = {};
  // Several processes that train one network, which make the same calls: rank 0 reads and writes
  // the folder. Its timeout is longer than a file takes to be written. Lives longer than the
  // manager. If null, this rank alone.
  comm::Communicator* ranks = nullptr;
};

// Keeps the checkpoints of a run in a folder, "checkpoint_000000001000.h5" for step 1000:
//
//   io::CheckpointManager manager("run", {.keep_last = 2, .keep_best = 1});
//   const io::CheckpointParts parts = {{"model", net}, {"optimizer", adam}, {"data", train}};
//   int64_t step = 0;
//   if (const auto loaded = manager.LoadLatest(parts)) step = loaded->info.step;
//   ... manager.Save(parts, {.step = step, .metric = loss});
//   manager.Wait();
//
// A process may be killed at any moment: the folder then holds the checkpoints that were complete,
// and what was half written is removed by the next manager. One manager at a time writes to a
// folder; files of other names there are left alone. Thread-compatible.
//
// With `ranks` all ranks make each call but the destructor together, and all get the same: what
// goes wrong on one, a full disk of rank 0 for one, is thrown on all, and names the rank. Rank 0's
// parts are written; the others' are asked for their state too, since that may be the work of all
// (optimizers that share it), and get what is in the file, which all ranks have to see. A part that
// refuses it on one rank alone leaves the others with what they loaded.
class CheckpointManager {
 public:
  struct File {
    std::string path;
    int64_t step = 0;
    std::optional<double> metric;
  };
  // A checkpoint that could not be read, and why.
  struct Skipped {
    std::string path;
    std::string reason;
  };
  struct Loaded {
    std::string path;
    CheckpointInfo info;
    std::vector<Skipped> skipped;  // newer ones, which are damaged
  };

  // Makes the folder where there is none, removes leftovers of killed writers and looks at what is
  // there. Throws firn::Error: kInvalidArgument unless keep_last >= 1 and keep_best >= 0; what the
  // system says of the folder.
  explicit CheckpointManager(const std::string& folder,
                             const CheckpointManagerOptions& options = {});
  // Waits for the write in progress; who wants to know what came of it calls Wait before.
  ~CheckpointManager();
  CheckpointManager(const CheckpointManager&) = delete;
  CheckpointManager& operator=(const CheckpointManager&) = delete;

  // Copies the parts' tensors and writes them to a file of their own; then older files go as the
  // options say, never the one just written. Only the copy is waited for, and a write that is still
  // in progress, which then goes on at full speed: it takes a small share of a processor beside
  // training, 2 s for 100 MB where somebody who waits waits 0.1 (docs/log/training.md).
  // Other HDF5 files may be saved meanwhile. Throws, and training may go on:
  // kInvalidArgument for a step below 0; as SaveCheckpoint for what is seen at once; what went
  // wrong with the write before, which is then forgotten, while nothing was saved now. NaN is no
  // metric.
  void Save(const CheckpointParts& parts, const SaveCheckpointOptions& options);

  // Waits for the write in progress. Throws what went wrong with it, once.
  void Wait();

  // Loads the checkpoint of the highest step that is whole; nothing, when the folder has no
  // checkpoint. Those that cannot be read are passed over, said in Loaded::skipped, and stay where
  // they are, uncounted. Throws what Wait throws; kDataLoss, naming each, when all are damaged;
  // as LoadCheckpoint when the parts refuse what is in an intact one.
  std::optional<Loaded> LoadLatest(const CheckpointParts& parts);

  // The checkpoints that count, by rising steps, once the write in progress has ended.
  std::vector<File> files() const;
  // The one with the best metric, if any has one.
  std::optional<File> best() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace firn::io

#endif  // FIRN_IO_CHECKPOINTS_CHECKPOINT_MANAGER_H_
