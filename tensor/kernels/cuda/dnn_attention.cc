// Plans of attention and their calls. A plan is the first engine that cuDNN proposes. Plans are
// neither timed nor written to the file of plans: the slow part, compiling, cannot be kept in it.

#include "firn/tensor/kernels/cuda/dnn_attention.h"

#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/kernels/cuda/dnn_attention_graph.h"
#include "firn/tensor/kernels/cuda/dnn_engine.h"
#include "firn/tensor/kernels/cuda/library_api.h"
#include "firn/tensor/kernels/cuda/per_device.h"

namespace firn::cuda {

class DnnAttentionPlan {
 public:
  DnnAttentionPlan(const DnnApi& of, const DnnAttentionCall& for_call)
      : api(of), call(for_call), plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, of) {}

  const DnnApi& api;
  const DnnAttentionCall call;
  std::deque<Descriptor> parts;  // the descriptors from which the plan was made
  Descriptor plan;
  size_t workspace = 0;
};

namespace {

constexpr int kMostPlans = 32;                          // each takes seconds
constexpr size_t kMostAsked = 1024;                     // including those that cuDNN does not take
constexpr int64_t kMostColumns = 128, kColumnStep = 8;  // of 2 bytes: 16
// Memory for the gradients of scores, 2 bytes each: cudnn-frontend gives them as much.
constexpr int64_t kMostScores = (int64_t{256} << 20) / 2;
// In earlier versions gradients of keys are wrong if their number is no multiple of 128, according
// to cudnn-frontend's workaround (node/scaled_dot_product_flash_attention.h).
constexpr size_t kFirstVersion = 91600;

// Each call sets the handle's stream, so that threads share it under one lock.
struct Context {
  std::mutex mutex;
  cudnnHandle_t handle = nullptr;
  int made = 0;
  std::map<DnnAttentionCall, absl::StatusOr<std::unique_ptr<const DnnAttentionPlan>>> plans;
};

absl::StatusOr<Context*> ContextOf(const DnnApi& api, Device device) {
  static auto* const contexts = new PerDevice<Context>;  // never destroyed, as the contexts
  return contexts->Get(
      device,
      [&](Context& c) -> absl::Status {
        FIRN_RETURN_IF(api.version() < kFirstVersion,
                       Unavailable("attention needs cuDNN 9.16 or later, the one found is ",
                                   api.version() / 10000, ".", api.version() / 100 % 100));
        return DnnStatus(api.create(&c.handle), "cudnnCreate", api);
      },
      api.set_device);
}

// --- What is asked of engines --------------------------------------------------------------------

// Whether rows begin where cuDNN can load 16 bytes, and no two elements share an address.
bool Fits(const DnnAttentionCall::Strides& strides, const DnnAttentionCall::Strides& sizes) {
  if (strides[3] != 1) return false;
  for (size_t i = 0; i < 3; ++i) {
    if (sizes[i] > 1 && (strides[i] <= 0 || strides[i] % kColumnStep != 0)) return false;
  }
  return true;
}

bool Allowed(cudnnBackendNumericalNote_t note) {
  return note != CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC &&
         note != CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS &&
         note != CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION;
}

// Requires: the context's lock.
absl::StatusOr<std::unique_ptr<const DnnAttentionPlan>> MakePlan(const DnnApi& api,
                                                                 cudnnHandle_t handle,
                                                                 const DnnAttentionCall& call) {
  auto made = std::make_unique<DnnAttentionPlan>(api, call);
  FIRN_ASSIGN_OR_RETURN(Descriptor graph, AttentionGraph(api, handle, call, &made->parts));
  FIRN_ASSIGN_OR_RETURN(std::vector<Descriptor> proposals, Proposals(graph, CUDNN_HEUR_MODE_A));
  absl::Status last = Unimplemented("nothing proposed");
  for (Descriptor& configuration : proposals) {
    FIRN_ASSIGN_OR_RETURN(const Descriptor engine, EngineOf(configuration));
    if (last = CheckNotes(engine, Allowed); !last.ok()) continue;
    Descriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, api);
    last = plan.Set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, handle)
               .Set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configuration)
               .Finalize();
    if (!last.ok()) continue;
    FIRN_ASSIGN_OR_RETURN(const int64_t bytes,
                          GetOne<int64_t>(plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE));
    made->workspace = static_cast<size_t>(bytes);
    made->plan = std::move(plan);
    made->parts.push_back(std::move(graph));
    made->parts.push_back(std::move(configuration));
    return made;
  }
  return Unimplemented("no engine of cuDNN fits, the last: ", std::string(last.message()));
}

// --- Calls ---------------------------------------------------------------------------------------

struct Execution {
  Device device;
  const DnnAttentionPlan* plan;
  float scale;
  DnnAttentionTensors tensors;
  void* workspace;
};

