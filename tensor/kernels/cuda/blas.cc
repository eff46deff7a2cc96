// cuBLASLt's matrices are column-major, where a row-major matrix is its own transpose: C = A B is
// asked for as C^T = B^T A^T, without a copy. The choice of an algorithm is kept for each problem.
//
// One context a device: cuBLASLt's calls only queue work, so that threads share it under a lock.

#include "firn/tensor/kernels/cuda/blas.h"

#include <cublasLt.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <compare>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "absl/container/inlined_vector.h"
#include "firn/tensor/kernels/cuda/per_device.h"
#include "firn/tensor/kernels/cuda/workspace.h"
#include "firn/tensor/precision.h"

namespace firn::cuda {
namespace {

absl::Status BlasStatus(cublasStatus_t code, const char* call) {
  if (code == CUBLAS_STATUS_SUCCESS) return absl::OkStatus();
  return Internal(call, ": ", cublasLtGetStatusString(code));
}

// --- Problems ------------------------------------------------------------------------------------

struct Types {
  cudaDataType_t element;
  cublasComputeType_t compute;
  cudaDataType_t scale;
};

// The types that are multiplied and in which products are added up.
Types TypesOf(DType dtype, bool tf32) {
  switch (dtype) {
    case DType::kF64:
      return {CUDA_R_64F, CUBLAS_COMPUTE_64F, CUDA_R_64F};
    case DType::kF16:
      return {CUDA_R_16F, CUBLAS_COMPUTE_32F, CUDA_R_32F};
    case DType::kBF16:
      return {CUDA_R_16BF, CUBLAS_COMPUTE_32F, CUDA_R_32F};
    default:
      return {CUDA_R_32F, tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F, CUDA_R_32F};
  }
}

// A matrix in cuBLASLt's terms: the column-major one in memory, and whether it takes part in the
// product C^T = B^T A^T transposed.
struct Matrix {
  int64_t rows, cols, leading;
  bool transposed;
  auto operator<=>(const Matrix&) const = default;
};

// No value if it is dense in neither direction.
std::optional<Matrix> MatrixOf(int64_t rows, int64_t cols, MatrixStrides s) {
  if ((s.col == 1 || cols == 1) && (rows == 1 || s.row >= cols)) {
    return Matrix{cols, rows, rows == 1 ? cols : s.row, false};
  }
  if ((s.row == 1 || rows == 1) && (cols == 1 || s.col >= rows)) {
    return Matrix{rows, cols, cols == 1 ? rows : s.col, true};
  }
  return std::nullopt;
}

constexpr uint32_t kAlignment = 16;                  // bytes: no load or store is wider
constexpr size_t kMostWorkspace = size_t{32} << 20;  // what NVIDIA advises for its fastest devices

// The parts of a call of cuBLASLt on which the choice of its algorithm depends.
struct Problem {
  DType dtype;
  bool bias, tf32;
  int64_t m, n;  // of C
  Matrix a, b;
  int64_t batches, a_step, b_step, c_step;
  uint32_t a_alignment = kAlignment, b_alignment = kAlignment, c_alignment = kAlignment,
           bias_alignment = kAlignment;
  size_t workspace = kMostWorkspace;  // that an algorithm may use
  auto operator<=>(const Problem&) const = default;
};

// Alignments above kAlignment count as equal, so that the choice, and with it the rounding, does
// not depend on a tensor's address.
uint32_t AlignmentOf(const void* p) {
  const auto at = reinterpret_cast<uintptr_t>(p) | kAlignment;
  return static_cast<uint32_t>(at & (~at + 1));
}

// --- Plans ---------------------------------------------------------------------------------------

struct Plan {
  cublasLtMatmulDescOpaque_t product;
  cublasLtMatrixLayoutOpaque_t left, right, c;
  cublasLtMatmulAlgo_t algorithm;
  size_t workspace;  // bytes
};

absl::Status InitLayout(cudaDataType_t type, const Matrix& m, int64_t batches, int64_t step,
                        cublasLtMatrixLayout_t layout) {
  FIRN_RETURN_IF_ERROR(
      BlasStatus(cublasLtMatrixLayoutInit(layout, type, static_cast<uint64_t>(m.rows),
                                          static_cast<uint64_t>(m.cols), m.leading),
                 "cublasLtMatrixLayoutInit"));
  const auto set = [&](cublasLtMatrixLayoutAttribute_t attribute, const auto& value) {
    return BlasStatus(cublasLtMatrixLayoutSetAttribute(layout, attribute, &value, sizeof(value)),
                      "cublasLtMatrixLayoutSetAttribute");
  };
  FIRN_RETURN_IF_ERROR(set(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, static_cast<int32_t>(batches)));
  return set(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, step);
}

template <class T>
absl::Status SetProduct(cublasLtMatmulDesc_t product, cublasLtMatmulDescAttributes_t attribute,
                        const T& value) {
  return BlasStatus(cublasLtMatmulDescSetAttribute(product, attribute, &value, sizeof(value)),
                    "cublasLtMatmulDescSetAttribute");
}

absl::Status InitProduct(const Problem& p, const Types& types, const void* bias, Plan* plan) {
  const cublasLtMatmulDesc_t product = &plan->product;
  FIRN_RETURN_IF_ERROR(BlasStatus(cublasLtMatmulDescInit(product, types.compute, types.scale),
                                  "cublasLtMatmulDescInit"));
  const auto set = [&](cublasLtMatmulDescAttributes_t attribute, const auto& value) {
    return SetProduct(product, attribute, value);
  };
  const cublasOperation_t left = p.b.transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  const cublasOperation_t right = p.a.transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  FIRN_RETURN_IF_ERROR(set(CUBLASLT_MATMUL_DESC_TRANSA, left));
  FIRN_RETURN_IF_ERROR(set(CUBLASLT_MATMUL_DESC_TRANSB, right));
  if (!p.bias) return absl::OkStatus();
  // A number for each of cuBLASLt's rows, which are Firn's columns.
  FIRN_RETURN_IF_ERROR(set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS));
  FIRN_RETURN_IF_ERROR(set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, types.element));
  return set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
}

