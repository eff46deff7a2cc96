// Shape rules say what another batch changes. Only sizes that stand in attributes do not follow:
// those equal to the batch are taken for it, and of a reshape the first multiple of it with which
// the elements are as many as before.
#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/autograd/graph/infer.h"
#include "firn/device/status_macros.h"
#include "firn/io/onnx/internal/onnx_export_graph.h"
#include "firn/tensor/op.h"

namespace firn::io::internal {
namespace {

using Sizes64 = std::vector<int64_t>;

// Reads or writes the list "shape" of a call's attributes, and the end of a slice.
class Attributes : public firn::inner::AttrVisitor {
 public:
  void Field(const char* name, int64_t& value) override {
    if (std::string_view(name) == "end") end = &value;
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
    if (read.end != nullptr && *read.end == then_) *read.end = now_;
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

  std::vector<Sizes64> Candidates(const Instr& instr, const Sizes64& shape) const {
    std::vector<Sizes64> candidates;
    if (instr.op->name != "reshape") {
      Sizes64 sizes = shape;
      for (int64_t& size : sizes) size = size == then_ ? now_ : size;
      return {sizes, shape};
    }
    candidates.push_back(shape);
    for (size_t d = 0; d < shape.size(); ++d) {
      if (shape[d] <= 0 || shape[d] % then_ != 0) continue;
      candidates.push_back(shape);
      candidates.back()[d] = shape[d] / then_ * now_;
    }
    return candidates;
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

}  // namespace firn::io::internal
