#ifndef FIRN_NN_EVAL_SCOPE_H_
#define FIRN_NN_EVAL_SCOPE_H_

#include <utility>
#include <vector>

#include "firn/nn/module.h"

namespace firn::nn {

// Sets a module and all below it to evaluation mode while it lives. At the end each of them has its
// own earlier mode again, so that a batch norm that was kept in evaluation mode stays there:
//
//   {
//     const nn::EvalScope eval(net);
//     const NoGradScope no_grad;
//     accuracy = Test(net);
//   }
//
// Modules must not be added or removed meanwhile.
class EvalScope {
 public:
  explicit EvalScope(Module& module) {
    module.VisitModules([this](Module& m) { modes_.emplace_back(&m, m.training()); });
    module.Eval();
  }
  ~EvalScope() {
    // Parents come first: each sets all below it, and is corrected by them.
    for (const auto& [module, training] : modes_) module->Train(training);
  }
  EvalScope(const EvalScope&) = delete;
  EvalScope& operator=(const EvalScope&) = delete;

 private:
  std::vector<std::pair<Module*, bool>> modes_;
};

}  // namespace firn::nn

#endif  // FIRN_NN_EVAL_SCOPE_H_
