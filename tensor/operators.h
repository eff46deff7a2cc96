#ifndef FIRN_TENSOR_OPERATORS_H_
#define FIRN_TENSOR_OPERATORS_H_

// Arithmetic and comparison operators on tensors, element by element with broadcasting. Either
// operand may be a number: `2 * x - 1`, `x > 0`. && and || are not overloaded, because they would
// evaluate both sides: use LogicalAnd and LogicalOr. To compare whole tensors, Tensor::Equals.

#include "tensor/ops/compare/compare.h"
#include "tensor/ops/compare/logical.h"
#include "tensor/ops/elementwise/arithmetic.h"
#include "tensor/ops/elementwise/sign.h"
#include "tensor/tensor.h"

namespace firn {

inline Tensor operator+(const Tensor& x, const Tensor& y) { return Add(x, y); }
inline Tensor operator-(const Tensor& x, const Tensor& y) { return Sub(x, y); }
inline Tensor operator*(const Tensor& x, const Tensor& y) { return Mul(x, y); }
inline Tensor operator/(const Tensor& x, const Tensor& y) { return Div(x, y); }
inline Tensor operator-(const Tensor& x) { return Neg(x); }

inline Tensor operator==(const Tensor& x, const Tensor& y) { return Eq(x, y); }
inline Tensor operator!=(const Tensor& x, const Tensor& y) { return Ne(x, y); }
inline Tensor operator<(const Tensor& x, const Tensor& y) { return Lt(x, y); }
inline Tensor operator<=(const Tensor& x, const Tensor& y) { return Le(x, y); }
inline Tensor operator>(const Tensor& x, const Tensor& y) { return Gt(x, y); }
inline Tensor operator>=(const Tensor& x, const Tensor& y) { return Ge(x, y); }
inline Tensor operator!(const Tensor& x) { return LogicalNot(x); }

}  // namespace firn

#endif  // FIRN_TENSOR_OPERATORS_H_
