#ifndef FIRN_IO_NNABLA_MODEL_INTERNAL_NNABLA_FUNCTIONS_H_
#define FIRN_IO_NNABLA_MODEL_INTERNAL_NNABLA_FUNCTIONS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "firn/io/nnabla_model/nnabla_model.h"

namespace firn::io::internal {

// The arguments that a function or a solver of NNabla 1.39 takes.
struct NnablaKind {
  std::string type;   // "Convolution"
  std::string field;  // "convolution_param"; empty: it takes nothing
  int number = 0;     // of the field
  struct Argument {
    std::string name;
    nnabla::Value zero;       // of the argument's type
    bool is_shape = false;    // a message of dims, not a list
    bool is_nothing = false;  // a message without fields, of which nothing is kept
  };
  std::vector<Argument> arguments;
};

// All 228 functions, and the 18 solvers, in NNabla's order.
const std::vector<NnablaKind>& NnablaFunctions();
const std::vector<NnablaKind>& NnablaSolvers();

// The tables that they are made from; nnabla_table.cc explains the format.
std::string_view NnablaFunctionTable();
std::string_view NnablaSolverTable();

// Null for an unknown type.
const NnablaKind* FindKind(const std::vector<NnablaKind>& kinds, std::string_view type);

// Gives `arguments` all arguments of `kind`, in its order; missing ones are 0. Errors:
// InvalidArgument for arguments that `kind` does not have, that come twice or are of another type.
absl::Status CompleteArguments(const NnablaKind& kind, std::vector<nnabla::Argument>* arguments);

}  // namespace firn::io::internal

#endif  // FIRN_IO_NNABLA_MODEL_INTERNAL_NNABLA_FUNCTIONS_H_
