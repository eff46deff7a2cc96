// The registry against the sources: nothing dropped by the linker, nothing without samples, and
// declarations that make sense.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "tensor/op.h"
#include "tensor/samples.h"

namespace firn::testing {
namespace {

// Operations that the sources of tensor/ops define, from //tensor/ops:op_names.
const char* const kDefined[] = {
#include "tensor/ops/op_names.inc"
};

TEST(RegistryTest, HoldsEveryOperationThatTheSourcesDefine) {
  for (const char* name : kDefined) {
    EXPECT_NE(FindOp(name), nullptr) << name << ".cc is not linked in, or its initialiser dropped";
  }
  EXPECT_EQ(AllOps().size(), std::size(kDefined));
}

TEST(RegistryTest, HasSamplesOfEveryOperation) {
  for (const OpDef* op : AllOps()) EXPECT_TRUE(HasSamples(op->name)) << op->name;
}

TEST(RegistryTest, HasADocumentationAndAShapeRuleForEveryOperation) {
  for (const OpDef* op : AllOps()) {
    EXPECT_FALSE(op->doc.empty()) << op->name;
    EXPECT_NE(op->infer, nullptr) << op->name;
    EXPECT_EQ(op->is_view, op->kernels.empty())
        << op->name << ": views and only they have no kernels";
  }
}

TEST(RegistryTest, NamesArgumentsOnceAndRefersToEarlierOnes) {
  for (const OpDef* op : AllOps()) {
    std::set<std::string_view> names;
    for (const ArgDecl& d : op->inputs) {
      const bool among_themselves = d.variadic && d.same_dtype_as == d.name;
      EXPECT_TRUE(d.same_dtype_as.empty() || among_themselves || names.contains(d.same_dtype_as))
          << op->name << ": " << d.name << " has the dtype of " << d.same_dtype_as;
      EXPECT_TRUE(names.insert(d.name).second) << op->name << " has two inputs " << d.name;
    }
    for (const ArgDecl& d : op->outputs) EXPECT_FALSE(d.name.empty()) << op->name;
  }
}

TEST(RegistryTest, SavesAndReusesArgumentsThatExist) {
  for (const OpDef* op : AllOps()) {
    const auto inputs = static_cast<int>(op->inputs.size());
    const auto outputs = static_cast<int>(op->outputs.size());
    for (const Saved& s : op->saves) {
      EXPECT_LT(s.index, s.kind == Saved::kInput ? inputs : outputs) << op->name;
      EXPECT_GE(s.index, 0) << op->name;
    }
    for (const Reuse& r : op->may_reuse) {
      EXPECT_TRUE(r.output < outputs && r.input < inputs) << op->name;
    }
    for (int i : op->index_inputs) EXPECT_LT(i, inputs) << op->name;
    EXPECT_EQ(op->index_inputs.empty(), op->index_bounds == nullptr) << op->name;
  }
}

// Whether some sample gives input i (or, variadic, any from i on) a tensor of `kind`.
bool Sampled(const OpDef& op, const Samples& samples, size_t i, DTypeSet kind) {
  for (const Sample& s : samples.samples) {
    const size_t end = op.inputs[i].variadic ? s.inputs.size() : i + 1;
    for (size_t j = i; j < std::min(end, s.inputs.size()); j += std::max<size_t>(op.cycle, 1)) {
      if (s.inputs[j].defined() && Contains(kind, s.inputs[j].dtype())) return true;
    }
  }
  return false;
}

// The conformance suite runs a floating sample in every floating dtype and an integer one in every
// integer dtype, so one of each kind covers the declaration.
TEST(RegistryTest, SamplesEveryKindOfDTypeThatIsDeclared) {
  for (const OpDef* op : AllOps()) {
    const auto samples = SamplesOf(op->name);
    if (samples == nullptr || op->is_view) continue;
    for (size_t i = 0; i < op->inputs.size(); ++i) {
      const ArgDecl& d = op->inputs[i];
      if (!d.same_dtype_as.empty()) continue;
      for (DTypeSet kind : {kFloating, kIntegral, kBoolean}) {
        if ((d.dtypes & kind) == 0) continue;
        EXPECT_TRUE(Sampled(*op, *samples, i, kind))
            << op->name << ": no sample has " << Describe(d.dtypes & kind) << " as " << d.name;
      }
    }
  }
}

}  // namespace
}  // namespace firn::testing
