#ifndef FIRN_TESTS_FUZZ_MUTATIONS_H_
#define FIRN_TESTS_FUZZ_MUTATIONS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace firn::testing {

// A file of the corpus after a few changes: flipped bits, telling bytes and numbers, pieces cut
// out, repeated or taken from another file, ends cut off. Depends on its arguments alone.
std::string Mutation(const std::vector<std::string>& corpus, uint64_t seed, uint64_t round);

struct FuzzReport {
  uint64_t runs = 0;
  double seconds = 0;
};

// Calls `target` with each file of the corpus, then, for at most half the time, their truncations
// and a single flipped bit of each byte (of large files some), then `rounds` mutations, and stops
// when the process has used `seconds` of its processor. The environment changes it for longer runs.
//
// FIRN_FUZZ_SECONDS: the seconds of the processor that each reader gets, with rounds without end.
// FIRN_FUZZ_SEED: the seed of the mutations; 1 when unset.
// FIRN_FUZZ_INPUT: a file that holds the bytes of each call before it is made, 8 bytes of their
// number first, so that a crash leaves them there.
FuzzReport Fuzz(const std::vector<std::string>& corpus,
                const std::function<void(std::string_view)>& target, uint64_t rounds = 20000,
                double seconds = 3);

}  // namespace firn::testing

#endif  // FIRN_TESTS_FUZZ_MUTATIONS_H_
