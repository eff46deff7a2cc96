// The program of weights_python_test.py: a network of the zoo with the weights of a file.
//   load_weights NAME WEIGHTS DATA OUT
// DATA has the inputs "in.0", ...; OUT gets the result "out.0". Both are .safetensors. Prints what
// was loaded.
#include <exception>
#include <iostream>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/io/parameters.h"
#include "firn/io/safetensors/safetensors.h"
#include "firn/nn/zoo/zoo.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/precision.h"

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  try {
    firn::SetWinogradAllowed(false);  // direct sums, whose rounding is nearly that of f64
    const firn::NoGradScope no_grad;
    const auto net = firn::zoo::MakeModule(argv[1]);
    std::cout << net->LoadStateDict(firn::io::Load(argv[2]), {.source = argv[2]}) << "\n";
    net->Eval();
    const firn::StateDict data = firn::io::LoadSafetensors(argv[3]);
    std::vector<firn::Tensor> inputs;
    for (size_t i = 0; i < data.size(); ++i) inputs.push_back(data[absl::StrCat("in.", i)]);
    firn::StateDict out;
    out.Insert("out.0", Contiguous(firn::zoo::Call(*net, inputs)));
    firn::io::SaveSafetensors(argv[4], out);
  } catch (const std::exception& e) {
    std::cerr << e.what() << "\n";
    return 1;
  }
}
