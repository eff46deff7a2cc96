// Attributes show their enumerators as integers, so the words stand here once, by the attribute's
// name.

#include "firn/tensor/golden_words.h"

#include <algorithm>
#include <map>
#include <vector>

#include "firn/tensor/dtype.h"

namespace firn::testing {
namespace {

// The words of an attribute in the order of its enum.
const std::vector<std::string>& WordsOf(const std::string& attr) {
  static const auto* words = new std::map<std::string, std::vector<std::string>>{
      {"activation", {"none", "relu", "tanh"}},
      {"approximate", {"none", "tanh"}},
      {"dtype",
       [] {
         std::vector<std::string> names;
         for (int d = 0; d < kNumDTypes; ++d) names.push_back(DTypeName(static_cast<DType>(d)));
         return names;
       }()},
      {"mode", {"constant", "reflect", "replicate", "circular", "symmetric"}},
      {"nonlinearity", {"tanh", "relu"}},
      {"reduction", {"none", "mean", "sum", "batchmean"}},
      {"rounding", {"none", "trunc", "floor"}},
      {"ties", {"even", "away"}},
  };
  static const std::vector<std::string> none;
  const auto it = words->find(attr);
  return it == words->end() ? none : it->second;
}

}  // namespace

int64_t EnumeratorOf(const std::string& attr, const std::string& word) {
  const std::vector<std::string>& words = WordsOf(attr);
  const auto at = std::find(words.begin(), words.end(), word);
  return at == words.end() ? -1 : at - words.begin();
}

std::string WordFor(const std::string& attr, int64_t enumerator) {
  const std::vector<std::string>& words = WordsOf(attr);
  if (enumerator < 0 || enumerator >= static_cast<int64_t>(words.size())) return "";
  return words[static_cast<size_t>(enumerator)];
}

}  // namespace firn::testing
