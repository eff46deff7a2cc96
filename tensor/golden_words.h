#ifndef FIRN_TENSOR_GOLDEN_WORDS_H_
#define FIRN_TENSOR_GOLDEN_WORDS_H_

// The words that golden cases have for enumerators of attributes: "mean" of reduction, "f16" of
// dtype. Test code only; see golden_samples.h.

#include <cstdint>
#include <string>

#include "firn/device/inner.h"

namespace firn::testing {

// The enumerator that the word stands for; -1 where the attribute has no such word.
int64_t EnumeratorOf(const std::string& attr, const std::string& word);
// The word for an enumerator; "" where the attribute is no enum, or the enum has no such value.
std::string WordFor(const std::string& attr, int64_t enumerator);

}  // namespace firn::testing

#endif  // FIRN_TENSOR_GOLDEN_WORDS_H_