// The tensors that a graph reads and writes, and their addresses. Numbers are read before cuDNN's
// call returns.
class Operands {
 public:
  void Add(int64_t id, const void* data) {
    ids_.push_back(id);
    data_.push_back(const_cast<void*>(data));
  }
  absl::Status Run(const DnnAttentionPlan& plan, cudnnHandle_t handle, void* workspace) const {
    const DnnApi& api = plan.api;
    Descriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, api);
    FIRN_RETURN_IF_ERROR(
        pack.Set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, absl::Span<const int64_t>(ids_))
            .Set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, absl::Span<void* const>(data_))
            .Set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, workspace)
            .Finalize());
    return DnnStatus(api.execute(handle, plan.plan.get(), pack.get()), "cudnnBackendExecute", api);
  }

 private:
  absl::InlinedVector<int64_t, 16> ids_;
  absl::InlinedVector<void*, 16> data_;
};

absl::Status Execute(const Execution& e, void* stream) {
  using Id = DnnAttentionId;
  const DnnAttentionPlan& plan = *e.plan;
  const DnnAttentionTensors& t = e.tensors;
  const float hidden = -std::numeric_limits<float>::infinity(), one = 1;
  Operands on;
  on.Add(Id::kQ, t.q);
  on.Add(Id::kK, t.k);
  on.Add(Id::kV, t.v);
  on.Add(Id::kY, t.y);
  on.Add(Id::kLogsumexp, t.logsumexp);
  on.Add(Id::kScale, &e.scale);
  if (plan.call.causal) on.Add(Id::kHidden, &hidden);
  if (plan.call.grad) {
    on.Add(Id::kDy, t.dy);
    on.Add(Id::kDq, t.dq);
    on.Add(Id::kDk, t.dk);
    on.Add(Id::kDv, t.dv);
    on.Add(Id::kRowSums, t.row_sums);
    on.Add(Id::kOne, &one);
  }
  FIRN_ASSIGN_OR_RETURN(Context* const context, ContextOf(plan.api, e.device));
  const std::lock_guard lock(context->mutex);
  FIRN_RETURN_IF_ERROR(
      DnnStatus(plan.api.set_stream(context->handle, static_cast<cudaStream_t>(stream)),
                "cudnnSetStream", plan.api));
  return on.Run(plan, context->handle, e.workspace);
}

}  // namespace

absl::Status CheckDnnAttention(const DnnAttentionCall& c) {
  FIRN_RETURN_IF(c.dtype != DType::kF16 && c.dtype != DType::kBF16,
                 Unimplemented("takes half types only"));
  for (const int64_t size : {c.batch, c.heads, c.kv_heads, c.queries, c.keys}) {
    FIRN_RETURN_IF(size == 0, Unimplemented("takes no empty tensors"));
  }
  for (const int64_t columns : {c.width, c.value_width}) {
    FIRN_RETURN_IF(columns == 0 || columns > kMostColumns || columns % kColumnStep != 0,
                   Unimplemented("takes widths that are multiples of 8 up to 128"));
  }
  FIRN_RETURN_IF(c.grad && c.keys == 1, Unimplemented("takes no gradients of a single key"));
  FIRN_RETURN_IF(c.grad && c.batch * c.heads > kMostScores / c.queries / c.keys,
                 Unimplemented("takes gradients of 256 MiB of scores at most"));
  const DnnAttentionCall::Strides y = {c.batch, c.heads, c.queries, c.value_width};
  const bool fits = Fits(c.q, {c.batch, c.heads, c.queries, c.width}) &&
                    Fits(c.k, {c.batch, c.kv_heads, c.keys, c.width}) &&
                    Fits(c.v, {c.batch, c.kv_heads, c.keys, c.value_width}) &&
                    (!c.grad || (Fits(c.y, y) && Fits(c.dy, y)));
  FIRN_RETURN_IF(!fits, Unimplemented("takes rows of neighbours that begin at 16 bytes"));
  return absl::OkStatus();
}

absl::StatusOr<DnnAttentionFound> FindDnnAttention(Device device, const DnnAttentionCall& call) {
  FIRN_RETURN_IF_ERROR(CheckDnnAttention(call));
  const DnnApi* const api = LibraryApi<DnnApi>::Of(device);
  FIRN_RETURN_IF(api == nullptr, Unavailable("there is no cuDNN here"));
  FIRN_ASSIGN_OR_RETURN(Context* const context, ContextOf(*api, device));
  const std::lock_guard lock(context->mutex);
  auto found = context->plans.find(call);
  if (found == context->plans.end()) {
    FIRN_RETURN_IF(context->made >= kMostPlans || context->plans.size() >= kMostAsked,
                   Unimplemented("takes no more different calls"));
    found = context->plans.emplace(call, MakePlan(*api, context->handle, call)).first;
    context->made += found->second.ok() ? 1 : 0;
  }
  FIRN_RETURN_IF_ERROR(found->second.status());
  const DnnAttentionPlan& plan = **found->second;
  return DnnAttentionFound{
      &plan, {plan.workspace, call.grad ? call.batch * call.heads * call.queries : 0}};
}

absl::Status RunDnnAttention(const Queue& queue, const DnnAttentionPlan& plan, double scale,
                             const DnnAttentionTensors& tensors, void* workspace) {
  return Call<Execute>(
      queue, "cudnnBackendExecute",
      Execution{queue.device, &plan, static_cast<float>(scale), tensors, workspace});
}

}  // namespace firn::cuda
