#ifndef FIRN_OPTIM_OPTIMIZER_H_
#define FIRN_OPTIM_OPTIMIZER_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "firn/tensor/attrs.h"
#include "firn/tensor/owner.h"
#include "firn/tensor/state_dict.h"
#include "firn/tensor/tensor.h"

namespace firn::optim {

// The parameters of one group, with names (module.named_parameters()) or without
// (module.parameters(); then they are called "0", "1", ..., on through all groups). Names matter to
// state dicts and errors. If an earlier group has the name too, as with two networks of one class,
// the group's number is put before it: "1.fc.weight". A name that occurs twice in one group is an
// error.
class ParameterList {
 public:
  ParameterList() = default;
  ParameterList(std::vector<NamedTensor> named);      // NOLINT: implicit
  ParameterList(const std::vector<Tensor>& tensors);  // NOLINT: implicit
  ParameterList(std::initializer_list<NamedTensor> named);
  ParameterList(std::initializer_list<Tensor> tensors);

  const std::vector<NamedTensor>& named() const { return named_; }
  bool numbered() const { return numbered_; }

 private:
  std::vector<NamedTensor> named_;
  bool numbered_ = false;  // the names are numbers, given here
};

struct SetParametersOptions {
  // Parameters that stay keep their state; otherwise all start anew.
  bool retain_state = false;
  size_t group = 0;
};

class StateReader;

// Moves parameters against their gradients. Parameters stand in groups, each with options of its
// own; see OptimizerOf.
//
// A parameter without a gradient is skipped by Step, its state untouched. Parameters may be pending
// (tensor/pending.h): they take part as soon as they have a gradient. The learning rate and the
// count of steps are 0-d tensors, so a captured step follows changes of them.
//
// Thread-compatible; Step writes the parameters.
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  // If `skip` (bool, 0-d) is defined and true, nothing changes; the device decides this, so the
  // host does not read it. Throws firn::Error when all parameters are pending: no forward has run.
  virtual void Step(const Tensor& skip = {});
  // Forgets the gradients of all parameters.
  void ZeroGrad();

  size_t num_groups() const { return groups_.size(); }
  double lr(size_t group = 0) const;
  // Sets the rate of all groups, or of one. Frozen steps follow it. Throws unless lr makes sense
  // for the group's options, and inside a captured function, which would not record it.
  void SetLr(inner::Real lr);
  void SetLr(size_t group, inner::Real lr);
  // Sets the rates of the first groups, one for each. If one of them makes no sense, none is set.
  void SetLr(const std::vector<double>& rates);

  // All groups' parameters.
  std::vector<Tensor> parameters() const;
  // Replaces the parameters of a group: layers may come and go while a network trains. Throws when
  // there are none, or when one occurs twice or in another group, is undefined, not floating or not
  // a leaf.
  void SetParameters(const ParameterList& parameters, const SetParametersOptions& options = {});

  // Takes these parameters out, and forgets their state. Throws, and changes nothing, when one is
  // not here.
  void RemoveParameters(const std::vector<std::string>& names);
  // Takes all parameters out of all groups, which stay with their options. Step then does nothing.
  void ClearParameters();

  // Adds functions to be called before and after every Step, in the order in which they were added;
  // either may be empty. A captured step records what they compute. If one throws, so does Step.
  void AddHooks(std::function<void()> before, std::function<void()> after);

  // The class, options and number of parameters, a line for each group:
  // "Sgd{lr=0.1, momentum=0.9, ...}: 4 parameters". Reads the learning rate, wherever that lies.
  std::string ToString() const;

  // "groups.0.lr", ... and "state.fc.weight.exp_avg", ... of the parameters that have been moved.
  // Shares their elements.
  virtual StateDict state_dict() const;
  // Continues where the saved optimizer was, options included, bit by bit; existing state is
  // overwritten in place. Throws, and changes nothing, unless the groups, the names of parameters
  // and the shapes agree and the options make sense.
  virtual void LoadStateDict(const StateDict& state);

 protected:
  friend class ShardedOptimizer;  // it has another one's groups, and lets that move parts of them
  Optimizer() = default;

