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
  // the folder. Its timeout must be longer than writing a file takes. Must outlive the manager.
  // If it is null, there is one process.
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
// With `ranks` all ranks make each call but the destructor together, and all get the same result:
// an error on one rank, such as a full disk of rank 0, is thrown on all and names the rank. Only
// rank 0's parts are written, but the others give their states too, since making them may need all
// ranks (optimizers that share them). All ranks load from the file, so each must be able to read
// it. If a part refuses its state on one rank only, the other ranks keep what they loaded.
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
  // Waits for the write in progress. Call Wait before to learn whether it succeeded.
  ~CheckpointManager();
  CheckpointManager(const CheckpointManager&) = delete;
  CheckpointManager& operator=(const CheckpointManager&) = delete;

  // Copies the parts' tensors and writes them to a new file; then older files are removed as the
  // options say, never the one just written. Save returns after the copy. Beside training the write
  // takes a small share of a processor, 2 s for 100 MB; while a call waits for it, it goes on at
  // full speed, 0.1 s (docs/log/training.md). Save waits for the write before, if that is still in
  // progress. Other HDF5 files may be saved meanwhile. Throws, and training may go on:
  // kInvalidArgument for a step below 0; as SaveCheckpoint for errors that are found at once; the
  // error of the write before, once, and then this call has saved nothing. A NaN counts as no
  // metric.
  void Save(const CheckpointParts& parts, const SaveCheckpointOptions& options);

  // Waits for the write in progress. Throws its error, once.
  void Wait();

  // Loads the checkpoint of the highest step that is whole; nothing, when the folder has no
  // checkpoint. Checkpoints that cannot be read are passed over and listed in Loaded::skipped; they
  // stay in the folder and no longer count. Throws what Wait throws; kDataLoss, naming each, when
  // all are damaged; as LoadCheckpoint when the parts refuse the state in an intact one.
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
