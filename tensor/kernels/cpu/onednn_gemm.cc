// dnnl_sgemm, and its like for bf16, which oneDNN exports without mentioning it in a header (its
// own tests declare it as is done here). Neither needs a primitive, so that shapes cost nothing the
// first time they come. The reference is weak (in the linker's sense): with a library that no
// longer has this product, bf16 is multiplied in f32. Bytes have products in the headers, with zero
// points.

#include "firn/tensor/kernels/cpu/onednn_gemm.h"

#include <dnnl.h>

#include <algorithm>

#include "firn/device/check.h"
#include "firn/tensor/kernels/cpu/onednn_thread.h"

extern "C" __attribute__((weak)) dnnl_status_t dnnl_gemm_bf16bf16f32(
    char transpose_a, char transpose_b, dnnl_dim_t m, dnnl_dim_t n, dnnl_dim_t k, float alpha,
    const uint16_t* a, dnnl_dim_t lda, const uint16_t* b, dnnl_dim_t ldb, float beta, float* c,
    dnnl_dim_t ldc);

namespace firn::cpu {
namespace {

// Whether oneDNN uses all of these instructions, each a bit.
bool Has(unsigned isa) {
  return (static_cast<unsigned>(dnnl_get_effective_cpu_isa()) & isa) == isa;
}

template <class T>
void Multiply(dnnl_status_t (*gemm)(char, char, dnnl_dim_t, dnnl_dim_t, dnnl_dim_t, float, const T*,
                                    dnnl_dim_t, const T*, dnnl_dim_t, float, float*, dnnl_dim_t),
              const GemmShape& s, const T* a, const T* b, float* c, bool accumulate) {
  const bool ta = s.a.col != 1, tb = s.b.col != 1;
  const int64_t lda = std::max<int64_t>(ta ? s.a.col : s.a.row, 1);
  const int64_t ldb = std::max<int64_t>(tb ? s.b.col : s.b.row, 1);
  const OmpThreads one(1);  // oneDNN would take all
  const dnnl_status_t status = gemm(ta ? 'T' : 'N', tb ? 'T' : 'N', s.m, s.n, s.k, 1, a, lda, b,
                                    ldb, accumulate ? 1.f : 0.f, c, s.c_row);
  FIRN_CHECK(status == dnnl_success, "oneDNN refuses a product: status ", static_cast<int>(status));
}

template <class A>
void MultiplyBytes(dnnl_status_t (*gemm)(char, char, char, dnnl_dim_t, dnnl_dim_t, dnnl_dim_t,
                                         float, const A*, dnnl_dim_t, A, const int8_t*, dnnl_dim_t,
                                         int8_t, float, int32_t*, dnnl_dim_t, const int32_t*),
                   const GemmShape& s, const A* a, A a_zero, const int8_t* b, int8_t b_zero,
                   int32_t* c) {
  const bool ta = s.a.col != 1, tb = s.b.col != 1;
  // A single row may have any step; oneDNN wants the step to be at least the row's length.
  const int64_t lda = std::max(ta ? s.a.col : s.a.row, ta ? s.m : s.k);
  const int64_t ldb = std::max(tb ? s.b.col : s.b.row, tb ? s.k : s.n);
  const int32_t none = 0;
  const OmpThreads one(1);
  const dnnl_status_t status = gemm(ta ? 'T' : 'N', tb ? 'T' : 'N', 'F', s.m, s.n, s.k, 1, a, lda,
                                    a_zero, b, ldb, b_zero, 0, c, s.c_row, &none);
  FIRN_CHECK(status == dnnl_success, "oneDNN refuses a product: status ", static_cast<int>(status));
}

}  // namespace

bool MultipliesBf16() {
  static const bool does = Has(dnnl_cpu_isa_avx512_core_bf16) && dnnl_gemm_bf16bf16f32 != nullptr;
  return does;
}

bool MultipliesTiles() {
  static const bool does = MultipliesBf16() && Has(dnnl_cpu_isa_avx512_core_amx);
  return does;
}

void MultiplyOneDnn(const GemmShape& s, const float* a, const float* b, float* c, bool accumulate) {
  Multiply<float>(dnnl_sgemm, s, a, b, c, accumulate);
}

void MultiplyOneDnn(const GemmShape& s, const BFloat16* a, const BFloat16* b, float* c,
                    bool accumulate) {
  Multiply<uint16_t>(dnnl_gemm_bf16bf16f32, s, reinterpret_cast<const uint16_t*>(a),
                     reinterpret_cast<const uint16_t*>(b), c, accumulate);
}

bool MultipliesBytes() {
  static const bool does = Has(dnnl_cpu_isa_avx512_core_vnni);
  return does;
}

void MultiplyOneDnn(const GemmShape& s, const uint8_t* a, uint8_t a_zero, const int8_t* b,
                    int8_t b_zero, int32_t* c) {
  MultiplyBytes(dnnl_gemm_u8s8s32, s, a, a_zero, b, b_zero, c);
}
void MultiplyOneDnn(const GemmShape& s, const int8_t* a, int8_t a_zero, const int8_t* b,
                    int8_t b_zero, int32_t* c) {
  MultiplyBytes(dnnl_gemm_s8s8s32, s, a, a_zero, b, b_zero, c);
}

}  // namespace firn::cpu
