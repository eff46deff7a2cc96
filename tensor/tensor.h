#ifndef FIRN_TENSOR_TENSOR_H_
#define FIRN_TENSOR_TENSOR_H_

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <ostream>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "firn/device/arguments.h"
#include "firn/tensor/dim_list.h"
#include "firn/tensor/intrusive_ptr.h"
#include "firn/tensor/number.h"
#include "firn/tensor/spec.h"
#include "firn/tensor/tensor_impl.h"

namespace firn {

namespace inner {
struct IsinfAttrs;
struct RoundAttrs;
}  // namespace inner
class IndexedTensor;
class RandomGenerator;
class TensorIndex;
struct CumsumOptions;
struct MultinomialOptions;
struct NanToNumOptions;
struct SortOptions;
struct TopkOptions;
struct ValuesAndIndices;

namespace inner::internal {

// Every arithmetic type is one of these to the host: a kind and a size.
enum class NumberKind : uint8_t { kBool, kSigned, kUnsigned, kFloat };
struct NumberType {
  NumberKind kind;
  uint8_t bytes;
};
template <class T>
inline constexpr NumberType kNumberType = {std::is_same_v<T, bool>       ? NumberKind::kBool
                                           : std::is_floating_point_v<T> ? NumberKind::kFloat
                                           : std::is_signed_v<T>         ? NumberKind::kSigned
                                                                         : NumberKind::kUnsigned,
                                           static_cast<uint8_t>(sizeof(T))};

}  // namespace inner::internal

// A multi-dimensional array: a cheap handle, copies share the same elements. A default-made tensor
// is *undefined*, and so is one that was moved from: it takes part in no operation, and asking for
// its shape or elements throws.
//
// Eager functions on tensors throw firn::Error on bad arguments. Values may be read through several
// handles on several threads at once, by operations, ToVector, Item, Equals and printing. Changing
// one (elements, gradient, requires_grad) needs the caller's lock, as for any container, and so
// does host_view, which may put the elements into another order.
class Tensor {
 public:
  Tensor() = default;
  // A number takes part in arithmetic as a 0-d tensor that adopts the other operand's dtype
  // (`x * 2`, `1 - x`); alone it is f32, i64 or bool.
  template <class T>
  requires(std::is_arithmetic_v<T>) Tensor(T number)  // NOLINT: implicit on purpose
      : Tensor(FromNumber(number)) {}
  explicit Tensor(inner::IntrusivePtr<inner::TensorImpl> impl) : impl_(std::move(impl)) {}
  Tensor(const Tensor&) = default;
  // The handle by which a module keeps a parameter does not change: moving from it copies.
  Tensor(Tensor&& other) noexcept : impl_(other.Take()) {}
  // Makes this handle name another tensor. Throws firn::Error on the handle by which a module keeps
  // a parameter or buffer, which names one tensor for life: CopyFrom writes its elements.
  Tensor& operator=(const Tensor& other) {
    if (impl_ && impl_->owned) [[unlikely]]
      CheckRebinding(other);
    impl_ = other.impl_;
    return *this;
  }
  Tensor& operator=(Tensor&& other) {
    if (impl_ && impl_->owned) [[unlikely]]
      CheckRebinding(other);
    impl_ = other.Take();
    return *this;
  }
  ~Tensor() = default;

  bool defined() const { return static_cast<bool>(impl_); }
  // The accessors below throw firn::Error when the tensor is undefined.
  const TensorSpec& spec() const {
    if (!impl_) [[unlikely]]
      RaiseUndefined();
    return impl_->spec;
  }
  const Shape& shape() const { return spec().shape; }
  DType dtype() const { return spec().dtype; }
  Device device() const { return spec().device; }
  int rank() const { return shape().rank(); }
  // Size of a dimension; negative counts from the end. Throws when out of range.
  int64_t size(inner::Integer dim) const;
  int64_t num_elements() const { return shape().num_elements(); }
  bool is_contiguous() const { return spec().layout.contiguous; }

