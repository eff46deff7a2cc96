#ifndef FIRN_OPTIM_CLIP_H_
#define FIRN_OPTIM_CLIP_H_

#include <vector>

#include "firn/tensor/global_number.h"
#include "firn/tensor/tensor.h"

namespace firn::optim {

// Limits on gradients, between Backward and Step, in one pass over all of them. A gradient that
// others hold or share is left alone and the parameter given a new one; otherwise it is changed in
// place. Parameters without a gradient are passed over, and one given twice counts once. Nothing is
// read on the host, so all of them can be captured.

// Scales all gradients by one factor such that their norm, as if they were one vector, is at most
// `max_norm` (torch.nn.utils.clip_grad_norm_): factor = min(1, max_norm / (norm + 1e-6)). `p` is
// the kind of norm, positive; infinity is allowed. Returns the norm before, 0-d; 0 without any
// gradient. Throws when max_norm is negative. `global`: of several ranks each of which has
// gradients of its own, as of a part of the parameters; the norm is that of all of them, and all
// ranks call this, with gradients or without. (Where all have the same gradients it stays empty.)
Tensor ClipGradNorm(const std::vector<Tensor>& parameters, inner::Real max_norm, inner::Real p = 2,
                    const GlobalNumber& global = {});

// The same with a factor of its own for each parameter (NNabla's clip_grad_by_norm).
void ClipGradNormEach(const std::vector<Tensor>& parameters, inner::Real max_norm,
                      inner::Real p = 2);

// Cuts every element off at -limit and limit. Throws when limit is negative.
void ClipGradValue(const std::vector<Tensor>& parameters, inner::Real limit);

}  // namespace firn::optim

#endif  // FIRN_OPTIM_CLIP_H_
