#ifndef FIRN_NN_PARALLEL_DATA_PARALLEL_H_
#define FIRN_NN_PARALLEL_DATA_PARALLEL_H_

// One network on several ranks, each of which trains it with a part of every batch:
//
//   const auto world = firn::Init(argc, argv);
//   nn::parallel::DataParallel parallel(net, world);
//   ...
//   CrossEntropy(net(images), labels).Backward();  // each rank's own images
//   adam.Step();                                   // the same on all ranks
//
// The design is that of PyTorch's DistributedDataParallel (Li et al., "PyTorch Distributed:
// Experiences on Accelerating Data Parallel Training", 2020), but that grad() never holds what only
// this rank knows.

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "firn/autograd/gradient_listener.h"
#include "firn/device/comm/communicator.h"
#include "firn/device/comm/groups.h"
#include "firn/nn/module.h"
#include "firn/nn/parallel/world.h"
#include "firn/tensor/tensor.h"

namespace firn::nn::parallel {

// The same on all ranks.
struct DataParallelOptions {
  // Gradients travel together, as many as fit into so many bytes: fewer calls, which begin later.
  int64_t bucket_bytes = int64_t{25} << 20;
  // The bucket of those that are final first is small, so that there is soon something on its way.
  int64_t first_bucket_bytes = int64_t{1} << 20;
  // kF16 or kBF16: gradients of wider types are rounded to it before they are added up, in f32, and
  // again after. What f16 does not hold becomes infinite. Empty: they stay as they are.
  std::optional<DType> compression = {};
};

namespace internal {
class GradientSynchroniser;
}

// While one lives, passes of its DataParallel keep their gradients for a later one. On all ranks in
// the same passes.
class NoSyncScope {
 public:
  [[nodiscard]] explicit NoSyncScope(std::shared_ptr<internal::GradientSynchroniser> synchroniser);
  ~NoSyncScope();
  NoSyncScope(const NoSyncScope&) = delete;
  NoSyncScope& operator=(const NoSyncScope&) = delete;

 private:
  std::shared_ptr<internal::GradientSynchroniser> synchroniser_;
};

// While it lives, every Backward that reaches a parameter of the network adds to grad() the mean of
// all ranks' gradients, on all ranks the same to the bit. They are reduced while the pass goes on:
// first those that are final first, in the order that rank 0's first pass had (which reduces all at
// its end). So optimizers, clipping and loss scalers do the same on all ranks and need know nothing
// of it. With one rank nothing is done.
//
// All ranks run the same passes, but may take different ways through the network: where a rank does
// not reach a parameter that others reach its gradient counts as zero, and where none does grad()
// stays as it is. A rank that reaches no parameter, or runs no pass, is an error on the others once
// the communicator's timeout is over, and so is one whose pass fails before its first gradient was
// taken; a pass that fails on one rank after that makes those of all ranks fail, which name the
// rank: the communicator is aborted. For a captured step all ranks run the graph, or none does.
//
// A network that has collectives of its own, such as a norm over all ranks, goes the same way on
// all of them, or has another communicator for them (Split): buckets start when gradients are
// final.
//
// Hooks of parameters see the rank's own gradients, before they are reduced. Grad(...) gives the
// rank's own too, which SetWeight does not change. Parameters that are shared count once, frozen
// ones not at all: to train one makes another DataParallel, and a pass throws FailedPrecondition
// until then.
//
// A step may be captured (Freeze): its graph reduces where the step did, with the same bits. Such
// steps reach the same parameters on all ranks (a pass where they do not throws
// FailedPrecondition), and know neither NoSync nor SetWeight. Run one pass before: a step that is
// captured first has its buckets in the order in which parameters are defined, backwards, which is
// often that order. Unimplemented are gradients of gradients (create_graph).
//
// A network on a CUDA device exchanges what it has through NCCL (device/comm/nccl_ranks.h), each
// rank with a device of its own: net.To(Device::Cuda(world->local_rank())) before this is made. A
// pass that no graph runs waits for the device once, at its end.
//
// Thread-compatible. Holds the parameters, and with several ranks as much memory again as the
// gradients take that travel with others.
class DataParallel {
 public:
  // Called by all ranks. Gives all the parameters and buffers of rank 0. From then on ranks that
  // are processes of their own draw different random numbers (dropout): the default generators of
  // ranks other than 0 are seeded anew, from rank 0's seed and the rank, unless they have that seed
  // already. Threads of one process share its generators, and go on with them. Throws firn::Error
  // on all ranks, after which all are as they were: FailedPrecondition where ranks differ in names,
  // shapes, dtypes, devices, frozenness, options or Firn's version, which names both sides, or
  // where a parameter waits for its first input; InvalidArgument for options that make no sense;
  // Unimplemented where not all lie on one device; where one of several ranks has no NCCL for a
  // CUDA device, NotFound on all.
  DataParallel(Module& net, std::shared_ptr<comm::Communicator> comm,
               const DataParallelOptions& options = {});
  ~DataParallel();
  DataParallel(const DataParallel&) = delete;
  DataParallel& operator=(const DataParallel&) = delete;

  comm::Communicator& comm() const { return *comm_; }

  // Accumulation: gradients of passes in this scope stay with this object, and grad() as it is. The
  // next pass outside of it adds them to its own before all are reduced, so that grad() gets the
  // mean of the sums, of parameters too that this pass does not reach. (ZeroGrad in between does
  // not touch them.)
  //
  //   {
  //     const auto wait = parallel.NoSync();
  //     for (size_t i = 0; i + 1 < parts.size(); ++i) (loss(parts[i]) / parts.size()).Backward();
  //   }
  //   (loss(parts.back()) / parts.size()).Backward();
  [[nodiscard]] NoSyncScope NoSync() { return NoSyncScope(synchroniser_); }
  // Forgets the gradients of passes without synchronisation.
  void DropLocalGradients();

  // For the next pass alone: how many samples this rank's loss is a mean of, where that is not the
  // same on all ranks. The loss is then weighted by it, so that grad() is that of the mean over all
  // samples of all ranks, also through operations that ranks call together (SyncBatchNorm). What
  // the loss is multiplied by, samples * ranks / (samples of all), is rounded to the loss's dtype,
  // and all that the pass finds has it: also what hooks see, and grad() of other leaves. 0: this
  // rank has run out of samples and goes through the network with others, and what it finds counts
  // for nothing, a NaN included. Rows that it gives to a SyncBatchNorm all the same are constants
  // to the other ranks, and must be finite. Where a pass reaches the networks of two, the weights
  // of one hold for both; where both have some that differ it throws InvalidArgument, and what
  // other ranks wait for ends, as they need not differ there. All ranks call it before the same
  // pass; it waits for none, unless a step was captured. That pass (or then this) throws
  // InvalidArgument on all ranks for a number that is negative or not finite, naming the rank, and
  // where all are 0. FailedPrecondition where the last pass was a run of a graph and should have
  // been weighted.
  void SetWeight(inner::Real samples);

  // Gives all ranks the buffers of rank 0, as before a checkpoint or a test: running statistics are
  // else those of each rank's own samples. All ranks call it.
  void BroadcastBuffers();

 private:
  const std::shared_ptr<comm::Communicator> comm_;
  const comm::Group group_;  // what operations call it
  const std::vector<NamedTensor> buffers_;
  std::shared_ptr<internal::GradientSynchroniser> synchroniser_;
  GradientListening listening_;
};

}  // namespace firn::nn::parallel

#endif  // FIRN_NN_PARALLEL_DATA_PARALLEL_H_