  struct Slot {
    std::string name;
    Tensor param;
    Tensor step;                           // i64, 0-d; undefined until the first step
    absl::InlinedVector<Tensor, 3> state;  // by state_names()
  };
  virtual const char* name() const = 0;
  // The names of a parameter's states beside `step`. They are zeros at first, f32 for a parameter
  // of a half type, otherwise of its dtype.
  virtual std::vector<std::string> state_names(size_t group) const = 0;
  // The shape of state number `state` for a parameter of that shape: the same, unless overridden.
  virtual Shape StateShape(size_t group, size_t state, const Shape& param) const;
  // Throws if a parameter of that name and shape cannot be moved. Called when it is added or, if
  // its shape was not known then, at its first step.
  virtual void CheckParameter(const std::string&, const Shape&) const {}
  // Moves the parameters of these slots of a group, all of which have gradients and state, by one
  // operation, unless `skip` (bool, 0-d) is defined and true. `skip` and `lr` are on the
  // parameters' device. Runs inside NoGradScope.
  virtual void Update(size_t group, const Tensor& lr, const Tensor& skip,
                      absl::Span<Slot* const> slots) = 0;
  // The group's options without the learning rate; valid until they change.
  virtual inner::AttrsRef OptionsRef(size_t group) const = 0;
  // Shows the group's options but the learning rate, which may change them.
  virtual void VisitOptions(size_t group, inner::AttrVisitor& visitor) = 0;
  // Throws when the group's options make no sense with that learning rate.
  virtual void CheckOptions(size_t group, double lr) const = 0;
  // A function that puts all groups' options back to their present values.
  virtual std::function<void()> OptionsAsTheyAre() = 0;
  // Whether an element moves by its own gradient and state alone, so that parts of a parameter may
  // be moved as parameters of their own (optim/sharded.h).
  virtual bool ElementByElement() const { return false; }

  void AddParameters(const ParameterList& parameters, double lr);

 private:
  struct ParameterGroup {
    Tensor lr;  // f64, 0-d
    std::vector<Slot> slots;
  };

  ParameterGroup& GroupAt(size_t group);
  // Slots for the parameters; throws as SetParameters. `group` is their future group.
  std::vector<Slot> MakeSlots(const ParameterList& parameters, size_t group) const;
  void CheckAnyKnown() const;
  StateDict OptionDict() const;
  void ReadOptions(StateReader& reader, std::vector<double>* rates);
  // The slots that `state` describes; also sets the options. Throws when anything does not fit.
  std::vector<std::vector<Slot>> ReadState(const StateDict& state, std::vector<double>* rates);
  void Prepare(size_t group, Slot& slot) const;
  // The slots of a group that have gradients, with their state.
  std::vector<Slot*> Ready(size_t group);
  void StepGroup(size_t group, std::vector<Slot*> slots, const Tensor& skip);

  // Notes the parameters that another optimizer has already.
  void NoteTaken(const std::vector<Slot>& slots) const;
  // Warns on stderr about parameters that are still in both optimizers; mostly the other one was
  // about to be replaced by this one.
  void ReportTaken();
  bool Has(const Tensor& param) const;

  std::vector<ParameterGroup> groups_;
  std::vector<std::function<void()>> before_, after_;
  mutable inner::OptimizerName own_name_;  // of this one alone
  mutable std::vector<Tensor> taken_;      // until it was said
};

// An optimizer whose groups have options of this kind: an aggregate with a field `double lr` and
// `template <class V> void Visit(V& v)` (as an operation's attributes) for all others. If it has a
// member `void Complete()`, that is called with a new group's options, to fill in what depends on
// other options.
template <class OptionsType>
class OptimizerOf : public Optimizer {
 public:
  using Options = OptionsType;

  // Adds parameters with options of their own.
  void AddGroup(const ParameterList& parameters, const Options& options) {
    Options complete = options;
    if constexpr (requires { complete.Complete(); }) complete.Complete();
    Check(complete);
    AddParameters(parameters, complete.lr);
    options_.push_back(complete);
  }

 protected:
  OptimizerOf() = default;
  // Throws on values that make no sense.
  virtual void Check(const Options& options) const = 0;
  const Options& options(size_t group) const { return options_[group]; }
  inner::AttrsRef OptionsRef(size_t group) const override { return options_[group]; }
  void VisitOptions(size_t group, inner::AttrVisitor& visitor) override {
    options_[group].Visit(visitor);
  }
  void CheckOptions(size_t group, double lr) const override {
    Options options = options_[group];
    options.lr = lr;
    Check(options);
  }
  std::function<void()> OptionsAsTheyAre() override {
    return [this, saved = options_] { options_ = saved; };
  }

 private:
  std::vector<Options> options_;
};

}  // namespace firn::optim

#endif  // FIRN_OPTIM_OPTIMIZER_H_
