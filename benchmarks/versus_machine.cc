// Reads /proc: the first cpu of cpuinfo, the line of stat that adds all cores up, and what NVIDIA's
// driver says of its GPUs.
#include "benchmarks/versus_machine.h"

#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <system_error>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace firn::benchmarks {
namespace {

// The value of a "name : value" line of a file, "" when there is none.
std::string ValueIn(const std::string& path, const std::string& name) {
  std::ifstream info(path);
  for (std::string line; std::getline(info, line);) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos || !line.starts_with(name)) continue;
    return std::string(absl::StripAsciiWhitespace(line.substr(colon + 1)));
  }
  return "";
}

std::string CpuInfo(const std::string& name) { return ValueIn("/proc/cpuinfo", name); }

// The GPUs are in the order of their places on the bus.
std::string Gpus() {
  namespace fs = std::filesystem;
  std::set<std::string> places;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator("/proc/driver/nvidia/gpus", none)) {
    places.insert(entry.path().string());
  }
  std::vector<std::string> models;
  for (const std::string& place : places)
    models.push_back(ValueIn(place + "/information", "Model"));
  return absl::StrJoin(models, ", ");
}

// Seconds that all cores together spent working since boot.
double BusySeconds() {
  std::ifstream stat("/proc/stat");
  std::string cpu;
  double user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, softirq = 0, steal = 0;
  stat >> cpu >> user >> nice >> system >> idle >> wait >> irq >> softirq >> steal;
  return (user + nice + system + irq + softirq + steal) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

double OwnSeconds() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double Cores() { return static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN)); }

}  // namespace

MachineFacts DescribeMachine() {
  MachineFacts facts;
  facts.cpu = CpuInfo("model name");
  facts.cores = static_cast<int64_t>(Cores());
  const std::string flags = absl::StrCat(" ", CpuInfo("flags"), " ");
  facts.simd = "sse2";
  for (const char* name : {"avx", "avx2", "avx512f", "amx_tile"}) {
    if (flags.find(absl::StrCat(" ", name, " ")) != std::string::npos) facts.simd = name;
  }
  const double bytes =
      static_cast<double>(sysconf(_SC_PAGE_SIZE)) * static_cast<double>(sysconf(_SC_PHYS_PAGES));
  facts.memory_gb = std::round(bytes / 0x1p30 * 10) / 10;
  utsname system = {};
  if (uname(&system) == 0) facts.kernel = system.release;
  if (getloadavg(&facts.load_at_start, 1) != 1) facts.load_at_start = 0;
  facts.gpus = Gpus();
  return facts;
}

OthersLoad::OthersLoad()
    : start_(std::chrono::steady_clock::now()), busy_s_(BusySeconds()), own_s_(OwnSeconds()) {}

double OthersLoad::Share() const {
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
  const double others = BusySeconds() - busy_s_ - (OwnSeconds() - own_s_);
  const double capacity = elapsed.count() * Cores();
  return capacity > 0 ? std::clamp(others / capacity, 0.0, 1.0) : 0;
}

}  // namespace firn::benchmarks
