#include "firn/tensor/ops/linear/einsum.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

#include "firn/autograd/gradcheck.h"
#include "firn/tensor/ops/linear/einsum_order.h"
#include "firn/tensor/ops/linear/matmul.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/testing/samples.h"
#include "tests/error_of.h"

namespace firn {
namespace {

using testing::Integers;
using testing::Normal;

// The sum over every assignment of the labels, for terms of letters only.
std::vector<double> SlowEinsum(const std::vector<std::string>& terms, const std::string& out,
                               const std::vector<Tensor>& tensors) {
  std::map<char, int64_t> sizes;
  std::vector<std::vector<double>> values;
  for (size_t i = 0; i < terms.size(); ++i) {
    values.push_back(tensors[i].ToVector<double>());
    for (size_t d = 0; d < terms[i].size(); ++d) {
      int64_t& size = sizes[terms[i][d]];
      size = std::max(size, tensors[i].shape()[static_cast<int>(d)]);
    }
  }
  int64_t total = 1, results = 1;
  for (auto [label, size] : sizes) total *= size;
  for (char c : out) results *= sizes[c];
  std::vector<double> sum(static_cast<size_t>(results));
  for (int64_t n = 0; n < total; ++n) {
    std::map<char, int64_t> at;
    int64_t rest = n;
    for (auto [label, size] : sizes) {
      at[label] = rest % size;
      rest /= size;
    }
    double product = 1;
    for (size_t i = 0; i < terms.size(); ++i) {
      int64_t flat = 0;
      for (size_t d = 0; d < terms[i].size(); ++d) {
        const int64_t size = tensors[i].shape()[static_cast<int>(d)];
        flat = flat * size + (size == 1 ? 0 : at[terms[i][d]]);
      }
      product *= values[i][static_cast<size_t>(flat)];
    }
    int64_t to = 0;
    for (char c : out) to = to * sizes[c] + at[c];
    sum[static_cast<size_t>(to)] += product;
  }
  return sum;
}

void ExpectEinsum(const std::string& equation, const std::vector<std::string>& terms,
                  const std::string& out, const std::vector<Tensor>& tensors) {
  SCOPED_TRACE(equation);
  const Tensor got = Einsum(equation, tensors);
  EXPECT_EQ(got.rank(), static_cast<int>(out.size()));
  const std::vector<double> values = got.ToVector<double>(), want = SlowEinsum(terms, out, tensors);
  ASSERT_EQ(values.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(values[i], want[i], 1e-12);
}

TEST(EinsumTest, ContractsTwoTensors) {
  const Tensor a = Normal({3, 4}), b = Normal({4, 5}, 2);
  ExpectEinsum("ij,jk->ik", {"ij", "jk"}, "ik", {a, b});
  ExpectEinsum("ij,jk->ki", {"ij", "jk"}, "ki", {a, b});
  ExpectEinsum("ij,jk->", {"ij", "jk"}, "", {a, b});
  ExpectEinsum("ij,kj->ik", {"ij", "kj"}, "ik", {a, Normal({5, 4}, 2)});
  ExpectEinsum("i,j->ij", {"i", "j"}, "ij", {Normal({3}), Normal({4}, 2)});
  ExpectEinsum("ij,ij->i", {"ij", "ij"}, "i", {a, Normal({3, 4}, 2)});
  ExpectEinsum("ij,ij->ji", {"ij", "ij"}, "ji", {a, Normal({3, 4}, 2)});
}

TEST(EinsumTest, KeepsSharedNamesOfTheResultAsABatch) {
  ExpectEinsum("bij,bjk->bik", {"bij", "bjk"}, "bik", {Normal({2, 3, 4}), Normal({2, 4, 5}, 2)});
  ExpectEinsum("bhid,bhjd->bhij", {"bhid", "bhjd"}, "bhij",
               {Normal({2, 3, 4, 2}), Normal({2, 3, 5, 2}, 2)});
  ExpectEinsum("iabj,jbk->kbia", {"iabj", "jbk"}, "kbia",
               {Normal({2, 3, 4, 2}), Normal({2, 4, 5}, 2)});
}

TEST(EinsumTest, WorksOnOneTensor) {
  const Tensor a = Normal({3, 4}), square = Normal({3, 3});
  ExpectEinsum("ij->ji", {"ij"}, "ji", {a});
  ExpectEinsum("ij->j", {"ij"}, "j", {a});
  ExpectEinsum("ii->i", {"ii"}, "i", {square});
  ExpectEinsum("ii", {"ii"}, "", {square});
  ExpectEinsum("iji->ji", {"iji"}, "ji", {Normal({3, 2, 3})});
  ExpectEinsum("iii->i", {"iii"}, "i", {Normal({2, 2, 2})});
}

TEST(EinsumTest, ContractsSeveralTensors) {
  ExpectEinsum("ij,jk,kl->il", {"ij", "jk", "kl"}, "il",
               {Normal({2, 3}), Normal({3, 4}, 2), Normal({4, 5}, 3)});
  ExpectEinsum("bn,anm,bm->ba", {"bn", "anm", "bm"}, "ba",
               {Normal({2, 3}), Normal({4, 3, 5}, 2), Normal({2, 5}, 3)});
}

std::string Merged(const std::string& a, const std::string& b, const std::string& needed) {
  std::string kept;
  for (char c : a + b) {
    if (needed.find(c) != std::string::npos && kept.find(c) == std::string::npos) kept += c;
  }
  return kept;
}
double Multiplications(const std::string& a, const std::string& b,
                       const std::map<char, int64_t>& sizes) {
  double product = 1;
  for (auto [label, size] : sizes) {
    if ((a + b).find(label) != std::string::npos) product *= static_cast<double>(size);
  }
  return product;
}
// The least cost of all orders, found by trying them.
double LeastOfAll(const std::vector<std::string>& terms, const std::string& out,
                  const std::map<char, int64_t>& sizes) {
  if (terms.size() == 1) return 0;
  double least = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < terms.size(); ++i) {
    for (size_t j = i + 1; j < terms.size(); ++j) {
      std::vector<std::string> rest;
      std::string needed = out;
      for (size_t k = 0; k < terms.size(); ++k) {
        if (k == i || k == j) continue;
        rest.push_back(terms[k]);
        needed += terms[k];
      }
      rest.push_back(Merged(terms[i], terms[j], needed));
      least = std::min(least,
                       Multiplications(terms[i], terms[j], sizes) + LeastOfAll(rest, out, sizes));
    }
  }
  return least;
}

double CostOf(const std::vector<EinsumStep>& steps, std::vector<std::string> terms,
              const std::map<char, int64_t>& sizes) {
  double cost = 0;
  for (const EinsumStep& step : steps) {
    cost += Multiplications(terms[step.left], terms[step.right], sizes);
    terms.push_back(step.kept);
  }
  return cost;
}

TEST(EinsumOrderTest, TakesTheFewestMultiplications) {
  for (const auto& [terms, out] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"ij", "jk", "kl"}, "il"},
           {{"ij", "kl", "jk"}, "il"},
           {{"ab", "bc", "cd", "de", "ef"}, "af"},
           {{"abc", "bd", "cd", "ae"}, "e"},
           {{"a", "b", "ab"}, ""},
           {{"abx", "bcx", "cax"}, "x"}}) {
    for (const int64_t large : {2, 50}) {
      std::map<char, int64_t> sizes;
      for (const std::string& term : terms) {
        for (char c : term) sizes[c] = c % 2 == 0 ? large : 3;
      }
      const auto steps = CheapestSteps(terms, out, sizes);
      ASSERT_EQ(steps.size(), terms.size() - 1);
      EXPECT_EQ(CostOf(steps, terms, sizes), LeastOfAll(terms, out, sizes));
    }
  }
}

