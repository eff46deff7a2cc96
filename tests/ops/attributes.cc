// Samples with one attribute made wrong, found through Visit: integers negative, zero and huge,
// enums each of their enumerators and another number, doubles infinite and NaN, lists of other
// lengths.

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "tests/ops/calls.h"
#include "tests/ops/checks.h"
#include "tests/ops/mutants.h"

namespace firn::testing {
namespace {

constexpr int64_t kIntegers[] = {-1,
                                 0,
                                 1,
                                 2,
                                 -2,
                                 7,
                                 1000,
                                 int64_t{1} << 31,
                                 int64_t{1} << 40,
                                 std::numeric_limits<int64_t>::max(),
                                 std::numeric_limits<int64_t>::min()};

// Changes field number `field` in way number `way`; `description` stays empty if there is no such
// way.
class Mutator final : public AttrVisitor {
 public:
  Mutator(size_t field, size_t way) : field_(field), way_(way) {}
  using AttrVisitor::Field;
  void Field(const char* name, int64_t& v) override {
    if (!Chosen() || way_ >= std::size(kIntegers) || v == kIntegers[way_]) return;
    v = kIntegers[way_];
    Say(name, absl::StrCat(v));
  }
  void Field(const char* name, double& v) override {
    const double inf = std::numeric_limits<double>::infinity();
    const double values[] = {0, -1, 1, 1e300, inf, -inf, std::nan("")};
    if (!Chosen() || way_ >= std::size(values)) return;
    v = values[way_];
    Say(name, absl::StrCat(v));
  }
  void Field(const char* name, bool& v) override {
    if (!Chosen() || way_ > 0) return;
    v = !v;
    Say(name, v ? "true" : "false");
  }
  void Field(const char* name, std::string& v) override {
    const std::string values[] = {"", "bogus", std::string(1000, 'x')};
    if (!Chosen() || way_ >= std::size(values)) return;
    v = values[way_];
    Say(name, v);
  }
  void Field(const char* name, std::vector<int64_t>& v) override {
    if (!Chosen()) return;
    const size_t per_element = std::size(kIntegers);
    if (way_ == 0) {
      v.clear();
    } else if (way_ == 1) {
      v.push_back(v.empty() ? 0 : v.back());
    } else if (way_ == 2) {
      v.assign(20, 1);
    } else if (way_ == 3) {
      std::reverse(v.begin(), v.end());
    } else if (way_ == 4 && !v.empty()) {
      v.pop_back();
    } else if (way_ >= 5 && way_ - 5 < per_element * v.size()) {
      v[(way_ - 5) / per_element] = kIntegers[(way_ - 5) % per_element];
    }
    if (way_ < 5 + per_element * std::max<size_t>(v.size(), 1))
      Say(name, absl::StrCat("way ", way_));
  }

  size_t fields() const { return next_; }
  const std::string& description() const { return description_; }

 private:
  void Enumerator(const char* name, int64_t& v, const inner::WordList& words) override {
    if (!Chosen()) return;
    const int64_t values[] = {-1, words.size(), 127};  // what fits into 8 bits
    const auto beyond = static_cast<int64_t>(way_) - words.size();
    if (beyond >= static_cast<int64_t>(std::size(values))) return;
    const int64_t value = beyond < 0 ? words.begin()[way_].value : values[beyond];
    if (v == value) return;
    v = value;
    Say(name, beyond < 0 ? words.WordFor(value) : absl::StrCat(value));
  }
  bool Chosen() { return next_++ == field_; }
  void Say(const char* name, const std::string& value) {
    description_ = absl::StrCat(name, " = ", value);
  }

  size_t field_, way_, next_ = 0;
  std::string description_;
};

constexpr size_t kMostWays = 5 + std::size(kIntegers) * kMaxRank;

}  // namespace

void CheckAttributes(const Subject& subject, const Samples& samples) {
  if (subject->attrs == nullptr) return;
  MemoryLimit limit;
  for (const Sample& sample : samples.samples) {
    ASSERT_EQ(sample.attrs.ref().type(), subject->attrs) << "the sample has other attributes";
    Mutator count(0, kMostWays);
    Attrs copy = sample.attrs;
    subject->attrs->visit(copy.mutable_data(), count);
    for (size_t field = 0; field < count.fields(); ++field) {
      for (size_t way = 0; way < kMostWays; ++way) {
        Call call{sample.name, sample.inputs, sample.attrs};
        Mutator mutator(field, way);
        subject->attrs->visit(call.attrs.mutable_data(), mutator);
        if (mutator.description().empty()) continue;
        call.name = absl::StrCat(sample.name, ", ", mutator.description());
        ExpectRefusedOrRight(subject, call);
      }
    }
  }
}

}  // namespace firn::testing
