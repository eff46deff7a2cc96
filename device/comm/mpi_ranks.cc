// Each call becomes non-blocking calls of MPI: several pieces where MPI's counts are too small, and
// half types as f32 in memory of the call's own.

#include "firn/device/comm/mpi_ranks.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "firn/device/comm/checked_ranks.h"
#include "firn/device/comm/combine.h"
#include "firn/device/comm/mpi_process.h"
#include "firn/device/comm/mpi_session.h"
#include "firn/device/comm/mpi_shared.h"
#include "firn/device/comm/shared_calls.h"
#include "firn/device/comm/shared_memory.h"
#include "firn/device/comm/thread_ranks.h"
#include "firn/device/environment.h"
#include "firn/device/launch.h"
#include "firn/device/status_macros.h"

namespace firn::comm {
namespace {

constexpr int64_t kMostOfACall = int64_t{1} << 30;
constexpr int kDataTag = 2;
bool IsHalf(Element element) { return element == Element::kF16 || element == Element::kBF16; }

template <class T>
T* At(T* data, int64_t bytes) {
  using Byte = std::conditional_t<std::is_const_v<T>, const char, char>;
  return data == nullptr ? nullptr : static_cast<Byte*>(data) + bytes;
}

template <class Abi>
class MpiPending : public Pending {
 public:
  using Handle = typename Abi::Handle;

  // moves_meanwhile: whether the caller does something else before it waits.
  MpiPending(std::shared_ptr<MpiSession<Abi>> session, const Collective& call, int rank, int size,
             bool moves_meanwhile)
      : session_(std::move(session)),
        call_(call),
        rank_(rank),
        size_(size),
        moves_meanwhile_(moves_meanwhile) {}
  ~MpiPending() override { Wait().IgnoreError(); }

  absl::Status Post(Handle comm) {
    at_ = call_;
    if (call_.reduces() && IsHalf(call_.element)) WidenInput();
    FIRN_RETURN_IF_ERROR(session_->CheckProcess());
    const absl::MutexLock lock(&session_->mutex());
    FIRN_RETURN_IF_ERROR(session_->failed());
    const int64_t size = BytesOf(at_.element);
    if (moves_meanwhile_) {  // others cannot go on without this rank's part, however small it is
      is_noted_ = true;
      session_->NoteBegun(MpiSession<Abi>::Way::kMpi);
    }
    if (call_.kind == CollectiveKind::kBarrier) return Began(api().ibarrier(comm, Next()));
    const bool of_all =
        call_.kind == CollectiveKind::kReduceScatter || call_.kind == CollectiveKind::kAllGather;
    // Libraries multiply these counts by the number of ranks.
    const int64_t most = kMostOfACall / (call_.reduces() ? 1 : size) / (of_all ? size_ : 1);
    if (call_.count > most) return PostLarge(comm, size);
    return PostPiece(comm, at_);
  }

  absl::Status Wait() override {
    if (result_) return *result_;
    result_ = session_->Wait(absl::MakeSpan(requests_), [this] { return call_.ToString(); });
    if (std::exchange(is_noted_, false) && session_->CheckProcess().ok()) {
      const absl::MutexLock lock(&session_->mutex());
      session_->NoteDone(MpiSession<Abi>::Way::kMpi);
    }
    if (result_->ok()) {
      Finish();
    } else if (!wide_.empty()) {
      KeepForever(std::make_shared<std::vector<float>>(std::move(wide_)));
      KeepForever(std::make_shared<std::vector<float>>(std::move(wide_part_)));
    }
    return *result_;
  }

 private:
  const MpiApi<Abi>& api() const { return session_->api(); }
  Handle* Next() {
    requests_.emplace_back();
    return &requests_.back();
  }
  absl::Status Began(int code) { return session_->StatusOf(code, "MPI"); }

  int64_t Inputs() const {
    return call_.kind == CollectiveKind::kReduceScatter ? call_.count * size_ : call_.count;
  }
  bool HasOutput() const { return call_.kind != CollectiveKind::kReduce || rank_ == call_.root; }

