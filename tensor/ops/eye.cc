// eye: composed of two counters that are compared.

#include "tensor/ops/eye.h"

#include "tensor/ops/arange.h"
#include "tensor/ops/cast.h"
#include "tensor/ops/eq.h"
#include "tensor/ops/unsqueeze.h"

namespace firn {

Tensor Eye(int64_t n, int64_t m, int64_t offset, DType dtype, Device device) {
  const ArangeOptions options{.device = device};
  const Tensor rows = Arange(offset, offset + n, 1, options),
               columns = Arange(int64_t{0}, m, 1, options);
  return Cast(Eq(Unsqueeze(rows, 1), columns), dtype);
}

}  // namespace firn
