#ifndef FIRN_NN_ENUM_WORDS_H_
#define FIRN_NN_ENUM_WORDS_H_

// The words of the enums among layers' options, in the order of the enum, which counts from 0.

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/types/span.h"
#include "firn/tensor/ops/activation/sigmoids.h"
#include "firn/tensor/ops/loss/reduction_mode.h"
#include "firn/tensor/ops/norm/norm_options.h"
#include "firn/tensor/ops/shape/pad.h"

namespace firn::nn::internal {

// The words of one enum. Borrowed; a plain value.
class WordList {
 public:
  template <size_t N>
  constexpr WordList(const char* const (&words)[N]) : words_(words) {}  // NOLINT: implicit
  // Null for a number that is no enumerator's.
  const char* WordFor(int64_t number) const;
  // -1 for a word that is none of them.
  int64_t NumberOf(std::string_view word) const;
  // "none, mean or sum": for messages.
  std::string Text() const;

 private:
  absl::Span<const char* const> words_;
};

inline constexpr const char* kReductionWords[] = {"none", "mean", "sum", "batchmean"};
inline constexpr const char* kPadModeWords[] = {"constant", "reflect", "replicate", "circular",
                                                "symmetric"};
inline constexpr const char* kGeluApproximateWords[] = {"none", "tanh"};
inline constexpr const char* kFusedActivationWords[] = {"none", "relu", "tanh"};

constexpr WordList WordsFor(Reduction) { return kReductionWords; }
constexpr WordList WordsFor(PadMode) { return kPadModeWords; }
constexpr WordList WordsFor(GeluApproximate) { return kGeluApproximateWords; }
constexpr WordList WordsFor(FusedActivation) { return kFusedActivationWords; }

}  // namespace firn::nn::internal

#endif  // FIRN_NN_ENUM_WORDS_H_
