// firn version, firn info: what this program is and what it runs on.

#include <unistd.h>

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
    const std::string cuda = CudaAvailable() ? absl::StrCat(CudaDeviceCount(), " devices")
                                             : absl::StrCat("none: ", CudaUnavailableReason());
    nlohmann::json libraries = nlohmann::json::object();
    std::vector<std::string> linked;
    for (const auto& [name, version] : Libraries()) {
      libraries[name] = version;
      linked.push_back(absl::StrCat(name, " ", version));
    }
    const size_t operations = AllOps().size();
    const nlohmann::json value = {{"version", kVersion},
                                  {"compiler", __VERSION__},
                                  {"assertions", kAssertions},
                                  {"cpu_levels", levels},
                                  {"threads", NumThreads()},
                                  {"processors", sysconf(_SC_NPROCESSORS_ONLN)},
                                  {"cuda_devices", CudaAvailable() ? CudaDeviceCount() : 0},
                                  {"cuda_unavailable_because", CudaUnavailableReason()},
                                  {"libraries", libraries},
                                  {"operations", operations}};
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
