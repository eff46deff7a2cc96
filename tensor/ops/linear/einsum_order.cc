// The cheapest way to contract a group of operands ends by contracting two parts of it, each
// contracted in its cheapest way (Held and Karp's method; Pfeifer, Haegeman and Verstraete, "Faster
// identification of optimal contraction sequences for tensor networks", 2014). Groups are bits of a
// number, so that the parts of one are smaller numbers; labels are bits, too. Contracting two terms
// takes as many multiplications as their labels have values together.

#include "firn/tensor/ops/linear/einsum_order.h"

#include <algorithm>
#include <limits>

namespace firn {
namespace {

constexpr size_t kMostTried = 10;  // 3^10 pairs of groups: half a millisecond

class Labels {
 public:
  Labels(const std::vector<std::string>& operands, const std::string& output,
         const std::map<char, int64_t>& sizes)
      : output_(BitsOf(output, sizes)) {
    for (const std::string& text : operands) operands_.push_back(BitsOf(text, sizes));
  }

  size_t size() const { return operands_.size(); }
  double Cost(uint64_t left, uint64_t right) const {
    double cost = 1;
    for (size_t at = 0; at < sizes_.size(); ++at) {
      if (((left | right) >> at & 1) != 0) cost *= static_cast<double>(sizes_[at]);
    }
    return cost;
  }
  // The labels of a group that the result or operands outside of it need.
  uint64_t Kept(uint32_t group) const {
    uint64_t own = 0, needed = output_;
    for (size_t i = 0; i < size(); ++i) ((group >> i & 1) != 0 ? own : needed) |= operands_[i];
    return own & needed;
  }
  std::string Text(uint64_t labels) const {
    std::string text;
    for (size_t at = 0; at < letters_.size(); ++at) {
      if ((labels >> at & 1) != 0) text.push_back(letters_[at]);
    }
    return text;
  }

 private:
  uint64_t BitsOf(const std::string& text, const std::map<char, int64_t>& sizes) {
    uint64_t bits = 0;
    for (char c : text) {
      size_t at = letters_.find(c);
      if (at == std::string::npos) {
        at = letters_.size();
        letters_.push_back(c);
        sizes_.push_back(sizes.at(c));
      }
      bits |= uint64_t{1} << at;
    }
    return bits;
  }

  std::string letters_;
  std::vector<int64_t> sizes_;
  std::vector<uint64_t> operands_;
  uint64_t output_;
};

uint32_t HighestBit(uint32_t group) {
  while ((group & (group - 1)) != 0) group &= group - 1;
  return group;
}

// For each group the part of it, without its last operand, that is contracted with the rest last;
// 0 for single operands.
std::vector<uint32_t> BestParts(const Labels& labels) {
  const uint32_t all = (uint32_t{1} << labels.size()) - 1;
  std::vector<double> cost(all + 1, 0);
  std::vector<uint32_t> parts(all + 1, 0);
  std::vector<uint64_t> kept(all + 1, 0);
  for (uint32_t group = 1; group <= all; ++group) {
    kept[group] = labels.Kept(group);
    const uint32_t others = group ^ HighestBit(group);
    // The first one is all but the last operand: from left to right.
    for (uint32_t part = others; part != 0; part = (part - 1) & others) {
      const uint32_t rest = group ^ part;
      const double with = cost[part] + cost[rest] + labels.Cost(kept[part], kept[rest]);
      if (parts[group] != 0 && with >= cost[group]) continue;
      cost[group] = with;
      parts[group] = part;
    }
  }
  return parts;
}

// The steps to contract these groups; parts come before the groups that contain them.
std::vector<EinsumStep> StepsOf(const Labels& labels, const std::vector<uint32_t>& parts) {
  std::vector<uint32_t> groups = {static_cast<uint32_t>(parts.size() - 1)}, merged;
  for (size_t i = 0; i < groups.size(); ++i) {
    const uint32_t group = groups[i], part = parts[group];
    if (part == 0) continue;
    merged.push_back(group);
    groups.push_back(part);
    groups.push_back(group ^ part);
  }
  std::sort(merged.begin(), merged.end());
  std::map<uint32_t, size_t> term;
  for (size_t i = 0; i < labels.size(); ++i) term[uint32_t{1} << i] = i;
  std::vector<EinsumStep> steps;
  for (const uint32_t group : merged) {
    const uint32_t part = parts[group];
    term[group] = labels.size() + steps.size();
    steps.push_back({term[part], term[group ^ part], labels.Text(labels.Kept(group))});
  }
  return steps;
}

std::vector<EinsumStep> CheapestPairs(std::vector<std::string> terms, const std::string& output,
                                      const std::map<char, int64_t>& sizes) {
  std::vector<size_t> numbers;
  for (size_t i = 0; i < terms.size(); ++i) numbers.push_back(i);
  std::vector<EinsumStep> steps;
  const size_t operands = terms.size();
  while (terms.size() > 1) {
    const auto cost = [&](size_t i, size_t j) {
      double product = 1;
      for (const auto& [label, size] : sizes) {
        const bool has = (terms[i] + terms[j]).find(label) != std::string::npos;
        if (has) product *= static_cast<double>(size);
      }
      return product;
    };
    size_t left = 0, right = 1;
    double least = std::numeric_limits<double>::infinity();
    for (size_t i = 0; i < terms.size(); ++i) {
      for (size_t j = i + 1; j < terms.size(); ++j) {
        const double own = cost(i, j);
        if (own < least) least = own, left = i, right = j;
      }
    }
    std::string needed = output, kept;
    for (size_t k = 0; k < terms.size(); ++k) {
      if (k != left && k != right) needed += terms[k];
    }
    for (const auto& [label, size] : sizes) {
      const bool own = (terms[left] + terms[right]).find(label) != std::string::npos;
      if (own && needed.find(label) != std::string::npos) kept.push_back(label);
    }
    steps.push_back({numbers[left], numbers[right], kept});
    terms[left] = kept;
    numbers[left] = operands + steps.size() - 1;
    terms.erase(terms.begin() + static_cast<std::ptrdiff_t>(right));
    numbers.erase(numbers.begin() + static_cast<std::ptrdiff_t>(right));
  }
  return steps;
}

}  // namespace

std::vector<EinsumStep> CheapestSteps(const std::vector<std::string>& operands,
                                      const std::string& output,
                                      const std::map<char, int64_t>& sizes) {
  if (operands.size() > kMostTried) return CheapestPairs(operands, output, sizes);
  const Labels labels(operands, output, sizes);
  return StepsOf(labels, BestParts(labels));
}

}  // namespace firn