  // --- Elements on the host -------------------------------------------------------------------
  // The elements, row-major. Throws unless T matches dtype(), the tensor is on the CPU and
  // contiguous (call Contiguous() first on views), and outside capture. A convolution's result may
  // lie in blocks and is put into row-major order first: no other thread may read it meanwhile.
  template <class T>
  absl::Span<const T> host_view() const {
    // Named: of bools, braces alone would make a list of two.
    return absl::Span<const T>(static_cast<const T*>(HostData(DTypeOf<T>(), false)),
                               static_cast<size_t>(num_elements()));
  }
  // Like host_view, for writing; counts as a change in place.
  template <class T>
  absl::Span<T> mutable_host_view() {
    return absl::Span<T>(static_cast<T*>(const_cast<void*>(HostData(DTypeOf<T>(), true))),
                         static_cast<size_t>(num_elements()));
  }
  // A copy of the elements in row-major order, converted to T (any arithmetic type) as static_cast
  // does; any layout, device and dtype. Throws where an integer T cannot hold a value: NaN, or what
  // lies outside its range.
  template <class T>
  requires(std::is_arithmetic_v<T>) std::vector<T> ToVector()
  const {
    if constexpr (std::is_same_v<T, bool>) {  // whose vector has no elements of its own
      const std::vector<uint8_t> bytes = NumbersAs<uint8_t>(inner::internal::kNumberType<bool>);
      return {bytes.begin(), bytes.end()};
    } else {
      return NumbersAs<T>(inner::internal::kNumberType<T>);
    }
  }
  // The only element, converted in the same way. Throws when there is more or less than one.
  template <class T = double>
  requires(std::is_arithmetic_v<T>) T Item()
  const {
    T value;
    CopyNumbers(inner::internal::kNumberType<T>, &value, 1, "item");
    return value;
  }
  // Same shape, dtype and elements (NaN equals nothing).
  bool Equals(const Tensor& other) const;

  // --- Gradients ------------------------------------------------------------------------------
  bool requires_grad() const { return impl_ && impl_->requires_grad; }
  // Turns recording on or off for a leaf. Throws on integer tensors and on computed ones.
  Tensor& SetRequiresGrad(inner::Flag on = true);
  bool is_leaf() const;
  // The accumulated gradient of a leaf; undefined before the first backward pass. Throws when a
  // frozen graph has not stored it (CompileOptions::keep_gradients).
  const Tensor& grad() const;
  void SetGrad(Tensor grad);
  void ZeroGrad() { SetGrad(Tensor()); }
  // Keeps the gradient of a computed tensor too.
  Tensor& RetainGrad();
  // Runs backward from this tensor (a scalar unless `seed` is given). See autograd/backward.h.
  void Backward(const Tensor& seed = {}, inner::Flag retain_graph = false) const;
  // The same elements without history.
  Tensor Detach() const;

