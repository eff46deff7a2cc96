#ifndef FIRN_IO_ONNX_INTERNAL_ONNX_PARTS_H_
#define FIRN_IO_ONNX_INTERNAL_ONNX_PARTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "firn/autograd/network/definition.h"
#include "firn/io/onnx/internal/onnx_model.h"
#include "firn/io/onnx/internal/onnx_ops.h"
#include "firn/io/onnx/internal/onnx_tensor.h"
#include "firn/io/onnx/onnx.h"
#include "firn/tensor/state_dict.h"

namespace firn::io::internal {

// What of a model is no node: inputs and outputs, tensors, and the list of all that Firn does not
// have.
class OnnxParts {
 public:
  // All must outlive it.
  OnnxParts(const OnnxModel& model, const OnnxImportOptions& options,
            autograd::NetworkDefinition* definition);

  // `what` ("input") for messages.
  autograd::NetworkPort Port(const OnnxValueInfo& info, const char* what);
  // An undefined tensor when its type is one that Firn does not have, which is noted.
  absl::StatusOr<Tensor> Read(const OnnxTensor& tensor, const std::string& what);

  void NoteProblem(std::string problem) { problems_.push_back(std::move(problem)); }
  // Unimplemented, with all of them, when there are any.
  absl::Status Unsupported() const;

  // That a node (of an operator that Firn may not have: null) reads the value as input `input`.
  void NoteUse(int value, const OnnxOp* op, size_t input);
  // Makes parameters, buffers and constants of the graph's initializers, as they are used. `find`
  // tells a name's value.
  absl::Status AddInitializers(absl::FunctionRef<int(const std::string& name)> find);
  const StateDict& state() const { return state_; }

 private:
  struct Uses {
    bool buffer = false, other = false;  // neither: it says what is computed
  };

  const OnnxModel& model_;
  const OnnxImportOptions& options_;
  autograd::NetworkDefinition* const definition_;
  OnnxElements elements_;
  absl::flat_hash_map<int, Uses> uses_;  // by the value
  std::vector<std::string> problems_;
  StateDict state_;
};

}  // namespace firn::io::internal

#endif  // FIRN_IO_ONNX_INTERNAL_ONNX_PARTS_H_
