#ifndef FIRN_OPTIM_MUON_H_
#define FIRN_OPTIM_MUON_H_

#include <cstdint>
#include <string>
#include <vector>

#include "firn/device/enum_words.h"
#include "firn/optim/optimizer.h"

namespace firn::optim {

// How a step's length depends on the shape [rows, columns] of the parameter.
enum class MuonScale {
  kOriginal,           // sqrt(max(1, rows / columns))
  kMatchRmsAdamW,      // 0.2 sqrt(max(rows, columns)): as long as AdamW's
  kSpectralUnclamped,  // sqrt(rows / columns)
};
constexpr auto WordsOf(MuonScale) {
  return inner::EnumWords<MuonScale>({{MuonScale::kOriginal, "original"},
                                      {MuonScale::kMatchRmsAdamW, "match_rms_adamw"},
                                      {MuonScale::kSpectralUnclamped, "spectral_unclamped"}});
}

struct MuonOptions {
  double lr = 1e-3;
  double weight_decay = 0.1;
  double momentum = 0.95;
  bool nesterov = true;
  double ns_a = 3.4445, ns_b = -4.775, ns_c = 2.0315;  // of the iteration's polynomial
  double eps = 1e-7;
  int64_t ns_steps = 5;  // iterations
  MuonScale scale = MuonScale::kOriginal;
  template <class V>
  void Visit(V& v) {
    v.Field("weight_decay", weight_decay);
    v.Field("momentum", momentum);
    v.Field("nesterov", nesterov);
    v.Field("ns_a", ns_a);
    v.Field("ns_b", ns_b);
    v.Field("ns_c", ns_c);
    v.Field("eps", eps);
    v.Field("ns_steps", ns_steps);
    v.Field("scale", scale);
  }
};

// Muon (Jordan et al., 2024) as torch.optim.Muon, for matrices: the step is the momentum made
// orthogonal.
//   v = momentum v + (1 - momentum) grad       u = nesterov ? lerp(grad, v, momentum) : v
//   X = u / max(|u|, eps), then ns_steps times A = X X^T, X = ns_a X + (ns_b A + ns_c A A) X
//   param = (1 - lr weight_decay) param - lr scale X
// where v is muon_momentum_buffer. The iteration runs in f32 (PyTorch's in bf16), or f64 for
// parameters in f64. Parameters with another number of dimensions than two are refused: biases and
// embeddings are better off with AdamW.
class Muon : public OptimizerOf<MuonOptions> {
 public:
  explicit Muon(const ParameterList& parameters, const MuonOptions& options = {}) {
    AddGroup(parameters, options);
  }

 protected:
  const char* name() const override { return "Muon"; }
  std::vector<std::string> state_names(size_t) const override { return {"muon_momentum_buffer"}; }
  void CheckParameter(const std::string& parameter, const Shape& shape) const override;
  void Update(size_t group, const Tensor& lr, const Tensor& skip,
              absl::Span<Slot* const> slots) override;
  void Check(const MuonOptions& options) const override;
};

}  // namespace firn::optim

#endif  // FIRN_OPTIM_MUON_H_
