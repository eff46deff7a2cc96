#ifndef FIRN_TESTS_FUZZ_MONITORS_DAMAGE_H_
#define FIRN_TESTS_FUZZ_MONITORS_DAMAGE_H_

#include <cstdint>
#include <functional>
#include <string>

namespace firn::io {

// Calls f with damaged variants of a file, always the same ones: each truncation, each flipped bit,
// and `rounds` in which one to eight pieces are overwritten, put in twice, taken out, or replaced
// by bytes that lengths and texts are often broken by.
void ForEachDamage(const std::string& whole, int64_t rounds,
                   const std::function<void(const std::string&)>& f);

}  // namespace firn::io

#endif  // FIRN_TESTS_FUZZ_MONITORS_DAMAGE_H_
