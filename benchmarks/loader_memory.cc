// Measures the memory that a loader takes for many files, and for a large one.
//
//   bazel run //benchmarks:loader_memory -- FOLDER [FILES] [GIGABYTES]
//
// Makes FILES images (a million) in FOLDER, hard links to a few, and a sparse .npy file of
// GIGABYTES (20), goes through both with two workers, and prints the memory that the process has
// before and after, and the most it had. Images and file stay, so a second run need not make them.
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "firn/io/data/data_loader.h"
#include "firn/io/data/image_folder.h"
#include "firn/io/data/npy_dataset.h"
#include "firn/io/image/image.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops.h"

namespace firn {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kLinks = 30'000;  // hard links to one file; ext4 allows 65,000
constexpr int64_t kRow = 1 << 20;

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double ResidentMb() {
  std::ifstream statm("/proc/self/statm");
  double size = 0, resident = 0;
  statm >> size >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1e6;
}

double PeakMb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024 / 1e6;
}

void MakeImages(const std::string& folder, int64_t files) {
  if (fs::exists(folder)) return;
  std::string original;
  for (int64_t i = 0; i < files; ++i) {
    const std::string place = absl::StrCat(folder, "/class", i % 10);
    if (i < 10) fs::create_directories(place);
    const std::string path = absl::StrCat(place, "/image_", i, ".png");
    if (i % kLinks == 0) {
      original = path;
      io::WriteImage(path, Full({3, 8, 8}, 7).To(DType::kU8));
    } else {
      fs::create_hard_link(original, path);
    }
  }
}

void MakeArray(const std::string& path, int64_t rows) {
  std::string header =
      absl::StrCat("{'descr': '|u1', 'fortran_order': False, 'shape': (", rows, ", ", kRow, "), }");
  header.resize(117, ' ');
  std::ofstream(path, std::ios::binary) << std::string("\x93NUMPY\1\0\x76\0", 10) << header << '\n';
  fs::resize_file(path, static_cast<uintmax_t>(128 + rows * kRow));
}

void GoThrough(const char* what, const io::DatasetPtr& data, int64_t batch, double before) {
  const double start = Now(), made = ResidentMb();
  io::DataLoader loader(data, {.batch = batch, .shuffle = true, .prefetch = 2});
  int64_t samples = 0;
  double half = 0;
  for (const io::Sample& b : loader) {
    samples += b.input.size(0);
    if (half == 0 && 2 * samples >= data->size()) half = ResidentMb();
  }
  std::printf(
      "%s: %lld samples in %.1f s; %.0f MB before, %.0f with the data set, %.0f after half of it, "
      "%.0f at the end, %.0f at most\n",
      what, static_cast<long long>(samples), Now() - start, before, made, half, ResidentMb(),
      PeakMb());
  std::fflush(stdout);
}

int Run(const std::string& folder, int64_t files, int64_t gigabytes) {
  fs::create_directories(folder);
  const std::string array = folder + "/large.npy", images = folder + "/images";
  double before = ResidentMb();
  MakeArray(array, gigabytes * 1'000'000'000 / kRow);
  GoThrough("large array", io::NpyDataset(array), 8, before);
  MakeImages(images, files);
  before = ResidentMb();
  GoThrough("many images", io::ImageFolder(images), 256, before);
  return 0;
}

}  // namespace
}  // namespace firn

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: loader_memory FOLDER [FILES] [GIGABYTES]\n");
    return 2;
  }
  try {
    return firn::Run(argv[1], argc > 2 ? std::atoll(argv[2]) : 1'000'000,
                     argc > 3 ? std::atoll(argv[3]) : 20);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
