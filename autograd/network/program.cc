#include "firn/autograd/network/program.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/copies.h"

namespace firn::autograd {
namespace {

// In a capture the run gets its own copies of the constants, which nobody else can change, so that
// they are constants of the graph too.
void SetConstants(const Program& program, std::vector<Tensor>* slots) {
  if (ThisThread().capture == nullptr) {
    for (const auto& [slot, tensor] : program.constants) {
      (*slots)[static_cast<size_t>(slot)] = tensor;
    }
    return;
  }
  const NoCaptureScope no_capture;
  const NoGradScope no_grad;
  for (const auto& [slot, tensor] : program.constants) {
    (*slots)[static_cast<size_t>(slot)] = Clone(tensor);
  }
}

}  // namespace

bool Program::HoldsFor(absl::Span<const Tensor> inputs) const {
  if (elements.empty()) return true;
  if (ThisThread().capture != nullptr) return false;
  const NoGradScope no_grad;
  for (const auto& [input, wanted] : elements) {
    if (!ToDevice(inputs[input], Device::Cpu()).Equals(wanted)) return false;
  }
  return true;
}

TensorList Program::Run(absl::Span<const Tensor> inputs,
                        absl::Span<const Tensor> parameters) const {
  std::vector<Tensor> slots(static_cast<size_t>(num_slots));
  std::copy(inputs.begin(), inputs.end(), slots.begin());
  std::copy(parameters.begin(), parameters.end(),
            slots.begin() + static_cast<ptrdiff_t>(inputs.size()));
  SetConstants(*this, &slots);
  TensorList in;
  for (const Call& call : calls) {
    in.clear();
    for (int slot : call.in)
      in.push_back(slot == kNoValue ? Tensor() : slots[static_cast<size_t>(slot)]);
    const PathScope scope(*call.scope);
    TensorList out = call.step(in);
    for (size_t i = 0; i < call.out.size() && i < out.size(); ++i) {
      if (call.out[i] != kNoValue) slots[static_cast<size_t>(call.out[i])] = std::move(out[i]);
    }
    for (int slot : call.release) slots[static_cast<size_t>(slot)] = Tensor();
  }
  TensorList results;
  for (int slot : outputs) results.push_back(slots[static_cast<size_t>(slot)]);
  // The caller must not be able to change a constant of the program.
  for (const auto& [slot, tensor] : constants) {
    for (Tensor& result : results) {
      if (result.Is(tensor)) result = Clone(tensor);
    }
  }
  return results;
}

}  // namespace firn::autograd
