#ifndef FIRN_OPTIM_SHARDED_H_
#define FIRN_OPTIM_SHARDED_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "firn/device/status_fwd.h"
#include "firn/optim/optimizer.h"

namespace firn::comm {
class Communicator;  // device/comm/communicator.h
}  // namespace firn::comm

namespace firn::optim {

struct ShardedOptions {
  // Whether Step averages the ranks' gradients; each rank gets only its part, and grad() stays what
  // the rank computed. False: gradients are equal on all ranks already, as with
  // nn::parallel::DataParallel.
  bool average = true;
  // Whether state_dict() gives only this rank's part, which only the same rank of equally many can
  // load. False: the whole state, like the optimizer that is not sharded.
  bool sharded_state = false;
};

// An optimizer on several ranks that all train one network, each of which keeps the state of 1/n of
// the elements of every parameter (ZeRO stage 1; Rajbhandari et al., "ZeRO: memory optimizations
// toward training trillion parameter models", 2020): it moves these elements, and gets the others
// from the ranks that moved them. Parameters are, to the bit, those of the optimizer alone on the
// same mean gradients; MPI adds what it reduces in an order of its own, which may change a mean's
// last bit.
//
//   optim::Sharded<optim::Adam> adam(net.named_parameters(), {.lr = 1e-3}, ranks);
//   adam.ZeroGrad();
//   CrossEntropy(net(images), labels).Backward();   // of this rank's part of the batch
//   adam.Step();
//
// For optimizers that go element by element: not Lamb, Lars, Muon and Adafactor, which need all of
// a parameter. Parts are multiples of 16 elements, so a rank has at most that much more than 1/n of
// each parameter.
//
// The constructor, Step and, unless sharded_state, state_dict are for all ranks, in the same order;
// so are changes of parameters, learning rates and the loading of a state. Ranks that differ are an
// error on all of them that names both sides; one that fails alone ends the communicator's work
// (comm::Communicator::Abort). A gradient that only some ranks have counts as zeros on the others
// where Step averages, and is an error where it does not. If one rank's `skip` is true, the step is
// left out on all. To clip gradients, average them first (`average` is false)
// and clip before Step.
//
// Parameters lie on one device, each rank's on its own: what lies on CUDA devices is exchanged
// there by NCCL, as DataParallel's gradients. Each step there waits for the device once a group,
// to read the learning rates that the ranks compare, and once for `skip`. Not within captured
// functions. Thread-compatible.
class ShardedOptimizer : public Optimizer {
 public:
  // Takes the optimizer's parameters and options over. The communicator must outlive this. Throws
  // firn::Error as said above, for an optimizer that has made steps already or is null, and for
  // parameters on several devices.
  ShardedOptimizer(std::unique_ptr<Optimizer> optimizer, comm::Communicator& comm,
                   const ShardedOptions& options = {});
  ~ShardedOptimizer() override;

  // Functions of AddHooks run before gradients are averaged and after parameters are whole.
  void Step(const Tensor& skip = {}) override;

  StateDict state_dict() const override;
  // Takes the result of state_dict() with either option, and the state dict of the optimizer that
  // is not sharded. Throws, and changes nothing, also for the part of another rank or of another
  // number of ranks.
  void LoadStateDict(const StateDict& state) override;

 protected:
  const char* name() const override;
  std::vector<std::string> state_names(size_t group) const override;
  Shape StateShape(size_t group, size_t state, const Shape& param) const override;
  void CheckParameter(const std::string& name, const Shape& shape) const override;
  void Update(size_t group, const Tensor& lr, const Tensor& skip,
              absl::Span<Slot* const> slots) override;
  inner::AttrsRef OptionsRef(size_t group) const override;
  void VisitOptions(size_t group, inner::AttrVisitor& visitor) override;
  void CheckOptions(size_t group, double lr) const override;
  std::function<void()> OptionsAsTheyAre() override;
  bool ElementByElement() const override { return true; }

 private:
  std::vector<Slot*> Slots();
  // The facts that must be equal on all ranks, a line each.
  std::vector<std::string> Lines() const;
  // Compares the facts if any has changed here since the last time. Throws on all ranks if they
  // differ.
  void AgreeOnParameters();
  absl::Status CheckPlaces() const;  // of this rank
  // The facts of one step: the slots for which any rank has gradients, and whether any rank leaves
  // the step out.
  struct Plan {
    std::vector<bool> moves;  // by slot
    bool skips = false;
  };
  // This rank's message to the others.
  std::vector<uint8_t> Told(const Tensor& skip);
  Plan AgreeOnStep(const std::vector<uint8_t>& told);
  void StepTogether(const Plan& plan);
  void Average(const std::vector<Slot*>& moving);
  using SlotsByName = std::map<std::string, const Slot*, std::less<>>;
  SlotsByName ByName() const;
  // The parameter that a state dict's entry is a state of, of its shape; null: of none.
  static const Slot* SlotOf(const SlotsByName& slots, std::string_view entry);
  // This rank's part of a whole state dict, marked as such.
  StateDict PartsOf(const StateDict& whole) const;
  Tensor WholeState(const Slot& slot, const Tensor& part) const;

  const std::unique_ptr<Optimizer> inner_;  // for its options and rule; it has no parameters
  comm::Communicator& comm_;
  const ShardedOptions options_;
  std::vector<uint64_t> agreed_;  // addresses, sizes and places of parameters, agreed on last
  std::map<const inner::TensorImpl*, Tensor> averaged_;  // within a step: parts of gradients
  mutable bool marks_ = false;  // whether options are shown with the rank of the state's part
};

// The same of an optimizer with these options.
template <class OptimizerType>
class Sharded final : public ShardedOptimizer {
 public:
  Sharded(const ParameterList& parameters, const typename OptimizerType::Options& options,
          comm::Communicator& comm, const ShardedOptions& sharded = {})
      : ShardedOptimizer(std::make_unique<OptimizerType>(parameters, options), comm, sharded) {}
};

}  // namespace firn::optim

#endif  // FIRN_OPTIM_SHARDED_H_
