// firn version, firn info: what this program is and what it runs on.

#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "device/cuda.h"
#include "device/inner.h"
#include "device/parallel.h"
#include "tensor/op.h"
#include "tools/firn/command.h"
#include "tools/firn/libraries.h"
#include "tools/firn/version.h"

namespace firn::cli {
namespace {

// What this program's loops were compiled for, and whether the processor has it.
struct Level {
  const char* name;
  bool compiled, present;
};

#if defined(__x86_64__)
// Not __builtin_cpu_supports, which in clang 14 does not know the name.
bool HasAmxBf16() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d >> 22 & 1u) != 0;
}
#endif

std::vector<Level> Levels() {
  std::vector<Level> levels;
#if defined(__x86_64__)
  __builtin_cpu_init();
  const auto level = [&](const char* name, bool compiled, bool present) {
    levels.push_back({name, compiled, present});
  };
#if defined(__AVX2__)
  level("AVX2", true, __builtin_cpu_supports("avx2") != 0);
#else
  level("AVX2", false, __builtin_cpu_supports("avx2") != 0);
#endif
#if defined(__FMA__)
  level("FMA", true, __builtin_cpu_supports("fma") != 0);
#else
  level("FMA", false, __builtin_cpu_supports("fma") != 0);
#endif
#if defined(__AVX512F__)
  level("AVX-512", true, __builtin_cpu_supports("avx512f") != 0);
#else
  level("AVX-512", false, __builtin_cpu_supports("avx512f") != 0);
#endif
#if defined(__AVX512BF16__)
  level("AVX512-BF16", true, __builtin_cpu_supports("avx512bf16") != 0);
#else
  level("AVX512-BF16", false, __builtin_cpu_supports("avx512bf16") != 0);
#endif
#if defined(__AMX_BF16__)
  level("AMX-BF16", true, HasAmxBf16());
#else
  level("AMX-BF16", false, HasAmxBf16());
#endif
#endif
  return levels;
}

}  // namespace

FIRN_COMMAND(version, "Prints the version") {
  app.footer("Example: firn version --json");
  return [](Terminal& terminal) {
    terminal.Print(absl::StrCat("firn ", kVersion, "\n"), {{"version", kVersion}});
    return 0;
  };
}

FIRN_COMMAND(info, "Tells build, processor, devices and what is linked in") {
  app.footer("Example: firn info --json");
  return [](Terminal& terminal) {
    nlohmann::json levels = nlohmann::json::object();
    std::vector<std::string> words;
    for (const Level& l : Levels()) {
      levels[l.name] = {{"compiled", l.compiled}, {"present", l.present}};
      words.push_back(absl::StrCat(l.name, l.compiled  ? ""
                                           : l.present ? " (not compiled for)"
                                                       : " (absent)"));
    }
    std::vector<std::string> devices;
    for (int i = 0; i < CudaDeviceCount(); ++i) devices.push_back(CudaDeviceDescription(i));
    const std::string cuda = devices.empty() ? absl::StrCat("none: ", CudaUnavailableReason())
                                             : absl::StrJoin(devices, "\n            ");
    nlohmann::json libraries = nlohmann::json::object();
    std::vector<std::string> linked;
    for (const auto& [name, version] : Libraries()) {
      libraries[name] = version;
      linked.push_back(absl::StrCat(name, " ", version));
    }
    const size_t operations = AllOps().size();
    const nlohmann::json value = {
        {"version", kVersion},       {"compiler", __VERSION__},
        {"assertions", kAssertions}, {"cpu_levels", levels},
        {"threads", NumThreads()},   {"processors", sysconf(_SC_NPROCESSORS_ONLN)},
        {"cuda_devices", devices},   {"cuda_unavailable_because", CudaUnavailableReason()},
        {"libraries", libraries},    {"operations", operations}};
    std::ostringstream text;
    text << "version     " << kVersion << "\ncompiler    " << __VERSION__
         << (kAssertions ? ", with assertions" : "") << "\nprocessor   "
         << absl::StrJoin(words, ", ") << "\nthreads     " << NumThreads() << " of "
         << sysconf(_SC_NPROCESSORS_ONLN) << " processors\nCUDA        " << cuda << "\nlibraries   "
         << absl::StrJoin(linked, ", ") << "\noperations  " << operations << "\n";
    terminal.Print(text.str(), value);
    return 0;
  };
}

}  // namespace firn::cli
