#ifndef FIRN_IO_ONNX_INTERNAL_ONNX_EXPORT_CALL_H_
#define FIRN_IO_ONNX_INTERNAL_ONNX_EXPORT_CALL_H_

// The forms of operations in ONNX. A page of io/onnx/export, one for each family of operations,
// defines them for its family:
//
//   FIRN_ONNX_EXPORT(square) { n.Out(0, n.in(0) * n.in(0)); }
//   FIRN_ONNX_SAME(exp, Exp);             // what FIRN_NAMES says of the function Exp
//   FIRN_ONNX_NO_EXPORT(svd, "ONNX has no singular values");
//
// An operation without a line cannot be exported either, "nothing says what it is in ONNX".

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "firn/autograd/graph/graph.h"
#include "firn/io/captured/captured_call.h"
#include "firn/io/onnx/internal/onnx_nodes.h"

namespace firn::io::internal {

using OnnxSize = CapturedSize;
using OnnxSizes = CapturedSizes;

// The call that is written, and the nodes that are made for it. Thread-compatible.
class OnnxExportCall : public OnnxNodes, public CapturedCall {
 public:
  // `other` is the graph as it were with another batch, or the graph itself. Both stay alive.
  OnnxExportCall(const Graph& graph, const Graph& other, int opset);

  OnnxValue in(size_t i);  // Absent() if it is not given
  OnnxValue in(size_t i, DType dtype) { return has(i) ? Cast(in(i), dtype) : Absent(); }

  // Set a result of the call, and the new value of input i, in the captured run's form.
  void Out(size_t i, OnnxValue value);
  void Write(size_t i, OnnxValue value);

  // The graph's value with this name; null for an intermediate one.
  const Value* GraphValueOf(const std::string& name) const;
  using CapturedCall::SizesOf;
  std::optional<OnnxSizes> SizesOf(const std::string& name) const;
  // The elements of a value that is stored in the file.
  Tensor ElementsOf(const std::string& name) const;

  // Whatever the sizes, also the batch.
  OnnxValue ShapeTensor(const OnnxSizes& sizes);
  OnnxValue ReshapeTo(OnnxValue x, const OnnxSizes& sizes);
  OnnxValue ExpandTo(OnnxValue x, const OnnxSizes& sizes);

  void NeedsOpset(int least);

  // For the code that walks the graph.
  void Take(const Instr& instr);  // the call is this one
  OnnxValue Current(ValueId id);  // its present contents
  void Bind(ValueId id, OnnxValue value);
  void BindBatch(OnnxValue input) { batch_of_ = input; }
  void BindState(ValueId id, OnnxValue value);  // which is an initializer
  std::vector<OnnxDim> DimsOf(ValueId id) const;

 private:
  void Refresh(ValueId id, ValueId written);

  std::vector<OnnxValue> now_;  // by value
  absl::flat_hash_map<std::string, ValueId> id_of_;
  absl::flat_hash_set<std::string> elements_;  // names of initializers
  OnnxValue batch_of_;
};

// How an operation is exported, or why not.
struct OnnxExportRule {
  void (*write)(OnnxExportCall& n) = nullptr;
  std::string_view same_as = {};  // the function whose name in ONNX is the node's
  std::string_view why_not = {};
};
// Null where no page has it.
const OnnxExportRule* FindOnnxExport(std::string_view op);

struct OnnxExportRegistration {
  OnnxExportRegistration(std::string_view op, OnnxExportRule rule);
};
#define FIRN_ONNX_EXPORT(op)                                                \
  static void FirnOnnx_##op(::firn::io::internal::OnnxExportCall& n);       \
  static const ::firn::io::internal::OnnxExportRegistration firn_onnx_##op( \
      #op, {.write = FirnOnnx_##op});                                       \
  static void FirnOnnx_##op(::firn::io::internal::OnnxExportCall& n)
#define FIRN_ONNX_SAME(op, function)                                            \
  static const ::firn::io::internal::OnnxExportRegistration firn_onnx_##op(#op, \
                                                                           {.same_as = #function})
#define FIRN_ONNX_NO_EXPORT(op, why) \
  static const ::firn::io::internal::OnnxExportRegistration firn_onnx_##op(#op, {.why_not = why})

}  // namespace firn::io::internal

#endif  // FIRN_IO_ONNX_INTERNAL_ONNX_EXPORT_CALL_H_
