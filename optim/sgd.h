#ifndef FIRN_OPTIM_SGD_H_
#define FIRN_OPTIM_SGD_H_

#include <string>
#include <vector>

#include "optim/optimizer.h"

namespace firn::optim {

struct SgdOptions {
  double lr = 1e-3;
  double momentum = 0;
  double dampening = 0;
  double weight_decay = 0;  // added to the gradient: weight_decay * parameter
  bool nesterov = false;
  template <class V>
  void Visit(V& v) {
    v.Field("momentum", momentum);
    v.Field("dampening", dampening);
    v.Field("weight_decay", weight_decay);
    v.Field("nesterov", nesterov);
  }
};

// Stochastic gradient descent with momentum, as torch.optim.SGD; formulas in
// tensor/ops/optimizer/sgd.h. State: momentum_buffer, with momentum only.
class Sgd final : public OptimizerOf<SgdOptions> {
 public:
  explicit Sgd(const ParameterList& parameters, const SgdOptions& options = {});

 protected:
  const char* name() const override { return "Sgd"; }
  std::vector<std::string> state_names(size_t group) const override;
  void Update(size_t group, const Tensor& lr, const Tensor& skip,
              absl::Span<Slot* const> slots) override;
  void Check(const SgdOptions& options) const override;
};

}  // namespace firn::optim

#endif  // FIRN_OPTIM_SGD_H_
