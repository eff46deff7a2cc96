#include "tests/device/comm/fake_nccl.h"

#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "tests/device/comm/fake_nccl_meeting.h"

namespace firn::comm {
namespace {

using fake::Comm;
using fake::Given;
using fake::IsMessage;
using fake::Meeting;
using fake::mutex;
using fake::Taken;
using fake::World;

struct State {
  FakeCuda* cuda = nullptr;
  std::map<int64_t, std::shared_ptr<World>> worlds;  // by the number in their ids
  std::map<void*, std::shared_ptr<Comm>> comms;
  std::map<int, int> errors;  // by rank
  int64_t ids = 0;
  int made = 0, aborted = 0, destroyed = 0, queued = 0, ended_in_graphs = 0;
};

State the;

Comm* Find(void* handle) {
  const auto at = the.comms.find(handle);
  return at == the.comms.end() || at->second->over ? nullptr : at->second.get();
}

struct Group {
  int depth = 0, code = kNcclSuccess;
  std::vector<Collective> calls = {};
  void *comm = nullptr, *stream = nullptr;
};
thread_local Group group;

std::optional<Element> ElementOf(int type) {
  for (const Element e : {Element::kF32, Element::kF64, Element::kF16, Element::kBF16, Element::kI8,
                          Element::kI32, Element::kI64, Element::kU8}) {
    if (*NcclTypeOf(e) == type) return e;
  }
  return std::nullopt;
}

bool OwnsMemory(const Comm& comm, int device, const Collective& c) {
  const auto owns = [&](const void* data, int64_t count) {
    const auto bytes = static_cast<size_t>(count * BytesOf(c.element));
    return bytes == 0 || the.cuda->Owns(device, data, bytes);
  };
  const bool is_root = c.root == comm.rank;
  const bool reads =
      c.kind == CollectiveKind::kBroadcast ? is_root : c.kind != CollectiveKind::kRecv;
  const bool writes = c.kind == CollectiveKind::kReduce ? is_root : c.kind != CollectiveKind::kSend;
  return (!reads || owns(c.in, Given(c, comm.world->size))) &&
         (!writes || owns(c.out, Taken(c, comm.world->size)));
}

void Connect(Meeting& meeting) {
  Comm& comm = *meeting.comm;
  comm.connecting.clear();
  for (const Collective& c : meeting.calls) {
    if (!IsMessage(c)) continue;
    comm.connecting.push_back(meeting.KeyOf(c));
    comm.world->sides[meeting.KeyOf(c)].insert(meeting.MemberOf(c));
  }
}

bool Connected(const Comm& comm) {
  for (const auto& key : comm.connecting) {
    if (comm.world->sides[key].size() < 2) return false;
  }
  return true;
}

int QueueAll(std::vector<Collective> calls, void* handle, void* stream) {
  std::optional<Meeting> meeting;
  const bool recorded = the.cuda->IsRecorded(stream);
  {
    const std::lock_guard<std::mutex> lock(mutex);
    if (Find(handle) == nullptr || Find(handle)->in_progress) return kNcclInvalidUsage;
    meeting = Meeting{the.comms[handle], std::move(calls), recorded};
    ++the.queued;
  }
  const std::shared_ptr<Comm> comm = meeting->comm;
  if (comm->device < 0) comm->device = the.cuda->DeviceOf(stream);
  for (const Collective& c : meeting->calls) {
    if (!OwnsMemory(*comm, comm->device, c)) return kNcclInvalidArgument;
  }
  {
    const std::lock_guard<std::mutex> lock(mutex);
    Connect(*meeting);
    comm->in_progress = true;
  }
  const int code = the.cuda->EnqueueMeeting(comm->device, stream, *std::move(meeting));
  return code == 0 ? kNcclInProgress : kNcclInvalidArgument;
}

// A call in a group is checked at once only for errors that show at once; the end of the group
// queues it.
int QueueInGroup(const Collective& c, void* handle, void* stream) {
  std::shared_ptr<Comm> comm;
  {
    const std::lock_guard<std::mutex> lock(mutex);
    if (Find(handle) == nullptr) return kNcclInvalidUsage;
    comm = the.comms[handle];
  }
  if (!OwnsMemory(*comm, the.cuda->DeviceOf(stream), c)) return kNcclInvalidArgument;
  group.calls.push_back(c);
  group.comm = handle;
  group.stream = stream;
  return kNcclSuccess;
}

int Queue(const Collective& call, int type, void* handle, void* stream) {
  const std::optional<Element> element = ElementOf(type);
  if (!element) return kNcclInvalidArgument;
  Collective c = call;
  c.element = *element;
  if (group.depth == 0) return QueueAll({c}, handle, stream);
  const int code = QueueInGroup(c, handle, stream);
  if (code != kNcclSuccess) group.code = code;
  return code;
}

// If one call of a group was refused, none of its calls is queued.
int EndGroup() {
  if (--group.depth > 0) return kNcclSuccess;
  const Group ended = std::exchange(group, {});
  return ended.code == kNcclSuccess ? QueueAll(ended.calls, ended.comm, ended.stream) : ended.code;
}

std::optional<Reduction> ReductionOf(int op) {
  for (const Reduction r :
       {Reduction::kSum, Reduction::kMean, Reduction::kProd, Reduction::kMin, Reduction::kMax}) {
    if (*NcclOpOf(r) == op) return r;
  }
  return std::nullopt;
}

int QueueReducing(Collective call, int type, int op, void* handle, void* stream) {
  const std::optional<Reduction> reduction = ReductionOf(op);
  if (!reduction) return kNcclInvalidArgument;
  call.reduction = *reduction;
  return Queue(call, type, handle, stream);
}

Collective CallOf(CollectiveKind kind, int root, size_t n, const void* in, void* out) {
  return {.kind = kind, .root = root, .count = static_cast<int64_t>(n), .in = in, .out = out};
}

int InitRank(NcclComm* comm, int ranks, NcclId id, int rank, NcclConfig* config) {
  if (group.depth != 0) return kNcclInvalidUsage;
  const std::lock_guard<std::mutex> lock(mutex);
  if (config->size != sizeof(NcclConfig) || config->magic != NcclConfig{}.magic ||
      config->blocking != 0) {
    return kNcclInvalidArgument;
  }
  int64_t number = 0;
  std::memcpy(&number, id.bytes, sizeof(number));
  std::shared_ptr<World>& world = the.worlds[number];
  if (number < 1 || number > the.ids) return kNcclInvalidArgument;
  if (world == nullptr) world = std::make_shared<World>(World{ranks, 0, {}});
  if (world->size != ranks || rank < 0 || rank >= ranks) return kNcclInvalidArgument;
  const auto made = std::make_shared<Comm>(Comm{world, rank});
  the.comms[made.get()] = made;
  *comm = made.get();
  ++world->came;
  ++the.made;
  return kNcclInProgress;
}

int GetAsyncError(NcclComm handle, int* error) {
  const std::lock_guard<std::mutex> lock(mutex);
  Comm* const comm = Find(handle);
  if (comm == nullptr) return kNcclInvalidArgument;
  const auto injected = the.errors.find(comm->rank);
  if (injected != the.errors.end()) {
    *error = injected->second;
  } else if (comm->world->came < comm->world->size || !Connected(*comm)) {
    *error = kNcclInProgress;
  } else {
    comm->in_progress = false;
    *error = kNcclSuccess;
  }
  return kNcclSuccess;
}

int End(NcclComm handle, int State::*count) {
  if (group.depth != 0) return kNcclInvalidUsage;
  int device = -1;
  {
    const std::lock_guard<std::mutex> lock(mutex);
    if (const Comm* const comm = Find(handle)) device = comm->device;
  }
  const bool in_graphs =
      device >= 0 && (the.cuda->graphs_that_meet(device) > 0 || the.cuda->RecordsHere(device));
  const std::lock_guard<std::mutex> lock(mutex);
  Comm* const comm = Find(handle);
  if (comm == nullptr) return kNcclInvalidArgument;
  the.ended_in_graphs += in_graphs ? 1 : 0;
  comm->over = true;
  ++(the.*count);
  return kNcclSuccess;
}

constexpr NcclApi kApi = {
    .get_version = [](int* version) { return *version = kOldestNccl, kNcclSuccess; },
    .get_unique_id =
        [](NcclId* id) {
          const std::lock_guard<std::mutex> lock(mutex);
          const int64_t number = ++the.ids;
          std::memcpy(id->bytes, &number, sizeof(number));
          return kNcclSuccess;
        },
    .comm_init_rank_config = InitRank,
    .comm_finalize =
        [](NcclComm comm) {
          const std::lock_guard<std::mutex> lock(mutex);
          return Find(comm) == nullptr || group.depth != 0 ? kNcclInvalidArgument : kNcclInProgress;
        },
    .comm_destroy = [](NcclComm comm) { return End(comm, &State::destroyed); },
    .comm_abort = [](NcclComm comm) { return End(comm, &State::aborted); },
    .comm_get_async_error = GetAsyncError,
    .get_error_string = [](int code) { return code == kNcclRemoteError ? "remote" : "wrong"; },
    .get_last_error = [](NcclComm) { return "a stand-in's"; },
    .reduce =
        [](const void* in, void* out, size_t n, int type, int op, int root, NcclComm c, void* s) {
          return QueueReducing(CallOf(CollectiveKind::kReduce, root, n, in, out), type, op, c, s);
        },
    .broadcast =
        [](const void* in, void* out, size_t n, int type, int root, NcclComm c, void* s) {
          return Queue(CallOf(CollectiveKind::kBroadcast, root, n, in, out), type, c, s);
        },
    .all_reduce =
        [](const void* in, void* out, size_t n, int type, int op, NcclComm c, void* s) {
          return QueueReducing(CallOf(CollectiveKind::kAllReduce, 0, n, in, out), type, op, c, s);
        },
    .reduce_scatter =
        [](const void* in, void* out, size_t n, int type, int op, NcclComm c, void* s) {
          return QueueReducing(CallOf(CollectiveKind::kReduceScatter, 0, n, in, out), type, op, c,
                               s);
        },
    .all_gather =
        [](const void* in, void* out, size_t n, int type, NcclComm c, void* s) {
          return Queue(CallOf(CollectiveKind::kAllGather, 0, n, in, out), type, c, s);
        },
    .send =
        [](const void* in, size_t n, int type, int to, NcclComm c, void* s) {
          return Queue(CallOf(CollectiveKind::kSend, to, n, in, nullptr), type, c, s);
        },
    .recv =
        [](void* out, size_t n, int type, int from, NcclComm c, void* s) {
          return Queue(CallOf(CollectiveKind::kRecv, from, n, nullptr, out), type, c, s);
        },
    .group_start = [] { return ++group.depth, kNcclSuccess; },
    .group_end = EndGroup,
};

int Count(int State::*count) {
  const std::lock_guard<std::mutex> lock(mutex);
  return the.*count;
}

}  // namespace

FakeNccl::FakeNccl(FakeCuda& cuda) {
  the = {};
  the.cuda = &cuda;
  SetNcclStandIn(&kApi);
}
FakeNccl::~FakeNccl() { SetNcclStandIn(nullptr); }

void FakeNccl::FailAsync(int rank, int code) {
  const std::lock_guard<std::mutex> lock(mutex);
  the.errors[rank] = code;
}
int FakeNccl::made() const { return Count(&State::made); }
int FakeNccl::aborted() const { return Count(&State::aborted); }
int FakeNccl::destroyed() const { return Count(&State::destroyed); }
int FakeNccl::queued() const { return Count(&State::queued); }
int FakeNccl::ended_in_graphs() const { return Count(&State::ended_in_graphs); }

}  // namespace firn::comm
