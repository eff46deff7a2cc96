#ifndef FIRN_TENSOR_APPLY_H_
#define FIRN_TENSOR_APPLY_H_

#include <initializer_list>
#include <string_view>

#include "absl/types/span.h"
#include "firn/tensor/op.h"
#include "firn/tensor/tensor.h"

namespace firn {

// Runs one operation: validates the arguments against the declaration, infers the results, picks a
// kernel, brings inputs into the layouts it takes, allocates, runs, and records for capture and
// backward. The only way any operation runs. Throws firn::Error; then nothing was written.
// `out` has one slot per declared output.
void ApplyInto(const OpDef& op, absl::Span<const TensorRef> in, AttrsRef attrs,
               absl::Span<Tensor> out);

TensorList Apply(const OpDef& op, absl::Span<const TensorRef> in, AttrsRef attrs = {});
inline TensorList Apply(const OpDef& op, std::initializer_list<TensorRef> in, AttrsRef attrs = {}) {
  return Apply(op, absl::MakeConstSpan(in.begin(), in.size()), attrs);
}

// For operations with one result.
inline Tensor Apply1(const OpDef& op, absl::Span<const TensorRef> in, AttrsRef attrs = {}) {
  Tensor out;
  ApplyInto(op, in, attrs, absl::MakeSpan(&out, 1));
  return out;
}
inline Tensor Apply1(const OpDef& op, std::initializer_list<TensorRef> in, AttrsRef attrs = {}) {
  return Apply1(op, absl::MakeConstSpan(in.begin(), in.size()), attrs);
}

// Throws when `x` is undefined; for front functions that read it before Apply does.
void CheckDefined(const Tensor& x, std::string_view op, const char* name = "x");
// The same for a list, with the place of the undefined tensor: "tensors[1] is an undefined tensor".
void CheckAllDefined(absl::Span<const Tensor> tensors, std::string_view op);

}  // namespace firn

#endif  // FIRN_TENSOR_APPLY_H_
