#ifndef FIRN_AUTOGRAD_GRAPH_FREEZE_LIST_H_
#define FIRN_AUTOGRAD_GRAPH_FREEZE_LIST_H_

#include <concepts>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/tensor/tensor.h"

namespace firn {

// Freeze for a list of inputs, such as all tensors of a batch: `fn` gets them as one list, so that
// the program need not know how many there are when it is compiled. StaticGraph::Call runs it.
// Throws as Freeze.
//
//   StaticGraph step = Freeze([&](const std::vector<Tensor>& batch) { ... }, tensors);
//   Tensor loss = step.Call(tensors)[0];
template <class F>
requires(std::invocable<F&, const std::vector<Tensor>&>) StaticGraph
    Freeze(const CompileOptions& options, F&& fn, const std::vector<Tensor>& inputs) {
  return inner::internal::CaptureAndCompile(
      [&fn](absl::Span<const Tensor> given) {
        const std::vector<Tensor> list(given.begin(), given.end());
        return inner::internal::AsList(fn(list));
      },
      inputs, options);
}
template <class F>
requires(std::invocable<F&, const std::vector<Tensor>&>) StaticGraph
    Freeze(F&& fn, const std::vector<Tensor>& inputs) {
  return Freeze(CompileOptions(), std::forward<F>(fn), inputs);
}

}  // namespace firn

#endif  // FIRN_AUTOGRAD_GRAPH_FREEZE_LIST_H_
