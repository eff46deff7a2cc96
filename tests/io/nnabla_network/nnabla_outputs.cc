// For nnabla_outputs_test: runs the executor of each FOLDER's net.nnp on its <input>.npy and
// compares with y0.npy, y1.npy, ... A line for each folder that differs by more than 1e-5, relative
// to 1 and the number, or throws; at the end how many there were.
#include <cmath>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/autograd/network/definition.h"
#include "firn/io/nnabla_network/nnabla_network.h"
#include "firn/io/npy/npy.h"
#include "firn/tensor/ops.h"

namespace firn {
namespace {

// The first difference; "" if there is none.
std::string Difference(const std::string& folder) {
  const io::NnablaImport model = io::ImportNnabla(folder + "/net.nnp");
  const Network& network = model.executors.at(0).network;
  std::vector<Tensor> in;
  for (const auto& port : network.inputs()) {
    in.push_back(io::ReadNpy(absl::StrCat(folder, "/", port.name, ".npy")));
  }
  const TensorList out = network.Call(in);
  for (size_t i = 0; i < out.size(); ++i) {
    const Tensor want = io::ReadNpy(absl::StrCat(folder, "/y", i, ".npy")).To(DType::kF64);
    if (out[i].shape() != want.shape()) {
      return absl::StrCat("output ", i, " is ", out[i].shape().ToString(), ", not ",
                          want.shape().ToString());
    }
    if (want.shape().num_elements() == 0) continue;
    const Tensor distance = Abs(Sub(out[i].To(DType::kF64), want));
    const auto worst = Amax(Div(distance, Add(Abs(want), OnesLike(want)))).Item<double>();
    if (!(worst < 1e-5)) return absl::StrCat("output ", i, " differs by ", worst);
  }
  return "";
}

}  // namespace
}  // namespace firn

int main(int argc, char** argv) {
  int wrong = 0;
  for (int i = 1; i < argc; ++i) {
    std::string difference;
    try {
      difference = firn::Difference(argv[i]);
    } catch (const std::exception& error) {
      difference = error.what();
    }
    if (difference.empty()) continue;
    ++wrong;
    std::cout << argv[i] << ": " << difference << "\n";
  }
  std::cout << argc - 1 << " folders, " << wrong << " wrong\n";
  return wrong == 0 ? 0 : 1;
}
