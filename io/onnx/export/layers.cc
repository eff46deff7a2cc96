// ONNX's form of reversed sequences.
#include "firn/io/onnx/internal/onnx_export_call.h"

namespace firn::io::internal {
namespace {

FIRN_ONNX_EXPORT(reverse_sequence) {
  const int64_t time = n.Dim("time_dim", n.rank(0)), batch = n.Dim("batch_dim", n.rank(0));
  if (time > 1 || batch > 1) return n.Refuse("of other dimensions than 0 and 1");
  n.Out(0, n.Node("ReverseSequence", {n.in(0), n.in(1, DType::kI64)},
                  {{"time_axis", time}, {"batch_axis", batch}}));
}

}  // namespace
}  // namespace firn::io::internal
