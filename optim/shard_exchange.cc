// A tensor whose parts are all of one length is sent from where it lies, and lands there. The rest,
// mostly biases, are packed into one message, in which the parts of a rank stand together:
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

absl::StatusOr<Tensor> Room(DType dtype, int64_t elements) {
  return AllocateTensor(TensorSpec::Contiguous(dtype, {elements}, Device::Cpu()), AllocTag::kOther);
}

// Calls that were started, waited for at the latest when this goes. Memory that they use goes
// later.
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

// Where tensors that are not cut evenly stand in the message of a rank.
struct Packed {
  Tensor tensor;
  size_t at = 0;      // in `tensors`
  int64_t begin = 0;  // bytes
};
struct Message {
  std::vector<Packed> tensors;
  int64_t bytes = 0;  // of a rank

  // Those that `which` takes.
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
  // Copies rank `rank`'s parts to or from its place in the message.
  void Pack(char* place, int rank, int ranks) const {
    ForEachPart(place, rank, ranks,
                [](char* own, char* packed, size_t n) { std::memcpy(packed, own, n); });
  }
  void Unpack(char* place, int rank, int ranks) const {
    ForEachPart(place, rank, ranks,
                [](char* own, char* packed, size_t n) { std::memcpy(own, packed, n); });
  }

 private:
  template <class F>
  void ForEachPart(char* place, int rank, int ranks, F copy) const {
    for (const Packed& p : tensors) {
      const Shard part = ShardOf(p.tensor.num_elements(), rank, ranks);
      const int64_t size = SizeOf(p.tensor.dtype());
      if (part.count == 0) continue;
      copy(DataOf(p.tensor) + part.begin * size, place + p.begin,
           static_cast<size_t>(part.count * size));
    }
  }
};

// Those of one dtype, summed as such.
absl::Status AveragePacked(const Message& message, DType dtype, absl::Span<const Tensor> parts,
                           comm::Communicator& comm) {
  const int ranks = comm.size();
  const int64_t size = SizeOf(dtype), count = message.bytes / size;
  FIRN_ASSIGN_OR_RETURN(const Tensor in, Room(dtype, count * ranks));
  FIRN_ASSIGN_OR_RETURN(const Tensor out, Room(dtype, count));
  std::memset(DataOf(in), 0, static_cast<size_t>(message.bytes * ranks));
  for (int r = 0; r < ranks; ++r) message.Pack(DataOf(in) + r * message.bytes, r, ranks);
  FIRN_RETURN_IF_ERROR(
      comm.ReduceScatter(DataOf(in), DataOf(out), count, ElementOf(dtype), comm::Reduction::kMean));
  for (const Packed& p : message.tensors) {
    const Tensor& part = parts[p.at];
    if (part.num_elements() == 0) continue;
    std::memcpy(DataOf(part), DataOf(out) + p.begin, part.spec().bytes());
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
  const Message message(tensors, ranks, [&](const Tensor& t) { return !CutEvenly(t, ranks); });
  FIRN_ASSIGN_OR_RETURN(const Tensor packed, Room(DType::kU8, message.bytes * ranks));
  Started started(comm);
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
    std::memset(own, 0, static_cast<size_t>(message.bytes));
    message.Pack(own, rank, ranks);
    FIRN_RETURN_IF_ERROR(started.Add({.kind = CollectiveKind::kAllGather,
                                      .element = Element::kU8,
                                      .count = message.bytes,
                                      .in = own,
                                      .out = DataOf(packed)}));
  }
  FIRN_RETURN_IF_ERROR(started.Wait());
  for (int r = 0; r < ranks; ++r) {
    if (r != rank) message.Unpack(DataOf(packed) + r * message.bytes, r, ranks);
  }
  return absl::OkStatus();
}

absl::Status AverageShards(absl::Span<const Tensor> whole, absl::Span<const Tensor> parts,
                           comm::Communicator& comm) {
  const int ranks = comm.size();
  std::set<DType> dtypes;
  for (const Tensor& t : whole) dtypes.insert(t.dtype());
  Started started(comm);
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
    FIRN_RETURN_IF_ERROR(AveragePacked(message, dtype, parts, comm));
  }
  return started.Wait();
}

}  // namespace firn::optim::internal
