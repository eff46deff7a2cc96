// Questions about engines that all graphs of cuDNN share.

#include "firn/tensor/kernels/cuda/dnn_engine.h"

#include <array>
#include <utility>

namespace firn::cuda {

absl::StatusOr<std::vector<Descriptor>> Proposals(const Descriptor& graph,
                                                  cudnnBackendHeurMode_t mode) {
  Descriptor heuristic(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, graph.api());
  FIRN_RETURN_IF_ERROR(heuristic.Set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph)
                           .Set(CUDNN_ATTR_ENGINEHEUR_MODE, mode)
                           .Finalize());
  int64_t count = 0;
  FIRN_RETURN_IF_ERROR(
      DnnStatus(graph.api().get_attribute(heuristic.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                          CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &count, nullptr),
                "cudnnBackendGetAttribute", graph.api()));
  return GetDescriptors(heuristic, CUDNN_ATTR_ENGINEHEUR_RESULTS,
                        CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, static_cast<size_t>(count));
}

absl::StatusOr<Descriptor> EngineOf(const Descriptor& configuration) {
  FIRN_ASSIGN_OR_RETURN(std::vector<Descriptor> engines,
                        GetDescriptors(configuration, CUDNN_ATTR_ENGINECFG_ENGINE,
                                       CUDNN_BACKEND_ENGINE_DESCRIPTOR, 1));
  FIRN_RETURN_IF(engines.size() != 1, Internal("a configuration of ", engines.size(), " engines"));
  return std::move(engines[0]);
}

absl::Status CheckNotes(const Descriptor& engine,
                        absl::FunctionRef<bool(cudnnBackendNumericalNote_t)> allowed) {
  std::array<cudnnBackendNumericalNote_t, CUDNN_NUMERICAL_NOTE_TYPE_COUNT> notes;
  FIRN_ASSIGN_OR_RETURN(const size_t count,
                        GetSome(engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, absl::MakeSpan(notes)));
  for (size_t i = 0; i < count; ++i) {
    FIRN_RETURN_IF(!allowed(notes[i]),
                   Unimplemented("engines with note ", static_cast<int>(notes[i])));
  }
  return absl::OkStatus();
}

}  // namespace firn::cuda