  void WidenInput() {
    wide_.resize(static_cast<size_t>(Inputs()));
    Widen(call_.element, call_.in, Inputs(), wide_.data());
    at_.element = Element::kF32;
    at_.in = at_.out = wide_.data();
    if (call_.kind == CollectiveKind::kReduceScatter) {
      wide_part_.resize(static_cast<size_t>(call_.count));
      at_.out = wide_part_.data();
    }
  }

  Handle Type(Element element) const {
    switch (element) {
      case Element::kF32:
        return api().f32;
      case Element::kF64:
        return api().f64;
      case Element::kI8:
        return api().i8;
      case Element::kI32:
        return api().i32;
      case Element::kI64:
        return api().i64;
      default:
        return api().u8;
    }
  }
  Handle Op() const {
    switch (call_.reduction) {
      case Reduction::kProd:
        return api().prod;
      case Reduction::kMin:
        return api().min;
      case Reduction::kMax:
        return api().max;
      default:
        return api().sum;
    }
  }

  // Posts a piece that is small enough for MPI's counts. What is not reduced travels as bytes.
  absl::Status PostPiece(Handle comm, const Collective& c) {
    const Handle type = c.reduces() ? Type(c.element) : api().u8;
    const auto n = static_cast<int>(c.reduces() ? c.count : c.count * BytesOf(c.element));
    const void* const in = c.in == c.out ? api().in_place : c.in;
    switch (c.kind) {
      case CollectiveKind::kBroadcast:
        if (n != 0 && rank_ == c.root && c.in != c.out)
          std::memcpy(c.out, c.in, static_cast<size_t>(n));
        return Began(api().ibcast(c.out, n, type, c.root, comm, Next()));
      case CollectiveKind::kReduce:
        return Began(rank_ == c.root
                         ? api().ireduce(in, c.out, n, type, Op(), c.root, comm, Next())
                         : api().ireduce(c.in, nullptr, n, type, Op(), c.root, comm, Next()));
      case CollectiveKind::kAllReduce:
        // All ranks must call it in place, or none: libraries choose their algorithm by it.
        if (c.in != c.out && c.count != 0) {
          std::memcpy(c.out, c.in, static_cast<size_t>(c.count * BytesOf(c.element)));
        }
        return Began(api().iallreduce(api().in_place, c.out, n, type, Op(), comm, Next()));
      case CollectiveKind::kAllGather: {
        void* const mine = At(c.out, int64_t{rank_} * n);
        if (c.in != mine && n != 0) std::memcpy(mine, c.in, static_cast<size_t>(n));
        return Began(api().iallgather(api().in_place, n, type, c.out, n, type, comm, Next()));
      }
      case CollectiveKind::kReduceScatter:
        return Began(api().ireduce_scatter_block(c.in, c.out, n, type, Op(), comm, Next()));
      case CollectiveKind::kSend:
        return Began(api().isend(c.in, n, type, c.root, kDataTag, comm, Next()));
      case CollectiveKind::kRecv:
        return Began(api().irecv(c.out, n, type, c.root, kDataTag, comm, Next()));
      case CollectiveKind::kBarrier:
        break;
    }
    return absl::OkStatus();
  }

  // Splits elements into runs. Where each rank has a part, the parts follow one another as
  // broadcasts or reductions.
  absl::Status PostLarge(Handle comm, int64_t size) {
    const bool gathers = call_.kind == CollectiveKind::kAllGather;
    const bool scatters = call_.kind == CollectiveKind::kReduceScatter;
    const int64_t part = call_.count * size;
    if (gathers && at_.in != At(at_.out, rank_ * part)) {
      std::memcpy(At(at_.out, rank_ * part), at_.in, static_cast<size_t>(part));
    }
    const int64_t most = kMostOfACall / (call_.reduces() ? 1 : size);
    for (int r = 0; r < (gathers || scatters ? size_ : 1); ++r) {
      for (int64_t begin = 0; begin < call_.count; begin += most) {
        Collective c = at_;
        c.count = std::min(most, call_.count - begin);
        if (gathers || scatters) {
          c.kind = gathers ? CollectiveKind::kBroadcast : CollectiveKind::kReduce;
          c.root = r;
        }
        c.in = At(gathers ? at_.out : at_.in, (gathers || scatters ? r * part : 0) + begin * size);
        c.out = At(at_.out, (gathers ? r * part : 0) + begin * size);
        FIRN_RETURN_IF_ERROR(PostPiece(comm, c));
      }
    }
    return absl::OkStatus();
  }

