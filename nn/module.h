#ifndef FIRN_NN_MODULE_H_
#define FIRN_NN_MODULE_H_

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "firn/nn/hooks.h"
#include "firn/nn/init.h"
#include "firn/nn/load_report.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/owner.h"
#include "firn/tensor/pending.h"
#include "firn/tensor/state_dict.h"
#include "firn/tensor/tensor.h"

namespace firn::nn {

class Module;

struct LoadOptions {
  // Every name must be in both; otherwise the common names are loaded.
  bool strict = true;
  // Skips tensors of another shape, for example if a network got a new head. Otherwise they are an
  // error, strict or not.
  bool skip_mismatched = false;
  // A prefix of the dict's names that the module's names lack, such as "module." of a wrapper. It
  // is taken off the names that begin with it.
  std::string strip_prefix = {};
  // Which matrices, by their names without the prefix, are transposed in the dict: the weight of
  // NNabla's affine is [in, out], that of Linear [out, in].
  //   {.transpose = [](std::string_view name) { return name.ends_with("fc.weight"); }}
  std::function<bool(std::string_view name)> transpose = {};
  // Names the source in errors: "load net.h5: 2 missing ...".
  std::string source = "state dict";
};

struct NamedModule {
  std::string name;  // from the module that was asked: "layer1.conv1"; "" for itself
  Module* module;
};

// Stands for a size that the first input decides: Conv2d({.out = 32, .kernel = 3}) has in = 0.
inline constexpr int64_t kDeferred = 0;

// Makes a module; when `original` is not null, from its options as they are now.
using ModuleFactory = std::function<std::unique_ptr<Module>(const Module* original)>;

// A class that is made from options: Linear({.in = 3, .out = 4}).
template <class M>
concept HasOptions = requires {
  typename M::Options;
};

// The factory of a class with Options.
template <class M>
ModuleFactory FactoryOf(const typename M::Options& options) {
  return [options](const Module* original) {
    if constexpr (requires(const M& m) { std::make_unique<M>(m.options()); }) {
      if (original != nullptr) {
        return std::make_unique<M>(static_cast<const M*>(original)->options());
      }
    }
    return std::make_unique<M>(options);
  };
}

// The factory of a class without Options, from copies of the arguments of its constructor.
template <class M, class... Args>
ModuleFactory FactoryFrom(const Args&... args) {
  return [args...](const Module*) { return std::make_unique<M>(args...); };
}

// A part of a network: it owns parameters, buffers and child modules, and computes by its Forward.
// A network is a subclass whose members are references to children made by Add:
//
//   struct Net : nn::Module {
//     nn::Conv2d& conv1 = Add<nn::Conv2d>("conv1", {.out = 32, .kernel = 3});
//     nn::Linear& fc = Add<nn::Linear>("fc", {.out = 10});
//     Tensor Forward(const Tensor& x) { return fc(Flatten(Relu(conv1(x)), 1)); }
//   };
//
// Forward may take and return anything; a module with one tensor in and one out is better a Layer
// (nn/layer.h), which is called like a function and has hooks. Names, order and shapes of
// parameters are PyTorch's. Modules are neither copied nor moved; see nn/clone.h.
//
// Parameters whose size is left open are *pending* until the first forward (tensor/pending.h).
// Thread-compatible: one forward at a time, unless the module is in eval mode and nothing pends.
class Module {
 public:
  Module();
  virtual ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  // --- Names

  // "Conv2d": the class, without namespaces.
  virtual std::string type_name() const;
  // The options worth printing: "1 -> 32, kernel=3".
  virtual std::string Describe() const { return ""; }
  // The name given to Add. For a root: the one given to SetName, else its class in snake case.
  std::string name() const;
  // From the root: "net.res.conv1". Shown in errors of operations called by this module.
  const std::string& path() const { return *interned_path(); }
  // Renames a root.
  void SetName(std::string name);

  // --- The tree

