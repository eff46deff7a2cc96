#ifndef FIRN_DEVICE_COMM_NCCL_RUNS_H_
#define FIRN_DEVICE_COMM_NCCL_RUNS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "firn/device/comm/communicator.h"
#include "firn/device/comm/nccl_session.h"
#include "firn/device/comm/recorded_runs.h"

namespace firn::comm {

// The recorded runs of one rank. Thread-compatible.
class NcclRuns {
 public:
  // Both must live longer.
  NcclRuns(Communicator& host, NcclSession& session) : host_(host), session_(session) {}

  // RecordedRuns::Run.
  absl::StatusOr<bool> Run(const std::shared_ptr<const RunPlace>& place,
                           absl::FunctionRef<absl::Status()> queue, std::string& why);

 private:
  static constexpr size_t kMost = 16;  // the longest unused one goes then

  // Places of all ranks that have come together.
  struct Together {
    std::vector<int64_t> numbers;  // by rank
    std::weak_ptr<const RunPlace> mine = {};
    std::shared_ptr<NcclSession::Recorded> recorded = nullptr;  // null: seen
    std::string failure = {};                                   // of a rank that could not record
    int64_t last_used = 0;
  };

  // Null where they come for the first time.
  Together* Find(const std::vector<int64_t>& numbers);
  // The places of all ranks, by rank.
  absl::StatusOr<std::vector<int64_t>> Gather(int64_t mine);
  // Errors: those that end communicators. Where a rank could not record, sets together.failure.
  absl::Status Record(Together& together, absl::FunctionRef<absl::Status()> queue);

  Communicator& host_;
  NcclSession& session_;
  std::vector<Together> known_;  // the same on all ranks, but for what is recorded
  int64_t runs_ = 0;
};

}  // namespace firn::comm

#endif  // FIRN_DEVICE_COMM_NCCL_RUNS_H_
