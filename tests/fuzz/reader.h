#ifndef FIRN_TESTS_FUZZ_READER_H_
#define FIRN_TESTS_FUZZ_READER_H_

// Readers of files as fuzz tests and libFuzzer call them. A reader is a function, which registers
// itself, and files for it to start from, made by a function or kept in corpus/<reader>/:
//
//   FIRN_FUZZ_READER(wav) { return TryParseWav(bytes, "fuzz", kFuzzLimits).ok(); }
//   FIRN_FUZZ_SEEDS(wav) { return {WavOf(...)}; }

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "firn/io/load_limits.h"

namespace firn::testing {

// Reads the bytes as a file and says whether they were one. A crash, a sanitizer's report, an
// exception or an abort is a finding; an error that the reader returns is not.
using FuzzTarget = bool (*)(std::string_view bytes);
// Whole files, each of which the reader reads.
using FuzzSeeds = std::vector<std::string> (*)();

struct FuzzReader {
  FuzzTarget target = nullptr;
  FuzzSeeds seeds = nullptr;  // null: only the kept files are seeds
};

// All readers that are linked, by their names.
std::map<std::string, FuzzReader>& FuzzReaders();

// The files that the seeds make, and those of tests/fuzz/corpus/<name>, seen from the present
// folder.
std::vector<std::string> Seeds(const FuzzReader& reader);
std::vector<std::string> KeptFiles(const std::string& name);

// Ends the process with the text `what` unless the condition holds, which must be true for all that
// a reader reads.
void FuzzCheck(bool holds, const char* what);

// These limits are small, so that a file that passes them all is still read fast.
inline constexpr io::LoadLimits kFuzzLimits = {
    .max_tensors = 1000, .max_total_bytes = 1 << 22, .max_metadata_bytes = 1 << 20};

struct FuzzRegistration {
  FuzzRegistration(const char* name, FuzzTarget target) { FuzzReaders()[name].target = target; }
  FuzzRegistration(const char* name, FuzzSeeds seeds) { FuzzReaders()[name].seeds = seeds; }
};

}  // namespace firn::testing

#define FIRN_FUZZ_READER(name)                                                             \
  static bool FirnFuzz_##name(std::string_view bytes);                                     \
  static const ::firn::testing::FuzzRegistration firn_fuzz_##name(#name, FirnFuzz_##name); \
  static bool FirnFuzz_##name(std::string_view bytes)

#define FIRN_FUZZ_SEEDS(name)                                                                \
  static std::vector<std::string> FirnSeeds_##name();                                        \
  static const ::firn::testing::FuzzRegistration firn_seeds_##name(#name, FirnSeeds_##name); \
  static std::vector<std::string> FirnSeeds_##name()

#endif  // FIRN_TESTS_FUZZ_READER_H_
