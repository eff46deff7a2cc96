// NNabla's elementwise functions take inputs with equal numbers of dimensions, so an input with
// fewer gets dimensions of size 1 in front.
#include "firn/io/nnabla_network/internal/nnabla_nodes.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "firn/io/nnabla_model/internal/nnabla_functions.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"

namespace firn::io::internal {
namespace {

using V = NnablaValue;
using Numbers = NnablaNodes::Numbers;

// The argument as NNabla's table has its type.
nnabla::Value ValueOf(const NnablaArg& arg, const nnabla::Value& zero) {
  return std::visit(
      [&](const auto& kind) -> nnabla::Value {
        using T = std::decay_t<decltype(kind)>;
        if constexpr (std::is_arithmetic_v<T>) {
          if (const auto* flag = std::get_if<bool>(&arg.value)) return static_cast<T>(*flag);
          if (const auto* whole = std::get_if<int64_t>(&arg.value)) return static_cast<T>(*whole);
          return static_cast<T>(std::get<double>(arg.value));
        } else if constexpr (std::is_same_v<T, std::vector<float>>) {
          const auto* const whole = std::get_if<std::vector<int64_t>>(&arg.value);
          return whole == nullptr ? T() : T(whole->begin(), whole->end());
        } else {
          return std::get<T>(arg.value);
        }
      },
      zero);
}

bool IsOne(const CapturedSize& size) { return size.now == 1 && !size.batch(); }

CapturedSizes BroadcastSizes(const CapturedSizes& x, const CapturedSizes& y) {
  CapturedSizes sizes = x;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (IsOne(sizes[d])) sizes[d] = y[d];
  }
  return sizes;
}

Shape ShapeOfSizes(const CapturedSizes& sizes) {
  Numbers dims;
  for (const CapturedSize& size : sizes) dims.push_back(size.now);
  return Shape(absl::Span<const int64_t>(dims));
}

}  // namespace

bool SameSizes(const CapturedSizes& a, const CapturedSizes& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const CapturedSize& x, const CapturedSize& y) {
                      return x.now == y.now && x.other == y.other;
                    });
}

CapturedSizes NnablaNodes::Of(const Numbers& sizes) {
  CapturedSizes all;
  for (const int64_t size : sizes) all.push_back({size, size});
  return all;
}

