// Builds with CUDA compare what nccl_api.h says of NCCL with its header, where that is installed.
#if __has_include(<nccl.h>)

#include <nccl.h>

#include <type_traits>

#include "firn/device/comm/nccl_api.h"

namespace firn::comm {
namespace {

// What is passed the same way: equal types, enumerations as int, pointers as pointers, an id by
// value.
template <class Ours, class Theirs>
constexpr bool PassedAlike() {
  if constexpr (std::is_same_v<Ours, Theirs>) {
    return true;
  } else if constexpr (std::is_enum_v<Theirs>) {
    return std::is_same_v<Ours, int> && sizeof(Theirs) == sizeof(int);
  } else if constexpr (std::is_same_v<Theirs, ncclUniqueId>) {
    return std::is_same_v<Ours, NcclId> && sizeof(Ours) == sizeof(Theirs) &&
           alignof(Ours) == alignof(Theirs);
  } else {
    return std::is_pointer_v<Ours> && std::is_pointer_v<Theirs>;
  }
}

template <class Ours, class Theirs>
constexpr bool kAlike = false;
template <class R, class... A, class S, class... B>
requires(sizeof...(A) == sizeof...(B)) constexpr bool kAlike<R (*)(A...), S (*)(B...)> =
    PassedAlike<R, S>() && (PassedAlike<A, B>() && ...);

#define FIRN_ALIKE(ours, theirs) static_assert(kAlike<decltype(NcclApi::ours), decltype(&theirs)>)
FIRN_ALIKE(get_version, ncclGetVersion);
FIRN_ALIKE(get_unique_id, ncclGetUniqueId);
FIRN_ALIKE(comm_init_rank_config, ncclCommInitRankConfig);
FIRN_ALIKE(comm_finalize, ncclCommFinalize);
FIRN_ALIKE(comm_destroy, ncclCommDestroy);
FIRN_ALIKE(comm_abort, ncclCommAbort);
FIRN_ALIKE(comm_get_async_error, ncclCommGetAsyncError);
FIRN_ALIKE(get_error_string, ncclGetErrorString);
FIRN_ALIKE(get_last_error, ncclGetLastError);
FIRN_ALIKE(reduce, ncclReduce);
FIRN_ALIKE(broadcast, ncclBroadcast);
FIRN_ALIKE(all_reduce, ncclAllReduce);
FIRN_ALIKE(reduce_scatter, ncclReduceScatter);
FIRN_ALIKE(all_gather, ncclAllGather);
FIRN_ALIKE(send, ncclSend);
FIRN_ALIKE(recv, ncclRecv);
FIRN_ALIKE(group_start, ncclGroupStart);
FIRN_ALIKE(group_end, ncclGroupEnd);
#undef FIRN_ALIKE

static_assert(sizeof(NcclId) == NCCL_UNIQUE_ID_BYTES);
static_assert(offsetof(NcclConfig, size) == offsetof(ncclConfig_t, size) &&
              offsetof(NcclConfig, magic) == offsetof(ncclConfig_t, magic) &&
              offsetof(NcclConfig, version) == offsetof(ncclConfig_t, version) &&
              offsetof(NcclConfig, blocking) == offsetof(ncclConfig_t, blocking));
static_assert(ncclConfig_t(NCCL_CONFIG_INITIALIZER).magic == NcclConfig{}.magic);
static_assert(kNcclSuccess == ncclSuccess && kNcclInternalError == ncclInternalError &&
              kNcclInvalidArgument == ncclInvalidArgument &&
              kNcclInvalidUsage == ncclInvalidUsage && kNcclRemoteError == ncclRemoteError &&
              kNcclInProgress == ncclInProgress);
static_assert(ncclInt8 == 0 && ncclUint8 == 1 && ncclInt32 == 2 && ncclInt64 == 4 &&
              ncclFloat16 == 6 && ncclFloat32 == 7 && ncclFloat64 == 8 && ncclBfloat16 == 9);
static_assert(ncclSum == 0 && ncclProd == 1 && ncclMax == 2 && ncclMin == 3 && ncclAvg == 4);

}  // namespace
}  // namespace firn::comm

#endif  // __has_include(<nccl.h>)