  // This module and all below it, depth first, in definition order.
  std::vector<NamedModule> named_modules() const;
  // Calls f for each of named_modules().
  void VisitModules(const std::function<void(Module&)>& f);
  size_t num_children() const { return children_.size(); }
  // Throws unless i < num_children().
  Module& child(size_t i) const;
  // Null if no child has that name.
  Module* FindChild(const std::string& name) const;

  // --- Parameters and buffers

  // "layer1.conv1.weight", depth first, definition order; a parameter shared by several modules
  // once, under its first name. Pending ones are among them.
  std::vector<NamedTensor> named_parameters() const;
  std::vector<Tensor> parameters() const;
  // Running statistics and the like: saved and moved, never optimised.
  std::vector<NamedTensor> named_buffers() const;
  // Calls f(tensor) for each parameter and buffer of this module alone, also pending ones, among
  // them the stand-ins of parametrized parameters. Cheap: no names are made.
  template <class F>
  void ForEachOwnTensor(F f) const {
    for (const std::unique_ptr<TensorSlot>& s : slots_) {
      if (s->tensor.defined()) f(s->tensor);
    }
  }
  // Sizes of parameters(), pending ones left out.
  int64_t num_parameters() const;

  // Every parameter and buffer under each of its names; shares their elements. Throws when one is
  // pending.
  StateDict state_dict() const;
  // Copies the dict's elements into the parameters and buffers (converted to their dtype and
  // device); pending ones take the dict's shape. Throws firn::Error, listing everything that does
  // not fit and that the options do not allow; then nothing has changed.
  LoadReport LoadStateDict(const StateDict& state) { return LoadStateDict(state, LoadOptions()); }
  [[nodiscard("it says what was not loaded")]] LoadReport LoadStateDict(const StateDict& state,
                                                                        const LoadOptions& options);

  // Makes `name` ("fc.weight", relative to this module) another name of `parameter`: both are one
  // tensor from then on. Throws unless a parameter of that name exists and the shapes agree, as far
  // as they are known.
  void ShareParameter(const std::string& name, const Tensor& parameter);

  // --- Modes

  // Whether layers such as Dropout and BatchNorm2d behave as in training; initially true.
  bool training() const {
    if (inner::ThisThread().capture != nullptr) [[unlikely]]
      NoteAsked();
    return training_;
  }
  // For this module and all below it.
  void Train(inner::Flag on = true);
  void Eval() { Train(false); }
  // Whether gradients of all parameters are recorded.
  void SetTrainable(inner::Flag trainable = true);
  // Converts parameters, their gradients and buffers in place: handles held elsewhere (an
  // optimizer's) see the change. To(DType) leaves integer buffers alone. Throws when there is no
  // memory for it; then nothing has changed.
  void To(Device device);
  void To(DType dtype);

  // --- Hooks

  // They run at every call of a Layer; see nn/hooks.h.
  HookHandle RegisterForwardPreHook(ForwardPreHook hook);
  HookHandle RegisterForwardHook(ForwardHook hook);
  HookHandle RegisterBackwardHook(BackwardHook hook);

  // The tree with options:
  //   Net(
  //     (conv1): Conv2d(1 -> 32, kernel=3)
  //     (fc): Linear(? -> 10)
  //   )
  std::string ToString() const;
  friend std::ostream& operator<<(std::ostream& os, const Module& m) {
    return os << m.ToString() << "\n";
  }

 protected:
  // Makes a child; the reference lives as long as this module. Throws when the name is taken or
  // holds a dot. Options are kept, so that a clone can be made.
  template <HasOptions M>
  M& Add(std::string child_name, const typename M::Options& options = {}) {
    return static_cast<M&>(AddMade(std::move(child_name), FactoryOf<M>(options)));
  }
  // A module without Options, made from copies of `args`.
  template <class M, class... Args>
  requires(!HasOptions<M>) M& Add(std::string child_name, const Args&... args) {
    return static_cast<M&>(AddMade(std::move(child_name), FactoryFrom<M>(args...)));
  }
  // The operation Add, which the functions above would otherwise hide inside modules.
  static Tensor Add(const Tensor& x, const Tensor& y, inner::Real alpha = 1) {
    return firn::Add(x, y, alpha);
  }
  // A child made by `factory` now, and again for each clone.
  Module& AddMade(std::string child_name, const ModuleFactory& factory);