Numbers NnablaNodes::OrderOf(int rank) {
  Numbers order(static_cast<size_t>(rank));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

Numbers NnablaNodes::DimsOf(const CapturedSizes& sizes) {
  Numbers dims;
  for (const CapturedSize& size : sizes) {
    dims.push_back(size.batch() ? -1 : size.now);
    if (size.batch() && (size.now != batch().now || size.other != batch().other)) {
      Refuse(absl::StrCat("has a size that follows the batch and is another one, ", size.now,
                          " for ", batch().now, " samples, which NNabla's files do not say"));
    }
  }
  return dims;
}

Tensor NnablaNodes::TensorOf(const Numbers& values) { return FromVector(values); }

void NnablaNodes::Begin(std::string_view module, std::string_view operation) {
  module_ = std::string(module);
  operation_ = std::string(operation);
}

std::string NnablaNodes::Unique(const std::string& wish) {
  std::string name = wish;
  for (int i = 1; !taken_.insert(nnabla::ParameterName(name)).second; ++i) {
    name = absl::StrCat(wish, "_", i);
  }
  return name;
}

void NnablaNodes::AddVariable(const std::string& name, const char* type,
                              const CapturedSizes& sizes) {
  nnabla::Variable variable;
  variable.name = name;
  variable.type = type;
  variable.shape = DimsOf(sizes);
  network_.variables.push_back(std::move(variable));
}

V NnablaNodes::Materialize(V value) {
  if (!value.stored() || !value.name.empty()) return value;
  if (value.number) {
    value.elements = FromVector(std::vector<float>{static_cast<float>(*value.number)},
                                ShapeOfSizes(value.sizes));
  }
  const Tensor elements = Contiguous(value.elements);
  // Equal constants are stored once; a parameter once in each of its forms.
  const std::string shape = elements.shape().ToString();
  const auto bytes = static_cast<size_t>(elements.shape().num_elements()) * sizeof(float);
  const std::string key =
      value.wish.empty()
          ? absl::StrCat(shape, std::string(static_cast<const char*>(elements.impl()->data), bytes))
          : absl::StrCat(value.wish, " ", shape, value.form);
  auto [at, added] = stored_.try_emplace(key);
  if (added) {
    at->second = Unique(value.wish.empty() ? "constant" : value.wish);
    AddVariable(at->second, "Parameter", value.sizes);
    if (!value.wish.empty()) {
      first_names_[at->second] = by_wish_.try_emplace(value.wish, at->second).first->second;
    }
    Tensor kept = Clone(elements);
    kept.SetRequiresGrad(value.trains);
    parameters_.Insert(nnabla::ParameterName(at->second), kept);
  }
  value.name = at->second;
  return value;
}

std::vector<V> NnablaNodes::NodeOf(const char* type, Inputs inputs, Arguments arguments,
                                   const std::vector<CapturedSizes>& results) {
  const std::string prefix = module_.empty() ? "" : absl::StrCat(module_, "/");
  nnabla::Function function;
  function.type = type;
  function.name = absl::StrCat(prefix, type);
  for (int i = 1; !function_names_.insert(function.name).second; ++i) {
    function.name = absl::StrCat(prefix, type, "_", i);
  }
  while (!inputs.empty() && inputs.back().nodes == nullptr) inputs.pop_back();
  for (V& input : inputs) function.input.push_back(Materialize(std::move(input)).name);
  const NnablaKind* kind = FindKind(NnablaFunctions(), type);
  for (const NnablaKind::Argument& argument : kind->arguments) {
    for (const NnablaArg& arg : arguments) {
      if (argument.name != arg.name) continue;
      function.arguments.push_back({argument.name, ValueOf(arg, argument.zero)});
    }
  }
  std::vector<V> values;
  for (const CapturedSizes& sizes : results) {
    V value;
    value.name = Unique(prefix + operation_);
    value.sizes = sizes;
    value.nodes = this;
    AddVariable(value.name, "Buffer", sizes);
    function.output.push_back(value.name);
    values.push_back(std::move(value));
  }
  network_.functions.push_back(std::move(function));
  return values;
}

V NnablaNodes::Node(const char* type, Inputs inputs, Arguments arguments, CapturedSizes sizes) {
  return NodeOf(type, std::move(inputs), std::move(arguments), {std::move(sizes)})[0];
}

V NnablaNodes::Node(const char* type, Inputs inputs, Arguments arguments) {
  CapturedSizes sizes = inputs[0].sizes;
  return Node(type, std::move(inputs), std::move(arguments), std::move(sizes));
}

V NnablaNodes::Number(double value) {
  V v;
  v.number = value;
  v.nodes = this;
  return v;
}

V NnablaNodes::Constant(const Tensor& elements) { return Parameter("", elements, false); }

V NnablaNodes::Parameter(const std::string& name, const Tensor& elements, bool trains) {
  V v;
  v.wish = name;
  v.trains = trains;
  v.nodes = this;
  const Tensor host = elements.To(Device::Cpu());
  v.elements = Contiguous(host.To(DType::kF32).Detach());
  const Shape& shape = elements.shape();
  v.sizes = Of(Numbers(shape.begin(), shape.end()));
  if (!IsFloating(elements.dtype()) && shape.num_elements() > 0) {
    const Tensor back = v.elements.To(host.dtype());
    if (!All(Eq(back, host)).Item<bool>()) Refuse("has an integer that f32 does not hold");
  }
  if (name.empty() && shape.rank() == 0) v.number = host.Item();
  return v;
}

V NnablaNodes::Ranked(const V& x, int rank) {
  if (x.rank() >= rank) return x;
  CapturedSizes sizes(static_cast<size_t>(rank - x.rank()), CapturedSize{1, 1});
  sizes.insert(sizes.end(), x.sizes.begin(), x.sizes.end());
  return Reshape(x, sizes);
}

// x and a number, or a number and x, as a function that has it as an argument.
std::optional<V> NnablaNodes::WithNumber(std::string_view type, const V& x, const V& y) {
  struct Entry {
    const char *type, *right, *left;  // with the number on the right, on the left
    bool negated = false;             // the one on the right
  };
  static constexpr Entry kEntries[] = {
      {"Add2", "AddScalar", "AddScalar"},
      {"Sub2", "AddScalar", "RSubScalar", true},
      {"Mul2", "MulScalar", "MulScalar"},
      {"Div2", nullptr, "RDivScalar"},
      {"Pow2", "PowScalar", "RPowScalar"},
      {"Maximum2", "MaximumScalar", "MaximumScalar"},
      {"Minimum2", "MinimumScalar", "MinimumScalar"},
      {"Equal", "EqualScalar", "EqualScalar"},
      {"NotEqual", "NotEqualScalar", "NotEqualScalar"},
      {"Greater", "GreaterScalar", "LessScalar"},
      {"GreaterEqual", "GreaterEqualScalar", "LessEqualScalar"},
      {"Less", "LessScalar", "GreaterScalar"},
      {"LessEqual", "LessEqualScalar", "GreaterEqualScalar"},
  };
  for (const Entry& entry : kEntries) {
    if (type != entry.type) continue;
    if (y.number && entry.right != nullptr && y.rank() <= x.rank()) {
      return Node(entry.right, {x}, {{"val", entry.negated ? -*y.number : *y.number}});
    }
    if (x.number && x.rank() <= y.rank()) return Node(entry.left, {y}, {{"val", *x.number}});
  }
  return std::nullopt;
}

V NnablaNodes::Binary(const char* type, V x, V y, Arguments arguments) {
  if (auto with = WithNumber(type, x, y)) return *std::move(with);
  const int rank = std::max(x.rank(), y.rank());
  x = Ranked(x, rank);
  y = Ranked(y, rank);
  CapturedSizes sizes = BroadcastSizes(x.sizes, y.sizes);
  return Node(type, {std::move(x), std::move(y)}, std::move(arguments), std::move(sizes));
}

V NnablaNodes::Reshape(V x, const CapturedSizes& sizes) {
  if (SameSizes(x.sizes, sizes)) return x;
  if (x.stored() && x.name.empty()) {
    if (!x.number) x.elements = firn::Reshape(x.elements, ShapeOfSizes(sizes));
    x.sizes = sizes;
    return x;
  }
  const Numbers dims = DimsOf(sizes);
  if (std::count(dims.begin(), dims.end(), -1) > 1) {
    Refuse("has the batch in several dimensions, which NNabla's Reshape does not say");
  }
  return Node("Reshape", {std::move(x)}, {{"shape", dims}}, sizes);
}

V NnablaNodes::Squeeze(const V& x, const Numbers& dims) {
  CapturedSizes sizes;
  for (size_t d = 0; d < x.sizes.size(); ++d) {
    if (std::find(dims.begin(), dims.end(), static_cast<int64_t>(d)) == dims.end()) {
      sizes.push_back(x.sizes[d]);
    }
  }
  return Reshape(x, sizes);
}

V NnablaNodes::Unsqueeze(const V& x, const Numbers& dims) {
  CapturedSizes sizes = x.sizes;
  for (const int64_t dim : dims) sizes.insert(sizes.begin() + dim, {1, 1});
  return Reshape(x, sizes);
}

V NnablaNodes::Transpose(V x, const Numbers& order) {
  if (order == OrderOf(x.rank())) return x;
  CapturedSizes sizes;
  for (const int64_t d : order) sizes.push_back(x.sizes[static_cast<size_t>(d)]);
  if (x.stored() && x.name.empty() && !x.number) {
    x.elements = Contiguous(Permute(x.elements, order));
    absl::StrAppend(&x.form, "(", absl::StrJoin(order, ","), ")");
    x.sizes = sizes;
    return x;
  }
  return Node("Transpose", {std::move(x)}, {{"axes", order}}, sizes);
}

V NnablaNodes::Swapped(const V& x) {
  Numbers order = OrderOf(x.rank());
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return Transpose(x, order);
}

V NnablaNodes::Broadcast(V x, const CapturedSizes& sizes) {
  if (SameSizes(x.sizes, sizes)) return x;
  x = Ranked(x, static_cast<int>(sizes.size()));
  if (SameSizes(x.sizes, sizes)) return x;
  if (x.number) return Node("Constant", {}, {{"val", *x.number}, {"shape", DimsOf(sizes)}}, sizes);
  for (size_t d = 1; d < sizes.size(); ++d) {
    if (sizes[d].batch()) Refuse("broadcasts to the batch in another dimension than the first");
  }
  return Node("Broadcast", {std::move(x)}, {{"shape", DimsOf(sizes)}}, sizes);
}

V NnablaNodes::Reduce(const char* type, const V& x, const Numbers& dims, bool keep) {
  CapturedSizes sizes;
  for (size_t d = 0; d < x.sizes.size(); ++d) {
    const bool reduced = std::find(dims.begin(), dims.end(), static_cast<int64_t>(d)) != dims.end();
    if (!reduced) sizes.push_back(x.sizes[d]);
    if (reduced && keep) sizes.push_back({1, 1});
  }
  if (dims.empty()) return x;
  return Node(type, {x}, {{"axes", dims}, {"keep_dims", keep}}, sizes);
}

V NnablaNodes::Slice(const V& x, int64_t dim, int64_t start, int64_t end, int64_t step) {
  CapturedSizes sizes = x.sizes;
  const auto at = static_cast<size_t>(dim);
  const int64_t size = Fixed({x.sizes[at]})[0];
  const int64_t count =
      step > 0 ? (end - start + step - 1) / step : (start - end - step - 1) / -step;
  if (step == 1 && count == size) return x;
  sizes[at] = {count, count};
  // Numbers stand for the last dimensions. One before the first element is said from behind.
  Numbers starts = {start}, stops = {end < 0 ? -size - 1 : end}, steps = {step};
  for (size_t d = at + 1; d < sizes.size(); ++d) {
    starts.push_back(0);
    stops.push_back(Fixed({sizes[d]})[0]);
    steps.push_back(1);
  }
  return Node("Slice", {x}, {{"start", starts}, {"stop", stops}, {"step", steps}}, sizes);
}

V NnablaNodes::Concat(Inputs parts, int64_t dim) {
  if (parts.size() == 1) return parts[0];
  CapturedSizes sizes = parts[0].sizes;
  for (size_t i = 1; i < parts.size(); ++i) {
    sizes[static_cast<size_t>(dim)].now += parts[i].sizes[static_cast<size_t>(dim)].now;
    sizes[static_cast<size_t>(dim)].other += parts[i].sizes[static_cast<size_t>(dim)].other;
  }
  return Node("Concatenate", std::move(parts), {{"axis", dim}}, sizes);
}

V NnablaNodes::Gather(const V& x, int64_t dim, const Numbers& places) {
  CapturedSizes sizes = x.sizes;
  const auto count = static_cast<int64_t>(places.size());
  sizes[static_cast<size_t>(dim)] = {count, count};
  return Node("Gather", {x, Ints(places)}, {{"axis", dim}, {"batch_dims", 0}}, sizes);
}

V NnablaNodes::Where(V condition, V x, V y) {
  const int rank = std::max({condition.rank(), x.rank(), y.rank()});
  CapturedSizes sizes(static_cast<size_t>(rank), CapturedSize{1, 1});
  for (V* v : {&condition, &x, &y}) {
    *v = Ranked(*v, rank);
    sizes = BroadcastSizes(sizes, v->sizes);
  }
  for (V* v : {&condition, &x, &y}) *v = Broadcast(*v, sizes);
  return Node("Where", {std::move(condition), std::move(x), std::move(y)}, {}, sizes);
}

V NnablaNodes::Matmul(V a, V b) {
  const bool row = a.rank() == 1, column = b.rank() == 1;
  if (row) a = Unsqueeze(a, {0});
  if (column) b = Unsqueeze(b, {1});
  V y;
  if (b.rank() == 2) {  // whose weight may be any matrix
    CapturedSizes sizes = a.sizes;
    sizes.back() = b.sizes[1];
    y = Node("Affine", {a, b}, {{"base_axis", a.rank() - 1}}, sizes);
  } else {
    const int rank = std::max(a.rank(), b.rank());
    a = Ranked(a, rank);
    b = Ranked(b, rank);
    CapturedSizes sizes = BroadcastSizes(a.sizes, b.sizes);
    sizes[sizes.size() - 2] = a.sizes[sizes.size() - 2];
    sizes.back() = b.sizes.back();
    y = Node("BatchMatmul", {a, b}, {}, sizes);
  }
  const int64_t last = y.rank() - 1;
  if (row && column) return Squeeze(y, {last - 1, last});
  if (row) return Squeeze(y, {last - 1});
  return column ? Squeeze(y, {last}) : y;
}

}  // namespace firn::io::internal
