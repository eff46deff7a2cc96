#include "tests/ops/chain_programs.h"

#include <algorithm>
#include <set>
#include <utility>

#include "firn/tensor/allocate.h"
#include "firn/tensor/kernels/cuda/chain_source.h"
#include "firn/tensor/op.h"
#include "firn/tensor/testing/samples.h"
#include "tests/ops/calls.h"

namespace firn::testing {
namespace {

using Program = internal::ElementwiseProgram;

const Kernel* ElementwiseKernel(const OpDef& op) {
  for (const Kernel& k : op.kernels) {
    if (k.device == DeviceType::kCuda && k.takes == Takes::kElementwise) return &k;
  }
  return nullptr;
}

// The elements of `t` over and over; a single one stays alone.
Tensor Filled(const Tensor& t) {
  if (t.num_elements() == 1) return CopyOf(t).Reshape({});
  Tensor chain =
      *AllocateTensor(TensorSpec::Contiguous(t.dtype(), {kChainElements}, Device::Cpu()));
  const Tensor from = CopyOf(t);
  const auto size = static_cast<size_t>(SizeOf(t.dtype()));
  for (int64_t i = 0; i < kChainElements; ++i) {
    std::copy_n(from.impl()->data + static_cast<size_t>(i % t.num_elements()) * size, size,
                chain.impl()->data + static_cast<size_t>(i) * size);
  }
  return chain;
}

struct Step {
  const OpDef* op;
  const Kernel* kernel;
  Attrs attrs;
  std::vector<Tensor> in;  // undefined: not given
  DType out;
};

// One of each combination of dtypes and given inputs.
std::vector<Step> StepsOf(const OpDef& op) {
  std::vector<Step> steps;
  std::set<std::string> seen;
  const Kernel* const kernel = ElementwiseKernel(op);
  const auto samples = SamplesOf(op.name);
  if (kernel == nullptr || samples == nullptr || !cuda::HasSource(op)) return steps;
  for (const Sample& sample : samples->samples) {
    for (const Call& call : DTypeVariants(op, sample)) {
      if (call.inputs.size() > Program::kMaxStepInputs || call.inputs[0].num_elements() == 0)
        continue;
      const Outcome outcome = Run(op, call);
      if (!outcome.status.ok()) continue;
      Step step = {&op, kernel, call.attrs, {}, outcome.results[0].dtype()};
      std::string key = DTypeName(step.out);
      for (const Tensor& t : call.inputs) {
        key += t.defined() ? DTypeName(t.dtype()) : "none";
        step.in.push_back(t.defined() ? Filled(t) : Tensor());
      }
      const bool chains = std::any_of(step.in.begin(), step.in.end(),
                                      [](const Tensor& t) { return t.defined() && t.rank() == 1; });
      if (chains && seen.insert(key).second) steps.push_back(std::move(step));
    }
  }
  return steps;
}

// Whether step s takes the result of the one before in place of its first input.
bool Continues(const std::vector<Step>& steps, size_t s) {
  return s % 2 == 1 && steps[s].in[0].defined() && steps[s].in[0].rank() == 1 &&
         steps[s].in[0].dtype() == steps[s - 1].out;
}

ChainProgram ProgramOf(const std::vector<Step>& steps) {
  ChainProgram chain = {std::make_shared<Program>(), {}};
  Program& p = *chain.program;
  p.shape = Shape({kChainElements});
  std::vector<int> result(steps.size());  // operands
  for (size_t s = 0; s < steps.size(); ++s) {
    p.steps.push_back({steps[s].op, steps[s].kernel, steps[s].attrs, {}, 0});
    for (size_t i = 0; i < steps[s].in.size(); ++i) {
      const Tensor& t = steps[s].in[i];
      const bool fresh = t.defined() && !(i == 0 && Continues(steps, s));
      p.steps[s].in.push_back(fresh ? static_cast<int>(chain.in.size()) : -1);
      if (!fresh) continue;
      p.operands.push_back({t.dtype(), t.rank() == 0});
      chain.in.push_back(t);
    }
  }
  p.num_inputs = chain.in.size();
  for (const bool stays : {false, true}) {
    for (size_t s = 0; s < steps.size(); ++s) {
      if (stays != (s + 1 < steps.size() && Continues(steps, s + 1))) continue;
      result[s] = static_cast<int>(p.operands.size());
      p.operands.push_back({steps[s].out, false, stays ? static_cast<int>(p.num_slots++) : -1});
      p.num_results += stays ? 0 : 1;
    }
  }
  for (size_t s = 0; s < steps.size(); ++s) {
    p.steps[s].out = result[s];
    if (Continues(steps, s)) p.steps[s].in[0] = result[s - 1];
  }
  p.Finish();
  return chain;
}

}  // namespace

std::vector<std::string> ElementwiseCudaOps() {
  std::vector<std::string> names;
  for (const OpDef* op : AllOps()) {
    if (ElementwiseKernel(*op) != nullptr) names.emplace_back(op->name);
  }
  return names;
}

std::vector<ChainProgram> ChainPrograms() {
  std::vector<Step> steps;
  for (const OpDef* op : AllOps()) {
    for (Step& s : StepsOf(*op)) steps.push_back(std::move(s));
  }
  // By dtype: operations of one follow each other.
  std::stable_sort(steps.begin(), steps.end(),
                   [](const Step& a, const Step& b) { return a.in[0].dtype() < b.in[0].dtype(); });
  std::vector<ChainProgram> programs;
  for (size_t at = 0; at < steps.size(); at += Program::kMaxSteps) {
    const size_t end = std::min(steps.size(), at + Program::kMaxSteps);
    programs.push_back(ProgramOf({steps.begin() + static_cast<std::ptrdiff_t>(at),
                                  steps.begin() + static_cast<std::ptrdiff_t>(end)}));
  }
  return programs;
}

}  // namespace firn::testing
