#ifndef FIRN_IO_NNABLA_MODEL_INTERNAL_NNABLA_SCHEMA_H_
#define FIRN_IO_NNABLA_MODEL_INTERNAL_NNABLA_SCHEMA_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "firn/io/nnabla_model/internal/proto_type.h"
#include "firn/io/nnabla_model/nnabla_model.h"

namespace firn::io::internal {

// A parameter as a message has it.
struct NnablaParameter {
  std::string name;
  std::vector<int64_t> shape;
  std::vector<float> data;
  bool need_grad = false;
};

// NNablaProtoBuf. In messages that are read or written, functions and solvers whose arguments stand
// in a field have its name in front of the arguments, as an argument of its own; FinishArguments
// takes it away, MarkArguments puts it there.
struct NnablaMessage : nnabla::Model {
  std::vector<NnablaParameter> parameter;  // in place of the model's `parameters`
};

// NNablaProtoBuf, and what of it may stand in a binary file: all but the networks, whose fields
// have other numbers in each release.
const ProtoType& NnablaTextType();
const ProtoType& NnablaBinaryType();
// The message Optimizer, as files of a solver's states have it alone.
const ProtoType& NnablaOptimizerType();

// Gives functions and solvers all the arguments that NNabla has. DataLoss for those that are
// another type's, "network \"main\", function 3 (\"conv1\"): expected ..., got ...".
absl::Status FinishArguments(nnabla::Model* model);
// The other way. InvalidArgument for arguments that the type does not have.
absl::Status MarkArguments(nnabla::Model* model);

}  // namespace firn::io::internal

#endif  // FIRN_IO_NNABLA_MODEL_INTERNAL_NNABLA_SCHEMA_H_
