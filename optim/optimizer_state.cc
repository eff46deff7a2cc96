// State dicts of optimizers:
//   groups.<g>.lr, groups.<g>.<option>     f64, 0-d; of an enum the position in its list of words
//   state.<parameter>.step                 i64, 0-d
//   state.<parameter>.<state name>         as the parameter
// A parameter that was never moved has no entries. Loading reads everything into copies first and
// writes them only when no name was left over. Writes go into the present memory, whose address
// captured steps rely on.

#include <cmath>
#include <functional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/device/inner.h"
#include "firn/optim/optimizer.h"
#include "firn/optim/state_reader.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/ops/optimizer/update.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/copies.h"
#include "firn/tensor/pending.h"

namespace firn::optim {
namespace {

// Visits the options of a group one number at a time.
class OptionVisitor : public AttrVisitor {
 public:
  explicit OptionVisitor(size_t group) : prefix_(absl::StrCat("groups.", group, ".")) {}
  void Field(const char* name, int64_t& value) override {
    const double number = Exchange(prefix_ + name, static_cast<double>(value));
    // A file may contain any number; -1 is invalid for every option, so it is refused.
    const bool whole = number >= 0 && number <= 0x1p53 && std::floor(number) == number;
    value = whole ? static_cast<int64_t>(number) : -1;
  }
  void Field(const char* name, double& value) override { value = Exchange(prefix_ + name, value); }
  void Field(const char* name, bool& value) override {
    value = Exchange(prefix_ + name, value ? 1 : 0) != 0;
  }
  // Options of optimizers are numbers.
  void Field(const char*, std::string&) override {}
  void Field(const char*, std::vector<int64_t>&) override {}

 protected:
  virtual double Exchange(const std::string& name, double value) = 0;
  virtual void Refuse(const std::string& /*problem*/) {}

 private:
  void Enumerator(const char* name, int64_t& value, const WordList& words) override {
    const auto position = static_cast<double>(words.PositionOf(value));
    const double number = Exchange(prefix_ + name, position);
    for (const EnumWord& word : words) {
      if (static_cast<double>(&word - words.begin()) != number) continue;
      value = word.value;
      return;
    }
    Refuse(
        absl::StrCat(prefix_, name, " is ", number, ", which stands for none of ", words.Text()));
  }

  std::string prefix_;
};

class OptionWriter final : public OptionVisitor {
 public:
  OptionWriter(size_t group, StateDict* state) : OptionVisitor(group), state_(state) {}

 private:
  double Exchange(const std::string& name, double value) override {
    state_->Insert(name, StateNumber(value));
    return value;
  }
  StateDict* state_;
};

class OptionReader final : public OptionVisitor {
 public:
  OptionReader(size_t group, StateReader* reader) : OptionVisitor(group), reader_(reader) {}

