#ifndef FIRN_TOOLS_FIRN_TRAIN_MUON_H_
#define FIRN_TOOLS_FIRN_TRAIN_MUON_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "firn/optim/muon.h"
#include "firn/optim/optimizer.h"
#include "firn/tensor/shape.h"
#include "firn/tensor/tensor.h"

namespace firn::cli {

// Muon for a whole network: it moves matrices only, so all other parameters (biases, norms, kernels
// of convolutions) are a group of their own, which AdamW moves with the same rate and weight decay,
// betas 0.9 and 0.999 and eps 1e-8. With the scale kMatchRmsAdamW one rate suits both (Liu et al.,
// "Muon is scalable for LLM training", 2025).
class MuonAndAdamW final : public optim::Muon {
 public:
  // Throws firn::Error if there are no matrices, and like optim::Muon.
  explicit MuonAndAdamW(const optim::ParameterList& parameters,
                        const optim::MuonOptions& options = {});

 protected:
  std::vector<std::string> state_names(size_t group) const override;
  void CheckParameter(const std::string&, const Shape&) const override {}
  void Update(size_t group, const Tensor& lr, const Tensor& skip,
              absl::Span<Slot* const> slots) override;
};

}  // namespace firn::cli

#endif  // FIRN_TOOLS_FIRN_TRAIN_MUON_H_
