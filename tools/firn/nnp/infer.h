#ifndef FIRN_TOOLS_FIRN_NNP_INFER_H_
#define FIRN_TOOLS_FIRN_NNP_INFER_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/firn/command.h"

namespace firn::cli {

struct NnpInference {
  std::string model;                // .nnp, .nntxt or .prototxt with executors
  std::string parameters;           // replaces that of the model; "": the model's
  std::vector<std::string> inputs;  // bare elements, one file an input of an executor
  std::string data_type = "float32";
  int64_t batch_size = 1;  // below 1: that of the networks
  std::string output;      // the files are <output>_<sample>.bin; "": none
};

// Works like `nnabla_cli infer`: runs all executors, each num_evaluations times, and writes for
// each sample of a batch the elements of all outputs, f32, one behind the other. Without output
// they are printed. Throws firn::Error, naming the input that a file does not fill.
int InferNnp(const NnpInference& asked, Terminal& terminal);

}  // namespace firn::cli

#endif  // FIRN_TOOLS_FIRN_NNP_INFER_H_