TEST(EinsumOrderTest, GoesFromTheLeftWhereNothingIsGained) {
  const auto steps =
      CheapestSteps({"ij", "jk", "kl"}, "il", {{'i', 2}, {'j', 2}, {'k', 2}, {'l', 2}});
  EXPECT_EQ(steps[0].left, 0u);
  EXPECT_EQ(steps[0].right, 1u);
  EXPECT_EQ(steps[1].left, 3u);
  EXPECT_EQ(steps[1].right, 2u);
}

TEST(EinsumTest, ContractsMoreTensorsThanOrdersAreTriedFor) {
  std::vector<std::string> terms;
  std::vector<Tensor> tensors;
  std::string equation;
  for (int i = 0; i < 12; ++i) {
    terms.push_back({static_cast<char>('a' + i), static_cast<char>('b' + i)});
    equation += (i == 0 ? "" : ",") + terms.back();
    tensors.push_back(Normal({2, 2}, static_cast<uint64_t>(i) + 1));
  }
  Tensor want = tensors[0];
  for (size_t i = 1; i < tensors.size(); ++i) want = Matmul(want, tensors[i]);
  const std::vector<double> got = Einsum(equation + "->am", tensors).ToVector<double>();
  const std::vector<double> expected = want.ToVector<double>();
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(got[i], expected[i], 1e-12 * (1 + std::abs(expected[i])));
  }
}

