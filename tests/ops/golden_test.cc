// Every function against PyTorch: results, dtypes and gradients. A file of tests/golden/ops is
// named after an operation or a composite, whose declaration tells how to call its function, or
// after an adapter beside the samples.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "firn/autograd/backward.h"
#include "firn/tensor/error.h"
#include "firn/tensor/op.h"
#include "firn/tensor/testing/samples.h"
#include "tests/golden/vectors.h"
#include "tests/ops/golden_calls.h"

namespace firn::testing {
namespace {

// Known differences of Firn: "<file>/<case>" and the message of the first difference. Each must be
// found, so that the list holds no old ones.
const std::map<std::string, std::string>& KnownDifferences() {
  static const auto* cases = new std::map<std::string, std::string>{
      // At a bound the gradient is 1, as in earlier releases of PyTorch; that of the vectors, 2.15,
      // has 0 beside a number and 1/2 beside a tensor.
      {"clamp/both_numbers_gradient_one_at_bounds", "grad x: element 1 "},
  };
  return *cases;
}

// y in PyTorch's `want` may be an argument that was changed in place.
Tensor ResultNamed(const std::string& name, const StateDict& results, const GoldenArgs& args) {
  if (const Tensor* result = results.Find(name)) return *result;
  const auto it = args.inputs().find(name);
  return it == args.inputs().end() ? Tensor() : it->second;
}

std::string Difference(const Tensor& got, const Tensor& want) {
  const std::string values = Compare(got, want);
  if (!values.empty() || got.dtype() == want.dtype()) return values;
  return absl::StrCat("dtype ", DTypeName(got.dtype()), ", want ", DTypeName(want.dtype()));
}

// The gradients of sum_i <grad_output i, output i>. PyTorch gives zeros where there is no path.
void CompareGradients(const GoldenCase& c, const std::vector<Tensor>& outputs,
                      const GoldenArgs& args, std::vector<std::string>* differences) {
  std::vector<Tensor> roots, seeds, leaves;
  for (const auto& [index, seed] : c.grad_outputs) {
    const Tensor& root = outputs[static_cast<size_t>(index)];
    if (!root.requires_grad()) continue;
    roots.push_back(root);
    seeds.push_back(seed);
  }
  for (const auto& [name, want] : c.grads) leaves.push_back(args.inputs().at(name));
  std::vector<Tensor> found(leaves.size());
  if (!roots.empty()) found = Grad(roots, leaves, {.seeds = seeds, .allow_unused = true});
  size_t i = 0;
  for (const auto& [name, want] : c.grads) {
    const Tensor& got = found[i++];
    const std::vector<double> values = want.ToVector<double>();
    const bool zeros = std::all_of(values.begin(), values.end(), [](double v) { return v == 0; });
    const std::string difference = !got.defined() && zeros ? "" : Difference(got, want);
    if (!difference.empty()) differences->push_back(absl::StrCat("grad ", name, ": ", difference));
  }
}

// The error of a case; empty if Firn agrees.
template <class F>
std::vector<std::string> Differences(const GoldenCase& c, F call) {
  std::vector<std::string> differences;
  GoldenArgs args(c);
  try {
    const StateDict results = call(args);
    for (const std::string& name : args.Unused()) {
      differences.push_back(absl::StrCat("nothing takes ", name));
    }
    std::vector<Tensor> outputs;
    for (const auto& [name, want] : c.outputs) {
      outputs.push_back(ResultNamed(name, results, args));
      const std::string difference = Difference(outputs.back(), want);
      if (!difference.empty()) differences.push_back(absl::StrCat(name, ": ", difference));
    }
    if (!c.grads.empty()) CompareGradients(c, outputs, args, &differences);
  } catch (const Error& e) {
    differences.push_back(e.what());
  }
  return differences;
}

class OpGoldenTest : public ::testing::TestWithParam<std::string> {};

TEST_P(OpGoldenTest, AgreesWithPyTorch) {
  const std::string& file = GetParam();
  ASSERT_TRUE(IsCallable(file))
      << "neither an operation or composite with a function nor an adapter";
  for (const GoldenCase& c : ReadGolden(absl::StrCat("ops/", file, ".txt"))) {
    const std::vector<std::string> differences =
        Differences(c, [&](GoldenArgs& args) { return Call(file, args); });
    const std::string all = absl::StrJoin(differences, "; ");
    const auto known = KnownDifferences().find(absl::StrCat(file, "/", c.name));
    if (known == KnownDifferences().end()) {
      EXPECT_EQ(all, "") << c.name;
    } else {
      EXPECT_TRUE(absl::StartsWith(all, known->second)) << c.name << " is known to differ: " << all;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ops, OpGoldenTest, ::testing::ValuesIn(GoldenFiles("ops")),
                         [](const auto& file) { return file.param; });

TEST(OpGoldenFilesTest, EveryAdapterHasAFile) {
  const std::vector<std::string> files = GoldenFiles("ops");
  for (const std::string& name : GoldenNames()) {
    EXPECT_TRUE(std::binary_search(files.begin(), files.end(), name)) << name;
  }
}

// Random numbers cannot be compared, internal operations have no counterpart, and samples may say
// why there is none.
TEST(OpGoldenFilesTest, EveryFunctionHasVectors) {
  const std::vector<std::string> files = GoldenFiles("ops");
  std::vector<std::string> names = Composites();
  for (const OpDef* op : AllOps()) names.push_back(std::string(op->name));
  for (const std::string& name : names) {
    const auto samples = SamplesOf(name);
    if (samples == nullptr) continue;  // registry_test says so
    const OpDef* op = FindOp(name);
    const bool needless = (op != nullptr && op->random) || samples->functions.empty() ||
                          !samples->without_vectors.empty();
    EXPECT_EQ(std::binary_search(files.begin(), files.end(), name), !needless)
        << name << ": add cases to tests/golden/cases and run make_vectors.py";
  }
}

}  // namespace
}  // namespace firn::testing
