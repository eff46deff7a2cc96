// The description of a device is JSON, of which cuDNN says in its errors what is missing. Numbers
// are those of A100, H100 and B200 in NVIDIA's tables; engines are asked for and not built, which
// would take seconds for each.
#include "tests/device/cudnn_planner.h"

#include <dlfcn.h>

#include <cstdlib>
#include <deque>
#include <initializer_list>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "firn/tensor/kernels/cuda/dnn_attention_graph.h"
#include "firn/tensor/kernels/cuda/dnn_engine.h"

namespace firn {
namespace {

using cuda::Descriptor;

// CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR and its attributes, which headers have from 9.8 on.
constexpr auto kDevice = static_cast<cudnnBackendDescriptorType_t>(38);
constexpr auto kJson = static_cast<cudnnBackendAttributeName_t>(2702);
constexpr auto kHeuristicDevice = static_cast<cudnnBackendAttributeName_t>(204);

std::string DescriptionOf(int capability) {
  const bool ampere = capability == 80;
  return absl::StrCat(
      "{\"deviceVer\":", capability * 10, ",\"deviceName\":\"described\"",
      ",\"multiProcessorCount\":",
      ampere             ? 108
      : capability == 90 ? 132
                         : 148,
      ",\"maxSharedMemoryPerBlock\":49152,\"maxSharedMemoryPerBlockOptin\":",
      ampere ? 166912 : 232448,
      ",\"reservedSharedMemoryPerBlock\":1024,\"maxRegistersPerSM\":65536,\"maxCtasPerSM\":32,"
      "\"maxThreadsPerSM\":2048,\"maxThreadsPerBlock\":1024,\"regsPerBlock\":65536,"
      "\"warpSize\":32,\"totalGlobalMem\":85899345920,\"smClockRateKHz\":1980000,"
      "\"memClockRateKHz\":2619000,\"l2CacheSize\":52428800,\"maxBlockSize\":[1024,1024,64],"
      "\"maxGridSize\":[2147483647,65535,65535],\"supportCoopLaunch\":1,\"pciDeviceId\":0,"
      "\"isTccDriver\":0,\"cudaDeviceId\":0,\"driverVer\":13000}");
}

// Loads a library from any folder, so that the loader knows it by its name, by which cuDNN opens
// it.
bool Load(const std::string& name, std::initializer_list<const char*> folders) {
  if (dlopen(name.c_str(), RTLD_NOW | RTLD_GLOBAL) != nullptr) return true;
  const char* const home = std::getenv("CUDA_HOME");
  for (const char* folder : folders) {
    const std::string path =
        absl::StrCat(home != nullptr ? home : "/usr/local/cuda", "/", folder, "/", name);
    if (dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL) != nullptr) return true;
  }
  return false;
}

absl::Status Ask(const cuda::DnnAttentionCall& call, int capability) {
  const std::string json = DescriptionOf(capability);
  Descriptor device(kDevice);
  FIRN_RETURN_IF_ERROR(device.status());
  FIRN_RETURN_IF_ERROR(
      cuda::DnnStatus(cudnnBackendSetAttribute(device.get(), kJson, CUDNN_TYPE_CHAR,
                                               static_cast<int64_t>(json.size()), json.data()),
                      "the description"));
  FIRN_RETURN_IF_ERROR(device.Finalize());
  std::deque<Descriptor> parts;
  FIRN_ASSIGN_OR_RETURN(const Descriptor graph,
                        cuda::AttentionGraph(cuda::kOwnDnn, nullptr, call, &parts));
  Descriptor heuristic(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  FIRN_RETURN_IF_ERROR(heuristic.Set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph)
                           .Set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_HEUR_MODE_A)
                           .Set(kHeuristicDevice, device)
                           .Finalize());
  FIRN_ASSIGN_OR_RETURN(const std::vector<Descriptor> found,
                        cuda::GetDescriptors(heuristic, CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                             CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, 1));
  FIRN_RETURN_IF(found.empty(), Unimplemented("nothing proposed"));
  FIRN_ASSIGN_OR_RETURN(const Descriptor engine, cuda::EngineOf(found[0]));
  return cuda::CheckNotes(engine, [](cudnnBackendNumericalNote_t note) {
    return note == CUDNN_NUMERICAL_NOTE_TENSOR_CORE;
  });
}

}  // namespace

bool CudnnPlans() {
  static const bool can =
      cudnnGetVersion() >= 90800 &&
      (Load("libcuda.so.1", {}) || Load("libcuda.so", {"lib64/stubs", "lib/stubs"}));
  return can;
}

std::string WhyCudnnRefuses(const cuda::DnnAttentionCall& call, int capability) {
  const absl::Status s = Ask(call, capability);
  return s.ok() ? "" : std::string(s.message());
}

}  // namespace firn
