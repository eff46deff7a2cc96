#ifndef FIRN_NN_STATIC_MODULE_H_
#define FIRN_NN_STATIC_MODULE_H_

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/nn/layer.h"

namespace firn::nn {

namespace internal {
// The number of tensors, up to four, with which a function can be called; 0: none of these.
template <class F, class T = const Tensor&>
inline constexpr size_t kTensorsTaken = std::invocable<F&, T>            ? 1
                                        : std::invocable<F&, T, T>       ? 2
                                        : std::invocable<F&, T, T, T>    ? 3
                                        : std::invocable<F&, T, T, T, T> ? 4
                                                                         : 0;
}  // namespace internal

struct StaticModuleOptions {
  // At least 1. If there are more kinds of calls, some run as ordinary calls (see below).
  int64_t max_graphs = 8;
  CompileOptions compile = {};
};

// A network that is captured at each new kind of call, and runs frozen from then on:
//
//   nn::StaticModule fast(net);      // any Layer, whatever its number of inputs
//   const NoGradScope no_grad;
//   for (auto [images, labels] : test) Count(fast(images), labels);
//
// It keeps a StaticGraph for each *signature*: dtype, shape and device of every input; grad mode;
// whether Winograd's method is allowed; and of the network and all modules in it the mode
// (training or not), which modules there are, and for each parameter and buffer which tensor it is,
// where its elements lie, its dtype, shape, device, layout and requires_grad. So a parameter that
// was replaced, moved or converted makes a new graph, and one that was written in place (an
// optimizer's step, LoadStateDict) is seen by the graphs there are; with compile.constant_states it
// makes a new graph. The layout of inputs does not matter: graphs get them row-major.
//
// The first call with a signature runs the network itself, pending parameters included, and returns
// what it computed. A later one repeats the operations of that run: branches, loops, numbers and
// side effects in C++ (hooks too) are as they were then. If anything else that the network's code
// uses has changed, such as an option of a layer, call Clear().
//
// When there are max_graphs of them, a call with a new signature runs the network itself, which one
// line on stderr says once for each StaticModule. It gets a graph, in place of the one that was
// used longest ago, if it soon comes again: within the next max_graphs calls without a graph, and
// before that old graph is used again. So a program whose shapes settle runs graphs again after a
// few calls, and a program whose shapes never settle is about as fast as the network: after the
// first max_graphs such captures there is at most one in 1024 calls.
//
// A function may also use modules outside of the network: after the mode of such a module was
// changed, calls throw until Clear().
//
// Results have no history, whatever the mode: no gradient reaches the network's parameters through
// them. An input that wants a gradient is an error while gradients are recorded. To train, capture
// the whole step (Freeze in autograd/graph/static_graph.h).
//
// Refers to the network, which must outlive it; one that was moved from throws when called.
// Thread-compatible: one call at a time; another StaticModule of the same network, such as a
// Replica, may run on another thread if two forwards of the network may (eval mode, nothing
// pending).
class StaticModule {
 public:
  using Function = std::function<TensorList(absl::Span<const Tensor> inputs)>;

  // Throws unless max_graphs >= 1.
  template <class... In>
  explicit StaticModule(LayerOf<In...>& layer, const StaticModuleOptions& options = {})
      : StaticModule(layer, CallOf(layer, std::index_sequence_for<In...>()), options) {
    num_inputs_ = sizeof...(In);
  }
  // For a network that is no Layer, or for a part of its work: `function` computes with the
  // parameters of `network`, with any number of inputs and results. Other tensors that it uses are
  // read where they are.
  StaticModule(Module& network, Function function, const StaticModuleOptions& options = {});
  // The same for a function of up to four tensors, which returns one or several, as for Freeze:
  //   nn::StaticModule next(net, [&](const Tensor& last) { return Argmax(net(last), -1); });
  template <class F>
  requires(internal::kTensorsTaken<F> > 0)
      StaticModule(Module& network, F function, const StaticModuleOptions& options = {})
      : StaticModule(
            network,
            OfTensors(std::move(function), std::make_index_sequence<internal::kTensorsTaken<F>>()),
            options) {
    num_inputs_ = internal::kTensorsTaken<F>;
  }

  // For one result. Throws firn::Error, as the network and StaticGraph do; also within a capture,
  // which could not see the operations of a graph (call the network itself there).
  template <class... Inputs>
  requires(sizeof...(Inputs) > 0 && (std::convertible_to<const Inputs&, Tensor> && ...)) Tensor
  operator()(const Inputs&... inputs) {
    const Tensor in[] = {Tensor(inputs)...};
    return CallForOne(in);
  }
  // For any number.
  TensorList Call(absl::Span<const Tensor> inputs);

