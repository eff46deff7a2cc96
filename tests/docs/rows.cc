// A file of values has a line for each call: the call, a tab, and for each tensor of the result,
// with "; " between them, the number of elements, the number of finite ones, the first four finite
// ones, and the sum of all finite ones times sin(1), sin(2), ..., which changes if two of them
// change places. If there is nothing to compare, "-" and a reason stand there.
#include "tests/docs/rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <exception>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

namespace firn::testing {
namespace {

constexpr char kValues[] = "tests/docs/nnabla_values.txt";

std::map<std::string, std::string> ReadValues() {
  std::ifstream file(kValues);
  std::map<std::string, std::string> values;
  for (std::string line; std::getline(file, line);) {
    const size_t tab = line.find('\t');
    if (line.starts_with('#') || tab == std::string::npos) continue;
    values[line.substr(0, tab)] = line.substr(tab + 1);
  }
  return values;
}

struct Summary {
  double elements = 0, finite = 0, first[4] = {}, sum = 0;
  double magnitude = 0;  // the sum of absolute values
};

Summary SummaryOf(const Tensor& tensor) {
  Summary s;
  for (const double v : tensor.ToVector<double>()) {
    s.elements += 1;
    if (!std::isfinite(v)) continue;
    if (s.finite < 4) s.first[static_cast<size_t>(s.finite)] = v;
    s.finite += 1;
    s.sum += v * std::sin(s.elements);
    s.magnitude += std::abs(v);
  }
  return s;
}

// Results are sums of up to some sixty products of numbers around 1 in f32, in an order of their
// own: 64 roundings of 2^-24 for each number, and as much again for those that came before.
constexpr double kTolerance = 128 * 0x1p-24;

void ExpectLike(const Summary& got, const std::string& text) {
  std::istringstream words(text);
  Summary want;
  words >> want.elements >> want.finite;
  for (double& v : want.first) words >> v;
  words >> want.sum;
  ASSERT_TRUE(words) << text;
  EXPECT_EQ(got.elements, want.elements);
  EXPECT_EQ(got.finite, want.finite);
  for (int i = 0; i < 4; ++i) {
    EXPECT_NEAR(got.first[i], want.first[i], kTolerance * (1 + std::abs(want.first[i])));
  }
  EXPECT_NEAR(got.sum, want.sum, kTolerance * (1 + got.magnitude));
}

}  // namespace

void RunRow(int line, const char* call, absl::FunctionRef<std::vector<Tensor>()> code) {
  static const std::map<std::string, std::string> values = ReadValues();
  SCOPED_TRACE("line " + std::to_string(line) + ": " + call);
  std::vector<Tensor> results;
  try {
    results = code();
  } catch (const std::exception& error) {
    ADD_FAILURE() << error.what();
    return;
  }
  const std::string name = call;
  if (name.empty() || name.starts_with("PF.")) return;
  const auto known = values.find(name);
  ASSERT_NE(known, values.end()) << kValues << " has no line for it";
  if (known->second.starts_with("-")) return;
  std::istringstream wanted(known->second);
  for (const Tensor& result : results) {
    std::string text;
    ASSERT_TRUE(std::getline(wanted, text, ';')) << "NNabla gives fewer tensors";
    ExpectLike(SummaryOf(result), text);
  }
  std::string more;
  EXPECT_FALSE(std::getline(wanted, more)) << "NNabla gives more tensors";
}

}  // namespace firn::testing
