// Replaces the sources that call oneDNN in programs that are to be small (tools/bundle): its
// kernels refuse all calls, which then go to Firn's own, and products of f32 are those of
// gemm_packed.h. The other products are never called, since their conditions are false. Eigen's are
// replaced in the same way: products of f64 are rare there, and Eigen's code is as long as that of
// convolutions.

#include "firn/device/status_macros.h"
#include "firn/tensor/kernels/cpu/conv_bytes.h"
#include "firn/tensor/kernels/cpu/conv_onednn.h"
#include "firn/tensor/kernels/cpu/gemm_eigen.h"
#include "firn/tensor/kernels/cpu/gemm_packed.h"
#include "firn/tensor/kernels/cpu/onednn_gemm.h"
#include "firn/tensor/kernels/cpu/onednn_matmul.h"

namespace firn::cpu {
namespace {

absl::Status Missing() { return Unimplemented("this program has no oneDNN"); }

}  // namespace

// --- onednn_gemm.h, onednn_matmul.h --------------------------------------------------------------

bool MultipliesBf16() { return false; }
bool MultipliesTiles() { return false; }
bool MultipliesBytes() { return false; }

void MultiplyOneDnn(const GemmShape& s, const float* a, const float* b, float* c, bool accumulate) {
  MultiplyPacked(s, a, b, c, accumulate);
}
void MultiplyOneDnn(const GemmShape&, const BFloat16*, const BFloat16*, float*, bool) {}
void MultiplyOneDnn(const GemmShape&, const uint8_t*, uint8_t, const int8_t*, int8_t, int32_t*) {}
void MultiplyOneDnn(const GemmShape&, const int8_t*, int8_t, const int8_t*, int8_t, int32_t*) {}

// gemm_eigen.h
void MultiplyEigen(const GemmShape& s, const double* a, const double* b, double* c,
                   bool accumulate) {
  MultiplyPacked(s, a, b, c, accumulate);
}

bool HasPrimitive(const GemmShape&) { return false; }
bool MultiplyPrimitive(const GemmShape&, const BFloat16*, const BFloat16*, BFloat16*, bool) {
  return false;
}

// --- conv_onednn.h -------------------------------------------------------------------------------

struct OneDnnConv {};

absl::StatusOr<std::shared_ptr<const OneDnnConv>> OneDnnConvFor(const ConvProblem&, ConvPass, DType,
                                                                bool, const ConvLayouts&) {
  return Missing();
}
ConvLayouts OneDnnConvLayouts(const OneDnnConv&) { return {}; }
bool OneDnnConvWithTiles(const OneDnnConv&) { return false; }
size_t OneDnnConvWorkspace(const OneDnnConv&) { return 0; }
bool OneDnnConvPacksWeight(const OneDnnConv&) { return false; }
size_t OneDnnConvWeightBytes(const OneDnnConv&) { return 0; }
int OneDnnConvThreads(const OneDnnConv&) { return 0; }
ConvPass OneDnnConvPass(const OneDnnConv&) { return ConvPass::kForward; }
absl::Status OneDnnConvPackWeight(const OneDnnConv&, const void*, void*) { return Missing(); }
absl::StatusOr<std::shared_ptr<const OneDnnConv>> OneDnnConvOfPacked(
    const std::shared_ptr<const OneDnnConv>&, int) {
  return Missing();
}
absl::Status OneDnnConvRun(const OneDnnConv&, void*, void*, void*, void*, void*) {
  return Missing();
}

// --- conv_bytes.h --------------------------------------------------------------------------------

struct ByteSums {
  ConvProblem problem;
};

absl::StatusOr<std::shared_ptr<const ByteSums>> MakeByteSums(const ConvProblem&, DType, int32_t) {
  return Missing();
}
std::shared_ptr<const ByteSums> ForThreadsNow(std::shared_ptr<const ByteSums> conv) { return conv; }
const ConvProblem& ByteSumsProblem(const ByteSums& conv) { return conv.problem; }
size_t PackedWeightBytes(const ByteSums&) { return 0; }
absl::Status PackWeights(const ByteSums&, const int8_t*, void*) { return Missing(); }
size_t ByteSumsWorkspace(const ByteSums&) { return 0; }
absl::Status RunByteSums(const ByteSums&, const void*, const void*, void*,
                         absl::FunctionRef<void(int64_t, int64_t, const int32_t*)>) {
  return Missing();
}

}  // namespace firn::cpu
