// Metrics and training of several ranks; the reader is one of them.
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "firn/autograd/backward.h"
#include "firn/device/comm/communicator.h"
#include "firn/io/metrics/auc.h"
#include "firn/io/metrics/confusion.h"
#include "firn/io/metrics/merge_ranks.h"
#include "firn/io/metrics/running_mean.h"
#include "firn/nn/layers.h"
#include "firn/nn/parallel/data_parallel.h"
#include "firn/optim/optimizers.h"
#include "firn/optim/sharded.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/rng.h"
#include "tests/fuzz/ranks/strange_ranks.h"
#include "tests/fuzz/reader.h"

namespace firn {
namespace {

using testing::Received;
using testing::StrangeRank;
using Ranks = std::unique_ptr<comm::Communicator>;

// --- Metrics ------------------------------------------------------------------------------------

bool Merge(comm::Communicator& ranks) {
  io::RunningMean mean;
  mean.Update(0.5 + ranks.rank(), 3);
  io::Auc auc;
  auc.Update(FromValues({0.25f, 0.75f, 0.5f}), FromValues<int64_t>({0, 1, ranks.rank() % 2}));
  io::ConfusionMatrix matrix({.classes = 2});
  matrix.Update(FromValues<int64_t>({0, 1, 1}), FromValues<int64_t>({0, 1, 0}));
  try {
    static_cast<void>(io::MergeRanks(mean, ranks).Value());
    static_cast<void>(io::MergeRanks(auc, ranks).Value());
    static_cast<void>(io::MergeRanks(matrix, ranks));
  } catch (const Error&) {
    return false;
  }
  return true;
}

FIRN_FUZZ_READER(ranks_metrics) { return Merge(*StrangeRank(1, 3, bytes)); }

FIRN_FUZZ_SEEDS(ranks_metrics) {
  return {Received(1, 3, [](Ranks ranks) { static_cast<void>(Merge(*ranks)); })};
}

// --- Steps --------------------------------------------------------------------------------------

// Networks draw their first values from one generator, which is for one thread at a time.
std::unique_ptr<nn::Linear> Network() {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  ManualSeed(7);  // whichever thread comes first: the same in every run
  return std::make_unique<nn::Linear>(nn::LinearOptions{.in = 2, .out = 3});
}

bool Train(const std::shared_ptr<comm::Communicator>& ranks) {
  try {
    const std::unique_ptr<nn::Linear> net = Network();
    nn::parallel::DataParallel parallel(*net, ranks, {.bucket_bytes = 16, .first_bucket_bytes = 8});
    optim::Sharded<optim::Adam> adam(net->named_parameters(), {.lr = 1e-3}, *ranks,
                                     {.average = false});
    for (int step = 0; step < 2; ++step) {
      parallel.SetWeight(2);
      adam.ZeroGrad();
      Sum(Square((*net)(Ones({2, 2})))).Backward();
      adam.Step();
    }
    static_cast<void>(adam.state_dict());
  } catch (const Error&) {
    return false;
  }
  return true;
}

FIRN_FUZZ_READER(ranks_training) { return Train(StrangeRank(1, 2, bytes)); }

FIRN_FUZZ_SEEDS(ranks_training) {
  return {Received(1, 2, [](Ranks ranks) { static_cast<void>(Train(std::move(ranks))); })};
}

}  // namespace
}  // namespace firn
