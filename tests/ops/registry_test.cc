// Compares the registry with the sources: the linker dropped no operation, each has samples, a
// function and documentation, and declarations make sense.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "firn/tensor/op.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

// Operations that the sources define, from //tensor/ops:op_names and //optim:op_names.
const char* const kDefined[] = {
#include "optim/op_names.inc"
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

// Benchmarks and failures name samples.
TEST(RegistryTest, NamesNoSampleTwice) {
  for (const OpDef* op : AllOps()) {
    const auto samples = SamplesOf(op->name);
    if (samples == nullptr) continue;
    std::vector<std::string> names;
    for (const Sample& s : samples->samples) names.push_back(s.name);
    for (const std::string& name : LargeSampleNames(op->name)) names.push_back("large " + name);
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    EXPECT_EQ(twice, names.end()) << op->name << ": " << *twice;
  }
}

// Functions that benchmarks do not time, and why not. (Views, which copy nothing, are not listed.)
const std::map<std::string, std::string>& NotTimed() {
  static const auto* names = new std::map<std::string, std::string>{
      {"argsort", "the indices of sort"},
      {"batch_norm", "batch_norm_train, or arithmetic"},
      {"chunk", "views"},
      {"cross_entropy_of_probabilities", "cross_entropy has samples of both"},
      {"detach", "a view"},
      {"eye", "full and less"},
      {"full_like", "full"},
      {"generator_position", "one number"},
      {"group_norm", "layer_norm's loops"},
      {"masked_fill", "where"},
      {"masked_select", "nonzero and a gather"},
      {"max", "amax, or sort's loops"},
      {"min", "as max"},
      {"movedim", "a view"},
      {"pack_sequence", "concat"},
      {"softmin", "softmax"},
      {"split", "views"},
      {"stack", "concat"},
      {"sum_to", "sum"},
      {"sync_batch_norm", "batch_norm of one process"},
      {"tile", "a copy"},
      {"unbind", "views"},
      {"update_loss_scale", "one number"},
      {"weighted_binary_cross_entropy", "binary_cross_entropy"},
      {"weighted_binary_cross_entropy_with_logits", "binary_cross_entropy_with_logits"},
  };
  return *names;
}

// One is all that op_compare asks for.
TEST(RegistryTest, HasALargeSampleOfEveryFunction) {
  std::vector<std::string> names = Composites();
  for (const OpDef* op : AllOps()) {
    if (!op->is_view) names.emplace_back(op->name);
  }
  size_t without = 0;
  for (const std::string& name : names) {
    const bool listed = NotTimed().contains(name);
    if (!LargeSampleNames(name).empty()) {
      EXPECT_FALSE(listed) << name << " is timed by now";
      continue;
    }
    const auto samples = SamplesOf(name);
    if (samples == nullptr || samples->functions.empty()) continue;
    EXPECT_TRUE(listed) << name << ": s.AddLarge is missing";
    without += listed ? 1 : 0;
  }
  EXPECT_EQ(without, NotTimed().size()) << "one that is not timed is no function";
}

// The functions that users call, or the reasons why they call none.
TEST(RegistryTest, NamesAFunctionOfEveryOperation) {
  for (const OpDef* op : AllOps()) {
    const auto samples = SamplesOf(op->name);
    if (samples == nullptr) continue;
    EXPECT_NE(samples->functions.empty(), samples->internal.empty())
        << op->name << ": its samples name s.Function or, of one without, s.Internal";
  }
}

TEST(RegistryTest, HasAFunctionAndADeclarationOfEveryComposite) {
  for (const std::string& name : Composites()) {
    const auto samples = SamplesOf(name);
    EXPECT_EQ(FindOp(name), nullptr) << name << " is an operation";
    EXPECT_FALSE(samples->functions.empty()) << name;
    EXPECT_FALSE(samples->declaration.outputs.empty()) << name;
  }
}

TEST(RegistryTest, HasADocumentationForEveryOperation) {
  for (const OpDef* op : AllOps()) EXPECT_FALSE(op->doc.empty()) << op->name;
}

// tests/tensor/op_test.cc tests the rules for declarations.
TEST(RegistryTest, RefusesNoneOfItsOwn) {
  for (const absl::Status& refused : RefusedOps()) ADD_FAILURE() << refused.message();
}

// Options that are numbers and short lists are kept where a call is recorded; a vector is copied to
// the heap each time. concat has a number for each tensor, pad two for each dimension, a recurrent
// layer one for each step of packed sequences.
TEST(RegistryTest, KeepsOptionsInPlace) {
  for (const OpDef* op : AllOps()) {
    if (op->attrs == nullptr || op->name == "concat") continue;
    if (op->name == "pad" || op->name == "pad_grad") continue;
    if (op->name.ends_with("_layer") || op->name.ends_with("_layer_grad")) continue;
    EXPECT_TRUE(op->attrs->simple) << op->name;
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
void ExpectEveryKind(const OpDef& op, const Samples& samples) {
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    const ArgDecl& d = op.inputs[i];
    if (!d.same_dtype_as.empty()) continue;
    for (DTypeSet kind : {kFloating, kIntegral, kBoolean}) {
      if ((d.dtypes & kind) == 0) continue;
      EXPECT_TRUE(Sampled(op, samples, i, kind))
          << op.name << ": no sample has " << DTypeNames(d.dtypes & kind) << " as " << d.name;
    }
  }
}

TEST(RegistryTest, SamplesEveryKindOfDTypeThatIsDeclared) {
  for (const OpDef* op : AllOps()) {
    const auto samples = SamplesOf(op->name);
    if (samples != nullptr && !op->is_view) ExpectEveryKind(*op, *samples);
  }
  for (const std::string& name : Composites()) {
    const auto samples = SamplesOf(name);
    ExpectEveryKind(samples->declaration, *samples);
  }
}

}  // namespace
}  // namespace firn::testing
