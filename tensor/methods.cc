// Tensor's methods that exist as functions, too: each calls the function of its name.

#include "firn/tensor/ops/activation/rectifiers.h"
#include "firn/tensor/ops/activation/shrink.h"
#include "firn/tensor/ops/activation/sigmoids.h"
#include "firn/tensor/ops/activation/softmax.h"
#include "firn/tensor/ops/compare/classify.h"
#include "firn/tensor/ops/compare/logical.h"
#include "firn/tensor/ops/elementwise/bits.h"
#include "firn/tensor/ops/elementwise/choose.h"
#include "firn/tensor/ops/elementwise/exponential.h"
#include "firn/tensor/ops/elementwise/extremes.h"
#include "firn/tensor/ops/elementwise/modulo.h"
#include "firn/tensor/ops/elementwise/polygamma.h"
#include "firn/tensor/ops/elementwise/power.h"
#include "firn/tensor/ops/elementwise/rounding.h"
#include "firn/tensor/ops/elementwise/sign.h"
#include "firn/tensor/ops/elementwise/special.h"
#include "firn/tensor/ops/elementwise/trigonometry.h"
#include "firn/tensor/ops/index/advanced.h"
#include "firn/tensor/ops/index/gather.h"
#include "firn/tensor/ops/index/masks.h"
#include "firn/tensor/ops/index/select.h"
#include "firn/tensor/ops/linear/matmul.h"
#include "firn/tensor/ops/random/draws.h"
#include "firn/tensor/ops/random/sampling.h"
#include "firn/tensor/ops/reduce/extreme.h"
#include "firn/tensor/ops/reduce/logsumexp.h"
#include "firn/tensor/ops/reduce/moments.h"
#include "firn/tensor/ops/reduce/norm.h"
#include "firn/tensor/ops/reduce/position.h"
#include "firn/tensor/ops/reduce/product.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/reduce/truth.h"
#include "firn/tensor/ops/scan/cumulative.h"
#include "firn/tensor/ops/scan/sort.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/copies.h"
#include "firn/tensor/ops/shape/expand.h"
#include "firn/tensor/ops/shape/permute.h"
#include "firn/tensor/ops/shape/slices.h"
#include "firn/tensor/ops/shape/split.h"
#include "firn/tensor/ops/shape/views.h"
#include "firn/tensor/tensor.h"