 private:
  double Exchange(const std::string& name, double value) override {
    return reader_->NeedNumber(name, value);
  }
  void Refuse(const std::string& problem) override { reader_->Problem(problem); }
  StateReader* reader_;
};

}  // namespace

StateDict Optimizer::OptionDict() const {
  StateDict state;
  for (size_t g = 0; g < groups_.size(); ++g) {
    state.Insert(absl::StrCat("groups.", g, ".lr"), StateNumber(lr(g)));
    OptionWriter writer(g, &state);
    const_cast<Optimizer*>(this)->VisitOptions(g, writer);
  }
  return state;
}

StateDict Optimizer::state_dict() const {
  StateDict state = OptionDict();
  for (size_t g = 0; g < groups_.size(); ++g) {
    const std::vector<std::string> names = state_names(g);
    for (const Slot& s : groups_[g].slots) {
      if (!s.step.defined()) continue;
      const std::string prefix = absl::StrCat("state.", s.name, ".");
      state.Insert(prefix + "step", s.step.Detach());
      for (size_t i = 0; i < names.size(); ++i) {
        state.Insert(prefix + names[i], s.state[i].Detach());
      }
    }
  }
  return state;
}

namespace {

// One parameter's state, or nothing when it has none. shape_of(i): the shape of state i.
template <class Slot, class ShapeOf>
void ReadSlot(StateReader& reader, const std::vector<std::string>& names, const ShapeOf& shape_of,
              Slot* slot) {
  const std::string prefix = absl::StrCat("state.", slot->name, ".");
  const Tensor& p = slot->param;
  slot->state.clear();
  slot->step = reader.Take(prefix + "step");
  if (!slot->step.defined()) return;
  if (slot->step.rank() != 0) {
    reader.Problem(absl::StrCat(prefix, "step is ", slot->step.shape().ToString()));
  }
  if (slot->step.num_elements() == 1 && !(slot->step.Item() >= 0)) {
    reader.Problem(absl::StrCat(prefix, "step is ", slot->step.Item()));
  }
  slot->step = Clone(Cast(slot->step.To(p.device()), DType::kI64));
  for (size_t i = 0; i < names.size(); ++i) {
    const Tensor t = reader.Need(prefix + names[i]);
    if (!t.defined()) continue;
    if (!IsPending(p) && t.shape() != shape_of(i)) {
      reader.Problem(absl::StrCat(prefix, names[i], " is ", t.shape().ToString(),
                                  shape_of(i) == p.shape() ? ", the parameter " : ", not ",
                                  shape_of(i).ToString()));
    }
    slot->state.push_back(Clone(Cast(t.To(p.device()), inner::ComputeDType(p.dtype()))));
  }
}

// Writes into the present tensor, which captured steps use, unless the new one has another form.
void Put(const Tensor& value, Tensor* target) {
  const bool same = target->defined() && target->shape() == value.shape() &&
                    target->dtype() == value.dtype() && target->device() == value.device();
  if (same) {
    Assign(*target, value);
  } else {
    *target = value;
  }
}

template <class Slot>
void Put(const Slot& value, Slot* target) {
  if (!value.step.defined() || value.state.size() != target->state.size()) {
    *target = value;
    return;
  }
  Put(value.step, &target->step);
  for (size_t i = 0; i < value.state.size(); ++i) Put(value.state[i], &target->state[i]);
}

}  // namespace

void Optimizer::ReadOptions(StateReader& reader, std::vector<double>* rates) {
  for (size_t g = 0; g < groups_.size(); ++g) {
    rates->push_back(reader.NeedNumber(absl::StrCat("groups.", g, ".lr"), lr(g)));
    OptionReader options(g, &reader);
    VisitOptions(g, options);
  }
}

std::vector<std::vector<Optimizer::Slot>> Optimizer::ReadState(const StateDict& state,
                                                               std::vector<double>* rates) {
  StateReader reader(state);
  ReadOptions(reader, rates);  // first, since a parameter's states depend on the options
  std::vector<std::vector<Slot>> loaded;
  for (size_t g = 0; g < groups_.size(); ++g) {
    loaded.push_back(groups_[g].slots);
    for (Slot& s : loaded.back()) {
      const auto shape_of = [&](size_t i) { return StateShape(g, i, s.param.shape()); };
      ReadSlot(reader, state_names(g), shape_of, &s);
    }
  }
  reader.Finish(name());
  for (size_t g = 0; g < groups_.size(); ++g) CheckOptions(g, (*rates)[g]);
  return loaded;
}

void Optimizer::LoadStateDict(const StateDict& state) {
  const NoGradScope no_grad;
  std::vector<double> rates;
  std::vector<std::vector<Slot>> loaded;
  const std::function<void()> undo = OptionsAsTheyAre();
  try {
    loaded = ReadState(state, &rates);
  } catch (...) {
    undo();
    throw;
  }
  for (size_t g = 0; g < groups_.size(); ++g) {
    SetLr(g, rates[g]);
    for (size_t i = 0; i < loaded[g].size(); ++i) Put(loaded[g][i], &groups_[g].slots[i]);
  }
}

}  // namespace firn::optim
