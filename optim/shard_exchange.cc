// A tensor whose parts all have one length is sent and received in its own memory. The rest, mostly
// biases, are packed into one message, in which the parts of a rank stand together:
//
//   [rank 0: a, b, c][rank 1: a, b, c] ...      each as long as the first rank's

#include "firn/optim/shard_exchange.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "firn/device/comm/device_ranks.h"
#include "firn/device/context.h"
#include "firn/device/internal/cuda_context.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/allocate.h"
#include "firn/tensor/ops/collective/group_rules.h"
#include "firn/tensor/storage.h"
#include "firn/tensor/tensor_impl.h"

namespace firn::optim::internal {
namespace {

using comm::CollectiveKind;
using comm::Element;
using firn::inner::ElementOf;

constexpr int64_t kUnit = 16;  // elements

char* DataOf(const Tensor& t) { return t.impl()->data; }

bool CutEvenly(const Tensor& t, int ranks) {
  return ShardLength(t.num_elements(), ranks) * ranks == t.num_elements();
}

// The device of a call's tensors, and the ranks that exchange them. Work on a device is queued
// behind earlier work, so no thread waits.
class Place {
 public:
  static absl::StatusOr<Place> Of(absl::Span<const Tensor> tensors, comm::Communicator& host) {
    Place place;
    if (!tensors.empty()) place.device_ = tensors[0].device();
    for (const Tensor& t : tensors) {
      FIRN_RETURN_IF(t.device() != place.device_,
                     InvalidArgument("ranks exchange what lies on one device, not on ",
                                     place.device_.ToString(), " and ", t.device().ToString()));
    }
    FIRN_ASSIGN_OR_RETURN(place.context_, GetDeviceContext(place.device_));
    FIRN_ASSIGN_OR_RETURN(place.ranks_, comm::DeviceRanks(host, place.device_));
    return place;
  }

  comm::Communicator& ranks() const { return *ranks_; }
  absl::StatusOr<Tensor> Room(DType dtype, int64_t elements) const {
    return AllocateTensor(TensorSpec::Contiguous(dtype, {elements}, device_), AllocTag::kOther);
  }
  absl::Status Copy(void* to, const void* from, size_t bytes) const {
    return context_->CopyFromDevice(to, *context_, from, bytes);
  }
  absl::Status SetZero(void* data, size_t bytes) const {
    if (device_.is_cuda()) {
      FIRN_ASSIGN_OR_RETURN(auto* const cuda, inner::internal::CudaDeviceOf(device_));
      return cuda->SetZero(data, bytes);
    }
    std::memset(data, 0, bytes);
    return absl::OkStatus();
  }

 private:
  Device device_ = Device::Cpu();
  DeviceContext* context_ = nullptr;
  comm::Communicator* ranks_ = nullptr;
};

// The calls that were started. The destructor waits for them at the latest, and the memory that
// they use is freed later.
class Started {
 public:
  explicit Started(comm::Communicator& comm) : comm_(comm) {}
  absl::Status Add(const comm::Collective& call) {
    FIRN_ASSIGN_OR_RETURN(std::unique_ptr<comm::Pending> pending, comm_.Start(call));
    calls_.push_back(std::move(pending));
    return absl::OkStatus();
  }
  absl::Status Wait() {
    for (const auto& call : calls_) FIRN_RETURN_IF_ERROR(call->Wait());
    return absl::OkStatus();
  }

 private:
  comm::Communicator& comm_;
  std::vector<std::unique_ptr<comm::Pending>> calls_;
};

// The places of tensors that are not cut evenly in the message of a rank.
struct Packed {
  Tensor tensor;
  size_t at = 0;      // in `tensors`
  int64_t begin = 0;  // bytes
};
struct Message {
  std::vector<Packed> tensors;
  int64_t bytes = 0;  // of a rank

  // The tensors that `which` accepts.
  Message(absl::Span<const Tensor> all, int ranks,
          const std::function<bool(const Tensor&)>& which) {
    for (size_t i = 0; i < all.size(); ++i) {
      if (!which(all[i])) continue;
      tensors.push_back({all[i], i, bytes});
      const int64_t size = SizeOf(all[i].dtype());
      // The parts of all dtypes begin at multiples of 8 bytes, as lengths are of 16 elements.
      bytes += ShardLength(all[i].num_elements(), ranks) * size;
    }
  }
  // Copies rank `rank`'s parts to or from `message`, where the rank's stand.
  absl::Status Pack(const Place& place, char* message, int rank, int ranks) const {
    return ForEachPart(message, rank, ranks, [&](char* own, char* packed, size_t n) {
      return place.Copy(packed, own, n);
    });
  }
  absl::Status Unpack(const Place& place, char* message, int rank, int ranks) const {
    return ForEachPart(message, rank, ranks, [&](char* own, char* packed, size_t n) {
      return place.Copy(own, packed, n);
    });
  }