  // --- Operations as methods, a closed set -------------------------------------------------------
  // Each is the free function of the same name, which its header in tensor/ops documents. Newer
  // functions have no methods: every source reads this header (docs/decisions/tensors.md).
  Tensor To(DType dtype) const;    // Cast
  Tensor To(Device device) const;  // ToDevice
  Tensor Contiguous() const;
  Tensor Clone() const;
  // Shape.
  Tensor Reshape(const Shape& shape) const;
  Tensor Reshape(std::initializer_list<int64_t> shape) const;  // one -1 allowed
  Tensor View(const Shape& shape) const;
  Tensor Flatten(inner::Integer start_dim = 0, inner::Integer end_dim = -1) const;
  Tensor Squeeze(const DimList& dims = {}) const;
  Tensor Unsqueeze(inner::Integer dim) const;
  Tensor Transpose(inner::Integer dim0, inner::Integer dim1) const;
  Tensor T() const;  // swaps the last two dimensions
  Tensor Permute(const DimList& dims) const;
  Tensor Movedim(const DimList& source, const DimList& destination) const;
  Tensor Flip(const DimList& dims) const;
  Tensor Expand(const Shape& shape) const;
  Tensor Expand(std::initializer_list<int64_t> shape) const;  // -1 keeps a size
  Tensor Tile(const std::vector<int64_t>& repeats) const;
  std::vector<Tensor> Split(inner::Integer size, inner::Integer dim = 0) const;
  std::vector<Tensor> Split(const std::vector<int64_t>& sizes, inner::Integer dim = 0) const;
  std::vector<Tensor> Split(std::initializer_list<int64_t> sizes, inner::Integer dim = 0) const;
  std::vector<Tensor> Chunk(inner::Integer n, inner::Integer dim = 0) const;
  std::vector<Tensor> Unbind(inner::Integer dim = 0) const;
  // Choice of elements.
  Tensor Select(inner::Integer dim, inner::Integer index) const;
  Tensor IndexSelect(inner::Integer dim, const Tensor& indices) const;
  Tensor IndexAdd(inner::Integer dim, const Tensor& indices, const Tensor& source,
                  inner::Number alpha = 1) const;
  Tensor IndexPut(const std::vector<Tensor>& indices, const Tensor& values,
                  inner::Flag accumulate = false) const;
  Tensor Gather(inner::Integer dim, const Tensor& indices) const;
  Tensor ScatterAdd(inner::Integer dim, const Tensor& indices, const Tensor& source) const;
  Tensor SliceScatter(const Tensor& source, inner::Integer dim, inner::Integer start = 0,
                      inner::Integer end = INT64_MAX, inner::Integer step = 1) const;
  Tensor MaskedSelect(const Tensor& mask) const;
  Tensor MaskedFill(const Tensor& mask, const Tensor& value) const;
  Tensor Where(const Tensor& condition,
               const Tensor& other) const;  // Where(condition, *this, other)
  Tensor Nonzero() const;
  // Element by element.
  Tensor Abs() const;
  Tensor Neg() const;
  Tensor Sign() const;
  Tensor Exp() const;
  Tensor Expm1() const;
  Tensor Log() const;
  Tensor Log1p() const;
  Tensor Log2() const;
  Tensor Log10() const;
  Tensor Logaddexp(const Tensor& other) const;
  Tensor Sqrt() const;
  Tensor Rsqrt() const;
  Tensor Square() const;
  Tensor Reciprocal() const;
  Tensor Pow(const Tensor& exponent) const;
  Tensor Sin() const;
  Tensor Cos() const;
  Tensor Tan() const;
  Tensor Asin() const;
  Tensor Acos() const;
  Tensor Atan() const;
  Tensor Atan2(const Tensor& x) const;  // Atan2(*this, x): this is the y
  Tensor Sinh() const;
  Tensor Cosh() const;
  Tensor Tanh() const;
  Tensor Asinh() const;
  Tensor Acosh() const;
  Tensor Atanh() const;
  Tensor Erf() const;
  Tensor Sinc() const;
  Tensor Lgamma() const;
  Tensor Digamma() const;
  Tensor Polygamma(inner::Integer n) const;  // Polygamma(n, *this)
  Tensor Sigmoid() const;
  Tensor Relu() const;
  Tensor Hardshrink(inner::Real lambda = 0.5) const;
  Tensor Floor() const;
  Tensor Ceil() const;
  Tensor Round() const;
  Tensor Round(const inner::RoundAttrs& options) const;  // RoundOptions
  Tensor Trunc() const;
  Tensor Clamp(const Tensor& min, const Tensor& max = {}) const;
  Tensor Maximum(const Tensor& other) const;
  Tensor Minimum(const Tensor& other) const;
  Tensor Fmod(const Tensor& other) const;
  Tensor Remainder(const Tensor& other) const;
  Tensor Lerp(const Tensor& end, const Tensor& weight) const;
  Tensor NanToNum() const;
  Tensor NanToNum(const NanToNumOptions& options) const;
  Tensor Isnan() const;
  Tensor Isinf() const;
  Tensor Isinf(const inner::IsinfAttrs& options) const;  // IsinfOptions
  Tensor Isfinite() const;
  Tensor LogicalAnd(const Tensor& other) const;
  Tensor LogicalOr(const Tensor& other) const;
  Tensor LogicalXor(const Tensor& other) const;
  Tensor LogicalNot() const;
  Tensor BitwiseAnd(const Tensor& other) const;
  Tensor BitwiseOr(const Tensor& other) const;
  Tensor BitwiseXor(const Tensor& other) const;
  Tensor BitwiseNot() const;
  Tensor BitwiseLeftShift(const Tensor& places) const;
  Tensor BitwiseRightShift(const Tensor& places) const;
  // Over dimensions, all of them where none is given.
  Tensor Sum(const DimList& dims = {}, inner::Flag keepdim = false) const;
  Tensor Mean(const DimList& dims = {}, inner::Flag keepdim = false) const;
  Tensor Prod(const DimList& dims = {}, inner::Flag keepdim = false) const;
  Tensor Var(const DimList& dims = {}, inner::Integer correction = 1,
             inner::Flag keepdim = false) const;
  Tensor Std(const DimList& dims = {}, inner::Integer correction = 1,
             inner::Flag keepdim = false) const;
  Tensor Norm(inner::Real p = 2, const DimList& dims = {}, inner::Flag keepdim = false) const;
  Tensor Logsumexp(const DimList& dims = {}, inner::Flag keepdim = false) const;
  Tensor All(const DimList& dims = {}, inner::Flag keepdim = false) const;
  Tensor Any(const DimList& dims = {}, inner::Flag keepdim = false) const;
  Tensor Amax(const DimList& dims = {}, inner::Flag keepdim = false) const;
  Tensor Amin(const DimList& dims = {}, inner::Flag keepdim = false) const;
  Tensor Max() const;
  Tensor Min() const;
  ValuesAndIndices Max(inner::Integer dim, inner::Flag keepdim = false) const;
  ValuesAndIndices Min(inner::Integer dim, inner::Flag keepdim = false) const;
  Tensor Argmax() const;
  Tensor Argmin() const;
  Tensor Argmax(inner::Integer dim, inner::Flag keepdim = false) const;
  Tensor Argmin(inner::Integer dim, inner::Flag keepdim = false) const;
  // Along a dimension.
  Tensor Softmax(inner::Integer dim) const;
  Tensor LogSoftmax(inner::Integer dim) const;
  Tensor Cumsum(inner::Integer dim) const;
  Tensor Cumsum(inner::Integer dim, const CumsumOptions& options) const;
  Tensor Cumprod(inner::Integer dim) const;
  Tensor Cumprod(inner::Integer dim, const CumsumOptions& options) const;  // CumprodOptions
  ValuesAndIndices Sort(inner::Integer dim = -1) const;
  ValuesAndIndices Sort(inner::Integer dim, const SortOptions& options) const;
  Tensor Argsort(inner::Integer dim = -1) const;
  Tensor Argsort(inner::Integer dim, const SortOptions& options) const;
  ValuesAndIndices Topk(inner::Integer k, inner::Integer dim = -1) const;
  ValuesAndIndices Topk(inner::Integer k, inner::Integer dim, const TopkOptions& options) const;
  // The product of matrices.
  Tensor Matmul(const Tensor& other) const;
  // Draws, of which this says the probabilities.
  Tensor Bernoulli(RandomGenerator* generator = nullptr) const;
  Tensor Multinomial(inner::Integer n) const;
  Tensor Multinomial(inner::Integer n, const MultinomialOptions& options) const;

