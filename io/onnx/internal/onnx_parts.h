#ifndef FIRN_IO_ONNX_INTERNAL_ONNX_PARTS_H_
#define FIRN_IO_ONNX_INTERNAL_ONNX_PARTS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "firn/autograd/network/definition.h"
#include "firn/io/internal/unsupported_list.h"
#include "firn/io/onnx/internal/onnx_model.h"
#include "firn/io/onnx/internal/onnx_ops.h"
#include "firn/io/onnx/internal/onnx_tensor.h"
#include "firn/io/onnx/onnx.h"
#include "firn/tensor/state_dict.h"

namespace firn::io::internal {

// The parts of a model beside nodes: inputs and outputs, tensors, and the list of everything that
// Firn does not support.
class OnnxParts {
 public:
  // All must outlive it.
  OnnxParts(const OnnxModel& model, const OnnxImportOptions& options,
            autograd::NetworkDefinition* definition);

  // `what` ("input") for messages.
  autograd::NetworkPort Port(const OnnxValueInfo& info, const char* what);
  // An undefined tensor if Firn does not have its type, which is then noted.
  absl::StatusOr<Tensor> Read(const OnnxTensor& tensor, const std::string& what);

  // `kind` tells what problems at several places have in common; `problem` names the place.
  void NoteProblem(std::string_view kind, std::string_view problem) {
    problems_.Add(kind, problem);
  }
  // Unimplemented, with all that was noted, if there is any.
  absl::Status Unsupported() const;

  // Notes that a node reads the value as input `input`. The operator is null if Firn does not have
  // it.
  void NoteUse(int value, const OnnxOp* op, size_t input);
  // Makes parameters, buffers and constants of the graph's initializers, as they are used. `find`
  // tells a name's value.
  absl::Status AddInitializers(absl::FunctionRef<int(const std::string& name)> find);
  const StateDict& state() const { return state_; }

 private:
  struct Uses {
    bool buffer = false, other = false;  // neither: its elements decide what is computed
  };

  const OnnxModel& model_;
  const OnnxImportOptions& options_;
  autograd::NetworkDefinition* const definition_;
  OnnxElements elements_;
  absl::flat_hash_map<int, Uses> uses_;  // by the value
  UnsupportedList problems_;
  StateDict state_;
};

}  // namespace firn::io::internal

#endif  // FIRN_IO_ONNX_INTERNAL_ONNX_PARTS_H_
