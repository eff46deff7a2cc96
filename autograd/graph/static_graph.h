#ifndef FIRN_AUTOGRAD_GRAPH_STATIC_GRAPH_H_
#define FIRN_AUTOGRAD_GRAPH_STATIC_GRAPH_H_

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "firn/autograd/graph/arithmetic.h"
#include "firn/device/status_fwd.h"
#include "firn/tensor/tensor.h"

namespace firn {

namespace inner {
struct Graph;       // autograd/graph/graph.h
struct MemoryPlan;  // autograd/graph/plan.h
}  // namespace inner

class StaticGraph;
struct CompileOptions;

namespace inner::internal {
using FreezeFn = absl::FunctionRef<TensorList(absl::Span<const Tensor> inputs)>;
StaticGraph CaptureAndCompile(FreezeFn fn, absl::Span<const Tensor> inputs,
                              const CompileOptions& options);
}  // namespace inner::internal

struct CompileOptions {
  // Whether runs leave gradients in the grad() of leaves that they change themselves, as a whole
  // training step does with parameters. Without, such gradients share memory with everything else,
  // and grad() after a run, or adding to it, throws until ZeroGrad.
  bool keep_gradients = false;
  Arithmetic arithmetic = Arithmetic::kExact;
  // Whether runs compute cheap results a second time in the backward pass, rather than keeping
  // them, where that lowers the peak of memory. Unset: on the CPU, where it costs no time.
  std::optional<bool> recompute = std::nullopt;
  // The most bytes that temporaries may need together; more is an error.
  int64_t max_arena_bytes = INT64_MAX;
  // Whether states that no run changes are copied now and seen as constants: for a model whose
  // parameters will not change any more.
  bool constant_states = false;
  // Whether kernels of a CUDA device may be tried on memory of their own, which takes time, to run
  // the fastest. What was found is kept for later processes, in a file "plans" of FIRN_CACHE_DIR
  // (device/environment.h). It may round otherwise than what runs outside of graphs.
  bool autotune = true;
  // Whether runs on a CUDA device use a second stream of it for what nothing waits for soon:
  // weight gradients beside the gradients of activations. Results are the same to the bit.
  bool side_stream = true;
};

// A captured run, ready to be run again: kernels chosen, memory planned. Runs do what the captured
// code did, on states where they are: frozen and ordinary steps of one model can be mixed.
//
// Runs may be asked for on several threads at once and come one after the other, each with the
// results of its own inputs; a thread that uses the graph's states elsewhere meanwhile needs a
// lock, as for any tensor. Threads that are to run at once need replicas. A graph that was moved
// from throws firn::Error, or gives it as a status.
class StaticGraph {
 public:
  // Errors: parts of the graph that do not fit together, and too little memory.
  static absl::StatusOr<StaticGraph> Compile(inner::Graph graph,
                                             const CompileOptions& options = {});
  StaticGraph(StaticGraph&&) noexcept;
  StaticGraph& operator=(StaticGraph&&) noexcept;
  ~StaticGraph();

  // One run. `in`: of the shapes, dtypes and devices of the captured inputs, in any layout; inputs
  // that are not contiguous are copied first. `out`: a tensor for each result, undefined (then
  // made) or contiguous and of its spec (then written). Errors: FailedPrecondition naming the spec
  // that was captured and the one given, inputs that share memory with what the run writes, leaves
  // without the gradient that the captured run found there, and modes of modules, requires_grad and
  // parameters that are not as they were captured (StandsAsCaptured), all before anything changes;
  // those of operations, with operation and module.
  absl::Status Run(absl::Span<const Tensor> in, absl::Span<Tensor> out);

  // The same with new results. Throws firn::Error.
  TensorList Call(absl::Span<const Tensor> in);
  // For graphs with one result: loss = step(images, labels).
  template <class... Inputs>
  requires(std::convertible_to<const Inputs&, Tensor>&&...) Tensor operator()(
      const Inputs&... inputs) {
    const Tensor in[] = {Tensor(inputs)..., Tensor()};
    return CallForOne({in, sizeof...(inputs)});
  }

