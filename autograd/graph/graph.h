#ifndef FIRN_AUTOGRAD_GRAPH_GRAPH_H_
#define FIRN_AUTOGRAD_GRAPH_GRAPH_H_

// A recorded run as data: operations in the order they ran, on values that lie in buffers. Passes
// change it, a StaticGraph runs it.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "firn/autograd/graph/phase.h"
#include "firn/tensor/attrs.h"
#include "firn/tensor/spec.h"
#include "firn/tensor/tensor.h"

namespace firn::inner {

struct Kernel;
struct OpDef;

using BufferId = int32_t;
using ValueId = int32_t;
inline constexpr ValueId kNoValue = -1;  // an optional argument that is not given

// Memory that values lie in.
struct Buffer {
  enum class Kind : uint8_t {
    kInput,     // the caller's, other memory in each run; never written
    kState,     // of a tensor that exists outside: a parameter, a running statistic, a generator
    kConstant,  // the graph's own, never written
    kTemp,      // lives within a run
  };
  Kind kind = Kind::kTemp;
  int64_t bytes = 0;
  Device device;
};

// A tensor in a buffer. Several may lie in one: views, and what is seen through them.
struct Value {
  BufferId buffer = 0;
  int64_t offset = 0;  // of the first element in the buffer, in bytes
  TensorSpec spec;
  // For a state or a constant: the tensor itself. A temporary has none, unless it outlives the
  // captured run outside: then each run leaves its value there.
  Tensor bound;
};

// A fact that the captured code asked of the program and that no operation shows: whether a module
// was training, how many children it had, and that a state was its parameter or buffer
// (tensor/owner.h). A run is refused while it is not as it was.
struct Switch {
  std::shared_ptr<const bool> state;  // other threads may turn it
  bool then = false;
  // "training() of net.drop", "net.units got another child", "parameter net.fc.weight"
  std::string name;
  bool turns = true;  // a mode, which can be turned back
  Tensor kept = {};   // whether this state was replaced; undefined: of no state
  bool now() const { return __atomic_load_n(state.get(), __ATOMIC_RELAXED); }
};

// A leaf that the captured code used, and whether it wanted a gradient.
struct LeafFlag {
  Tensor leaf;
  bool then = false;
};

// Same elements in the same places.
inline bool SameSpec(const TensorSpec& a, const TensorSpec& b) {
  return a.dtype == b.dtype && a.device == b.device && a.shape == b.shape &&
         a.layout.channel_block == b.layout.channel_block &&
         (a.layout.blocked() || a.layout.strides == b.layout.strides);
}

// Same elements, wherever they lie.
inline bool SameKind(const TensorSpec& a, const TensorSpec& b) {
  return a.dtype == b.dtype && a.device == b.device && a.shape == b.shape;
}

// One operation.
struct Instr {
  const OpDef* op = nullptr;
  Attrs attrs;
  absl::InlinedVector<ValueId, 4> in, out;
  const std::string* path = nullptr;  // of the module that called it, interned; null: none
  Phase phase = Phase::kForward;
  // Chosen once, by Lower or by what replaces an instruction after it: layouts, packed weights and
  // runs are this kernel's. Null in a captured graph, and for views.
  const Kernel* kernel = nullptr;

  std::string_view module_path() const { return path == nullptr ? std::string_view() : *path; }
};

// What a run does with the gradient that it finds in a leaf's grad(), and what it leaves there.
struct GradientEffect {
  enum class Finds : uint8_t {
    kAnything,  // it clears or replaces the gradient before it looks at it
    kNone,      // it did something because there was none; a run that finds one is an error
    kGradient,  // it read one; a run that finds none is an error
    kAddsTo,    // its backward pass adds to it, if there is one
  };
  Tensor leaf;
  ValueId value = kNoValue;  // what is left; kNoValue: no gradient
  ValueId found = kNoValue;  // of kGradient and kAddsTo: the state that begins as what is found
  Finds finds = Finds::kAnything;
  bool withheld = false;  // the run computes a gradient and keeps it: reading grad() throws
};

// Thread-compatible. A copy shares states and constants with the original.
struct Graph {
  std::vector<Buffer> buffers;
  std::vector<Value> values;
  std::vector<Instr> instrs;
  std::vector<ValueId> inputs, outputs;
  std::vector<GradientEffect> gradients;
  std::vector<Switch> switches;
  std::vector<LeafFlag> leaves;       // of a graph that leaves gradients
  std::vector<std::string> warnings;  // of the capture

  const Value& value(ValueId id) const { return values[static_cast<size_t>(id)]; }
  Value& value(ValueId id) { return values[static_cast<size_t>(id)]; }
  const Buffer& buffer_of(ValueId id) const {
    return buffers[static_cast<size_t>(value(id).buffer)];
  }
  Buffer& buffer_of(ValueId id) { return buffers[static_cast<size_t>(value(id).buffer)]; }

  // Whether everything fits together: numbers in range, values inside their buffers, temporaries
  // written before they are read, inputs and constants never written, and the specs that each
  // operation's shape rule gives. An error names the operation and what is wrong.
  absl::Status Verify() const;
  // Whether the switches stand, and states want gradients, as in the captured run; else an error
  // that names what was turned or replaced.
  absl::Status CheckSwitches() const;

  // One line a value that comes from outside, one line an operation:
  //   %3 = conv2d(%0, %1, %2) {stride=[1, 1]} : f32 [64, 8, 28, 28] on cpu  # net.conv1
  std::string DebugString() const;
};

// Calls f with the values of an effect, ValueId&, where there are any.
template <class Effect, class F>
void ForEachValue(Effect& e, F f) {
  if (e.value != kNoValue) f(e.value);
  if (e.found != kNoValue) f(e.found);
}

// A new value that fills a temporary of its own.
ValueId AddTemp(Graph& graph, const TensorSpec& spec);

// The result of a capture: the graph, and the results of the recorded run, without history.
struct Captured {
  Graph graph;
  TensorList outputs;
};

}  // namespace firn::inner

namespace firn {

// firn.h names some of these without defining them; so they stand in inner, for programs that have
// a Graph of their own. Code that includes this header may write them without `inner::`.
using inner::Buffer;
using inner::Captured;
using inner::GradientEffect;
using inner::Graph;
using inner::Instr;
using inner::kNoValue;
using inner::Value;
using inner::ValueId;

}  // namespace firn

#endif  // FIRN_AUTOGRAD_GRAPH_GRAPH_H_
