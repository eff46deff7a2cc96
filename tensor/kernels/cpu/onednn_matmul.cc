#include "firn/tensor/kernels/cpu/onednn_matmul.h"

#include <array>
#include <string>
#include <unordered_map>

#include "absl/container/flat_hash_map.h"
#include "firn/tensor/kernels/cpu/onednn_describe.h"
#include "firn/tensor/kernels/cpu/onednn_gemm.h"
#include "firn/tensor/kernels/cpu/onednn_thread.h"

namespace firn::cpu {
namespace {

using dnnl::memory;

// Everything a primitive depends on.
using Key = std::array<int64_t, 9>;

struct Product {
  dnnl::matmul primitive;  // none: oneDNN does not multiply this by AMX
  // The library's objects are made once, since making them takes as long as a product of 64 x 64 x
  // 64. Each call sets their data.
  memory a, b, c;
  std::unordered_map<int, memory> args;
};

struct Products {
  absl::flat_hash_map<Key, Product> made;
  dnnl::stream stream{OneDnnEngine()};
};

// oneDNN 2.6.3 uses AMX only for matrices without gaps.
bool IsDense(const MatrixStrides& s, int64_t rows, int64_t cols) {
  return s.col == 1 ? s.row == cols : s.col == rows;
}

// Times of one Sapphire Rapids core against those of oneDNN's function, which leaves C in f32, of
// 2.6.3. nn: as they lie row-major; nt, tn: the second or first one lies by columns.
//   m     n     k        nn    nt    tn          m     n     k        nn    nt    tn
//   64    1024  1024     0.73  0.83  0.85        8192  1024  64       0.22  0.21  0.23
//   512   1024  1024     0.80  0.65  1.08        4096  4096  64       0.36  0.33  0.36
//   1024  1024  1024     0.55  0.67  1.15        512   512   64       0.43  0.42  0.49
//   2048  2048  512      0.83  0.75  1.22        256   256   256      0.70  0.69  0.87
//   2048  2048  2048     1.32  0.96  1.72        1024  16    1024     0.62  0.56  1.84
//   2048  512   2048     1.22  1.00  1.67        16    4096  1024     0.70  0.77  0.71
//   256   1024  4096     1.23  1.09  1.04        1     1024  1024     2.9   2.9   2.9
bool IsFast(const GemmShape& s) {
  constexpr double kLeastFlops = 1e6;  // worth a look-up
  if (!MultipliesTiles() || s.flops() < kLeastFlops || s.m < 8 || s.n < 8) return false;
  const int64_t longest = s.a.col == 1 ? 1024 : 256;
  return s.k <= longest || s.m < 256;
}

Product Make(const GemmShape& s, bool accumulate) {
  constexpr auto kType = memory::data_type::bf16;
  const memory::desc a = {{s.m, s.k}, kType, memory::dims{s.a.row, s.a.col}};
  const memory::desc b = {{s.k, s.n}, kType, memory::dims{s.b.row, s.b.col}};
  const memory::desc c = {{s.m, s.n}, kType, memory::dims{s.c_row, 1}};
  Product p;
  dnnl::primitive_attr attr;
  if (accumulate) {
    dnnl::post_ops ops;
    ops.append_sum(1);
    attr.set_post_ops(ops);
  }
  const auto desc = DescribePrimitive<dnnl::matmul>(attr, a, b, c);
  if (std::string(desc.impl_info_str()).find("amx") == std::string::npos) return p;
  p.a = memory(a, OneDnnEngine(), nullptr);
  p.b = memory(b, OneDnnEngine(), nullptr);
  p.c = memory(c, OneDnnEngine(), nullptr);
  p.args = {{DNNL_ARG_SRC, p.a}, {DNNL_ARG_WEIGHTS, p.b}, {DNNL_ARG_DST, p.c}};
  p.primitive = dnnl::matmul(desc);
  return p;
}

}  // namespace

bool HasPrimitive(const GemmShape& s) {
  return IsFast(s) && IsDense(s.a, s.m, s.k) && IsDense(s.b, s.k, s.n) && s.c_row == s.n;
}

bool MultiplyPrimitive(const GemmShape& s, const BFloat16* a, const BFloat16* b, BFloat16* c,
                       bool accumulate) {
  if (!HasPrimitive(s)) return false;
  const OmpThreads one(1);
  try {
    Products& mine = OfThread<Products>();
    if (mine.made.size() > 512) mine.made.clear();  // a program that never repeats a shape
    const Key key = {s.m, s.n, s.k, s.a.row, s.a.col, s.b.row, s.b.col, s.c_row, accumulate};
    auto found = mine.made.find(key);
    if (found == mine.made.end()) found = mine.made.emplace(key, Make(s, accumulate)).first;
    const Product& p = found->second;
    if (!p.primitive) return false;
    p.a.set_data_handle(const_cast<BFloat16*>(a));
    p.b.set_data_handle(const_cast<BFloat16*>(b));
    p.c.set_data_handle(c);
    p.primitive.execute(mine.stream, p.args);
    return true;
  } catch (const dnnl::error&) {  // before C is touched: no such primitive, or no memory for one
    return false;
  }
}

}  // namespace firn::cpu
