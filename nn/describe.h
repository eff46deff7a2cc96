#ifndef FIRN_NN_DESCRIBE_H_
#define FIRN_NN_DESCRIBE_H_

#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "firn/nn/options.h"

namespace firn::nn {

// One of a layer's options as text.
struct OptionText {
  std::string name;   // "kernel"
  std::string value;  // "3", "[3, 5]", "true", "reflect"; "" for what is not given
  // In a description: "kernel=3", "1 -> 32", which is two options and stands with the second.
  std::string told;
  bool always = false;    // shown even if it is the default
  bool deferred = false;  // the first input may tell it
  bool tensor = false;    // `value` is its shape
};

// The options that `visit` shows to a visitor, in its order.
std::vector<OptionText> OptionTexts(absl::FunctionRef<void(OptionVisitor&)> visit);

// The options that differ from the defaults, or are always shown: "1 -> 32, kernel=3, padding=1".
std::string DescribeOptions(const std::vector<OptionText>& given,
                            const std::vector<OptionText>& standard);

namespace internal {

// Shows the O at `options` to v, where it has Visit.
template <class O>
void ShowOptions(void* options, OptionVisitor& v) {
  if constexpr (HasVisit<O>) static_cast<O*>(options)->Visit(v);
}

// The fields in which two structs of one type, as `show` shows them, differ.
std::string DescribeOptions(void* given, void* standard, void (*show)(void*, OptionVisitor&));

}  // namespace internal

// The same for a struct of options; "" if it has no Visit.
template <class O>
std::string DescribeOptions(const O& options) {
  O given = options, standard = {};
  return internal::DescribeOptions(&given, &standard, internal::ShowOptions<O>);
}

}  // namespace firn::nn

#endif  // FIRN_NN_DESCRIBE_H_