 private:
  template <class F>
  absl::Status ForEachPart(char* message, int rank, int ranks, F copy) const {
    for (const Packed& p : tensors) {
      const Shard part = ShardOf(p.tensor.num_elements(), rank, ranks);
      const int64_t size = SizeOf(p.tensor.dtype());
      if (part.count == 0) continue;
      FIRN_RETURN_IF_ERROR(copy(DataOf(p.tensor) + part.begin * size, message + p.begin,
                                static_cast<size_t>(part.count * size)));
    }
    return absl::OkStatus();
  }
};

// The parts of one dtype, summed in that dtype.
absl::Status AveragePacked(const Message& message, DType dtype, absl::Span<const Tensor> parts,
                           const Place& place) {
  const int ranks = place.ranks().size();
  const int64_t size = SizeOf(dtype), count = message.bytes / size;
  FIRN_ASSIGN_OR_RETURN(const Tensor in, place.Room(dtype, count * ranks));
  FIRN_ASSIGN_OR_RETURN(const Tensor out, place.Room(dtype, count));
  FIRN_RETURN_IF_ERROR(place.SetZero(DataOf(in), static_cast<size_t>(message.bytes * ranks)));
  for (int r = 0; r < ranks; ++r) {
    FIRN_RETURN_IF_ERROR(message.Pack(place, DataOf(in) + r * message.bytes, r, ranks));
  }
  FIRN_RETURN_IF_ERROR(place.ranks().ReduceScatter(DataOf(in), DataOf(out), count, ElementOf(dtype),
                                                   comm::Reduction::kMean));
  for (const Packed& p : message.tensors) {
    const Tensor& part = parts[p.at];
    if (part.num_elements() == 0) continue;
    FIRN_RETURN_IF_ERROR(place.Copy(DataOf(part), DataOf(out) + p.begin, part.spec().bytes()));
  }
  return absl::OkStatus();
}

}  // namespace

int64_t ShardLength(int64_t elements, int ranks) {
  const int64_t units = (elements + kUnit - 1) / kUnit;
  return (units + ranks - 1) / ranks * kUnit;
}

Shard ShardOf(int64_t elements, int rank, int ranks) {
  const int64_t length = ShardLength(elements, ranks);
  const int64_t begin = std::min(length * rank, elements);
  return {begin, std::min(length, elements - begin)};
}

Tensor ElementsOf(const Tensor& t, const Shard& shard) {
  return WrapStorage(t.impl()->storage, DataOf(t) + shard.begin * SizeOf(t.dtype()),
                     TensorSpec::Contiguous(t.dtype(), {shard.count}, t.device()));
}

absl::Status GatherShards(absl::Span<const Tensor> tensors, comm::Communicator& comm) {
  const int ranks = comm.size(), rank = comm.rank();
  FIRN_ASSIGN_OR_RETURN(const Place place, Place::Of(tensors, comm));
  const Message message(tensors, ranks, [&](const Tensor& t) { return !CutEvenly(t, ranks); });
  FIRN_ASSIGN_OR_RETURN(const Tensor packed, place.Room(DType::kU8, message.bytes * ranks));
  Started started(place.ranks());
  for (const Tensor& t : tensors) {
    if (!CutEvenly(t, ranks) || t.num_elements() == 0) continue;
    const int64_t bytes = static_cast<int64_t>(t.spec().bytes()) / ranks;
    FIRN_RETURN_IF_ERROR(started.Add({.kind = CollectiveKind::kAllGather,
                                      .element = Element::kU8,
                                      .count = bytes,
                                      .in = DataOf(t) + rank * bytes,
                                      .out = DataOf(t)}));
  }
  if (message.bytes != 0) {
    char* const own = DataOf(packed) + rank * message.bytes;
    FIRN_RETURN_IF_ERROR(place.SetZero(own, static_cast<size_t>(message.bytes)));
    FIRN_RETURN_IF_ERROR(message.Pack(place, own, rank, ranks));
    FIRN_RETURN_IF_ERROR(started.Add({.kind = CollectiveKind::kAllGather,
                                      .element = Element::kU8,
                                      .count = message.bytes,
                                      .in = own,
                                      .out = DataOf(packed)}));
  }
  FIRN_RETURN_IF_ERROR(started.Wait());
  for (int r = 0; r < ranks; ++r) {
    if (r == rank) continue;
    FIRN_RETURN_IF_ERROR(message.Unpack(place, DataOf(packed) + r * message.bytes, r, ranks));
  }
  return absl::OkStatus();
}

absl::Status AverageShards(absl::Span<const Tensor> whole, absl::Span<const Tensor> parts,
                           comm::Communicator& comm) {
  const int ranks = comm.size();
  FIRN_ASSIGN_OR_RETURN(const Place place, Place::Of(whole, comm));
  std::set<DType> dtypes;
  for (const Tensor& t : whole) dtypes.insert(t.dtype());
  Started started(place.ranks());
  for (size_t i = 0; i < whole.size(); ++i) {
    const Tensor& t = whole[i];
    if (!CutEvenly(t, ranks) || t.num_elements() == 0) continue;
    FIRN_RETURN_IF_ERROR(started.Add({.kind = CollectiveKind::kReduceScatter,
                                      .element = ElementOf(t.dtype()),
                                      .reduction = comm::Reduction::kMean,
                                      .count = t.num_elements() / ranks,
                                      .in = DataOf(t),
                                      .out = DataOf(parts[i])}));
  }
  for (const DType dtype : dtypes) {
    const Message message(
        whole, ranks, [&](const Tensor& t) { return t.dtype() == dtype && !CutEvenly(t, ranks); });
    if (message.bytes == 0) continue;
    FIRN_RETURN_IF_ERROR(AveragePacked(message, dtype, parts, place));
  }
  return started.Wait();
}

}  // namespace firn::optim::internal
