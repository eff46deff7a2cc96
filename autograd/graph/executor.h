#ifndef FIRN_AUTOGRAD_GRAPH_EXECUTOR_H_
#define FIRN_AUTOGRAD_GRAPH_EXECUTOR_H_

// Runs a lowered graph: every kernel chosen, every operand's place known. A run is one loop over
// kernels; it allocates nothing, takes one lock, its own, and looks nothing up. (oneDNN does within
// its own kernels: convolutions that are not Winograd's or the first layer's, large products of
// matrices.)

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "firn/autograd/graph/arenas.h"
#include "firn/autograd/graph/graph.h"
#include "firn/autograd/graph/plan.h"
#include "firn/autograd/graph/recordings.h"
#include "firn/autograd/graph/side_stream.h"
#include "firn/tensor/op.h"
#include "firn/tensor/precision.h"
#include "firn/tensor/storage.h"

namespace firn {

// Memory of the arena that is in use when most of it is.
struct MemoryUse {
  int64_t bytes = 0;
  size_t instr = 0;  // the operation that made it, or whose workspace it is
  bool workspace = false;
};

struct ExecutorOptions {
  int64_t max_arena_bytes = INT64_MAX;
  // Whether a graph that runs on one CUDA device may use a second stream of it (streams.h).
  bool side_stream = true;
  // Whether kernels may time several ways and take the fastest (tensor/tuning.h).
  bool autotune = false;
};

// Run is thread-safe, and runs come one after the other: each uses the graph's own memory. The
// other members are not thread-safe.
class Executor {
 public:
  // Requires: `graph` comes from Lower. All slow preparation happens here. ResourceExhausted if
  // temporaries would need more than `max_arena_bytes`; a second stream, which needs more memory,
  // is given up first.
  static absl::StatusOr<std::unique_ptr<Executor>> Make(Graph graph,
                                                        const ExecutorOptions& options = {});
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  // `in`: contiguous, of the specs of the graph's inputs. `out`: contiguous tensors of the shapes
  // and dtypes of its outputs, which are written. Errors: FailedPrecondition for other tensors,
  // before anything is written; what a kernel reports, with its operation and module; what an
  // ExecutionObserver of this thread reports.
  absl::Status Run(absl::Span<const Tensor> in, absl::Span<const Tensor> out);

  // Another executor of the same graph, kernels and states, with an arena of its own: the two may
  // run at once, and either may be destroyed first. On a CUDA device, where all work is queued on
  // one stream, their runs are queued one after the other. Thread-safe, also beside runs.
  // Errors: FailedPrecondition for a graph that changes gradients or states, which replicas would
  // share, and names one. A random stream of the CPU may change: each run takes its own piece of
  // it.
  absl::StatusOr<std::unique_ptr<Executor>> Replica();

  const Graph& graph() const { return graph_; }
  // The plan of the device that needs the most.
  const MemoryPlan& plan() const { return arenas_.main_plan(); }
  // At plan().peak_step, the largest first.
  absl::Span<const MemoryUse> peak() const { return peak_; }
  // Runs whose steps were queued as one (a CUDA graph).
  int64_t device_graph_runs() const { return recordings_ ? recordings_->launches() : 0; }
  // The reason, for people to read, why runs are not queued as one; "" when they are.
  std::string WhyNotRecorded() const;
  // If null, all runs on one stream.
  const StreamPlan* streams() const { return side_ ? &side_->plan() : nullptr; }

 private:
  // One kernel call.
  struct Step {
    absl::Status (*run)(KernelContext&);
    const Instr* instr;
    KernelContext context;
    bool check_indices;
  };
  // An operand that lies in an input of the run; its address is set before each run.
  struct Patch {
    size_t operand, input;
    int64_t offset;
  };
  // A state and the operands that lie in it; their addresses are set again when the state got other
  // memory.
  struct StatePlace {
    ValueId value;  // a bound one
    char* data;     // where its buffer begins, as the operands have it
    std::vector<std::pair<size_t, int64_t>> operands;
    bool written;
  };

  // Makes runs come one after the other. A replica that can run beside others has a Turn of its
  // own.
  struct Turn {
    std::mutex mutex;
    std::atomic<std::thread::id> runner;
  };