namespace firn {

Tensor Tensor::To(DType dtype) const { return Cast(*this, dtype); }
Tensor Tensor::To(Device device) const { return ToDevice(*this, device); }
Tensor Tensor::Contiguous() const { return firn::Contiguous(*this); }
Tensor Tensor::Clone() const { return firn::Clone(*this); }
Tensor Tensor::Reshape(const Shape& shape) const { return firn::Reshape(*this, shape); }
Tensor Tensor::Reshape(std::initializer_list<int64_t> shape) const {
  return firn::Reshape(*this, shape);
}
Tensor Tensor::View(const Shape& shape) const { return firn::View(*this, shape); }
Tensor Tensor::Flatten(inner::Integer start_dim, inner::Integer end_dim) const {
  return firn::Flatten(*this, start_dim, end_dim);
}
Tensor Tensor::Squeeze(const DimList& dims) const { return firn::Squeeze(*this, dims); }
Tensor Tensor::Unsqueeze(inner::Integer dim) const { return firn::Unsqueeze(*this, dim); }
Tensor Tensor::Transpose(inner::Integer dim0, inner::Integer dim1) const {
  return firn::Transpose(*this, dim0, dim1);
}
Tensor Tensor::T() const { return firn::Transpose(*this, -2, -1); }
Tensor Tensor::Permute(const DimList& dims) const { return firn::Permute(*this, dims); }
Tensor Tensor::Movedim(const DimList& source, const DimList& destination) const {
  return firn::Movedim(*this, source, destination);
}
Tensor Tensor::Flip(const DimList& dims) const { return firn::Flip(*this, dims); }
Tensor Tensor::Expand(const Shape& shape) const { return firn::Expand(*this, shape); }
Tensor Tensor::Expand(std::initializer_list<int64_t> shape) const {
  return firn::Expand(*this, shape);
}
Tensor Tensor::Tile(const std::vector<int64_t>& repeats) const {
  return firn::Tile(*this, repeats);
}
std::vector<Tensor> Tensor::Split(inner::Integer size, inner::Integer dim) const {
  return firn::Split(*this, size, dim);
}
std::vector<Tensor> Tensor::Split(std::initializer_list<int64_t> sizes, inner::Integer dim) const {
  return Split(std::vector<int64_t>(sizes), dim);
}
std::vector<Tensor> Tensor::Split(const std::vector<int64_t>& sizes, inner::Integer dim) const {
  return firn::Split(*this, sizes, dim);
}
std::vector<Tensor> Tensor::Chunk(inner::Integer n, inner::Integer dim) const {
  return firn::Chunk(*this, n, dim);
}
std::vector<Tensor> Tensor::Unbind(inner::Integer dim) const { return firn::Unbind(*this, dim); }

Tensor Tensor::Select(inner::Integer dim, inner::Integer index) const {
  return firn::Select(*this, dim, index);
}
Tensor Tensor::IndexSelect(inner::Integer dim, const Tensor& indices) const {
  return firn::IndexSelect(*this, dim, indices);
}
Tensor Tensor::IndexAdd(inner::Integer dim, const Tensor& indices, const Tensor& source,
                        inner::Number alpha) const {
  return firn::IndexAdd(*this, dim, indices, source, alpha);
}
Tensor Tensor::IndexPut(const std::vector<Tensor>& indices, const Tensor& values,
                        inner::Flag accumulate) const {
  return firn::IndexPut(*this, indices, values, accumulate);
}
Tensor Tensor::Gather(inner::Integer dim, const Tensor& indices) const {
  return firn::Gather(*this, dim, indices);
}
Tensor Tensor::ScatterAdd(inner::Integer dim, const Tensor& indices, const Tensor& source) const {
  return firn::ScatterAdd(*this, dim, indices, source);
}
Tensor Tensor::SliceScatter(const Tensor& source, inner::Integer dim, inner::Integer start,
                            inner::Integer end, inner::Integer step) const {
  return firn::SliceScatter(*this, source, dim, start, end, step);
}
Tensor Tensor::MaskedSelect(const Tensor& mask) const { return firn::MaskedSelect(*this, mask); }
Tensor Tensor::MaskedFill(const Tensor& mask, const Tensor& value) const {
  return firn::MaskedFill(*this, mask, value);
}
Tensor Tensor::Where(const Tensor& condition, const Tensor& other) const {
  return firn::Where(condition, *this, other);
}
Tensor Tensor::Nonzero() const { return firn::Nonzero(*this); }

Tensor Tensor::Abs() const { return firn::Abs(*this); }
Tensor Tensor::Neg() const { return firn::Neg(*this); }
Tensor Tensor::Sign() const { return firn::Sign(*this); }
Tensor Tensor::Exp() const { return firn::Exp(*this); }
Tensor Tensor::Expm1() const { return firn::Expm1(*this); }
Tensor Tensor::Log() const { return firn::Log(*this); }
Tensor Tensor::Log1p() const { return firn::Log1p(*this); }
Tensor Tensor::Log2() const { return firn::Log2(*this); }
Tensor Tensor::Log10() const { return firn::Log10(*this); }
Tensor Tensor::Logaddexp(const Tensor& other) const { return firn::Logaddexp(*this, other); }
Tensor Tensor::Sqrt() const { return firn::Sqrt(*this); }
Tensor Tensor::Rsqrt() const { return firn::Rsqrt(*this); }
Tensor Tensor::Square() const { return firn::Square(*this); }
Tensor Tensor::Reciprocal() const { return firn::Reciprocal(*this); }
Tensor Tensor::Pow(const Tensor& exponent) const { return firn::Pow(*this, exponent); }
Tensor Tensor::Sin() const { return firn::Sin(*this); }
Tensor Tensor::Cos() const { return firn::Cos(*this); }
Tensor Tensor::Tan() const { return firn::Tan(*this); }
Tensor Tensor::Asin() const { return firn::Asin(*this); }
Tensor Tensor::Acos() const { return firn::Acos(*this); }
Tensor Tensor::Atan() const { return firn::Atan(*this); }
Tensor Tensor::Atan2(const Tensor& x) const { return firn::Atan2(*this, x); }
Tensor Tensor::Sinh() const { return firn::Sinh(*this); }
Tensor Tensor::Cosh() const { return firn::Cosh(*this); }
Tensor Tensor::Tanh() const { return firn::Tanh(*this); }
Tensor Tensor::Asinh() const { return firn::Asinh(*this); }
Tensor Tensor::Acosh() const { return firn::Acosh(*this); }
Tensor Tensor::Atanh() const { return firn::Atanh(*this); }
Tensor Tensor::Erf() const { return firn::Erf(*this); }
Tensor Tensor::Sinc() const { return firn::Sinc(*this); }
Tensor Tensor::Lgamma() const { return firn::Lgamma(*this); }
Tensor Tensor::Digamma() const { return firn::Digamma(*this); }
Tensor Tensor::Polygamma(inner::Integer n) const { return firn::Polygamma(n, *this); }
Tensor Tensor::Sigmoid() const { return firn::Sigmoid(*this); }
Tensor Tensor::Relu() const { return firn::Relu(*this); }
Tensor Tensor::Hardshrink(inner::Real lambda) const { return firn::Hardshrink(*this, lambda); }
Tensor Tensor::Floor() const { return firn::Floor(*this); }
Tensor Tensor::Ceil() const { return firn::Ceil(*this); }
Tensor Tensor::Round() const { return firn::Round(*this); }
Tensor Tensor::Round(const RoundOptions& options) const { return firn::Round(*this, options); }
Tensor Tensor::Trunc() const { return firn::Trunc(*this); }
Tensor Tensor::Clamp(const Tensor& min, const Tensor& max) const {
  return firn::Clamp(*this, min, max);
}
Tensor Tensor::Maximum(const Tensor& other) const { return firn::Maximum(*this, other); }
Tensor Tensor::Minimum(const Tensor& other) const { return firn::Minimum(*this, other); }
Tensor Tensor::Fmod(const Tensor& other) const { return firn::Fmod(*this, other); }
Tensor Tensor::Remainder(const Tensor& other) const { return firn::Remainder(*this, other); }
Tensor Tensor::Lerp(const Tensor& end, const Tensor& weight) const {
  return firn::Lerp(*this, end, weight);
}
Tensor Tensor::NanToNum() const { return firn::NanToNum(*this); }
Tensor Tensor::NanToNum(const NanToNumOptions& options) const {
  return firn::NanToNum(*this, options);
}
Tensor Tensor::Isnan() const { return firn::Isnan(*this); }
Tensor Tensor::Isinf() const { return firn::Isinf(*this); }
Tensor Tensor::Isinf(const IsinfOptions& options) const { return firn::Isinf(*this, options); }
Tensor Tensor::Isfinite() const { return firn::Isfinite(*this); }
Tensor Tensor::LogicalAnd(const Tensor& other) const { return firn::LogicalAnd(*this, other); }
Tensor Tensor::LogicalOr(const Tensor& other) const { return firn::LogicalOr(*this, other); }
Tensor Tensor::LogicalXor(const Tensor& other) const { return firn::LogicalXor(*this, other); }
Tensor Tensor::LogicalNot() const { return firn::LogicalNot(*this); }
Tensor Tensor::BitwiseAnd(const Tensor& other) const { return firn::BitwiseAnd(*this, other); }
Tensor Tensor::BitwiseOr(const Tensor& other) const { return firn::BitwiseOr(*this, other); }
Tensor Tensor::BitwiseXor(const Tensor& other) const { return firn::BitwiseXor(*this, other); }
Tensor Tensor::BitwiseNot() const { return firn::BitwiseNot(*this); }
Tensor Tensor::BitwiseLeftShift(const Tensor& places) const {
  return firn::BitwiseLeftShift(*this, places);
}
Tensor Tensor::BitwiseRightShift(const Tensor& places) const {
  return firn::BitwiseRightShift(*this, places);
}

Tensor Tensor::Sum(const DimList& dims, inner::Flag keepdim) const {
  return firn::Sum(*this, dims, keepdim);
}
Tensor Tensor::Mean(const DimList& dims, inner::Flag keepdim) const {
  return firn::Mean(*this, dims, keepdim);
}
Tensor Tensor::Prod(const DimList& dims, inner::Flag keepdim) const {
  return firn::Prod(*this, dims, keepdim);
}
Tensor Tensor::Var(const DimList& dims, inner::Integer correction, inner::Flag keepdim) const {
  return firn::Var(*this, dims, correction, keepdim);
}
Tensor Tensor::Std(const DimList& dims, inner::Integer correction, inner::Flag keepdim) const {
  return firn::Std(*this, dims, correction, keepdim);
}
Tensor Tensor::Norm(inner::Real p, const DimList& dims, inner::Flag keepdim) const {
  return firn::Norm(*this, p, dims, keepdim);
}
Tensor Tensor::Logsumexp(const DimList& dims, inner::Flag keepdim) const {
  return firn::Logsumexp(*this, dims, keepdim);
}
Tensor Tensor::All(const DimList& dims, inner::Flag keepdim) const {
  return firn::All(*this, dims, keepdim);
}
Tensor Tensor::Any(const DimList& dims, inner::Flag keepdim) const {
  return firn::Any(*this, dims, keepdim);
}
Tensor Tensor::Amax(const DimList& dims, inner::Flag keepdim) const {
  return firn::Amax(*this, dims, keepdim);
}
Tensor Tensor::Amin(const DimList& dims, inner::Flag keepdim) const {
  return firn::Amin(*this, dims, keepdim);
}
Tensor Tensor::Max() const { return firn::Max(*this); }
Tensor Tensor::Min() const { return firn::Min(*this); }
ValuesAndIndices Tensor::Max(inner::Integer dim, inner::Flag keepdim) const {
  return firn::Max(*this, dim, keepdim);
}
ValuesAndIndices Tensor::Min(inner::Integer dim, inner::Flag keepdim) const {
  return firn::Min(*this, dim, keepdim);
}
Tensor Tensor::Argmax() const { return firn::Argmax(*this); }
Tensor Tensor::Argmin() const { return firn::Argmin(*this); }
Tensor Tensor::Argmax(inner::Integer dim, inner::Flag keepdim) const {
  return firn::Argmax(*this, dim, keepdim);
}
Tensor Tensor::Argmin(inner::Integer dim, inner::Flag keepdim) const {
  return firn::Argmin(*this, dim, keepdim);
}

Tensor Tensor::Softmax(inner::Integer dim) const { return firn::Softmax(*this, dim); }
Tensor Tensor::LogSoftmax(inner::Integer dim) const { return firn::LogSoftmax(*this, dim); }
Tensor Tensor::Cumsum(inner::Integer dim) const { return firn::Cumsum(*this, dim); }
Tensor Tensor::Cumsum(inner::Integer dim, const CumsumOptions& options) const {
  return firn::Cumsum(*this, dim, options);
}
Tensor Tensor::Cumprod(inner::Integer dim) const { return firn::Cumprod(*this, dim); }
Tensor Tensor::Cumprod(inner::Integer dim, const CumprodOptions& options) const {
  return firn::Cumprod(*this, dim, options);
}
ValuesAndIndices Tensor::Sort(inner::Integer dim) const { return firn::Sort(*this, dim); }
ValuesAndIndices Tensor::Sort(inner::Integer dim, const SortOptions& options) const {
  return firn::Sort(*this, dim, options);
}
Tensor Tensor::Argsort(inner::Integer dim) const { return firn::Argsort(*this, dim); }
Tensor Tensor::Argsort(inner::Integer dim, const SortOptions& options) const {
  return firn::Argsort(*this, dim, options);
}
ValuesAndIndices Tensor::Topk(inner::Integer k, inner::Integer dim) const {
  return firn::Topk(*this, k, dim);
}
ValuesAndIndices Tensor::Topk(inner::Integer k, inner::Integer dim,
                              const TopkOptions& options) const {
  return firn::Topk(*this, k, dim, options);
}

Tensor Tensor::Matmul(const Tensor& other) const { return firn::Matmul(*this, other); }

Tensor Tensor::Bernoulli(RandomGenerator* generator) const {
  return firn::Bernoulli(*this, generator);
}
Tensor Tensor::Multinomial(inner::Integer n) const { return firn::Multinomial(*this, n); }
Tensor Tensor::Multinomial(inner::Integer n, const MultinomialOptions& options) const {
  return firn::Multinomial(*this, n, options);
}

}  // namespace firn
