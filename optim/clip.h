#ifndef FIRN_OPTIM_CLIP_H_
#define FIRN_OPTIM_CLIP_H_

#include <vector>

#include "firn/tensor/global_number.h"
#include "firn/tensor/tensor.h"

namespace firn::optim {

// Limits on gradients, between Backward and Step, in one pass over all of them. If others hold or
// share a gradient, it stays as it is and the parameter gets a new one; otherwise it is changed in
// place. Parameters without a gradient are skipped, and a parameter given twice counts once.
// Nothing is read on the host, so all these functions can be captured.

// Scales all gradients by one factor such that their norm, as if they were one vector, is at most
// `max_norm` (torch.nn.utils.clip_grad_norm_): factor = min(1, max_norm / (norm + 1e-6)). `p` is
// the kind of norm, positive; infinity is allowed. Returns the norm before, 0-d; 0 without any
// gradient. Throws when max_norm is negative. `global` is for ranks with different gradients, for
// example each with those of a part of the parameters: the norm is then over all ranks, and all
// ranks must call this, with gradients or without. Leave it empty if all ranks have the same
// gradients.
Tensor ClipGradNorm(const std::vector<Tensor>& parameters, inner::Real max_norm, inner::Real p = 2,
                    const GlobalNumber& global = {});

// The same with a factor of its own for each parameter (NNabla's clip_grad_by_norm).
void ClipGradNormEach(const std::vector<Tensor>& parameters, inner::Real max_norm,
                      inner::Real p = 2);

// Cuts every element off at -limit and limit. Throws when limit is negative.
void ClipGradValue(const std::vector<Tensor>& parameters, inner::Real limit);

}  // namespace firn::optim

#endif  // FIRN_OPTIM_CLIP_H_
