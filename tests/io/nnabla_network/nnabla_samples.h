#ifndef FIRN_TESTS_IO_NNABLA_NETWORK_NNABLA_SAMPLES_H_
#define FIRN_TESTS_IO_NNABLA_NETWORK_NNABLA_SAMPLES_H_

#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "firn/tensor/state_dict.h"
#include "firn/tensor/tensor.h"

namespace firn::testing {

// A sample of an operation or a composite, captured and exported for NNabla.
struct NnablaSample {
  std::string name;            // "conv2d.3"
  std::string path;            // of the .nnp; "" if it was refused
  std::string refused;         // why
  bool draws = false;          // random numbers
  std::vector<Tensor> inputs;  // of the network, in f32
  // The results of the captured run, and the new values of states that it changes, by their names
  // in the file.
  StateDict outputs;
};

// Calls f with every sample in f32, or in one dtype if its inputs have no f32. The files are in
// `folder` and are deleted afterwards unless they are kept.
void ForEachNnablaSample(const std::string& folder, bool keep,
                         absl::FunctionRef<void(const NnablaSample&)> f);

}  // namespace firn::testing

#endif  // FIRN_TESTS_IO_NNABLA_NETWORK_NNABLA_SAMPLES_H_
