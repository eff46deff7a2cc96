#include "firn/device/comm/nccl_api.h"

#include <dlfcn.h>

#include <atomic>
#include <string>

#include "firn/device/status_macros.h"

namespace firn::comm {
namespace {

constexpr const char* kFile = "libnccl.so.2";

std::atomic<const NcclApi*> stand_in = nullptr;

absl::StatusOr<NcclApi> Load() {
  void* const library = dlopen(kFile, RTLD_NOW | RTLD_LOCAL);
  FIRN_RETURN_IF(library == nullptr, NotFound("collectives of device memory need NCCL: ", kFile,
                                              " is not there (", std::string(dlerror()), ")"));
  NcclApi api = {};
  std::string missing;
  const auto find = [&](const char* name, auto** function) {
    void* const found = dlsym(library, name);
    if (found == nullptr && missing.empty()) missing = name;
    *function = reinterpret_cast<std::remove_reference_t<decltype(*function)>>(found);
  };
  find("ncclGetVersion", &api.get_version);
  int version = 0;
  FIRN_RETURN_IF(api.get_version == nullptr || api.get_version(&version) != kNcclSuccess,
                 NotFound(kFile, " does not say which version it is"));
  FIRN_RETURN_IF(version < kOldestNccl, FailedPrecondition(kFile, " is of version ", version,
                                                           " (want ", kOldestNccl, " or later)"));
  find("ncclGetUniqueId", &api.get_unique_id);
  find("ncclCommInitRankConfig", &api.comm_init_rank_config);
  find("ncclCommFinalize", &api.comm_finalize);
  find("ncclCommDestroy", &api.comm_destroy);
  find("ncclCommAbort", &api.comm_abort);
  find("ncclCommGetAsyncError", &api.comm_get_async_error);
  find("ncclGetErrorString", &api.get_error_string);
  find("ncclGetLastError", &api.get_last_error);
  find("ncclReduce", &api.reduce);
  find("ncclBroadcast", &api.broadcast);
  find("ncclAllReduce", &api.all_reduce);
  find("ncclReduceScatter", &api.reduce_scatter);
  find("ncclAllGather", &api.all_gather);
  find("ncclSend", &api.send);
  find("ncclRecv", &api.recv);
  find("ncclGroupStart", &api.group_start);
  find("ncclGroupEnd", &api.group_end);
  FIRN_RETURN_IF(!missing.empty(), NotFound(kFile, " has no ", missing));
  return api;
}

}  // namespace

absl::StatusOr<int> NcclTypeOf(Element element) {
  switch (element) {
    case Element::kI8:
      return 0;
    case Element::kU8:
      return 1;
    case Element::kI32:
      return 2;
    case Element::kI64:
      return 4;
    case Element::kF16:
      return 6;
    case Element::kF32:
      return 7;
    case Element::kF64:
      return 8;
    case Element::kBF16:
      return 9;
  }
  return Unimplemented("NCCL has no elements of type ", static_cast<int>(element));
}

absl::StatusOr<int> NcclOpOf(Reduction reduction) {
  switch (reduction) {
    case Reduction::kSum:
      return 0;
    case Reduction::kProd:
      return 1;
    case Reduction::kMax:
      return 2;
    case Reduction::kMin:
      return 3;
    case Reduction::kMean:
      return 4;
  }
  return Unimplemented("NCCL has no reduction ", static_cast<int>(reduction));
}

absl::StatusOr<const NcclApi*> FindNccl() {
  if (const NcclApi* const api = stand_in.load(std::memory_order_acquire)) return api;
  static const auto* const found = new absl::StatusOr<NcclApi>(Load());
  FIRN_RETURN_IF_ERROR(found->status());
  return &**found;
}

void SetNcclStandIn(const NcclApi* api) { stand_in.store(api, std::memory_order_release); }

}  // namespace firn::comm
