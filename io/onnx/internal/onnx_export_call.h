#ifndef FIRN_IO_ONNX_INTERNAL_ONNX_EXPORT_CALL_H_
#define FIRN_IO_ONNX_INTERNAL_ONNX_EXPORT_CALL_H_

// What each operation is in ONNX. A page of io/onnx/export, one for each family of operations, says
// it of those of its family:
//
//   FIRN_ONNX_EXPORT(square) { n.Out(0, n.in(0) * n.in(0)); }
//   FIRN_ONNX_SAME(exp, Exp);             // what FIRN_NAMES says of the function Exp
//   FIRN_ONNX_NO_EXPORT(svd, "ONNX has no singular values");
//
// An operation without a line cannot be exported either, "nothing says what it is in ONNX".

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "firn/autograd/graph/graph.h"
#include "firn/io/onnx/internal/onnx_nodes.h"

namespace firn::io::internal {

// A size, in the captured run and in one with another batch.
struct OnnxSize {
  int64_t now = 0, other = 0;
  bool batch() const { return now != other; }
};
using OnnxSizes = std::vector<OnnxSize>;

// The call that is written, and what it is made of. Thread-compatible.
class OnnxExportCall : public OnnxNodes {
 public:
  // `other` is the graph as it were with another batch, or the graph itself. Both stay alive.
  OnnxExportCall(const Graph& graph, const Graph& other, int opset);

  // Inputs and results of the call by their positions.
  size_t count() const { return instr_->in.size(); }
  bool has(size_t i) const { return i < count() && instr_->in[i] != kNoValue; }
  OnnxValue in(size_t i);  // Absent() if it is not given
  OnnxValue in(size_t i, DType dtype) { return has(i) ? Cast(in(i), dtype) : Absent(); }
  int rank(size_t i) const { return spec(i).shape.rank(); }
  DType dtype(size_t i) const { return spec(i).dtype; }
  OnnxSizes sizes(size_t i) const { return SizesOf(instr_->in[i]); }
  int out_rank(size_t i) const { return out_spec(i).shape.rank(); }
  DType out_dtype(size_t i) const { return out_spec(i).dtype; }
  OnnxSizes out_sizes(size_t i) const { return SizesOf(instr_->out[i]); }
  // As numbers, which the batch must not be.
  int64_t size(size_t i, int64_t dim);
  std::vector<int64_t> shape(size_t i) { return Fixed(sizes(i)); }
  std::vector<int64_t> out_shape(size_t i) { return Fixed(out_sizes(i)); }
  std::vector<int64_t> Fixed(const OnnxSizes& sizes);
  // Whether anything reads the result.
  bool wants(size_t i) const { return wanted_[static_cast<size_t>(instr_->out[i])]; }
  const TensorSpec& spec(size_t i) const { return graph_.value(instr_->in[i]).spec; }
  const TensorSpec& out_spec(size_t i) const { return graph_.value(instr_->out[i]).spec; }

  // Attributes by their names.
  int64_t Int(const char* name) const { return Get<int64_t>(name); }
  double Real(const char* name) const;  // also of an integer
  bool Flag(const char* name) const { return Get<bool>(name); }
  const std::string& Word(const char* name) const { return Get<std::string>(name); }
  const std::vector<int64_t>& List(const char* name) const {
    return Get<std::vector<int64_t>>(name);
  }
  bool Has(const char* name) const { return attributes_.contains(name); }
  // A dimension of an input of this rank, from 0.
  int64_t Dim(const char* name, int rank) const;
  std::vector<int64_t> Dims(const char* name, int rank) const;  // none: all
  DType TypeOf(const char* name) const;
  // One number for each of `count` dimensions.
  std::vector<int64_t> Each(const char* name, size_t count) const;

  // What the results are, as the captured run has them, and what input i holds from now on.
  void Out(size_t i, OnnxValue value);
  void Write(size_t i, OnnxValue value);

  // Whatever the sizes, also the batch.
  const OnnxSize& batch() const { return batch_; }
  OnnxValue ShapeTensor(const OnnxSizes& sizes);
  OnnxValue ReshapeTo(OnnxValue x, const OnnxSizes& sizes);
  OnnxValue ExpandTo(OnnxValue x, const OnnxSizes& sizes);

  // What stands in the way of this call. The first one of a call counts.
  void Refuse(std::string why) {
    if (refused_.empty()) refused_ = std::move(why);
  }
  void NeedsOpset(int least);
  void Warn(std::string what);

  // For who walks the graph.
  void Take(const Instr& instr);  // the call is this one
  std::string& refused() { return refused_; }
  std::vector<std::string>& warnings() { return warnings_; }
  OnnxValue Current(ValueId id);  // what it holds now
  void Bind(ValueId id, OnnxValue value);
  void BindBatch(OnnxValue input) { batch_of_ = input; }
  OnnxSizes SizesOf(ValueId id) const;
  std::vector<OnnxDim> DimsOf(ValueId id) const;
  void SetBatch(int64_t now, int64_t other) { batch_ = {now, other}; }
  std::vector<bool>& wanted() { return wanted_; }

 private:
  template <class T>
  const T& Get(const char* name) const {
    return std::get<T>(attributes_.at(name));
  }
  void Refresh(ValueId id, ValueId written);

  const Graph& graph_;
  const Graph& other_;
  const Instr* instr_ = nullptr;
  std::map<std::string, std::variant<int64_t, double, bool, std::string, std::vector<int64_t>>,
           std::less<>>
      attributes_;
  std::vector<OnnxValue> now_;  // by value
  std::vector<std::vector<ValueId>> in_buffer_;
  std::vector<bool> wanted_;
  OnnxValue batch_of_;
  OnnxSize batch_;
  std::string refused_;
  std::vector<std::string> warnings_;
};

// How an operation is exported, or why not.
struct OnnxExportRule {
  void (*write)(OnnxExportCall& n) = nullptr;
  std::string_view same_as = {};  // the function whose name in ONNX is the node's
  std::string_view why_not = {};
};
// Null: no page has it.
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