  void Finish() {
    if (!call_.reduces() || !HasOutput()) return;
    if (call_.reduction == Reduction::kMean) Divide(at_.element, size_, call_.count, at_.out);
    if (!wide_.empty())
      Narrow(call_.element, static_cast<const float*>(at_.out), call_.count, call_.out);
  }

  const std::shared_ptr<MpiSession<Abi>> session_;
  const Collective call_;
  const int rank_, size_;
  const bool moves_meanwhile_;
  Collective at_;                        // the call on the memory that MPI sees
  std::vector<float> wide_, wide_part_;  // half types in f32
  std::vector<Handle> requests_;
  bool is_noted_ = false;  // as on its way
  std::optional<absl::Status> result_;
};

template <class Abi>
class MpiRank : public Communicator {
 public:
  using Handle = typename Abi::Handle;

  MpiRank(std::shared_ptr<MpiSession<Abi>> session, Handle comm, int rank, int size, int local_rank,
          bool is_one_machine)
      : Communicator(rank, size, local_rank),
        session_(std::move(session)),
        comm_(comm),
        is_one_machine_(is_one_machine) {}

  // The number of the rank on its machine, and that of the communicator. Requires: the session's
  // mutex is held.
  static absl::StatusOr<std::unique_ptr<MpiRank>> Make(
      const std::shared_ptr<MpiSession<Abi>>& session, Handle comm) {
    const MpiApi<Abi>& api = session->api();
    int rank = 0, size = 0, local = 0, local_size = 0;
    Handle node{};
    FIRN_RETURN_IF_ERROR(session->StatusOf(api.comm_rank(comm, &rank), "MPI_Comm_rank"));
    FIRN_RETURN_IF_ERROR(session->StatusOf(api.comm_size(comm, &size), "MPI_Comm_size"));
    FIRN_RETURN_IF_ERROR(
        session->StatusOf(api.comm_split_type(comm, api.shared_memory, rank, api.info_null, &node),
                          "MPI_Comm_split_type"));
    FIRN_RETURN_IF_ERROR(session->StatusOf(api.comm_rank(node, &local), "MPI_Comm_rank"));
    FIRN_RETURN_IF_ERROR(session->StatusOf(api.comm_size(node, &local_size), "MPI_Comm_size"));
    FIRN_RETURN_IF_ERROR(session->StatusOf(api.comm_free(&node), "MPI_Comm_free"));
    session->NoteLocalRanks(local_size);
    return std::make_unique<MpiRank>(session, comm, rank, size, local, local_size == size);
  }

  // Sends further calls through memory that all ranks share, where that is possible. All ranks call
  // it.
  absl::Status Share() {
    if (size() == 1) return absl::OkStatus();
    FIRN_ASSIGN_OR_RETURN(std::unique_ptr<SharedMemory> memory,
                          SharedMemory::Share(*this, SharedCalls::BytesFor(size()),
                                              is_one_machine_ && env::SharedRanks()));
    if (memory == nullptr) return absl::OkStatus();
    shared_ = std::make_shared<OwnedCalls<Abi>>(session_, std::move(memory), rank(), size());
    return absl::OkStatus();
  }

