// torch_optimizer_steps KIND FOLDER: goes on from files that PyTorch wrote there, state.pt of an
// optimizer of that kind and tensors.pt with parameters "p0", "p1" and their gradients "g0", "g1",
// for one step; writes the parameters then, stepped.pt, and the optimizer, firn_state.pt.
#include <iostream>
#include <memory>
#include <string>

#include "firn/autograd/backward.h"
#include "firn/io/torch/torch.h"
#include "firn/io/torch/torch_optimizer.h"
#include "firn/optim/adafactor.h"
#include "firn/optim/adagrad.h"
#include "firn/optim/adam.h"
#include "firn/optim/adam_family.h"
#include "firn/optim/rmsprop.h"
#include "firn/optim/sgd.h"
#include "firn/optim/sign_steps.h"
#include "firn/tensor/error.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"

namespace firn {
namespace {

std::unique_ptr<optim::Optimizer> Make(const std::string& kind, const optim::ParameterList& of) {
  if (kind == "SGD") return std::make_unique<optim::Sgd>(of);
  if (kind == "Adam") return std::make_unique<optim::Adam>(of);
  if (kind == "AdamW") return std::make_unique<optim::AdamW>(of);
  if (kind == "RMSprop") return std::make_unique<optim::Rmsprop>(of);
  if (kind == "Adagrad") return std::make_unique<optim::Adagrad>(of);
  if (kind == "Adadelta") return std::make_unique<optim::Adadelta>(of);
  if (kind == "Adamax") return std::make_unique<optim::Adamax>(of);
  if (kind == "NAdam") return std::make_unique<optim::Nadam>(of);
  if (kind == "RAdam") return std::make_unique<optim::Radam>(of);
  if (kind == "Rprop") return std::make_unique<optim::Rprop>(of);
  return std::make_unique<optim::Adafactor>(of);
}

void Step(const std::string& kind, const std::string& folder) {
  const StateDict tensors = io::LoadTorch(folder + "/tensors.pt");
  const Tensor p0 = Clone(tensors["p0"]).SetRequiresGrad();
  const Tensor p1 = Clone(tensors["p1"]).SetRequiresGrad();
  const auto optimizer = Make(kind, std::vector<Tensor>{p0, p1});
  optimizer->LoadStateDict(
      io::LoadTorchOptimizer(folder + "/state.pt", optimizer->state_dict(), {.part = "optimizer"}));
  (Sum(p0 * tensors["g0"]) + Sum(p1 * tensors["g1"])).Backward();
  optimizer->Step();
  io::SaveTorch(folder + "/stepped.pt", {{"p0", p0.Detach()}, {"p1", p1.Detach()}});
  io::SaveTorchOptimizer(folder + "/firn_state.pt", optimizer->state_dict(),
                         {.parameters = {"0", "1"}});
}

}  // namespace
}  // namespace firn

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  try {
    firn::Step(argv[1], argv[2]);
  } catch (const firn::Error& e) {
    std::cerr << e.what() << "\n";
    return 1;
  }
  return 0;
}
