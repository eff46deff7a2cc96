#ifndef FIRN_TENSOR_TESTING_GOLDEN_SAMPLES_H_
#define FIRN_TENSOR_TESTING_GOLDEN_SAMPLES_H_

// Results that another framework computed for a call, and how the call is made from them. Test code
// only; tests/golden/README.md says where they come from.
//
// A case names inputs and options. The declaration of an operation or composite has their names, so
// most functions are called without a word. One whose arguments are others, because it takes sizes
// that the operation's attributes hold by axis or an option that means another call, has an adapter
// beside its samples, under the name of the file of cases:
//
//   FIRN_REGISTER_GOLDEN(one_hot) { return OneHot(args["indices"], args.Int("num_classes", -1)); }

#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "firn/device/inner.h"
#include "firn/tensor/attrs.h"
#include "firn/tensor/state_dict.h"
#include "firn/tensor/tensor.h"

namespace firn::testing {

struct GoldenCase {
  std::string name;
  std::map<std::string, std::vector<std::string>> attrs;
  StateDict inputs, outputs, grads;
  std::map<int, Tensor> grad_outputs;

  // Attributes that were asked for by one of the functions below: one that no call looks at is a
  // case that tests something else than its name says.
  mutable std::set<std::string> asked;

  bool Has(const std::string& attr) const {
    asked.insert(attr);
    return attrs.count(attr) != 0;
  }
  double Number(const std::string& attr, double otherwise) const;
  int64_t Int(const std::string& attr, int64_t otherwise) const {
    return static_cast<int64_t>(Number(attr, static_cast<double>(otherwise)));
  }
  bool Flag(const std::string& attr, bool otherwise) const {
    return Number(attr, otherwise ? 1 : 0) != 0;
  }
  std::string Text(const std::string& attr, const std::string& otherwise) const;
  std::vector<int64_t> Ints(const std::string& attr, std::vector<int64_t> otherwise) const;
};

// What a case gives, under the names of the C++ signature. Remembers what was asked for, so that an
// option which a call overlooks is found.
class GoldenArgs {
 public:
  // Copies the inputs; those whose gradient the case holds are leaves.
  explicit GoldenArgs(const GoldenCase& golden);

  // The input, or the attribute as a number as in `x + 2`; undefined when the case gives neither.
  Tensor operator[](const std::string& name);
  // name.0, name.1, ...
  std::vector<Tensor> List(const std::string& name);
  bool Has(const std::string& attr) const { return case_.Has(attr); }
  double Number(const std::string& attr, double otherwise);
  int64_t Int(const std::string& attr, int64_t otherwise);
  bool Flag(const std::string& attr, bool otherwise);
  std::vector<int64_t> Ints(const std::string& attr, std::vector<int64_t> otherwise = {});
  std::string Text(const std::string& attr);  // "" without
  // An attribute that is an enum, by one of its words ("mean"); any other is a failure.
  int64_t Enumerator(const std::string& attr, const inner::WordList& words, int64_t otherwise);

  // What was passed, without counting as asked for.
  const std::map<std::string, Tensor>& inputs() const { return inputs_; }
  std::vector<std::string> Unused() const;

 private:
  const GoldenCase& case_;
  std::map<std::string, Tensor> inputs_;
  std::set<std::string> used_;
};

// Sets those fields of an attributes struct that the case gives.
void SetAttrs(GoldenArgs& args, const AttrsType* type, void* attrs);

template <class T>
T AttrsFrom(GoldenArgs& args) {
  T attrs;
  SetAttrs(args, AttrsOf<T>(), &attrs);
  return attrs;
}

// The results of a case by name; a single one is "y".
struct GoldenResults {
  GoldenResults() = default;  // arguments are changed in place instead
  GoldenResults(Tensor y) { named.Insert("y", std::move(y)); }                // NOLINT: implicit
  GoldenResults(std::initializer_list<std::pair<std::string, Tensor>> list);  // NOLINT: implicit
  StateDict named;
};
using GoldenFn = GoldenResults (*)(GoldenArgs& args);
struct GoldenRegistration {
  GoldenRegistration(std::string_view name, GoldenFn fn);
};
// The adapter of that name, or null.
GoldenFn FindGolden(std::string_view name);
// The names of all adapters, sorted.
std::vector<std::string> GoldenNames();

#define FIRN_REGISTER_GOLDEN(stem)                                                               \
  static ::firn::testing::GoldenResults FirnGolden_##stem(::firn::testing::GoldenArgs& args);    \
  static const ::firn::testing::GoldenRegistration firn_golden_##stem(#stem, FirnGolden_##stem); \
  static ::firn::testing::GoldenResults FirnGolden_##stem(::firn::testing::GoldenArgs& args)

}  // namespace firn::testing

#endif  // FIRN_TENSOR_TESTING_GOLDEN_SAMPLES_H_