  absl::StatusOr<std::unique_ptr<Communicator>> Split(int color, int key) override {
    // Barrier has a timeout, which MPI_Comm_split has not. A rank that gave up in the first barrier
    // may still have its message delivered there, but does not come to the second.
    for (int i = 0; i < 2; ++i) FIRN_RETURN_IF_ERROR(Barrier());
    constexpr int kUndefined = -32766;
    Handle part{};
    std::unique_ptr<MpiRank> made;
    {
      const absl::MutexLock lock(&session_->mutex());
      FIRN_RETURN_IF_ERROR(session_->StatusOf(
          session_->api().comm_split(comm_, color < 0 ? kUndefined : color, key, &part),
          "MPI_Comm_split"));
      if (color < 0) return std::unique_ptr<Communicator>();
      FIRN_ASSIGN_OR_RETURN(made, Make(session_, part));
    }
    FIRN_RETURN_IF_ERROR(made->Share());
    return made;
  }

  absl::Duration timeout() const override { return session_->timeout(); }

  void Abort(std::string_view why) override { session_->GiveUp(std::string(why)); }
  std::function<absl::Status()> Failures() const override {
    return [session = session_] { return session->Heard(); };
  }

 private:
  absl::StatusOr<std::unique_ptr<Pending>> StartChecked(const Collective& call) override {
    return Post(call, true);
  }
  absl::Status RunChecked(const Collective& call) override {
    FIRN_ASSIGN_OR_RETURN(const std::unique_ptr<Pending> pending, Post(call, false));
    return pending->Wait();
  }

  absl::StatusOr<std::unique_ptr<Pending>> Post(const Collective& call, bool moves_meanwhile) {
    if (shared_ != nullptr && SharedCalls::Takes(call)) {
      auto pending = std::make_unique<SharedPending<Abi>>(shared_, call, moves_meanwhile);
      FIRN_RETURN_IF_ERROR(pending->Post());
      return pending;
    }
    auto pending =
        std::make_unique<MpiPending<Abi>>(session_, call, rank(), size(), moves_meanwhile);
    FIRN_RETURN_IF_ERROR(pending->Post(comm_));
    return pending;
  }

  const std::shared_ptr<MpiSession<Abi>> session_;
  const Handle comm_;
  const bool is_one_machine_;
  std::shared_ptr<OwnedCalls<Abi>> shared_;  // null: all goes through MPI
};

template <class Abi>
absl::StatusOr<std::unique_ptr<Communicator>> WorldOf(const MpiLibrary& library,
                                                      const WorldRanksOptions& options) {
  FIRN_ASSIGN_OR_RETURN(const std::shared_ptr<MpiSession<Abi>> session,
                        MpiSession<Abi>::Begin(library, options.timeout));
  std::unique_ptr<MpiRank<Abi>> world;
  {
    const absl::MutexLock lock(&session->mutex());
    FIRN_ASSIGN_OR_RETURN(world, MpiRank<Abi>::Make(session, session->api().world));
  }
  FIRN_RETURN_IF_ERROR(world->Share());
  return world;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Communicator>> WorldRanks(const WorldRanksOptions& options) {
  FIRN_RETURN_IF_ERROR(env::CheckLaunch());
  const env::Launched launched = env::LaunchedAs();
  if (launched.size <= 1) return std::move(ThreadRanks(1)[0]);
  FIRN_RETURN_IF(
      launched.without_mpi,
      FailedPrecondition("srun has started this as task ", launched.rank, " of ", launched.size,
                         " without MPI, so that each would work alone"
                         " (want srun --mpi=pmix for Open MPI, --mpi=pmi2 for MPICH, or one"
                         " task; env -u SLURM_STEP_NUM_TASKS makes tasks work alone)"));
  const absl::StatusOr<MpiLibrary> library = LoadMpi();
  FIRN_RETURN_IF(!library.ok(), FailedPrecondition("this is process ", launched.rank, " of ",
                                                   launched.size, " of a launcher, but there is ",
                                                   std::string(library.status().message())));
  FIRN_ASSIGN_OR_RETURN(std::unique_ptr<Communicator> ranks,
                        library->is_open_mpi ? WorldOf<OpenMpi>(*library, options)
                                             : WorldOf<Mpich>(*library, options));
  return CheckedIfAsked(std::move(ranks));
}

}  // namespace firn::comm