  // Forgets all graphs. The counts go on.
  void Clear();

  // Another StaticModule, for another thread, with replicas of the present graphs
  // (StaticGraph::Replica), which share everything but a run's memory. Graphs that change states
  // have no replicas; it captures its own, and from then on each captures its own graphs for new
  // calls. Its counts begin at 0. The function is copied. Throws if memory is missing. Must not run
  // beside calls of this one.
  StaticModule Replica() const;

  size_t size() const { return entries_.size(); }
  // The graph that ran last is 0. The reference lives until the next call or Clear(). Throws unless
  // i < size().
  const StaticGraph& graph(size_t i) const;
  int64_t hits() const { return hits_; }      // calls that ran a graph
  int64_t misses() const { return misses_; }  // calls that captured one, also in vain
  // Graphs given up for others, or out of use for good.
  int64_t dropped() const { return dropped_; }
  // Calls that ran the network itself, because there was no room for another graph.
  int64_t ordinary() const { return ordinary_; }

  // The graphs that it holds, one a line:
  //   StaticModule of net: 1 of at most 8 graphs, 41 hits, 2 misses, 1 dropped
  //     0: f32 [64, 1, 28, 28] on cpu; eval, no grad: 11 operations, arena 3.06 MiB, 41 hits
  // A graph whose network has changed since says so.
  std::string DebugString() const;

 private:
  // Kept as words, so that a call compares numbers and allocates nothing.
  struct Signature {
    std::vector<uint64_t> call, network;
    friend bool operator==(const Signature&, const Signature&) = default;
  };
  // A parameter or buffer, kept so that no other tensor gets its address.
  struct Kept {
    Tensor tensor;
    const char* data;  // where its elements were
    bool copied;       // the graph has a copy of them, of this version
    uint32_t version;

    bool moved() const;
    bool outdated() const;
  };
  struct Entry {
    Signature signature;
    std::string text;
    std::vector<Kept> tensors;
    StaticGraph graph;
    int64_t used;  // the number of the last call that ran it
    int64_t hits = 0;
  };

  template <class... In, size_t... I>
  static Function CallOf(LayerOf<In...>& layer, std::index_sequence<I...>) {
    return [&layer](absl::Span<const Tensor> in) { return TensorList{layer(in[I]...)}; };
  }
  template <class F, size_t... I>
  static Function OfTensors(F f, std::index_sequence<I...>) {
    return [f = std::move(f)](absl::Span<const Tensor> in) mutable {
      return inner::internal::AsList(f(in[I]...));
    };
  }
  static void DescribeNetwork(const Module& network, std::vector<uint64_t>* words);
  static void DescribeCall(absl::Span<const Tensor> inputs, std::vector<uint64_t>* words);
  std::string TextOf(absl::Span<const Tensor> inputs) const;

  void CheckUsable() const;
  void Check(absl::Span<const Tensor> inputs) const;
  // Moves the entry of `wanted_` to the front; false if there is none that is still valid.
  bool Find();
  std::vector<Kept> Keep(const StaticGraph& graph) const;
  TensorList Repeat(absl::Span<const Tensor> inputs);
  TensorList CaptureCall(absl::Span<const Tensor> inputs);
  // Whether a call that has no graph is to get one.
  bool Deserves();
  TensorList OrdinaryCall(absl::Span<const Tensor> inputs);
  void DropMoved();
  Tensor CallForOne(absl::Span<const Tensor> inputs);

  Module* network_;
  std::unique_ptr<const Function> function_;  // null: moved from
  StaticModuleOptions options_;
  size_t num_inputs_ = 0;       // 0: any
  std::vector<Entry> entries_;  // the one used last first
  Signature wanted_;            // of the present call; kept for its memory
  // The last calls without a graph, as many as there are graphs.
  struct Passed {
    uint64_t signature;  // its hash
    int64_t call;
  };
  std::vector<Passed> passed_;  // the last one last
  int64_t calls_ = 0, hits_ = 0, misses_ = 0, dropped_ = 0, ordinary_ = 0;
  int64_t credit_;  // calls; a capture in another graph's place costs kCallsForCapture
};

}  // namespace firn::nn

#endif  // FIRN_NN_STATIC_MODULE_H_
