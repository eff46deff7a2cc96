#ifndef FIRN_TENSOR_OPERATORS_H_
#define FIRN_TENSOR_OPERATORS_H_

// Operators on tensors, element by element with broadcasting. Either operand may be a number:
// `2 * x - 1`, `x > 0`. && and || are not overloaded, because they would evaluate both sides: for
// bool tensors & | ^ ~ are and, or, exclusive or and not: `(x > 0) & (x < 1)`, where C++ needs the
// parentheses. To compare whole tensors, Tensor::Equals.

#include "firn/tensor/ops/compare/compare.h"
#include "firn/tensor/ops/compare/logical.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/bits.h"
#include "firn/tensor/ops/elementwise/modulo.h"
#include "firn/tensor/ops/elementwise/sign.h"
#include "firn/tensor/tensor.h"

namespace firn {

inline Tensor operator+(const Tensor& x, const Tensor& y) { return Add(x, y); }
inline Tensor operator-(const Tensor& x, const Tensor& y) { return Sub(x, y); }
inline Tensor operator*(const Tensor& x, const Tensor& y) { return Mul(x, y); }
inline Tensor operator/(const Tensor& x, const Tensor& y) { return Div(x, y); }
inline Tensor operator-(const Tensor& x) { return Neg(x); }
// Like Python's: the result has the sign of y. C's is Fmod.
inline Tensor operator%(const Tensor& x, const Tensor& y) { return Remainder(x, y); }

inline Tensor operator==(const Tensor& x, const Tensor& y) { return Eq(x, y); }
inline Tensor operator!=(const Tensor& x, const Tensor& y) { return Ne(x, y); }
inline Tensor operator<(const Tensor& x, const Tensor& y) { return Lt(x, y); }
inline Tensor operator<=(const Tensor& x, const Tensor& y) { return Le(x, y); }
inline Tensor operator>(const Tensor& x, const Tensor& y) { return Gt(x, y); }
inline Tensor operator>=(const Tensor& x, const Tensor& y) { return Ge(x, y); }
inline Tensor operator!(const Tensor& x) { return LogicalNot(x); }

inline Tensor operator&(const Tensor& x, const Tensor& y) { return BitwiseAnd(x, y); }
inline Tensor operator|(const Tensor& x, const Tensor& y) { return BitwiseOr(x, y); }
inline Tensor operator^(const Tensor& x, const Tensor& y) { return BitwiseXor(x, y); }
inline Tensor operator~(const Tensor& x) { return BitwiseNot(x); }
inline Tensor operator<<(const Tensor& x, const Tensor& y) { return BitwiseLeftShift(x, y); }
inline Tensor operator>>(const Tensor& x, const Tensor& y) { return BitwiseRightShift(x, y); }

}  // namespace firn

#endif  // FIRN_TENSOR_OPERATORS_H_
