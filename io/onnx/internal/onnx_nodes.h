#ifndef FIRN_IO_ONNX_INTERNAL_ONNX_NODES_H_
#define FIRN_IO_ONNX_INTERNAL_ONNX_NODES_H_

// Nodes of an ONNX graph as they are written, one behind the other. Values of it are what a
// compiler's builder has: y = x * n.Node("Sigmoid", {x}).

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "firn/io/onnx/internal/onnx_model.h"
#include "firn/tensor/dtype.h"
#include "firn/tensor/tensor.h"

namespace firn::io::internal {

class OnnxNodes;

// A value of the file: its name ("": an input that is not given) and what its elements are.
struct OnnxValue {
  std::string name;
  DType dtype = DType::kF32;
  OnnxNodes* nodes = nullptr;
};

// An attribute of a node. Implicit, as lists of them have it.
struct OnnxAttr {
  using Values = std::variant<int64_t, double, std::string, std::vector<int64_t>,
                              std::vector<double>, std::vector<std::string>>;
  OnnxAttr(const char* n, int64_t v) : name(n), value(v) {}
  OnnxAttr(const char* n, int v) : name(n), value(int64_t{v}) {}
  OnnxAttr(const char* n, bool v) : name(n), value(int64_t{v}) {}
  OnnxAttr(const char* n, double v) : name(n), value(v) {}
  OnnxAttr(const char* n, const char* v) : name(n), value(std::string(v)) {}
  OnnxAttr(const char* n, std::string v) : name(n), value(std::move(v)) {}
  OnnxAttr(const char* n, std::vector<int64_t> v) : name(n), value(std::move(v)) {}
  OnnxAttr(const char* n, std::vector<double> v) : name(n), value(std::move(v)) {}
  OnnxAttr(const char* n, std::vector<std::string> v) : name(n), value(std::move(v)) {}

  const char* name;
  Values value;
};

// Thread-compatible.
class OnnxNodes {
 public:
  using Inputs = std::vector<OnnxValue>;
  using Attributes = std::vector<OnnxAttr>;

  explicit OnnxNodes(int opset) : opset_(opset) {}
  OnnxNodes(const OnnxNodes&) = delete;
  OnnxNodes& operator=(const OnnxNodes&) = delete;

  int opset() const { return opset_; }
  OnnxGraph& graph() { return graph_; }
  // Nodes from now on belong to this call of an operation.
  void Begin(std::string_view module, std::string_view operation);
  // A name that no value has, from now on taken.
  std::string Unique(const std::string& wish);

  // One result; its dtype is that of input 0 unless said otherwise.
  OnnxValue Node(const char* op, Inputs inputs, Attributes attributes = {},
                 std::optional<DType> dtype = std::nullopt);
  // Several, of these dtypes. Half types that the opset's operator does not take are f32 around it.
  std::vector<OnnxValue> NodeOf(const char* op, Inputs inputs, const std::vector<DType>& results,
                                Attributes attributes = {});

  // Elements that are stored in the file. Equal constants are stored once.
  OnnxValue Constant(const Tensor& elements);
  OnnxValue Ints(const std::vector<int64_t>& values);  // 1-d
  OnnxValue Number(double value, DType dtype);         // 0-d
  OnnxValue Integer(int64_t value);                    // 0-d
  OnnxValue Initializer(const std::string& name, const Tensor& elements);
  OnnxValue Absent() { return {"", DType::kF32, this}; }

  // Operators whose form changed between opsets, and functions that many lowerings use.
  OnnxValue Cast(OnnxValue x, DType dtype);
  OnnxValue Reduce(const char* op, OnnxValue x, const std::vector<int64_t>& dims, bool keep);
  OnnxValue Squeeze(OnnxValue x, const std::vector<int64_t>& dims);
  OnnxValue Unsqueeze(OnnxValue x, const std::vector<int64_t>& dims);
  OnnxValue Reshape(OnnxValue x, const std::vector<int64_t>& sizes);  // 0 is a size
  OnnxValue Slice(OnnxValue x, int64_t dim, int64_t start, int64_t end, int64_t step = 1);
  OnnxValue Transpose(OnnxValue x, std::vector<int64_t> order);
  OnnxValue Concat(Inputs parts, int64_t dim);
  OnnxValue Where(OnnxValue condition, OnnxValue x, OnnxValue y);
  OnnxValue Compare(const char* op, OnnxValue x, OnnxValue y);  // Greater, Equal, ...
  OnnxValue Compare(const char* op, OnnxValue x, double y);

 private:
  OnnxValue ReduceAsIs(const char* op, OnnxValue x, const std::vector<int64_t>& dims, bool keep);
  const int opset_;
  OnnxGraph graph_;
  std::string module_, operation_;
  absl::flat_hash_set<std::string> taken_, node_names_;
  absl::flat_hash_map<std::string, std::string> constants_;  // by their bytes
};

OnnxValue operator+(const OnnxValue& x, const OnnxValue& y);
OnnxValue operator-(const OnnxValue& x, const OnnxValue& y);
OnnxValue operator*(const OnnxValue& x, const OnnxValue& y);
OnnxValue operator/(const OnnxValue& x, const OnnxValue& y);
OnnxValue operator+(const OnnxValue& x, double y);
OnnxValue operator-(const OnnxValue& x, double y);
OnnxValue operator*(const OnnxValue& x, double y);
OnnxValue operator/(const OnnxValue& x, double y);
OnnxValue operator-(double x, const OnnxValue& y);
OnnxValue operator-(const OnnxValue& x);

}  // namespace firn::io::internal

#endif  // FIRN_IO_ONNX_INTERNAL_ONNX_NODES_H_