  // x[2], x[{Range(0, 8), kAll, -1}], x[mask], x[indices]: see tensor/index.h. The result can be
  // assigned to: x[...] = y writes into x.
  IndexedTensor operator[](std::initializer_list<TensorIndex> indices) const;
  IndexedTensor operator[](const TensorIndex& index) const;

  // Makes this handle name the result and leaves the elements alone: `loss += x` never changes a
  // saved value. But the parameters and buffers of modules, and every other leaf that requires a
  // gradient, keep their identity: for these it writes the elements, through any handle, and throws
  // while gradients are recorded. So `p -= lr * p.grad()` inside NoGradScope is a step.
  Tensor& operator+=(const Tensor& other);
  Tensor& operator-=(const Tensor& other);
  Tensor& operator*=(const Tensor& other);
  Tensor& operator/=(const Tensor& other);
  // Overwrites the elements with those of `source`, broadcast and converted. Both throw while
  // gradients of either are being recorded, and on a number that the dtype does not hold (Full).
  Tensor& CopyFrom(const Tensor& source);
  Tensor& Fill(inner::Element value);

  // NumPy-like text: shape, dtype and elements, long dimensions abridged.
  std::string ToString() const;

  inner::TensorImpl* impl() const { return impl_.get(); }
  const inner::IntrusivePtr<inner::TensorImpl>& impl_ptr() const { return impl_; }
  // True if both handles name the same tensor object.
  bool Is(const Tensor& other) const { return impl_ == other.impl_; }