  // A graph that gives the same bits and runs beside this one, for another thread: states,
  // constants and packed weights are shared, so both see what is written into states between runs;
  // memory for a run (memory().arena_bytes) is its own. Either graph may be destroyed first. They
  // share no lock, except on a CUDA device, which has one queue: there runs are queued one after
  // the other, and a thread that queues other work meanwhile, such as copies of inputs, needs a
  // lock as ever. Graphs that draw random numbers draw pieces of one stream, in the order in which
  // they ask.
  //   SetNumThreads(1);  // in a server of as many threads as cores: each runs on its own
  // Throws firn::Error for a graph that changes a state (running statistics, an optimizer's, a
  // cache) or leaves gradients, naming it, and where memory is missing. Any thread may call it.
  StaticGraph Replica() const;

  // The result of the captured run. It can be taken once, and only before the first run. For graphs
  // with one result: Tensor first = step.TakeFirst(). Throws when it is gone.
  Tensor TakeFirst();
  TensorList TakeFirstResults();

  // Whether the modes of modules (training or not) that the captured code asked are as they were,
  // no parameter that it reads was replaced (nn/parametrize.h, Module::ShareParameter) and, for a
  // graph that computes gradients, the same tensors require one. Runs are refused while that is not
  // so. Layers that modules got since, as by Sequential::Append, are not noticed.
  bool StandsAsCaptured() const;

  // The graph as captured, and as it runs: with the layouts that kernels take. Their headers, which
  // firn.h does not bring, say what is in them: autograd/graph/graph.h and plan.h.
  const inner::Graph& captured() const;
  const inner::Graph& graph() const;
  const inner::MemoryPlan& memory() const;
  // Runs whose operations were queued on the device as one (a CUDA graph); 0 on the CPU.
  int64_t device_graph_runs() const;
  // Operations of graph() that run on a second stream of the device; 0: all run on one.
  int64_t operations_aside() const;
  // What compiling did and what a run needs, for people to read.
  std::string Explain() const;

 private:
  struct Parts;
  explicit StaticGraph(std::unique_ptr<Parts> parts);
  Parts& parts() const;
  void CheckOneResult() const;
  Tensor CallForOne(absl::Span<const Tensor> in);
  friend StaticGraph inner::internal::CaptureAndCompile(inner::internal::FreezeFn fn,
                                                        absl::Span<const Tensor> inputs,
                                                        const CompileOptions& options);

  std::unique_ptr<Parts> parts_;
};

namespace inner::internal {

// Captured code may return a tensor, a list or vector of tensors, or several as an array, pair or
// tuple.
TensorList AsList(Tensor t);
TensorList AsList(TensorList list);
TensorList AsList(const std::vector<Tensor>& v);
template <class Tuple>
requires requires { std::tuple_size<Tuple>::value; }
TensorList AsList(const Tuple& several) {
  return std::apply([](const auto&... t) { return TensorList{Tensor(t)...}; }, several);
}

template <class F, size_t... I>
TensorList CallWith(F& fn, [[maybe_unused]] absl::Span<const Tensor> in,
                    std::index_sequence<I...>) {
  return AsList(fn(in[I]...));
}

}  // namespace inner::internal

// Captures `fn(inputs...)` and compiles it. `fn` gives one tensor or several: a TensorList, a
// vector, an array, a pair or a tuple. The run that is recorded counts: it changes states once, and
// TakeFirst has its result. Throws firn::Error.
//
//   StaticGraph step = Freeze({.keep_gradients = true}, [&](const Tensor& x) { ... }, images);
template <class F, class... Inputs>
requires(std::convertible_to<const Inputs&, Tensor>&&...) StaticGraph
    Freeze(const CompileOptions& options, F&& fn, const Inputs&... inputs) {
  const Tensor in[] = {Tensor(inputs)..., Tensor()};
  return inner::internal::CaptureAndCompile(
      [&fn](absl::Span<const Tensor> given) {
        return inner::internal::CallWith(fn, given, std::make_index_sequence<sizeof...(Inputs)>());
      },
      {in, sizeof...(Inputs)}, options);
}
template <class F, class... Inputs>
requires(std::convertible_to<const Inputs&, Tensor>&&...) StaticGraph
    Freeze(F&& fn, const Inputs&... inputs) {
  return Freeze(CompileOptions(), std::forward<F>(fn), inputs...);
}

}  // namespace firn

#endif  // FIRN_AUTOGRAD_GRAPH_STATIC_GRAPH_H_
