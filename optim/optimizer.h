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
// state dicts and errors. Where an earlier group has the name too, as two networks of one class do,
// the group's number stands before it: "1.fc.weight". Twice in one group it is an error.
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
  // Parameters that were there before keep their state; otherwise all start anew.
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

  // Where `skip` (bool, 0-d) is defined and true, nothing changes: decided on the device, without
  // reading it here. Throws firn::Error when all parameters are pending: no forward has run.
  virtual void Step(const Tensor& skip = {});
  // Forgets the gradients of all parameters.
  void ZeroGrad();

  size_t num_groups() const { return groups_.size(); }
  double lr(size_t group = 0) const;
  // The rate of all groups, or of one. Frozen steps follow it. Throws unless lr makes sense to the
  // group's options, and inside a captured function, which would not see it.
  void SetLr(inner::Real lr);
  void SetLr(size_t group, inner::Real lr);
  // The rates of the first groups, as many as there are: all or, when one of them makes no sense,
  // none.
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
  // Continues where the saved optimizer was, options included, bit by bit; state that was there is
  // written in place. Throws, and changes nothing, unless the groups, the names of parameters and
  // the shapes agree and the options make sense.
  virtual void LoadStateDict(const StateDict& state);

 protected:
  friend class ShardedOptimizer;  // which has another one's groups, and lets it move parts of them
  Optimizer() = default;

  struct Slot {
    std::string name;
    Tensor param;
    Tensor step;                           // i64, 0-d; undefined until the first step
    absl::InlinedVector<Tensor, 3> state;  // by state_names()
  };
  virtual const char* name() const = 0;
  // What a parameter's state consists of beside `step`: zeros at first, f32 where the parameter is
  // of a half type, of its dtype otherwise.
  virtual std::vector<std::string> state_names(size_t group) const = 0;
  // The shape of state number `state` for a parameter of that shape: the same, unless overridden.
  virtual Shape StateShape(size_t group, size_t state, const Shape& param) const;
  // Throws when a parameter of that name and shape cannot be moved: when it is added or, where its
  // shape was not known then, at its first step.
  virtual void CheckParameter(const std::string&, const Shape&) const {}
  // Moves the parameters of these slots of a group, all of which have gradients and state, by one
  // operation, unless `skip` (bool, 0-d) is defined and true. It and `lr` are on their device. Runs
  // inside NoGradScope.
  virtual void Update(size_t group, const Tensor& lr, const Tensor& skip,
                      absl::Span<Slot* const> slots) = 0;
  // The group's options, of which the learning rate is not shown; until they change.
  virtual inner::AttrsRef OptionsRef(size_t group) const = 0;
  // Shows the group's options but the learning rate, which may change them.
  virtual void VisitOptions(size_t group, inner::AttrVisitor& visitor) = 0;
  // Throws when the group's options make no sense with that learning rate.
  virtual void CheckOptions(size_t group, double lr) const = 0;
  // What puts all groups' options back as they are now.
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
  // Slots for the parameters; throws as SetParameters says. `group` is where they will stand.
  std::vector<Slot> MakeSlots(const ParameterList& parameters, size_t group) const;
  void CheckAnyKnown() const;
  StateDict OptionDict() const;
  void ReadOptions(StateReader& reader, std::vector<double>* rates);
  // The slots that `state` describes; also sets the options. Throws when anything does not fit.
  std::vector<std::vector<Slot>> ReadState(const StateDict& state, std::vector<double>* rates);
  void Prepare(size_t group, Slot& slot) const;
  // Those of a group that have gradients, with their state.
  std::vector<Slot*> Ready(size_t group);
  void StepGroup(size_t group, std::vector<Slot*> slots, const Tensor& skip);

  // Keeps those that another optimizer has already.
  void NoteTaken(const std::vector<Slot>& slots) const;
  // Says it on stderr of those that are still in both: mostly the other one was about to be
  // replaced by this one.
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
