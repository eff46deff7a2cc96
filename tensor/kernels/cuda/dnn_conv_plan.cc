// A graph of one convolution, cuDNN's list of engines for it, and the first of them that fits.
// Tensors are NCHW and dense; groups show in the weight's number of channels.

#include "tensor/kernels/cuda/dnn_conv_plan.h"

#include <array>

namespace firn::cuda {
namespace {

enum TensorId : int64_t { kX = 1, kWeight, kY };

cudnnDataType_t TypeOf(DType dtype) {
  switch (dtype) {
    case DType::kF64:
      return CUDNN_DATA_DOUBLE;
    case DType::kF16:
      return CUDNN_DATA_HALF;
    case DType::kBF16:
      return CUDNN_DATA_BFLOAT16;
    default:
      return CUDNN_DATA_FLOAT;
  }
}

// What an operation's descriptor and its attributes are called for each pass.
struct PassNames {
  cudnnBackendDescriptorType_t type;
  cudnnBackendAttributeName_t alpha, beta, convolution, x, weight, y;
};
PassNames NamesOf(ConvPass pass) {
  if (pass == ConvPass::kForward) {
    return {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y};
  }
  if (pass == ConvPass::kBackwardData) {
    return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY};
  }
  return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY};
}

// --- The graph -----------------------------------------------------------------------------------

absl::StatusOr<Descriptor> Tensor4d(const DnnConvCall& call, TensorId id,
                                    const std::array<int64_t, 4>& sizes) {
  const std::array<int64_t, 4> strides = {sizes[1] * sizes[2] * sizes[3], sizes[2] * sizes[3],
                                          sizes[3], 1};
  Descriptor d(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  FIRN_RETURN_IF_ERROR(d.Set(CUDNN_ATTR_TENSOR_DATA_TYPE, TypeOf(call.dtype))
                           .Set(CUDNN_ATTR_TENSOR_DIMENSIONS, absl::MakeConstSpan(sizes))
                           .Set(CUDNN_ATTR_TENSOR_STRIDES, absl::MakeConstSpan(strides))
                           .Set(CUDNN_ATTR_TENSOR_UNIQUE_ID, static_cast<int64_t>(id))
                           .Set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, call.alignment)
                           .Finalize());
  return d;
}

absl::StatusOr<Descriptor> Convolution(const DnnConvCall& call) {
  const ConvAttrs& a = call.problem.attrs;
  const std::array<int64_t, 2> strides = {a.stride.h, a.stride.w};
  const std::array<int64_t, 2> padding = {a.padding.h, a.padding.w};
  const std::array<int64_t, 2> dilations = {a.dilation.h, a.dilation.w};
  // Half types are summed in float.
  const cudnnDataType_t compute = call.dtype == DType::kF64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
  Descriptor d(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  FIRN_RETURN_IF_ERROR(d.Set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, compute)
                           .Set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_CROSS_CORRELATION)
                           .Set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, int64_t{2})
                           .Set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, absl::MakeConstSpan(strides))
                           .Set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, absl::MakeConstSpan(padding))
                           .Set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, absl::MakeConstSpan(padding))
                           .Set(CUDNN_ATTR_CONVOLUTION_DILATIONS, absl::MakeConstSpan(dilations))
                           .Finalize());
  return d;
}

// Appends the graph and what it is made of to `parts`: it comes last.
absl::Status AddGraph(cudnnHandle_t handle, const DnnConvCall& call,
                      std::vector<Descriptor>* parts) {
  const ConvProblem& p = call.problem;
  FIRN_ASSIGN_OR_RETURN(Descriptor x,
                        Tensor4d(call, kX, {p.batch, p.in, p.in_size.h, p.in_size.w}));
  FIRN_ASSIGN_OR_RETURN(Descriptor weight,
                        Tensor4d(call, kWeight, {p.out, p.in_per_group(), p.kernel.h, p.kernel.w}));
  FIRN_ASSIGN_OR_RETURN(Descriptor y,
                        Tensor4d(call, kY, {p.batch, p.out, p.out_size.h, p.out_size.w}));
  FIRN_ASSIGN_OR_RETURN(Descriptor convolution, Convolution(call));
  const PassNames names = NamesOf(call.pass);
  Descriptor operation(names.type);
  operation.Set(names.convolution, convolution)
      .Set(names.x, x)
      .Set(names.weight, weight)
      .Set(names.y, y);
  if (call.dtype == DType::kF64) {
    operation.Set(names.alpha, 1.0).Set(names.beta, 0.0);
  } else {
    operation.Set(names.alpha, 1.0f).Set(names.beta, 0.0f);
  }
  FIRN_RETURN_IF_ERROR(operation.Finalize());
  Descriptor graph(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  FIRN_RETURN_IF_ERROR(graph.Set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, handle)
                           .Set(CUDNN_ATTR_OPERATIONGRAPH_OPS, operation)
                           .Finalize());
  for (Descriptor* d : {&x, &weight, &y, &convolution, &operation, &graph}) {
    parts->push_back(std::move(*d));
  }
  return absl::OkStatus();
}

// --- Engines -------------------------------------------------------------------------------------

