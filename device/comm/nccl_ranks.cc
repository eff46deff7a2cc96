// Before NCCL begins, ranks exchange through the host's communicator, which has a timeout, whether
// all have what they need, and the id by which NCCL's ranks meet.

#include "firn/device/comm/nccl_ranks.h"

#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/device/comm/nccl_runs.h"
#include "firn/device/comm/nccl_session.h"
#include "firn/device/comm/recorded_runs.h"
#include "firn/device/comm/shared_status.h"
#include "firn/device/status_macros.h"

namespace firn::comm {
namespace {

class NcclPending : public Pending {
 public:
  NcclPending(std::shared_ptr<NcclSession> session, std::shared_ptr<NcclSession::Message> message)
      : session_(std::move(session)), message_(std::move(message)) {}
  ~NcclPending() override { Wait().IgnoreError(); }

  absl::Status Wait() override {
    if (!result_) result_ = WaitOnce();
    return *result_;
  }

 private:
  absl::Status WaitOnce() {
    if (message_->done == nullptr) FIRN_RETURN_IF_ERROR(session_->Flush());
    if (message_->done == nullptr) return session_->failed();
    return session_->Wait(*message_->done);
  }

  const std::shared_ptr<NcclSession> session_;
  const std::shared_ptr<NcclSession::Message> message_;
  std::optional<absl::Status> result_;
};

class NcclRank : public Communicator, public RecordedRuns {
 public:
  // `owned`: null, or what `host` is.
  NcclRank(Communicator& host, std::shared_ptr<NcclSession> session,
           std::unique_ptr<Communicator> owned = nullptr)
      : Communicator(host.rank(), host.size(), host.local_rank()),
        owned_(std::move(owned)),
        host_(host),
        session_(std::move(session)),
        runs_(host, *session_) {}

  Device device() const override { return session_->device().device(); }
  absl::Duration timeout() const override { return session_->timeout(); }

  absl::StatusOr<std::unique_ptr<Communicator>> Split(int color, int key) override;

  void Abort(std::string_view why) override {
    session_->Fail(
        absl::AbortedError(absl::StrCat("rank ", rank(), " gave up: ", std::string(why))));
    host_.Abort(why);
  }

  absl::StatusOr<bool> Run(const std::shared_ptr<const RunPlace>& place,
                           absl::FunctionRef<absl::Status()> queue, std::string& why) override {
    return runs_.Run(place, queue, why);
  }
  using Communicator::Run;

 private:
  absl::StatusOr<std::unique_ptr<Pending>> StartChecked(const Collective& call) override;

  const std::unique_ptr<Communicator> owned_;
  Communicator& host_;
  const std::shared_ptr<NcclSession> session_;
  NcclRuns runs_;
};

absl::StatusOr<std::shared_ptr<NcclSession>> Begin(Communicator& host, Device device) {
  const absl::StatusOr<const NcclApi*> api = FindNccl();
  absl::StatusOr<inner::internal::CudaDeviceContext*> context =
      inner::internal::CudaDeviceOf(device);
  absl::Status own = api.status();
  own.Update(context.status());
  if (own.ok() && (*context)->recording()) {
    own = FailedPrecondition("the ranks of ", device.ToString(),
                             " begin in the first call, which must not be recorded");
  }
  NcclId id = {};
  if (own.ok() && host.rank() == 0) {
    const int code = (*api)->get_unique_id(&id);
    if (code != kNcclSuccess) own = Internal("ncclGetUniqueId: ", (*api)->get_error_string(code));
  }
  FIRN_RETURN_IF_ERROR(StatusOfAll(host, own));
  FIRN_RETURN_IF_ERROR(host.Broadcast(id.bytes, sizeof(id.bytes), Element::kU8, 0));
  absl::StatusOr<std::shared_ptr<NcclSession>> session =
      NcclSession::Begin(**api, **context, host, id);
  FIRN_RETURN_IF_ERROR(StatusOfAll(host, session.status()));
  return session;
}

absl::StatusOr<std::unique_ptr<Communicator>> NcclRank::Split(int color, int key) {
  FIRN_ASSIGN_OR_RETURN(std::unique_ptr<Communicator> part, host_.Split(color, key));
  if (part == nullptr) return part;
  FIRN_ASSIGN_OR_RETURN(std::shared_ptr<NcclSession> session, Begin(*part, device()));
  Communicator& host = *part;
  return std::make_unique<NcclRank>(host, std::move(session), std::move(part));
}

absl::StatusOr<std::unique_ptr<Pending>> NcclRank::StartChecked(const Collective& call) {
  if (call.kind == CollectiveKind::kBarrier) {
    FIRN_RETURN_IF_ERROR(session_->failed());
    FIRN_RETURN_IF(session_->device().recording(),
                   FailedPrecondition("a barrier is the host's, and is not recorded"));
    // Held messages begin with the next call: otherwise a rank that waits for one of them never
    // comes to the barrier. The barrier comes before Flush: where the other rank starts its message
    // after the barrier, Flush waits for it.
    FIRN_ASSIGN_OR_RETURN(std::unique_ptr<Pending> barrier, host_.Start(call));
    FIRN_RETURN_IF_ERROR(session_->Flush());
    return barrier;
  }
  const bool one_way = call.kind == CollectiveKind::kSend || call.kind == CollectiveKind::kRecv;
  std::shared_ptr<NcclSession::Message> message;
  if (one_way) {
    FIRN_ASSIGN_OR_RETURN(message, session_->Hold(call));
  } else {
    FIRN_ASSIGN_OR_RETURN(std::shared_ptr<Event> done, session_->Queue(call));
    message = std::make_shared<NcclSession::Message>(NcclSession::Message{call, std::move(done)});
  }
  return std::make_unique<NcclPending>(session_, std::move(message));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Communicator>> NcclRanks(Communicator& host, Device device) {
  FIRN_RETURN_IF(!device.is_cuda(),
                 InvalidArgument("NCCL moves memory of CUDA devices, not of ", device.ToString()));
  FIRN_ASSIGN_OR_RETURN(std::shared_ptr<NcclSession> session, Begin(host, device));
  return std::make_unique<NcclRank>(host, std::move(session));
}

}  // namespace firn::comm
