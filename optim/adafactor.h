#ifndef FIRN_OPTIM_ADAFACTOR_H_
#define FIRN_OPTIM_ADAFACTOR_H_

#include <string>
#include <vector>

#include "firn/optim/optimizer.h"

namespace firn::optim {

struct AdafactorOptions {
  double lr = 1e-2;
  double beta2_decay = -0.8;
  double eps1 = 0;     // 0: the dtype's machine epsilon
  double eps2 = 1e-3;  // the least root mean square by which a parameter's rate is multiplied
  double d = 1;        // the largest root mean square of a step, before its rate
  double weight_decay = 0;
  template <class V>
  void Visit(V& v) {
    v.Field("beta2_decay", beta2_decay);
    v.Field("eps1", eps1);
    v.Field("eps2", eps2);
    v.Field("d", d);
    v.Field("weight_decay", weight_decay);
  }
};

// Adafactor (Shazeer & Stern, 2018) as torch.optim.Adafactor: of the squares of a parameter with
// two dimensions or more only means of rows and columns are kept. With t = step + 1, w =
// t^beta2_decay and rms(x) = sqrt(mean(x^2)):
//   param *= 1 - lr weight_decay
//   row_var = lerp(row_var, mean of grad^2 over columns, w), col_var likewise over rows
//   u = row_var col_var / max(mean(row_var), eps1)       (variance = lerp(variance, grad^2, w) = u
//                                                         for parameters with fewer dimensions)
//   s = grad / sqrt(max(u, eps1^2))
//   param -= max(eps2, rms(param)) min(lr, 1 / sqrt(t)) / max(1, rms(s) / d) s
// rms(param) is that of before the step. State: row_var and col_var, or variance; unused states
// have no elements.
class Adafactor final : public OptimizerOf<AdafactorOptions> {
 public:
  explicit Adafactor(const ParameterList& parameters, const AdafactorOptions& options = {}) {
    AddGroup(parameters, options);
  }

 protected:
  const char* name() const override { return "Adafactor"; }
  std::vector<std::string> state_names(size_t) const override {
    return {"row_var", "col_var", "variance"};
  }
  Shape StateShape(size_t group, size_t state, const Shape& param) const override;
  void Update(size_t group, const Tensor& lr, const Tensor& skip,
              absl::Span<Slot* const> slots) override;
  void Check(const AdafactorOptions& options) const override;
};

}  // namespace firn::optim

#endif  // FIRN_OPTIM_ADAFACTOR_H_