absl::Status ChooseAlgorithm(cublasLtHandle_t handle, const Problem& p, Plan* plan) {
  cublasLtMatmulPreferenceOpaque_t preference;
  FIRN_RETURN_IF_ERROR(
      BlasStatus(cublasLtMatmulPreferenceInit(&preference), "cublasLtMatmulPreferenceInit"));
  const auto set = [&](cublasLtMatmulPreferenceAttributes_t attribute, const auto& value) {
    return BlasStatus(
        cublasLtMatmulPreferenceSetAttribute(&preference, attribute, &value, sizeof(value)),
        "cublasLtMatmulPreferenceSetAttribute");
  };
  FIRN_RETURN_IF_ERROR(
      set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, static_cast<uint64_t>(p.workspace)));
  // Sums that are split up are put together in float, not in a half type.
  FIRN_RETURN_IF_ERROR(set(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
                           static_cast<uint32_t>(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE)));
  FIRN_RETURN_IF_ERROR(set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, p.b_alignment));
  FIRN_RETURN_IF_ERROR(set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, p.a_alignment));
  FIRN_RETURN_IF_ERROR(set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, p.c_alignment));
  const uint32_t result = std::min(p.c_alignment, p.bias_alignment);
  FIRN_RETURN_IF_ERROR(set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, result));

  cublasLtMatmulHeuristicResult_t best = {};
  int found = 0;
  FIRN_RETURN_IF_ERROR(
      BlasStatus(cublasLtMatmulAlgoGetHeuristic(handle, &plan->product, &plan->left, &plan->right,
                                                &plan->c, &plan->c, &preference, 1, &best, &found),
                 "cublasLtMatmulAlgoGetHeuristic"));
  FIRN_RETURN_IF(found == 0, Internal("cublasLtMatmulAlgoGetHeuristic: nothing found"));
  FIRN_RETURN_IF_ERROR(BlasStatus(best.state, "cublasLtMatmulAlgoGetHeuristic"));
  plan->algorithm = best.algo;
  plan->workspace = best.workspaceSize;
  return absl::OkStatus();
}

absl::StatusOr<Plan> MakePlan(cublasLtHandle_t handle, const Problem& p, const void* bias) {
  const Types types = TypesOf(p.dtype, p.tf32);
  Plan plan;
  FIRN_RETURN_IF_ERROR(InitProduct(p, types, bias, &plan));
  FIRN_RETURN_IF_ERROR(InitLayout(types.element, p.b, p.batches, p.b_step, &plan.left));
  FIRN_RETURN_IF_ERROR(InitLayout(types.element, p.a, p.batches, p.a_step, &plan.right));
  FIRN_RETURN_IF_ERROR(
      InitLayout(types.element, {p.n, p.m, p.n, false}, p.batches, p.c_step, &plan.c));
  FIRN_RETURN_IF_ERROR(ChooseAlgorithm(handle, p, &plan));
  return plan;
}