  // Registers a trainable tensor; an undefined one if this configuration lacks it (no bias). The
  // result lives as long as this module and names one tensor for life: `weight = x` throws, and
  // `weight -= x` writes the elements (tensor/README.md).
  Tensor& AddParameter(std::string parameter_name, Tensor initial);
  Tensor& AddBuffer(std::string buffer_name, Tensor initial);
  // The same without elements so far; kDeferred stands for sizes not known yet.
  Tensor& AddPendingParameter(std::string parameter_name, const std::vector<int64_t>& sizes);
  Tensor& AddPendingBuffer(std::string buffer_name, const std::vector<int64_t>& sizes);
  // Gives a pending parameter or buffer of this module its elements; without effect on others.
  void InitPending(Tensor& pending, const Shape& shape, const init::Initializer& initializer);
  // Whether one of these tensors waits for its size.
  template <class... T>
  static bool Pends(const T&... tensors) {
    return (IsPending(tensors) || ...);
  }

  // Gives m's computed parameters their values while it lives: for calls of m that hooks do not
  // see, and for modules that read the parameters of a child.
  [[nodiscard]] static ComputedScope ValuesOf(const Module& m) {
    return ComputedScope(m.hooks_ == nullptr ? nullptr : m.hooks_->computed);
  }

  // num_children(), for a module whose forward calls all its children, like a list: a graph
  // captured from it refuses to run once the module has another child.
  size_t AskChildren() const {
    if (inner::ThisThread().capture != nullptr) [[unlikely]]
      NoteChildrenAsked();
    return children_.size();
  }
  bool has_hooks() const { return hooks_ != nullptr && !hooks_->empty(); }
  const std::string* interned_path() const {
    const std::string* p = __atomic_load_n(&path_, __ATOMIC_ACQUIRE);
    return p != nullptr ? p : MakePath();
  }
  Hooks& hooks();

 private:
  friend class ModuleCloner;
  friend class CallScope;
  friend class ComputedSlots;

  // A registered parameter or buffer.
  struct TensorSlot final : inner::TensorOwner {
    TensorSlot(Module* m, std::string n, Tensor t, bool p)
        : module(m), name(std::move(n)), is_parameter(p) {
      Keep(std::move(t));
    }
    TensorSlot(const TensorSlot&) = delete;
    TensorSlot& operator=(const TensorSlot&) = delete;
    ~TensorSlot() { Keep(Tensor()); }
    std::string OwnedName() const override;
    std::string KnownShape() const override { return ShapeText(); }
    const Tensor* handle() const override { return &tensor; }
    bool IsComputed() const override { return stand_in.defined(); }
    // Whether it is computed and has no value now.
    bool is_away() const { return stand_in.defined() && tensor.Is(stand_in); }
    // Makes `t` the tensor. Only this function may do so.
    void Keep(Tensor t);
    // Puts a stand-in of that dtype, shape and device in the tensor's place.
    void MakeComputed(const TensorSpec& spec);
    // Throws when a tensor was assigned to a slot that had none.
    void CheckKept() const;
    // Whether `shape` agrees with the sizes that are known.
    bool Fits(const Shape& shape) const;
    // Whether one tensor can take both slots. Requires: both are pending.
    bool AgreesWith(const TensorSlot& other) const;
    std::string ShapeText() const;

    Module* module;
    std::string name;
    Tensor tensor;
    bool kept = false;  // `tensor` is defined and was set by Keep
    bool is_parameter;
    std::vector<int64_t> sizes;  // of a pending tensor
    // The pending stand-in for a tensor that calls compute (nn/parametrize.h): `tensor` is this one
    // between calls.
    Tensor stand_in;
  };
  struct NamedTensorSlot {
    std::string name;
    TensorSlot* slot;
  };

