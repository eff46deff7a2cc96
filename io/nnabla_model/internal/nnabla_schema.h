#ifndef FIRN_IO_NNABLA_MODEL_INTERNAL_NNABLA_SCHEMA_H_
#define FIRN_IO_NNABLA_MODEL_INTERNAL_NNABLA_SCHEMA_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "firn/io/nnabla_model/internal/proto_type.h"
#include "firn/io/nnabla_model/nnabla_model.h"

namespace firn::io::internal {

// A parameter in the form of a message.
struct NnablaParameter {
  std::string name;
  std::vector<int64_t> shape;
  std::vector<float> data;
  bool need_grad = false;
};

// NNablaProtoBuf. While a message is read or written, a function or solver whose arguments are in a
// field has the field's name as an additional first argument; MarkArguments adds it,
// FinishArguments removes it.
struct NnablaMessage : nnabla::Model {
  std::vector<NnablaParameter> parameter;  // in place of the model's `parameters`
};

// NNablaProtoBuf, and its part that binary files may have: all but the networks, whose fields have
// other numbers in each release.
const ProtoType& NnablaTextType();
const ProtoType& NnablaBinaryType();
// The message Optimizer, the only one in files of a solver's states.
const ProtoType& NnablaOptimizerType();

// Gives functions and solvers all the arguments that NNabla has. DataLoss for those that are
// another type's, "network \"main\", function 3 (\"conv1\"): expected ..., got ...".
absl::Status FinishArguments(nnabla::Model* model);
// The other way. InvalidArgument for arguments that the type does not have.
absl::Status MarkArguments(nnabla::Model* model);

}  // namespace firn::io::internal

#endif  // FIRN_IO_NNABLA_MODEL_INTERNAL_NNABLA_SCHEMA_H_
