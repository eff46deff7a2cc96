// Engines that fit a call, from cuDNN's list or from a choice that was written down.

#include "firn/tensor/kernels/cuda/dnn_conv_plan.h"

#include <array>
#include <string>

#include "firn/tensor/kernels/cuda/dnn_conv_graph.h"
#include "firn/tensor/kernels/cuda/dnn_engine.h"

namespace firn::cuda {
namespace {

// --- What engines may do -------------------------------------------------------------------------

bool Allowed(const DnnConvCall& call, cudnnBackendNumericalNote_t note) {
  const bool f32 = call.dtype == DType::kF32;
  switch (note) {
    case CUDNN_NUMERICAL_NOTE_TENSOR_CORE:
      return !f32 || call.f32 == DnnF32::kTf32;
    case CUDNN_NUMERICAL_NOTE_WINOGRAD:
    case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4:
    case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6:
    case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13:
    case CUDNN_NUMERICAL_NOTE_FFT:
      return f32 && call.f32 == DnnF32::kTransforms;
    case CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS:
    case CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION:
    case CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC:
      return false;
    default:
      return true;
  }
}

// --- Configurations and choices ------------------------------------------------------------------

absl::StatusOr<EngineChoice> ChoiceOf(const Descriptor& configuration, const Descriptor& engine) {
  EngineChoice choice;
  FIRN_ASSIGN_OR_RETURN(choice.engine, GetOne<int64_t>(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX));
  FIRN_ASSIGN_OR_RETURN(
      const std::vector<Descriptor> knobs,
      GetDescriptors(configuration, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES,
                     CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR, CUDNN_KNOB_TYPE_COUNTS));
  for (const Descriptor& knob : knobs) {
    FIRN_ASSIGN_OR_RETURN(const auto type,
                          GetOne<cudnnBackendKnobType_t>(knob, CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE));
    FIRN_ASSIGN_OR_RETURN(const auto value,
                          GetOne<int64_t>(knob, CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE));
    choice.knobs.emplace_back(static_cast<int64_t>(type), value);
  }
  return choice;
}

// The configuration of a choice; the engine and its other descriptors are appended to `parts`.
absl::StatusOr<Descriptor> ConfigurationOf(const Descriptor& graph, const EngineChoice& choice,
                                           std::vector<Descriptor>* parts) {
  Descriptor engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  FIRN_RETURN_IF_ERROR(engine.Set(CUDNN_ATTR_ENGINE_OPERATION_GRAPH, graph)
                           .Set(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, choice.engine)
                           .Finalize());
  std::vector<Descriptor> knobs;
  for (const auto& [type, value] : choice.knobs) {
    knobs.emplace_back(CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
    FIRN_RETURN_IF_ERROR(
        knobs.back()
            .Set(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, static_cast<cudnnBackendKnobType_t>(type))
            .Set(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, value)
            .Finalize());
  }
  Descriptor configuration(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
  configuration.Set(CUDNN_ATTR_ENGINECFG_ENGINE, engine);
  if (!knobs.empty()) configuration.Set(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, knobs);
  FIRN_RETURN_IF_ERROR(configuration.Finalize());
  parts->push_back(std::move(engine));
  for (Descriptor& knob : knobs) parts->push_back(std::move(knob));
  return configuration;
}

}  // namespace

// A graph and its descriptors.
struct DnnConvPlan::Graph {
  std::vector<Descriptor> parts;
  Descriptor graph{CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR};

  static absl::StatusOr<std::shared_ptr<const Graph>> Make(cudnnHandle_t handle,
                                                           const DnnConvCall& call, bool fused) {
    auto made = std::make_shared<Graph>();
    FIRN_ASSIGN_OR_RETURN(made->graph, ConvGraph(handle, call, fused, &made->parts));
    return made;
  }
};

absl::StatusOr<DnnConvPlan> DnnConvPlan::Make(cudnnHandle_t handle, const DnnConvCall& call,
                                              bool fused, std::shared_ptr<const Graph> graph,
                                              std::vector<Descriptor> parts) {
  const Descriptor& configuration = parts.back();
  FIRN_ASSIGN_OR_RETURN(Descriptor engine, EngineOf(configuration));
  FIRN_RETURN_IF_ERROR(
      CheckNotes(engine, [&](cudnnBackendNumericalNote_t note) { return Allowed(call, note); }));
  DnnConvPlan made;
  FIRN_ASSIGN_OR_RETURN(made.choice_, ChoiceOf(configuration, engine));
  made.choice_.fused = fused;
  FIRN_RETURN_IF_ERROR(made.plan_.Set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, handle)
                           .Set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configuration)
                           .Finalize());
  FIRN_ASSIGN_OR_RETURN(const int64_t bytes,
                        GetOne<int64_t>(made.plan_, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE));
  made.workspace_ = static_cast<size_t>(bytes);
  FIRN_RETURN_IF(made.workspace_ > call.max_workspace,
                 Unimplemented("engines that need ", bytes, " bytes"));
  made.bias_ = fused && call.bias;
  made.graph_ = std::move(graph);
  made.parts_ = std::move(parts);
  return made;
}

absl::StatusOr<std::vector<DnnConvPlan>> DnnConvPlan::Candidates(cudnnHandle_t handle,
                                                                 const DnnConvCall& call,
                                                                 bool fused, size_t most) {
  FIRN_ASSIGN_OR_RETURN(const std::shared_ptr<const Graph> graph, Graph::Make(handle, call, fused));
  absl::Status last = Unimplemented("nothing proposed");
  std::vector<DnnConvPlan> plans;
  for (const cudnnBackendHeurMode_t mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
    // A bias and relu that only a fallback engine can fuse are better not fused.
    if (!plans.empty() || (fused && mode == CUDNN_HEUR_MODE_FALLBACK)) break;
    absl::StatusOr<std::vector<Descriptor>> proposals = Proposals(graph->graph, mode);
    if (!proposals.ok()) {
      last = proposals.status();
      continue;
    }
    for (Descriptor& configuration : *proposals) {
      if (plans.size() == most) break;
      std::vector<Descriptor> parts;
      parts.push_back(std::move(configuration));
      absl::StatusOr<DnnConvPlan> plan = Make(handle, call, fused, graph, std::move(parts));
      if (plan.ok()) {
        plans.push_back(*std::move(plan));
      } else {
        last = plan.status();
      }
    }
  }
  FIRN_RETURN_IF(plans.empty(),
                 Unimplemented("no engine of cuDNN fits, the last: ", std::string(last.message())));
  return plans;
}

absl::StatusOr<DnnConvPlan> DnnConvPlan::From(cudnnHandle_t handle, const DnnConvCall& call,
                                              const EngineChoice& choice) {
  FIRN_ASSIGN_OR_RETURN(std::shared_ptr<const Graph> graph,
                        Graph::Make(handle, call, choice.fused));
  std::vector<Descriptor> parts;
  FIRN_ASSIGN_OR_RETURN(Descriptor configuration, ConfigurationOf(graph->graph, choice, &parts));
  parts.push_back(std::move(configuration));
  return Make(handle, call, choice.fused, std::move(graph), std::move(parts));
}

absl::Status DnnConvPlan::Run(cudnnHandle_t handle, const DnnOperands& on, void* workspace) const {
  const std::array<int64_t, 4> ids = {kX, kWeight, kY, kBias};
  const std::array<void*, 4> data = {const_cast<void*>(on.x), const_cast<void*>(on.weight),
                                     const_cast<void*>(on.y), const_cast<void*>(on.bias)};
  const size_t count = bias_ ? 4 : 3;
  Descriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  FIRN_RETURN_IF_ERROR(
      pack.Set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, absl::MakeConstSpan(ids).subspan(0, count))
          .Set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, absl::MakeConstSpan(data).subspan(0, count))
          .Set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, workspace)
          .Finalize());
  return DnnStatus(cudnnBackendExecute(handle, plan_.get(), pack.get()), "cudnnBackendExecute");
}

}  // namespace firn::cuda
