// firn version, firn info: describe this program and the machine on which it runs.

#include <dlfcn.h>
#include <unistd.h>

#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "firn/device/check.h"
#include "firn/device/comm/mpi_library.h"
#include "firn/device/cpu.h"
#include "firn/device/cuda.h"
#include "firn/device/environment.h"
#include "firn/device/inner.h"
#include "firn/device/launch.h"
#include "firn/device/parallel.h"
#include "firn/tensor/op.h"
#include "firn/version.h"
#include "tools/firn/command.h"
#include "tools/firn/libraries.h"

namespace firn::cli {
namespace {

// The level for which the kernels were compiled, and that of the processor.
nlohmann::json Processor() {
  const Cpu& cpu = ThisCpu();
  return {{"level", LevelName(cpu.level)},
          {"kernels", LevelName(KernelLevel())},
          {"avx512_bf16", cpu.bfloat_dot},
          {"amx_bf16", cpu.bfloat_tiles}};
}

std::string ProcessorText() {
  const Cpu& cpu = ThisCpu();
  std::string text = LevelName(cpu.level);
  if (cpu.bfloat_dot) absl::StrAppend(&text, ", AVX512-BF16");
  if (cpu.bfloat_tiles) absl::StrAppend(&text, ", AMX-BF16");
  return absl::StrCat(text, "; kernels for ", LevelName(KernelLevel()));
}

// The means by which several processes would train together.
struct Processes {
  absl::StatusOr<std::string> mpi = comm::DescribeMpi();
  absl::Status launch = env::CheckLaunch();
  env::Launched launched = env::LaunchedAs();
  bool has_nccl = dlopen("libnccl.so.2", RTLD_LAZY | RTLD_LOCAL) != nullptr;

  nlohmann::json Json() const {
    nlohmann::json json = {{"mpi", nullptr},
                           {"mpi_unavailable_because", mpi.status().message()},
                           {"nccl_found", has_nccl},
                           {"process", nullptr},
                           {"processes", nullptr}};
    if (mpi.ok()) json["mpi"] = *mpi;
    if (launched.size > 0) {
      json["process"] = launched.rank;
      json["processes"] = launched.size;
    }
    return json;
  }
  std::string Launcher() const {
    if (!launch.ok()) return std::string(launch.message());
    if (launched.size == 0) return "no launcher has started this";
    if (launched.without_mpi) {
      return absl::StrCat("srun started this as task ", launched.rank, " of ", launched.size,
                          " without MPI");
    }
    return absl::StrCat("a launcher started this as process ", launched.rank, " of ",
                        launched.size);
  }
  std::string Text() const {
    return absl::StrCat("MPI         ",
                        mpi.ok() ? *mpi : absl::StrCat("none: ", mpi.status().message()), "; ",
                        Launcher(), "\nNCCL        libnccl.so.2 is ",
                        has_nccl ? "there" : "not there", "; ranks with a GPU each want it\n");
  }
};

}  // namespace

FIRN_COMMAND(version, "Prints the version") {
  app.footer("Example: firn version --json");
  return [](Terminal& terminal) {
    terminal.Print(absl::StrCat("firn ", FIRN_VERSION, "\n"), {{"version", FIRN_VERSION}});
    return 0;
  };
}

FIRN_COMMAND(info, "Shows the build, the processor, the devices and the linked libraries") {
  app.footer("Example: firn info --json");
  return [](Terminal& terminal) {
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
    const Processes processes;
    const nlohmann::json value = {
        {"version", FIRN_VERSION},   {"compiler", __VERSION__},
        {"assertions", kAssertions}, {"processor", Processor()},
        {"threads", NumThreads()},   {"processors", sysconf(_SC_NPROCESSORS_ONLN)},
        {"cuda_devices", devices},   {"cuda_unavailable_because", CudaUnavailableReason()},
        {"libraries", libraries},    {"operations", operations},
        {"ranks", processes.Json()}};
    std::ostringstream text;
    text << "version     " << FIRN_VERSION << "\ncompiler    " << __VERSION__
         << (kAssertions ? ", with assertions" : "") << "\nprocessor   " << ProcessorText()
         << "\nthreads     " << NumThreads() << " of " << sysconf(_SC_NPROCESSORS_ONLN)
         << " processors\nCUDA        " << cuda << "\n"
         << processes.Text() << "libraries   " << absl::StrJoin(linked, ", ") << "\noperations  "
         << operations << "\n";
    terminal.Print(text.str(), value);
    return 0;
  };
}

}  // namespace firn::cli
