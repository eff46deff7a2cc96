#ifndef FIRN_IO_NNABLA_NETWORK_INTERNAL_NNABLA_NODES_H_
#define FIRN_IO_NNABLA_NETWORK_INTERNAL_NNABLA_NODES_H_

// Functions of an NNabla network as they are written, one behind the other. Values of it are what a
// compiler's builder has: y = x * n.Node("Sigmoid", {x}).
//
// All numbers are f32 in NNabla: integers are whole ones, bools 0 and 1.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "firn/io/captured/captured_call.h"
#include "firn/io/nnabla_model/nnabla_model.h"
#include "firn/tensor/tensor.h"

namespace firn::io::internal {

class NnablaNodes;

// A value of the network. Elements that are stored in the file become a variable when a function
// takes them. Until then transposing and reshaping change the elements themselves, and single
// numbers become arguments.
struct NnablaValue {
  std::string name = {};  // of its variable; "" as long as it has none
  CapturedSizes sizes = {};
  Tensor elements = {};   // f32; undefined for a number
  std::string wish = {};  // the wanted name of the parameter
  std::string form = {};  // the changes of form since then
  bool trains = false;    // whether it is trained
  std::optional<double> number = {};
  NnablaNodes* nodes = nullptr;  // null: an input that is not given

  int rank() const { return static_cast<int>(sizes.size()); }
  bool stored() const { return number.has_value() || elements.defined(); }
};

// An argument of a function. Implicit, as lists of them have it.
struct NnablaArg {
  using Value = std::variant<bool, int64_t, double, std::string, std::vector<int64_t>>;
  NnablaArg(const char* n, int64_t v) : name(n), value(v) {}
  NnablaArg(const char* n, int v) : name(n), value(int64_t{v}) {}
  NnablaArg(const char* n, bool v) : name(n), value(v) {}
  NnablaArg(const char* n, double v) : name(n), value(v) {}
  NnablaArg(const char* n, const char* v) : name(n), value(std::string(v)) {}
  NnablaArg(const char* n, std::string v) : name(n), value(std::move(v)) {}
  NnablaArg(const char* n, std::vector<int64_t> v) : name(n), value(std::move(v)) {}

  const char* name;
  Value value;
};

// Thread-compatible.
class NnablaNodes : public CapturedCall {
 public:
  using Inputs = std::vector<NnablaValue>;
  using Arguments = std::vector<NnablaArg>;
  using Numbers = std::vector<int64_t>;

  using CapturedCall::CapturedCall;

  nnabla::Network& network() { return network_; }
  StateDict& parameters() { return parameters_; }
  // Functions from now on belong to this call of an operation.
  void Begin(std::string_view module, std::string_view operation);
  // A new name, which is taken from now on. Slashes and dots count as equal, as in names of
  // parameters.
  std::string Unique(const std::string& wish);

  // One result, of the sizes of input 0 unless said otherwise.
  NnablaValue Node(const char* type, Inputs inputs, Arguments arguments = {});
  NnablaValue Node(const char* type, Inputs inputs, Arguments arguments, CapturedSizes sizes);
  std::vector<NnablaValue> NodeOf(const char* type, Inputs inputs, Arguments arguments,
                                  const std::vector<CapturedSizes>& results);

  // Elements that are stored in the file. Those that f32 cannot hold are refused.
  NnablaValue Number(double value);
  NnablaValue Constant(const Tensor& elements);
  NnablaValue Parameter(const std::string& name, const Tensor& elements, bool trains);
  NnablaValue Ints(const Numbers& values) { return Constant(TensorOf(values)); }
  NnablaValue Absent() { return {}; }

  // A parameter has a variable for each form in which functions take it. The name of the first
  // form, which is the one that was asked for, by the name of any form.
  const std::map<std::string, std::string>& first_names() const { return first_names_; }

  // Functions that many lowerings use. Elementwise functions broadcast: "Add2", "Sub2", "Mul2",
  // "Div2", "Pow2", "Maximum2", "Minimum2", comparisons and the logical ones.
  NnablaValue Binary(const char* type, NnablaValue x, NnablaValue y, Arguments arguments = {});
  NnablaValue Binary(const char* type, const NnablaValue& x, double y) {
    return Binary(type, x, Number(y));
  }
  NnablaValue Reshape(NnablaValue x, const CapturedSizes& sizes);
  NnablaValue Reshape(const NnablaValue& x, const Numbers& sizes) { return Reshape(x, Of(sizes)); }
  NnablaValue Squeeze(const NnablaValue& x, const Numbers& dims);    // from 0, ascending
  NnablaValue Unsqueeze(const NnablaValue& x, const Numbers& dims);  // of the result
  NnablaValue Transpose(NnablaValue x, const Numbers& order);
  NnablaValue Swapped(const NnablaValue& x);  // the last two dimensions
  NnablaValue Broadcast(NnablaValue x, const CapturedSizes& sizes);
  NnablaValue Reduce(const char* type, const NnablaValue& x, const Numbers& dims, bool keep);
  NnablaValue Slice(const NnablaValue& x, int64_t dim, int64_t start, int64_t end,
                    int64_t step = 1);  // 0 <= start <= end <= size, or from behind with step < 0
  NnablaValue Concat(Inputs parts, int64_t dim);
  NnablaValue Gather(const NnablaValue& x, int64_t dim, const Numbers& places);
  NnablaValue Where(NnablaValue condition, NnablaValue x, NnablaValue y);
  NnablaValue Matmul(NnablaValue a, NnablaValue b);
  NnablaValue Trunc(const NnablaValue& x);
  NnablaValue Round(const NnablaValue& x, bool even);  // else halves are rounded away from 0

  // Sizes that do not depend on the batch.
  static CapturedSizes Of(const Numbers& sizes);
  // The sizes for the file: -1 for the batch. Refuses other sizes that follow the batch.
  Numbers DimsOf(const CapturedSizes& sizes);
  static Numbers OrderOf(int rank);  // 0, 1, ...

 private:
  static Tensor TensorOf(const Numbers& values);
  NnablaValue Materialize(NnablaValue value);
  std::optional<NnablaValue> WithNumber(std::string_view type, const NnablaValue& x,
                                        const NnablaValue& y);
  void AddVariable(const std::string& name, const char* type, const CapturedSizes& sizes);
  NnablaValue Ranked(const NnablaValue& x, int rank);

  nnabla::Network network_;
  StateDict parameters_;
  std::string module_, operation_;
  absl::flat_hash_set<std::string> taken_, function_names_;
  std::map<std::string, std::string> stored_;  // names of variables by their stored elements
  std::map<std::string, std::string> by_wish_, first_names_;
};

NnablaValue operator+(const NnablaValue& x, const NnablaValue& y);
NnablaValue operator-(const NnablaValue& x, const NnablaValue& y);
NnablaValue operator*(const NnablaValue& x, const NnablaValue& y);
NnablaValue operator/(const NnablaValue& x, const NnablaValue& y);
NnablaValue operator+(const NnablaValue& x, double y);
NnablaValue operator-(const NnablaValue& x, double y);
NnablaValue operator*(const NnablaValue& x, double y);
NnablaValue operator/(const NnablaValue& x, double y);
NnablaValue operator-(double x, const NnablaValue& y);
NnablaValue operator-(const NnablaValue& x);

// Whether both are the same sizes, for every batch.
bool SameSizes(const CapturedSizes& a, const CapturedSizes& b);

}  // namespace firn::io::internal

#endif  // FIRN_IO_NNABLA_NETWORK_INTERNAL_NNABLA_NODES_H_