// The engines that cuDNN proposes for a graph, the best first.
absl::StatusOr<std::vector<Descriptor>> Proposals(const Descriptor& graph,
                                                  cudnnBackendHeurMode_t mode) {
  Descriptor heuristic(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  FIRN_RETURN_IF_ERROR(heuristic.Set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph)
                           .Set(CUDNN_ATTR_ENGINEHEUR_MODE, mode)
                           .Finalize());
  int64_t count = 0;
  FIRN_RETURN_IF_ERROR(
      DnnStatus(cudnnBackendGetAttribute(heuristic.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                         CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &count, nullptr),
                "cudnnBackendGetAttribute"));
  std::vector<Descriptor> engines;
  std::vector<cudnnBackendDescriptor_t> raw;
  for (int64_t i = 0; i < count; ++i) {
    engines.emplace_back(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    FIRN_RETURN_IF_ERROR(engines.back().status());
    raw.push_back(engines.back().get());
  }
  if (count == 0) return engines;
  FIRN_RETURN_IF_ERROR(
      DnnStatus(cudnnBackendGetAttribute(heuristic.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                         CUDNN_TYPE_BACKEND_DESCRIPTOR, count, &count, raw.data()),
                "cudnnBackendGetAttribute"));
  while (static_cast<int64_t>(engines.size()) > count) engines.pop_back();
  return engines;
}

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

absl::Status CheckNotes(const DnnConvCall& call, const Descriptor& configuration) {
  Descriptor engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  FIRN_RETURN_IF_ERROR(engine.status());
  cudnnBackendDescriptor_t raw = engine.get();
  int64_t count = 0;
  FIRN_RETURN_IF_ERROR(
      DnnStatus(cudnnBackendGetAttribute(configuration.get(), CUDNN_ATTR_ENGINECFG_ENGINE,
                                         CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count, &raw),
                "cudnnBackendGetAttribute"));
  std::array<cudnnBackendNumericalNote_t, CUDNN_NUMERICAL_NOTE_TYPE_COUNT> notes;
  FIRN_RETURN_IF_ERROR(DnnStatus(
      cudnnBackendGetAttribute(engine.get(), CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
                               CUDNN_TYPE_NUMERICAL_NOTE, notes.size(), &count, notes.data()),
      "cudnnBackendGetAttribute"));
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    FIRN_RETURN_IF(!Allowed(call, notes[i]),
                   Unimplemented("engines with note ", static_cast<int>(notes[i])));
  }
  return absl::OkStatus();
}

// The plan of one engine and the bytes it needs.
absl::StatusOr<size_t> FinishPlan(cudnnHandle_t handle, const DnnConvCall& call,
                                  const Descriptor& configuration, Descriptor* plan) {
  FIRN_RETURN_IF_ERROR(CheckNotes(call, configuration));
  FIRN_RETURN_IF_ERROR(plan->Set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, handle)
                           .Set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configuration)
                           .Finalize());
  int64_t bytes = 0, count = 0;
  FIRN_RETURN_IF_ERROR(
      DnnStatus(cudnnBackendGetAttribute(plan->get(), CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
                                         CUDNN_TYPE_INT64, 1, &count, &bytes),
                "cudnnBackendGetAttribute"));
  FIRN_RETURN_IF(static_cast<size_t>(bytes) > call.max_workspace,
                 Unimplemented("engines that need ", bytes, " bytes"));
  return static_cast<size_t>(bytes);
}

}  // namespace

absl::StatusOr<DnnConvPlan> DnnConvPlan::Make(cudnnHandle_t handle, const DnnConvCall& call) {
  std::vector<Descriptor> parts;
  FIRN_RETURN_IF_ERROR(AddGraph(handle, call, &parts));
  absl::Status last = Unimplemented("nothing proposed");
  for (const cudnnBackendHeurMode_t mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
    absl::StatusOr<std::vector<Descriptor>> proposals = Proposals(parts.back(), mode);
    if (!proposals.ok()) {
      last = proposals.status();
      continue;
    }
    for (Descriptor& configuration : *proposals) {
      Descriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
      const absl::StatusOr<size_t> bytes = FinishPlan(handle, call, configuration, &plan);
      if (bytes.ok()) {
        parts.push_back(std::move(configuration));
        return DnnConvPlan(std::move(parts), std::move(plan), *bytes);
      }
      last = bytes.status();
    }
  }
  return Unimplemented("no engine of cuDNN fits, the last: ", std::string(last.message()));
}

absl::Status DnnConvPlan::Run(cudnnHandle_t handle, const void* x, const void* weight,
                              const void* y, void* workspace) const {
  const std::array<int64_t, 3> ids = {kX, kWeight, kY};
  const std::array<void*, 3> data = {const_cast<void*>(x), const_cast<void*>(weight),
                                     const_cast<void*>(y)};
  Descriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  FIRN_RETURN_IF_ERROR(pack.Set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, absl::MakeConstSpan(ids))
                           .Set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, absl::MakeConstSpan(data))
                           .Set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, workspace)
                           .Finalize());
  return DnnStatus(cudnnBackendExecute(handle, plan_.get(), pack.get()), "cudnnBackendExecute");
}

}  // namespace firn::cuda
