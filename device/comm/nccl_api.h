#ifndef FIRN_DEVICE_COMM_NCCL_API_H_
#define FIRN_DEVICE_COMM_NCCL_API_H_

// The functions of NCCL that Firn calls. They are found at run time, so a build needs neither the
// header nor the library. Builds with CUDA compare all of this with the library's header
// (nccl_header_check.cc).

#include <cstddef>

#include "absl/status/statusor.h"
#include "firn/device/comm/collective.h"

namespace firn::comm {

using NcclComm = void*;  // ncclComm_t
struct NcclId {          // ncclUniqueId
  char bytes[128];
};

// ncclConfig_t as of NCCL 2.14: later versions know it by its size and version, and have defaults
// for the rest.
struct NcclConfig {
  size_t size = sizeof(NcclConfig);
  unsigned magic = 0xcafebeef;
  unsigned version = 21400;
  int blocking = 0;
};
inline constexpr int kOldestNccl = 21400;  // 2.14.0, as ncclGetVersion counts

// ncclResult_t. Other values are errors, which error_string explains.
inline constexpr int kNcclSuccess = 0, kNcclInternalError = 3, kNcclInvalidArgument = 4,
                     kNcclInvalidUsage = 5, kNcclRemoteError = 6, kNcclInProgress = 7;

// Enumerations are passed as int, streams as void*.
struct NcclApi {
  int (*get_version)(int* version);
  int (*get_unique_id)(NcclId* id);
  int (*comm_init_rank_config)(NcclComm* comm, int ranks, NcclId id, int rank, NcclConfig* config);
  int (*comm_finalize)(NcclComm comm);
  int (*comm_destroy)(NcclComm comm);
  int (*comm_abort)(NcclComm comm);
  int (*comm_get_async_error)(NcclComm comm, int* error);
  const char* (*get_error_string)(int result);
  const char* (*get_last_error)(NcclComm comm);
  int (*reduce)(const void* in, void* out, size_t count, int type, int op, int root, NcclComm comm,
                void* stream);
  int (*broadcast)(const void* in, void* out, size_t count, int type, int root, NcclComm comm,
                   void* stream);
  int (*all_reduce)(const void* in, void* out, size_t count, int type, int op, NcclComm comm,
                    void* stream);
  int (*reduce_scatter)(const void* in, void* out, size_t out_count, int type, int op,
                        NcclComm comm, void* stream);
  int (*all_gather)(const void* in, void* out, size_t in_count, int type, NcclComm comm,
                    void* stream);
  int (*send)(const void* in, size_t count, int type, int to, NcclComm comm, void* stream);
  int (*recv)(void* out, size_t count, int type, int from, NcclComm comm, void* stream);
  int (*group_start)();
  int (*group_end)();
};

// ncclDataType_t and ncclRedOp_t. Unimplemented, with its name, for a type or reduction that NCCL
// does not have.
absl::StatusOr<int> NcclTypeOf(Element element);
absl::StatusOr<int> NcclOpOf(Reduction reduction);

// The functions of libnccl.so.2, which stays loaded. NotFound where it is not there or lacks one;
// FailedPrecondition where it is older than kOldestNccl. Thread-safe.
absl::StatusOr<const NcclApi*> FindNccl();

// For tests: sets what FindNccl gives until the next call; null restores the library. Thread-safe.
void SetNcclStandIn(const NcclApi* api);

}  // namespace firn::comm

#endif  // FIRN_DEVICE_COMM_NCCL_API_H_