struct Context {
  std::mutex mutex;
  cublasLtHandle_t handle = nullptr;
  std::map<Problem, Plan> plans;
  std::map<Problem, size_t> workspaces;  // bytes, by the usual problem in strict f32
};
constexpr size_t kMaxPlans = 4096;  // more come from sizes that change all the time

absl::StatusOr<Context*> ContextOf(Device device) {
  static auto* const contexts = new PerDevice<Context>;  // never destroyed, as the contexts
  return contexts->Get(device, [](Context& context) {
    return BlasStatus(cublasLtCreate(&context.handle), "cublasLtCreate");
  });
}

// The plan of a problem, made at first use. The plan gets a bias with the problem's alignment,
// which each call replaces: without a bias, cuBLASLt proposes nothing. Requires: the context's
// lock.
absl::StatusOr<Plan*> PlanFor(Context& context, const Problem& p) {
  auto it = context.plans.find(p);
  if (it != context.plans.end()) return &it->second;
  const auto* const some_bias = reinterpret_cast<const void*>(uintptr_t{p.bias_alignment});
  FIRN_ASSIGN_OR_RETURN(const Plan plan, MakePlan(context.handle, p, some_bias));
  if (context.plans.size() >= kMaxPlans) context.plans.clear();
  return &context.plans.emplace(p, plan).first->second;
}

// --- Calls ---------------------------------------------------------------------------------------

struct Operands {
  const char *a, *b, *bias;
  char* c;
};

struct Multiplication {
  Device device;
  Problem problem;  // with the usual alignments
  int64_t usual_batches;
  Operands operands;
  void* workspace;  // of the size that the usual problem's plan wants
};

absl::Status Multiply(const Multiplication& m, void* stream) {
  FIRN_ASSIGN_OR_RETURN(Context* const found,
                        ContextOf(m.device));  // also makes it the current one
  Context& context = *found;
  const Operands& x = m.operands;
  Problem usual = m.problem, p = m.problem;
  usual.batches = m.usual_batches;
  p.a_alignment = AlignmentOf(x.a);
  p.b_alignment = AlignmentOf(x.b);
  p.c_alignment = AlignmentOf(x.c);
  p.bias_alignment = AlignmentOf(x.bias);
  std::lock_guard lock(context.mutex);
  if (p != usual) {  // another plan, in the memory of the usual one
    FIRN_ASSIGN_OR_RETURN(Plan* const plan, PlanFor(context, usual));
    p.workspace = plan->workspace;
  }
  FIRN_ASSIGN_OR_RETURN(Plan* const found_plan, PlanFor(context, p));
  Plan& plan = *found_plan;
  if (p.bias) {
    FIRN_RETURN_IF_ERROR(SetProduct(&plan.product, CUBLASLT_MATMUL_DESC_BIAS_POINTER, x.bias));
  }
  const double one64 = 1, zero64 = 0;
  const float one32 = 1, zero32 = 0;
  const bool wide = p.dtype == DType::kF64;
  return BlasStatus(
      cublasLtMatmul(context.handle, &plan.product,
                     wide ? static_cast<const void*>(&one64) : &one32, x.b, &plan.left, x.a,
                     &plan.right, wide ? static_cast<const void*>(&zero64) : &zero32, x.c, &plan.c,
                     x.c, &plan.c, &plan.algorithm, m.workspace, plan.workspace,
                     static_cast<cudaStream_t>(stream)),
      "cublasLtMatmul");
}

// A loop over products: how many, and how many elements apart.
struct BatchLoop {
  int64_t size, a, b, c;
};

// The loops of a batch, as few as its strides allow, the longest one last: cuBLASLt does that one.
absl::InlinedVector<BatchLoop, kMaxRank> LoopsOf(const MatmulPlan& p) {
  absl::InlinedVector<BatchLoop, kMaxRank> loops;
  int64_t c = p.one.m * p.one.n;
  for (int d = p.batch.rank - 1; d >= 0; --d) {
    const BatchLoop next = {p.batch[d], p.a_batch[d], p.b_batch[d], c};
    c *= next.size;
    if (!loops.empty()) {
      BatchLoop& inner = loops.back();
      if (next.a == inner.a * inner.size && next.b == inner.b * inner.size) {
        inner.size *= next.size;
        continue;
      }
    }
    loops.push_back(next);
  }
  if (loops.empty()) loops.push_back({1, 0, 0, 0});
  const auto longest =
      std::max_element(loops.begin(), loops.end(),
                       [](const BatchLoop& x, const BatchLoop& y) { return x.size < y.size; });
  std::swap(*longest, loops.back());
  return loops;
}

constexpr int64_t kMaxBatch = 32768;  // products in one call

