// Each name on the pages of names exists in the other framework, and each function has one line.
// tests/docs/operations_test, which reads headers, checks that the functions are Firn's.

#include "firn/io/exchange/names.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <string>

namespace firn::io::internal {
namespace {

// The first word of each line of a list beside this file.
std::set<std::string> Listed(const std::string& name) {
  std::ifstream file("tests/io/exchange/" + name);
  std::set<std::string> words;
  for (std::string word, rest; file >> word; std::getline(file, rest)) words.insert(word);
  return words;
}

// Expects names of a framework that has exactly the names in `known`.
void ExpectKnown(const Names& names, const std::set<std::string>& known,
                 std::string_view function) {
  std::set<std::string_view> seen;
  for (const std::string_view name : names) {
    EXPECT_TRUE(known.contains(std::string(name))) << function << ": there is no " << name;
    EXPECT_TRUE(seen.insert(name).second) << function << ": " << name << " stands twice";
  }
}

TEST(NamesTest, OnnxHasThem) {
  const std::set<std::string> known = Listed("onnx_operators.txt");
  ASSERT_EQ(known.size(), 201u);
  for (const FunctionNames& f : AllFunctionNames()) {
    ExpectKnown(f.elsewhere.onnx, known, f.function);
  }
}

TEST(NamesTest, NnablaHasThem) {
  const std::set<std::string> known = Listed("nnabla_functions.txt");
  ASSERT_EQ(known.size(), 228u);
  for (const FunctionNames& f : AllFunctionNames()) {
    ExpectKnown(f.elsewhere.nnabla, known, f.function);
  }
}

TEST(NamesTest, AFunctionHasOneLineThatSaysSomething) {
  std::set<std::string_view> seen;
  for (const FunctionNames& f : AllFunctionNames()) {
    EXPECT_TRUE(seen.insert(f.function).second) << f.function << " has lines on two pages";
    EXPECT_FALSE(f.elsewhere.nnabla.empty() && f.elsewhere.onnx.empty()) << f.function;
  }
}

TEST(NamesTest, PagesAreLinked) {
  const auto all = AllFunctionNames();
  const auto eq = std::find_if(all.begin(), all.end(),
                               [](const FunctionNames& f) { return f.function == "Eq"; });
  ASSERT_NE(eq, all.end());
  EXPECT_EQ(eq->elsewhere.nnabla, Names({"equal", "equal_scalar"}));
  EXPECT_EQ(eq->elsewhere.onnx, Names("Equal"));
}

}  // namespace
}  // namespace firn::io::internal
