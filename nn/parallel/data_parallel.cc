#include "firn/nn/parallel/data_parallel.h"

#include <array>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/device/comm/agreement.h"
#include "firn/device/comm/shared_status.h"
#include "firn/device/status_macros.h"
#include "firn/nn/parallel/internal/gradient_synchroniser.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/collective/started.h"
#include "firn/tensor/ops/shape/copies.h"
#include "firn/tensor/pending.h"
#include "firn/tensor/rank_seed.h"
#include "firn/tensor/rng.h"
#include "firn/version.h"

namespace firn::nn::parallel {
namespace {

constexpr const char* kWho = "data_parallel";

// The device without its number, which differs between ranks.
std::string Describe(TensorSpec spec) {
  spec.device.index = 0;
  return spec.ToString();
}

std::string Describe(const std::string& kind, const NamedTensor& t) {
  return absl::StrCat(
      kind, " ", t.name, " ",
      IsPending(t.tensor) ? inner::DescribePending(t.tensor) : Describe(t.tensor.spec()),
      kind == "parameter" && !t.tensor.requires_grad() ? ", frozen" : "");
}

// Everything that must be equal on all ranks.
std::vector<std::string> Describe(const std::vector<NamedTensor>& parameters,
                                  const std::vector<NamedTensor>& buffers,
                                  const DataParallelOptions& options) {
  std::vector<std::string> lines = {
      absl::StrCat("Firn ", FIRN_VERSION),
      absl::StrCat("bucket_bytes ", options.bucket_bytes),
      absl::StrCat("first_bucket_bytes ", options.first_bucket_bytes),
      absl::StrCat("compression ", options.compression ? DTypeName(*options.compression) : "none"),
      absl::StrCat(parameters.size(), " parameters"),
      absl::StrCat(buffers.size(), " buffers")};
  for (const NamedTensor& t : parameters) lines.push_back(Describe("parameter", t));
  for (const NamedTensor& t : buffers) lines.push_back(Describe("buffer", t));
  return lines;
}

absl::Status CheckOptions(const DataParallelOptions& options) {
  FIRN_RETURN_IF(options.bucket_bytes < 1,
                 InvalidArgument("bucket_bytes is ", options.bucket_bytes, " (want >= 1)"));
  FIRN_RETURN_IF(
      options.first_bucket_bytes < 1,
      InvalidArgument("first_bucket_bytes is ", options.first_bucket_bytes, " (want >= 1)"));
  const std::optional<DType>& to = options.compression;
  FIRN_RETURN_IF(to && *to != DType::kF16 && *to != DType::kBF16,
                 InvalidArgument("compression is ", DTypeName(*to), " (want f16 or bf16)"));
  return absl::OkStatus();
}

absl::Status CheckTensors(const std::vector<NamedTensor>& tensors, std::optional<Device>& device) {
  for (const NamedTensor& t : tensors) {
    FIRN_RETURN_IF(IsPending(t.tensor), FailedPrecondition(inner::DescribePending(t.tensor),
                                                           ": call the network once before"));
    if (!device) device = t.tensor.device();
    FIRN_RETURN_IF(t.tensor.device() != *device,
                   Unimplemented(t.name, " is ", t.tensor.spec().ToString(), ", others are on ",
                                 device->ToString(), ": ranks exchange what is on one device"));
  }
  return absl::OkStatus();
}

void BroadcastFromFirst(const std::vector<NamedTensor>& tensors, const comm::Communicator& comm,
                        int64_t group) {
  if (comm.size() == 1) return;
  const NoGradScope no_grad;
  for (const NamedTensor& t : tensors) {
    const Tensor elements = Clone(t.tensor.Detach());
    inner::InNameOf(kWho, [&] {
      inner::StartBroadcast(elements, 0, group);
      inner::WaitCollective(elements, group);
    });
    Tensor target = t.tensor;
    if (comm.rank() != 0) target.CopyFrom(elements);
  }
}

// A number that only this process has.
int64_t ProcessNumber() {
  static const auto number = [] {
    std::random_device random;
    return static_cast<int64_t>(uint64_t{random()} << 32 | random());
  }();
  return number;
}

// Random numbers from here on differ between ranks, as those of dropout should. The first rank's go
// on. Ranks that are threads share the generators of their process and draw in turns. A second call
// changes nothing: numbers that were drawn do not come again.
void SeparateRandomNumbers(comm::Communicator& comm) {
  if (comm.size() == 1) return;
  const uint64_t own = DefaultGenerator().position().seed;
  std::array<int64_t, 2> first = {static_cast<int64_t>(own), ProcessNumber()};
  RaiseIfError(comm.Broadcast(first.data(), 2, comm::Element::kI64, 0), kWho);
  if (first[1] == ProcessNumber()) return;
  const uint64_t seed = inner::SeedOfRank(static_cast<uint64_t>(first[0]), comm.rank());
  if (seed != own) ManualSeed(static_cast<int64_t>(seed));
}

std::shared_ptr<comm::Communicator> NotNull(std::shared_ptr<comm::Communicator> comm) {
  if (comm == nullptr) RaiseStatus(InvalidArgument("the communicator is null"), kWho);
  return comm;
}

}  // namespace

DataParallel::DataParallel(Module& net, std::shared_ptr<comm::Communicator> comm,
                           const DataParallelOptions& options)
    : comm_(NotNull(std::move(comm))), group_(*comm_), buffers_(net.named_buffers()) {
  const std::vector<NamedTensor> parameters = net.named_parameters();
  RaiseIfError(comm::CheckAgreement(*comm_, Describe(parameters, buffers_, options)), kWho);
  // All ranks have the same network, so an error here occurs on all.
  RaiseIfError(CheckOptions(options), kWho);
  std::optional<Device> device;
  absl::Status own = CheckTensors(parameters, device);
  own.Update(CheckTensors(buffers_, device));
  RaiseIfError(comm::StatusOfAll(*comm_, own), kWho);  // devices' numbers are each rank's own
  BroadcastFromFirst(parameters, *comm_, group_.number());
  BroadcastFromFirst(buffers_, *comm_, group_.number());
  std::vector<NamedTensor> trained, frozen;
  std::vector<Tensor> leaves;
  for (const NamedTensor& t : parameters) {
    (t.tensor.requires_grad() ? trained : frozen).push_back(t);
    if (t.tensor.requires_grad()) leaves.push_back(t.tensor);
  }
  synchroniser_ = std::make_shared<internal::GradientSynchroniser>(
      std::move(trained), std::move(frozen), comm_, group_.number(),
      internal::BucketOptions{.bytes = options.bucket_bytes,
                              .first_bytes = options.first_bucket_bytes,
                              .compression = options.compression});
  listening_ = ListenToGradients(std::move(leaves), synchroniser_);
  SeparateRandomNumbers(*comm_);
}

DataParallel::~DataParallel() = default;

void DataParallel::DropLocalGradients() { synchroniser_->DropLocal(); }

void DataParallel::SetWeight(inner::Real samples) { synchroniser_->SetWeight(samples); }

void DataParallel::BroadcastBuffers() { BroadcastFromFirst(buffers_, *comm_, group_.number()); }

NoSyncScope::NoSyncScope(std::shared_ptr<internal::GradientSynchroniser> synchroniser)
    : synchroniser_(std::move(synchroniser)) {
  synchroniser_->EnterNoSync();
}
NoSyncScope::~NoSyncScope() { synchroniser_->LeaveNoSync(); }

}  // namespace firn::nn::parallel