// One call for as many products of `inner` as fit.
Problem UsualProblem(DType dtype, const MatmulPlan& plan, const BatchLoop& inner, bool bias,
                     bool tf32) {
  const GemmShape& g = plan.one;
  return {.dtype = dtype,
          .bias = bias,
          .tf32 = tf32,
          .m = g.m,
          .n = g.n,
          .a = *MatrixOf(g.m, g.k, g.a),  // BlasTakes has checked them
          .b = *MatrixOf(g.k, g.n, g.b),
          .batches = std::min(inner.size, kMaxBatch),
          .a_step = inner.a,
          .b_step = inner.b,
          .c_step = inner.c};
}

// For plans with and without TF32, since a graph runs with what is allowed then. Where cuBLASLt
// proposes nothing, the run gives the error; the size leaves room for any plan that it may propose
// then.
size_t WorkspaceFor(Context& context, const Problem& strict) {
  const std::lock_guard lock(context.mutex);
  if (const auto it = context.workspaces.find(strict); it != context.workspaces.end()) {
    return it->second;
  }
  size_t bytes = 0;
  for (const bool tf32 : {false, true}) {
    if (tf32 && strict.dtype != DType::kF32) continue;
    Problem p = strict;
    p.tf32 = tf32;
    const absl::StatusOr<Plan*> plan = PlanFor(context, p);
    bytes = std::max(bytes, plan.ok() ? (*plan)->workspace : kMostWorkspace);
  }
  if (context.workspaces.size() >= kMaxPlans) context.workspaces.clear();
  return context.workspaces.emplace(strict, bytes).first->second;
}

}  // namespace

absl::Status BlasTakes(DType dtype, const MatmulPlan& plan) {
  const GemmShape& g = plan.one;
  FIRN_RETURN_IF(!IsFloating(dtype), Unimplemented("takes no ", DTypeName(dtype)));
  FIRN_RETURN_IF(g.m == 0 || g.n == 0 || g.k == 0, Unimplemented("takes no empty matrices"));
  FIRN_RETURN_IF(std::max({g.m, g.n, g.k}) > INT32_MAX, Unimplemented("takes 32-bit sizes"));
  FIRN_RETURN_IF(!MatrixOf(g.m, g.k, g.a) || !MatrixOf(g.k, g.n, g.b),
                 Unimplemented("wants a matrix whose rows or columns are dense"));
  return absl::OkStatus();
}

size_t BlasWorkspace(const TensorSpec& out, const MatmulPlan& plan, bool bias) {
  const absl::StatusOr<Context*> context = ContextOf(out.device);
  if (!context.ok()) return 0;  // the run gives the error
  const Problem strict = UsualProblem(out.dtype, plan, LoopsOf(plan).back(), bias, false);
  const size_t bytes = WorkspaceFor(**context, strict);
  return bytes == 0 ? 0 : bytes + kWorkspaceAlignment;
}

absl::Status BlasMultiply(const KernelContext& k, const MatmulPlan& plan, const void* bias) {
  const DType dtype = k.out_spec().dtype;
  const int64_t size = SizeOf(dtype);
  const absl::InlinedVector<BatchLoop, kMaxRank> loops = LoopsOf(plan);
  const BatchLoop inner = loops.back();
  const bool tf32 = dtype == DType::kF32 && MatmulMath() == F32Math::kTf32;
  Problem p = UsualProblem(dtype, plan, inner, bias != nullptr, tf32);
  const int64_t usual_batches = p.batches;
  for (int64_t done = 0; done < plan.batches; done += p.batches) {
    // `done` products, counted through the outer loops first and then through the inner one.
    int64_t rest = done / inner.size, i = done % inner.size;
    p.batches = std::min(inner.size - i, kMaxBatch);
    int64_t at_a = i * inner.a, at_b = i * inner.b, at_c = i * inner.c;
    for (size_t l = 0; l + 1 < loops.size(); ++l) {
      const int64_t at = rest % loops[l].size;
      rest /= loops[l].size;
      at_a += at * loops[l].a;
      at_b += at * loops[l].b;
      at_c += at * loops[l].c;
    }
    const Operands x = {k.in<char>(0) + at_a * size, k.in<char>(1) + at_b * size,
                        static_cast<const char*>(bias), k.out<char>() + at_c * size};
    FIRN_RETURN_IF_ERROR(Call<Multiply>(
        k, "cublasLtMatmul",
        Multiplication{k.out_spec().device, p, usual_batches, x, AlignedWorkspace(k)}));
  }
  return absl::OkStatus();
}

}  // namespace firn::cuda
