// Operations that change each of a variadic list of tensors and have no results may be taken apart,
// as graphs do: one call for all gives what one call each gives, to the bit.

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/ops/calls.h"
#include "tests/ops/checks.h"
#include "tests/ops/compare.h"

namespace firn::testing {
namespace {

// The repetitions of a call, each a call of its own.
std::vector<Call> Parts(const OpDef& op, const Call& call) {
  const auto cycle = static_cast<std::ptrdiff_t>(op.cycle);
  const auto fixed = static_cast<std::ptrdiff_t>(op.inputs.size()) - cycle;
  std::vector<Call> parts;
  for (auto at = call.inputs.begin() + fixed; at != call.inputs.end(); at += cycle) {
    Call part{call.name, {call.inputs.begin(), call.inputs.begin() + fixed}, call.attrs};
    part.inputs.insert(part.inputs.end(), at, at + cycle);
    parts.push_back(std::move(part));
  }
  return parts;
}

bool ChangesEach(const OpDef& op) {
  if (!op.variadic() || !op.outputs.empty()) return false;
  for (size_t i = op.inputs.size() - op.cycle; i < op.inputs.size(); ++i) {
    if (op.inputs[i].inout) return true;
  }
  return false;
}

}  // namespace

void CheckRepetitions(const Subject& subject, const Samples& samples) {
  if (subject.composite()) return;
  const OpDef& op = subject;
  if (!ChangesEach(op)) return;
  size_t most = 0;
  for (const Sample& sample : samples.samples) {
    for (const Call& call : DTypeVariants(op, sample)) {
      SCOPED_TRACE(call.name);
      const Outcome whole = Run(op, call);
      ASSERT_TRUE(whole.status.ok()) << whole.error;
      size_t at = 0;
      const std::vector<Call> parts = Parts(op, call);
      most = std::max(most, parts.size());
      for (const Call& part : parts) {
        for (const Tensor& result : Run(op, part).results) {
          ASSERT_LT(at, whole.results.size());
          EXPECT_TRUE(SameBits(result, whole.results[at++]));
        }
      }
      EXPECT_EQ(at, whole.results.size());
    }
  }
  EXPECT_GT(most, 1u) << "no sample has more than one tensor";
}

}  // namespace firn::testing