  TensorSlot& AddSlot(std::string slot_name, Tensor tensor, bool is_parameter);
  Tensor& AddPendingSlot(std::string slot_name, const std::vector<int64_t>& sizes,
                         bool is_parameter);
  // This module and all below it, depth first, in definition order, without making names, which
  // take most of the memory if modules are nested deeply.
  std::vector<Module*> Modules() const;
  // Every slot of the tree that is in use, under every name, in the order of state_dict(). Slots of
  // computed tensors are left out: their originals have slots of their own.
  std::vector<NamedTensorSlot> Slots() const;
  // The same; names are left out. `computed_too`: also stand-ins, which are pending.
  std::vector<NamedTensorSlot> SlotsWithoutNames(bool computed_too = false) const;
  // Also lists the slots that can be loaded, and the tensors to load them from.
  LoadReport Compare(const StateDict& state, const std::vector<NamedTensorSlot>& slots,
                     std::vector<std::pair<TensorSlot*, const Tensor*>>* fitting) const;
  const std::string* MakePath() const;
  void ForgetPaths();
  const Module& root() const;
  // Warns once, on stderr, that a module of another tree calls this one in training.
  void CheckPartOf(const Module& caller);
  // Throws for a name, of a child or a tensor, that is taken, empty or holds a dot.
  void CheckNewName(const std::string& name, bool taken, const char* what) const;
  void SetTraining(bool on);
  // Tell the capture on this thread that code depends on the mode, or on the list of children.
  void NoteAsked() const;
  void NoteChildrenAsked() const;
  // Tells graphs whose captures asked for the children that there is another child.
  void NoteChild();

  std::string name_;
  Module* parent_ = nullptr;  // for a module that waits to be destroyed: the next one
  ModuleFactory factory_;  // makes another of this kind; null for roots made by their constructor
  bool training_ = true;
  // The mode again, for captured graphs, which may outlive the module; null until one asks.
  mutable std::shared_ptr<bool> shared_training_;
  mutable std::shared_ptr<bool> shared_grown_;  // whether there were more children later
  bool foreign_call_noted_ = false;
  std::vector<std::unique_ptr<Module>> children_;
  std::vector<std::unique_ptr<TensorSlot>> slots_;  // references to them are handed out
  std::unique_ptr<Hooks> hooks_;
  mutable const std::string* path_ = nullptr;  // read and written as one word by several threads
  // The children by their own names, so that finding one of thousands, or checking a new name, is
  // fast.
  std::unordered_map<std::string_view, Module*> child_of_name_;
};

// Lives while a layer computes: error messages contain the layer's path, and the modules that it
// calls must be below it in the tree, or below its own root.
class CallScope {
 public:
  // Throws ResourceExhausted when more than 2000 are running on this thread.
  [[nodiscard]] explicit CallScope(Module& module)
      : deeper_(module),
        path_(module.interned_path()),
        caller_(std::exchange(innermost_, &module)) {
    if (caller_ != nullptr && module.parent_ != caller_) [[unlikely]]
      module.CheckPartOf(*caller_);
  }
  ~CallScope() { innermost_ = caller_; }
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

 private:
  // So many calls may run inside each other. Each takes a few hundred bytes of the stack, which
  // mostly has 8 MiB and on some threads less, in addition to the modules' own code.
  static constexpr int kMostNested = 2000;

  // Counted before a path is made, which is as long as the calls are deep.
  struct Deeper {
    explicit Deeper(const Module& module) {
      if (++depth_ > kMostNested) [[unlikely]]
        RaiseTooDeep(module);
    }
    ~Deeper() { --depth_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;
  };
  [[noreturn]] static void RaiseTooDeep(const Module& module);

  static inline thread_local constinit const Module* innermost_ = nullptr;
  static inline thread_local constinit int depth_ = 0;

  Deeper deeper_;
  PathScope path_;
  const Module* caller_;
};

}  // namespace firn::nn

#endif  // FIRN_NN_MODULE_H_
