// The table of what is registered, and options as lists of numbers.

#include "firn/optim/option_samples.h"

#include <algorithm>
#include <map>
#include <stdexcept>

#include "absl/strings/str_cat.h"
#include "firn/tensor/shape.h"

namespace firn::testing {
namespace {

std::map<std::string, OptionSamples (*)(), std::less<>>& Makers() {
  static auto* const makers = new std::map<std::string, OptionSamples (*)(), std::less<>>();
  return *makers;
}

void Visit(Attrs& options, NumberVisitor& visitor) {
  options.ref().type()->visit(options.mutable_data(), visitor);
}

// The reference of an operation. Samples are built anew at each call, which takes time.
const ReferenceFn& ReferenceOf(std::string_view op) {
  static auto* const references = new std::map<std::string, ReferenceFn, std::less<>>();
  const auto found = references->find(op);
  if (found != references->end()) return found->second;
  return references->emplace(op, SamplesOf(op)->reference).first->second;
}

}  // namespace

OptionSamplesRegistration::OptionSamplesRegistration(const char* name, OptionSamples (*make)()) {
  Makers().emplace(name, make);
}

const OptionSamples& OptionSamplesOf(std::string_view optimizer) {
  static auto* const made = new std::map<std::string, OptionSamples, std::less<>>();
  const auto found = made->find(optimizer);
  if (found != made->end()) return found->second;
  const auto maker = Makers().find(optimizer);
  if (maker == Makers().end()) {
    throw std::out_of_range(
        absl::StrCat("optimizer ", std::string(optimizer), " has no FIRN_REGISTER_OPTION_SAMPLES"));
  }
  return made->emplace(optimizer, maker->second()).first->second;
}

void NumberVisitor::Field(const char* name, std::string&) {
  throw std::logic_error(absl::StrCat("the option ", name, " is no number"));
}
void NumberVisitor::Field(const char* name, std::vector<int64_t>&) {
  throw std::logic_error(absl::StrCat("the option ", name, " is no number"));
}

std::vector<NamedOption> OptionsIn(const Attrs& options) {
  std::vector<NamedOption> list;
  Attrs copy = options;
  NumberVisitor visitor([&](std::string_view name, double value) {
    list.push_back({std::string(name), value});
    return value;
  });
  Visit(copy, visitor);
  return list;
}

Attrs WithOption(const Attrs& options, std::string_view name, double value) {
  Attrs changed = options;
  NumberVisitor visitor([&](std::string_view n, double v) { return n == name ? value : v; });
  Visit(changed, visitor);
  return changed;
}

void StepByReference(std::string_view op, AttrsRef attrs, double lr, double t,
                     const std::vector<bool>& given, Moved& m) {
  const Shape shape({Moved::kRows, Moved::kColumns});
  const auto ref = [&](const Moved::Matrix& from) {
    RefTensor to(shape);
    to.values.assign(from.begin(), from.end());
    return to;
  };
  RefTensor none;
  none.defined_ = false;
  std::vector<RefTensor> in = {RefTensor(Shape(), lr), none, ref(m.x), ref(m.grad)};
  for (size_t s = 0; s < given.size(); ++s) in.push_back(given[s] ? ref(m.state[s]) : none);
  in.push_back(RefTensor(Shape(), t - 1));
  const std::vector<RefTensor> out = ReferenceOf(op)(in, attrs);
  const auto take = [](const RefTensor& from, Moved::Matrix* to) {
    std::copy(from.values.begin(), from.values.end(), to->begin());
  };
  take(out[0], &m.x);
  for (size_t s = 0, at = 1; s < given.size(); ++s) {
    if (given[s]) take(out[at++], &m.state[s]);
  }
}

}  // namespace firn::testing
