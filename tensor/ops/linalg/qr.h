#ifndef FIRN_TENSOR_OPS_LINALG_QR_H_
#define FIRN_TENSOR_OPS_LINALG_QR_H_

#include <cstdint>

#include "firn/device/enum_words.h"
#include "firn/tensor/tensor.h"

namespace firn {

// The sizes of Qr's factors, for matrices of m rows and n columns and k = min(m, n).
enum class QrMode : uint8_t {
  kReduced,   // q [m, k], r [k, n]
  kComplete,  // q [m, m], r [m, n]
  kR,         // only r [k, n]; q has the shape [0]
};

constexpr auto WordsOf(QrMode) {
  return inner::EnumWords<QrMode>(
      {{QrMode::kReduced, "reduced"}, {QrMode::kComplete, "complete"}, {QrMode::kR, "r"}});
}

namespace inner {
struct QrAttrs {
  QrMode mode = QrMode::kReduced;
  template <class V>
  void Visit(V& v) {
    v.Field("mode", mode);
  }
};
}  // namespace inner

struct QrResult {
  Tensor q, r;
};

// A = Q R with orthonormal columns in Q and zeros below R's diagonal, like torch.linalg.qr.
//   a: [..., m, n]      q, r: see QrMode, with a's leading dimensions
// f32 and f64. Signs are LAPACK's: those of reflectors that avoid cancellation. The gradient needs
// linearly independent columns (of the first m, where there are more), and throws for kR, and for
// kComplete where m > n, because the further columns of q are arbitrary.
QrResult Qr(const Tensor& a, QrMode mode = QrMode::kReduced);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_LINALG_QR_H_
