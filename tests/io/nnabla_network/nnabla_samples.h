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
  std::string path;            // of the .nnp; "": it was refused
  std::string refused;         // why
  bool draws = false;          // random numbers
  std::vector<Tensor> inputs;  // of the network, in f32
  // What the captured run gave, and the new values of states that it changes, by the names that the
  // file has for them.
  StateDict outputs;
};

// Calls f with every sample in f32, and of what has no such inputs in one dtype, whose files stand
// in `folder` and are deleted afterwards unless they are kept.
void ForEachNnablaSample(const std::string& folder, bool keep,
                         absl::FunctionRef<void(const NnablaSample&)> f);

}  // namespace firn::testing

#endif  // FIRN_TESTS_IO_NNABLA_NETWORK_NNABLA_SAMPLES_H_
