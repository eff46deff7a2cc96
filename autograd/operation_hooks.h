#ifndef FIRN_AUTOGRAD_OPERATION_HOOKS_H_
#define FIRN_AUTOGRAD_OPERATION_HOOKS_H_

#include <functional>
#include <memory>

#include "firn/autograd/operation_call.h"

namespace firn {

// Called with an operation that is about to run, or has just run: call.name(), call.path(),
// call.input(i), call.output(i). May run operations of its own, which no hook sees. What it throws
// passes through the operation, or the run of the graph.
using OperationHook = std::function<void(const OperationCall& call)>;

// Any of them may be empty.
struct OperationHooks {
  OperationHook before_forward = {};
  OperationHook after_forward = {};
  OperationHook before_backward = {};  // operations that compute gradients
  OperationHook after_backward = {};
};

// Calls hooks around every operation on this thread while it lives: ordinary ones and the steps of
// frozen graphs, which a hook tells apart by call.frozen(). Hooks only watch: they cannot replace
// results, and writing into results is at your own risk. Scopes nest, the last one made being
// nearest to the operation.
//
//   OperationHookScope hooks({.after_forward = [](const OperationCall& call) {
//     std::cout << call.path() << ": " << call.name() << " " << *call.output_spec(0) << "\n";
//   }});
//
// After an operation that failed no hook is called.
class OperationHookScope {
 public:
  [[nodiscard]] explicit OperationHookScope(OperationHooks hooks);
  ~OperationHookScope();
  OperationHookScope(const OperationHookScope&) = delete;
  OperationHookScope& operator=(const OperationHookScope&) = delete;

 private:
  class Observer;
  const std::unique_ptr<Observer> observer_;
};

}  // namespace firn

#endif  // FIRN_AUTOGRAD_OPERATION_HOOKS_H_
