// Environment variables as typed values: a decimal number with nothing before or after it, for
// sizes with one suffix letter.
#include "firn/device/environment.h"

#include <cstdio>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace firn::env {
namespace {

// The variable's value if it is a number in [low, high] once multiplied by its suffix.
std::optional<uint64_t> ReadNumber(const char* name, uint64_t low, uint64_t high,
                                   const std::string& suffixes = "") {
  const char* const value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  std::string digits = value;
  uint64_t unit = 1;
  const size_t suffix = suffixes.find(digits.back());
  if (suffix != std::string::npos) {
    unit = uint64_t{1} << (10 * (suffix + 1));
    digits.pop_back();
  }
  uint64_t number = 0;
  const bool understood = digits.find_first_not_of("0123456789") == std::string::npos &&
                          absl::SimpleAtoi(digits, &number) && number <= high / unit &&
                          number * unit >= low;
  if (understood) return number * unit;
  std::fprintf(stderr, "firn: ignoring %s=%s: want a number from %llu to %llu\n", name, value,
               static_cast<unsigned long long>(low), static_cast<unsigned long long>(high));
  return std::nullopt;
}

}  // namespace

std::optional<int> NumThreads() {
  const auto number = ReadNumber("FIRN_NUM_THREADS", 1, 4096);
  if (!number) return std::nullopt;
  return static_cast<int>(*number);
}

int CpuLevel(int own, int processor) {
  const char* const value = std::getenv("FIRN_CPU_LEVEL");
  if (value == nullptr || *value == '\0') return processor;
  const std::string_view text = value;
  const bool is_level = text.size() == 2 && text[0] == 'v' && text[1] >= '2' && text[1] <= '4';
  const int level = is_level ? text[1] - '0' : 0;
  if (level >= own && level <= processor) return level;
  std::string want = "v2, v3 or v4";
  if (is_level && level > processor)
    want = absl::StrCat("at most v", processor, ", the processor's");
  if (is_level && level < own) want = absl::StrCat("at least v", own, ", the program's own");
  std::fprintf(stderr, "firn: ignoring FIRN_CPU_LEVEL=%s: want %s\n", value, want.c_str());
  return processor;
}

uint64_t Seed() {
  return ReadNumber("FIRN_SEED", 0, std::numeric_limits<uint64_t>::max()).value_or(0);
}

std::optional<size_t> CpuMemoryLimit() {
  return ReadNumber("FIRN_CPU_MEMORY_LIMIT", 0, std::numeric_limits<int64_t>::max(), "KMGT");
}

bool HugePages() { return ReadNumber("FIRN_HUGE_PAGES", 0, 1).value_or(1) == 1; }

bool SyncAfterLaunch() { return ReadNumber("FIRN_SYNC_AFTER_LAUNCH", 0, 1).value_or(0) == 1; }

bool CudaNhwc() { return ReadNumber("FIRN_CUDA_NHWC", 0, 1).value_or(1) == 1; }

bool CudnnAttention() { return ReadNumber("FIRN_CUDNN_ATTENTION", 0, 1).value_or(1) == 1; }

bool SharedRanks() { return ReadNumber("FIRN_SHARED_RANKS", 0, 1).value_or(1) == 1; }

bool CudaReplay() { return ReadNumber("FIRN_CUDA_REPLAY", 0, 1).value_or(1) == 1; }

bool CheckCollectives() { return ReadNumber("FIRN_CHECK_COLLECTIVES", 0, 1).value_or(0) == 1; }

bool RecordCollectives() { return ReadNumber("FIRN_RECORD_COLLECTIVES", 0, 1).value_or(0) == 1; }

std::string CacheFolder() {
  if (const char* const own = std::getenv("FIRN_CACHE_DIR")) return own;
  // A path that is not absolute is to be ignored, says the XDG Base Directory Specification.
  const char* const xdg = std::getenv("XDG_CACHE_HOME");
  if (xdg != nullptr && *xdg == '/') return std::string(xdg) + "/firn";
  const char* const home = std::getenv("HOME");
  return home != nullptr && *home == '/' ? std::string(home) + "/.cache/firn" : "";
}

}  // namespace firn::env
