// Shape rules tell how another batch changes sizes. Only sizes in attributes do not follow by
// themselves. A size equal to the batch is taken for it, and so is the end of a slice of the
// batch's dimension. In a reshape one multiple of the batch is: the one that has as many elements
// in front of it, else the first one with which the number of elements stays right.
#include "firn/io/captured/captured_batch.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/autograd/graph/infer.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/op.h"

namespace firn::io::internal {
namespace {

using Sizes64 = std::vector<int64_t>;

// Reads or writes the list "shape" of a call's attributes, and the dimension and end of a slice.
class Attributes : public firn::inner::AttrVisitor {
 public:
  void Field(const char* name, int64_t& value) override {
    if (std::string_view(name) == "end") end = &value;
    if (std::string_view(name) == "dim") dim = value;
  }
  void Field(const char*, double&) override {}
  void Field(const char*, bool&) override {}
  void Field(const char*, std::string&) override {}
  void Field(const char* name, Sizes64& value) override {
    if (std::string_view(name) != "shape") return;
    if (write != nullptr) value = *write;
    shape = value;
    found = true;
  }

  const Sizes64* write = nullptr;
  Sizes64 shape;
  bool found = false;
  int64_t* end = nullptr;
  int64_t dim = 0;
};

void Visit(Instr& instr, Attributes& visitor) {
  const auto* type = instr.attrs.ref().type();
  if (type != nullptr) type->visit(instr.attrs.mutable_data(), visitor);
}

class Resizer {
 public:
  Resizer(const Graph& graph, int64_t batch)
      : was_(graph), next_(graph), then_(graph.value(graph.inputs[0]).spec.shape[0]), now_(batch) {}

  absl::StatusOr<Graph> Run() {
    for (const ValueId id : next_.inputs) {
      const Shape& shape = was_.value(id).spec.shape;
      FIRN_RETURN_IF(shape.rank() == 0 || shape[0] != then_,
                     Unimplemented("dynamic_batch: all inputs must have ", then_,
                                   " elements in dimension 0, got ", shape.ToString()));
      Sizes64 sizes(shape.begin(), shape.end());
      sizes[0] = now_;
      Set(id, sizes);
    }
    for (Instr& instr : next_.instrs) FIRN_RETURN_IF_ERROR(Infer(instr));
    return std::move(next_);
  }

 private:
  void Set(ValueId id, const Sizes64& sizes) {
    TensorSpec& spec = next_.value(id).spec;
    spec = TensorSpec::Contiguous(spec.dtype, Shape(sizes), spec.device);
  }

  absl::Status Infer(Instr& instr) {
    const Instr before = instr;
    Attributes read;
    Visit(instr, read);
    if (read.end != nullptr && *read.end == then_ && Follows(instr.in[0], read.dim)) {
      *read.end = now_;
    }
    std::vector<Sizes64> candidates;
    if (read.found) candidates = Candidates(instr, read.shape);
    if (candidates.empty()) candidates.push_back(read.shape);
    absl::Status status;
    for (const Sizes64& shape : candidates) {
      Attributes write;
      write.write = read.found ? &shape : nullptr;
      Visit(instr, write);
      absl::StatusOr<Inferred> inferred = InferSpecs(next_, instr);
      status = inferred.status();
      if (!status.ok()) continue;
      for (size_t i = 0; i < instr.out.size(); ++i) {
        next_.value(instr.out[i]).spec = inferred->specs[i];
        const Shape& is = inferred->specs[i].shape;
        if (is.rank() != was_.value(instr.out[i]).spec.shape.rank()) {
          return Stands(instr, "has another rank then");
        }
      }
      return absl::OkStatus();
    }
    return Stands(instr, std::string(status.message()));
  }

  // Whether the batch changes the size of a dimension.
  bool Follows(ValueId id, int64_t dim) const {
    const Shape &was = was_.value(id).spec.shape, &is = next_.value(id).spec.shape;
    const auto d = static_cast<int>(dim < 0 ? dim + was.rank() : dim);
    return was[d] != is[d];
  }

  std::vector<Sizes64> Candidates(const Instr& instr, const Sizes64& shape) const {
    if (instr.op->name != "reshape") {
      Sizes64 sizes = shape;
      for (int64_t& size : sizes) size = size == then_ ? now_ : size;
      return {sizes, shape};
    }
    // An inferred size fits any number of elements, so the size in the batch's place is tried
    // first.
    std::vector<Sizes64> candidates = {shape};
    const Shape &from = was_.value(instr.in[0]).spec.shape, &to = OutOf(instr);
    int first = 0;
    while (first < from.rank() && !Follows(instr.in[0], first)) ++first;
    if (first == from.rank()) return candidates;
    const int64_t before = Product(from, first);
    bool found = false;
    for (size_t d = 0; d < shape.size(); ++d) {
      const auto at = static_cast<int>(d);
      if (to[at] % then_ != 0) continue;
      const bool here = !found && Product(to, at) == before;
      found |= here;
      if (shape[d] <= 0) continue;
      Sizes64 other = shape;
      other[d] = shape[d] / then_ * now_;
      candidates.insert(here ? candidates.begin() : candidates.end(), std::move(other));
    }
    return candidates;
  }

  const Shape& OutOf(const Instr& instr) const { return was_.value(instr.out[0]).spec.shape; }
  // The product of the sizes in front of a dimension.
  static int64_t Product(const Shape& shape, int dim) {
    int64_t product = 1;
    for (int d = 0; d < dim; ++d) product *= shape[d];
    return product;
  }

  absl::Status Stands(const Instr& instr, const std::string& why) const {
    const std::string module(instr.module_path());
    return Unimplemented("dynamic_batch: ", std::string(instr.op->name),
                         module.empty() ? "" : " of ", module,
                         " does not take a batch of another size: ", why);
  }

  const Graph& was_;
  Graph next_;
  const int64_t then_, now_;
};

}  // namespace

absl::StatusOr<Graph> WithBatch(const Graph& graph, int64_t batch) {
  return Resizer(graph, batch).Run();
}

absl::StatusOr<Graph> WithAnotherBatch(const Graph& graph) {
  FIRN_RETURN_IF(graph.inputs.empty() || graph.value(graph.inputs[0]).spec.shape.rank() == 0,
                 InvalidArgument("dynamic_batch needs an input with a dimension"));
  const int64_t batch = graph.value(graph.inputs[0]).spec.shape[0];
  FIRN_RETURN_IF(batch == 0, InvalidArgument("dynamic_batch needs a run of one sample or more"));
  return WithBatch(graph, batch + 1);
}

}  // namespace firn::io::internal