 private:
  static Tensor FromNumber(double number);
  static Tensor FromNumber(float number) { return FromNumber(static_cast<double>(number)); }
  static Tensor FromNumber(bool number);
  template <class T>
  requires(std::is_integral_v<T>) static Tensor FromNumber(T number) {
    if constexpr (std::is_unsigned_v<T> && sizeof(T) == sizeof(int64_t)) {
      if (number > static_cast<T>(INT64_MAX)) [[unlikely]]
        RaiseTooLarge(number);
    }
    return FromInteger(static_cast<int64_t>(number));
  }
  static Tensor FromInteger(int64_t number);
  [[noreturn]] static void RaiseTooLarge(uint64_t number);
  template <class T>
  std::vector<T> NumbersAs(inner::internal::NumberType type) const {
    std::vector<T> values(static_cast<size_t>(num_elements()));
    CopyNumbers(type, values.data(), num_elements(), "to_vector");
    return values;
  }
  const void* HostData(DType want, bool write) const;
  // Writes `count` numbers of type `to`; `count` must be the number of elements.
  void CopyNumbers(inner::internal::NumberType to, void* out, int64_t count,
                   const char* what) const;
  [[noreturn]] static void RaiseUndefined();
  void CheckRebinding(const Tensor& other) const;
  bool IsOwnersHandle() const noexcept;
  inner::IntrusivePtr<inner::TensorImpl> Take() noexcept {
    if (impl_ && impl_->owned && IsOwnersHandle()) [[unlikely]]
      return impl_;
    return std::move(impl_);
  }

  inner::IntrusivePtr<inner::TensorImpl> impl_;
};

namespace inner {
// A tensor as an operation's argument: borrowed, costs no reference count. Lives no longer than the
// full expression it was made in.
class TensorRef {
 public:
  TensorRef(const Tensor& t) : tensor_(&t) {}  // NOLINT: implicit
  const Tensor& operator*() const { return *tensor_; }
  const Tensor* operator->() const { return tensor_; }
  bool defined() const { return tensor_->defined(); }
  // Requires: defined().
  const TensorSpec& spec() const { return tensor_->impl()->spec; }

 private:
  const Tensor* tensor_;
};
}  // namespace inner

using TensorList = absl::InlinedVector<Tensor, 2>;

// Sees a gradient as it arrives and may return a replacement (an undefined tensor keeps it).
using GradHook = std::function<Tensor(const Tensor&)>;

std::ostream& operator<<(std::ostream& os, const Tensor& t);

}  // namespace firn

#endif  // FIRN_TENSOR_TENSOR_H_