  Executor(std::shared_ptr<const Graph> graph, size_t modes, const ExecutorOptions& options,
           const internal::Precision& precision);
  // Refuses a run within a run on the same thread, which an observer of the steps might ask for.
  absl::Status CheckNotRunning() const;
  // Everything that follows from the graph, its kernels and the number of threads.
  absl::Status Bind();
  // Asks every kernel about its call.
  absl::Status PrepareKernels();
  absl::Status PlanArena();
  void FindPeak(absl::Span<const ArenaPiece> pieces, size_t first_workspace);
  // The CUDA device that does all of the work, if there is one.
  std::optional<Device> CudaDevice() const;
  std::unique_ptr<SideStream> MakeSideStream(Device device) const;
  std::vector<std::pair<int64_t, Device>> GroupsToMeet() const;
  absl::Status BindStates();
  void BindOperands();
  // Null for what lies in an input of the run.
  char* PlaceOf(ValueId id) const;
  // Which input a value lies in, -1: none.
  int64_t InputOf(ValueId id) const {
    return input_of_buffer_[static_cast<size_t>(graph_.value(id).buffer)];
  }
  absl::Status CheckArguments(absl::Span<const Tensor> in, absl::Span<const Tensor> out) const;
  // Whether any two tensors overlap that must not; fast for many tensors.
  bool AnyOverlap(absl::Span<const Tensor> in, absl::Span<const Tensor> out) const;
  absl::Status CheckMemory(absl::Span<const Tensor> in, absl::Span<const Tensor> out) const;
  // Where a state's buffer begins now.
  absl::StatusOr<char*> Find(const StatePlace& state) const;
  absl::Status RefreshStates();
  absl::Status RunAlone(absl::Span<const Tensor> in, absl::Span<const Tensor> out);
  // The gradients that are in leaves now and lie in the graph's memory.
  void FindLeftGradients();
  absl::Status CheckGradients() const;
  // Whether anybody but this graph and the leaf holds the memory of an effect's gradient.
  bool KeptByOthers(size_t effect, const Tensor& bound) const;
  // Brings the gradients that leaves have to where the run finds them. Returns whether one of the
  // graph's gradients got other memory on the way.
  absl::StatusOr<bool> TakeGradients();
  // Runs all steps: recorded, observed or queued one by one.
  absl::Status RunAll();
  // The same, and waits for collective calls that the steps have started and not waited for.
  absl::Status RunAllAndWait();
  absl::Status RunStep(Step& step);
  absl::Status RunSteps();
  absl::Status RunStepsOnTwoStreams();
  absl::Status QueueSteps() { return side_ ? RunStepsOnTwoStreams() : RunSteps(); }
  absl::Status RunRecorded();
  // Runs of steps that call other ranks, who decide with this one what is recorded, each group for
  // itself; from groups_[first] on.
  absl::Status RunWithRanks(size_t first, bool observed);
  // All steps, and waits for the collective calls that they have started.
  absl::Status QueueStepsAndWait();
  void CollectAddresses();
  absl::Status RunObservedSteps();
  // Drops the gradients that the run neither reads nor leaves where they are, so that their memory
  // is free while it computes new ones. Returns whether there were any.
  bool DropFoundGradients(absl::Span<const Tensor> in);
  void LeaveGradients();

  const std::shared_ptr<const Graph> shared_graph_;  // with replicas
  const Graph& graph_ = *shared_graph_;
  const size_t modes_;          // so many of graph_.switches come first and watch no state
  uint64_t replacements_ = ~0;  // Replacements() (tensor/owner.h) when all switches stood last
  const ExecutorOptions options_;
  const internal::Precision precision_;
  std::vector<int64_t> input_of_buffer_;
  int threads_ = 0;  // NumThreads() when bound: workspaces depend on it
  // By instruction; views have none. Made for prepared_threads_ threads, and shared with replicas.
  std::shared_ptr<const std::vector<Prepared>> prepared_;
  int prepared_threads_ = 0;
  std::vector<int64_t> temp_pieces_;       // of the arenas, by buffer; -1: none
  std::vector<int64_t> workspace_pieces_;  // by instruction
  Arenas arenas_;
  bool collective_ = false;  // whether some operation is collective
  // Groups whose ranks this one meets before each run, with the device of their memory.
  std::vector<std::pair<int64_t, Device>> groups_;
  bool arena_untouched_ = false;  // nothing has run in them yet
  std::vector<MemoryUse> peak_;
  std::vector<Operand> operands_;  // of all steps; never grows after Make
  std::vector<Step> steps_;
  std::vector<Patch> patches_;
  std::vector<StatePlace> states_;
  std::vector<int64_t> state_of_buffer_;  // index into states_, -1: none
  std::unique_ptr<SideStream> side_;      // null: one stream
  std::optional<Recordings> recordings_;
  std::vector<char*> addresses_;   // of inputs and states, scratch of RunRecorded
  std::vector<Tensor> left_;       // by effect on gradients: the handle that the leaf got
  std::vector<bool> only_summed_;  // by effect: runs do nothing with the gradient but add to it
  std::vector<bool> made_anew_;    // by effect: runs may write the gradient into other memory
  std::shared_ptr<Turn> turn_ = std::make_shared<Turn>();
};

}  // namespace firn

#endif  // FIRN_AUTOGRAD_GRAPH_EXECUTOR_H_