TEST(EinsumTest, SortsTheNamesOfAnImplicitResult) {
  ExpectEinsum("ba", {"ba"}, "ab", {Normal({2, 3})});
  ExpectEinsum("ij, jh", {"ij", "jh"}, "hi", {Normal({2, 3}), Normal({3, 4}, 2)});
}

TEST(EinsumTest, BroadcastsEllipses) {
  const Tensor a = Normal({2, 3, 4, 5}), b = Normal({3, 5, 6}, 2);
  ExpectEinsum("...ij,...jk->...ik", {"xyij", "yjk"}, "xyik", {a, b});
  ExpectEinsum("...ij,jk", {"xyij", "jk"}, "xyik", {a, Normal({5, 6}, 2)});
  ExpectEinsum("i...->...", {"ixy"}, "xy", {Normal({2, 3, 4})});
  ExpectEinsum("...,...->...", {"xy", "y"}, "xy", {Normal({2, 3}), Normal({3}, 2)});
  ExpectEinsum("bij,bjk->bik", {"bij", "bjk"}, "bik", {Normal({1, 3, 4}), Normal({2, 4, 5}, 2)});
}

TEST(EinsumTest, KeepsIntegers) {
  const Tensor a = Integers({3, 4}, 0, 5), b = Integers({4, 2}, 0, 5, 2);
  const Tensor small = Einsum("ij,jk->k", {Cast(a, DType::kI32), Cast(b, DType::kI32)});
  EXPECT_EQ(small.dtype(), DType::kI32);
  EXPECT_EQ(small.ToVector<double>(), SlowEinsum({"ij", "jk"}, "k", {a, b}));
}

TEST(EinsumTest, IsDifferentiable) {
  Tensor a = Normal({2, 3, 3}), b = Normal({3, 4, 2}, 2), c = Normal({4}, 3);
  for (Tensor* t : {&a, &b, &c}) t->SetRequiresGrad();
  const absl::Status status = GradCheck(
      [](const std::vector<Tensor>& in) { return std::vector<Tensor>{Einsum("bii,ijb,j->b", in)}; },
      {a, b, c});
  EXPECT_TRUE(status.ok()) << status;
}

void ExpectRefused(const std::string& equation, const std::vector<Tensor>& tensors,
                   const std::string& message) {
  const std::string error = testing::ErrorOf([&] { Einsum(equation, tensors); });
  EXPECT_NE(error.find(message), std::string::npos) << equation << ": " << error;
}

TEST(EinsumTest, RefusesEquationsThatDoNotFit) {
  const Tensor a = Normal({3, 4});
  ExpectRefused("ij,jk->ik", {a}, "names 2 tensors, got 1");
  ExpectRefused("ijk->i", {a}, "names 3 dimensions of tensor 0, which is [3, 4]");
  ExpectRefused("i->i", {a}, "names 1 dimensions of tensor 0, which is [3, 4]");
  ExpectRefused("i+->i", {a}, "unexpected '+'");
  ExpectRefused("ij->ik", {a}, "'k' is in the result of \"ij->ik\" only");
  ExpectRefused("ij->ii", {a}, "'i' is twice in the result");
  ExpectRefused("ij->i,j", {a}, "has 2 results");
  ExpectRefused("ij,jk->ik", {a, Normal({5, 2})}, "'j' names dimensions of sizes 4 and 5");
  ExpectRefused("ii->i", {a}, "'i' names dimensions of sizes 3 and 4");
  ExpectRefused("ij,jk", {a, Tensor()}, "tensor 1 is undefined");
  ExpectRefused("", {}, "names 1 tensors, got 0");
}

}  // namespace
}  // namespace firn
