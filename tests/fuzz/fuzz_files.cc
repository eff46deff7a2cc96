// Readers that want a path get that of memory which stands for a file.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "io/cifar_status.h"
#include "io/csv_status.h"
#include "io/graph_file_contents.h"
#include "io/idx.h"
#include "io/internal/checkpoint_file.h"
#include "tensor/from.h"
#include "tests/fuzz/targets.h"

namespace firn::io {
namespace {

constexpr LoadLimits kLimits = {
    .max_tensors = 1000, .max_total_bytes = 1 << 22, .max_metadata_bytes = 1 << 20};

std::string InMemory(const uint8_t* data, size_t size) {
  static const int fd = memfd_create("fuzz", 0);
  if (ftruncate(fd, 0) != 0 || pwrite(fd, data, size, 0) != static_cast<ssize_t>(size)) {
    std::abort();
  }
  return "/proc/self/fd/" + std::to_string(fd);
}

// A folder in which test.bin is that memory.
std::string FolderInMemory(const uint8_t* data, size_t size) {
  static const std::string folder = [] {
    const char* tmp = std::getenv("TEST_TMPDIR");
    std::string made = std::string(tmp != nullptr ? tmp : "/tmp") + "/fuzz_cifar.XXXXXX";
    if (mkdtemp(made.data()) == nullptr) std::abort();
    return made;
  }();
  const std::string file = InMemory(data, size);
  std::error_code error;
  std::filesystem::create_symlink(file, folder + "/test.bin", error);  // once
  return folder;
}

}  // namespace

int FuzzIdx(const uint8_t* data, size_t size) {
  static_cast<void>(ReadIdx(InMemory(data, size), kLimits));
  return 0;
}

int FuzzCsv(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  static_cast<void>(ParseCsv(text, "fuzz", {.limits = kLimits}));
  CsvOptions words = {.skip_lines = 1, .limits = kLimits};
  words.categories[1] = {"setosa", "virginica"};
  static_cast<void>(ParseCsv(text, "fuzz", words));
  return 0;
}

int FuzzCifar(const uint8_t* data, size_t size) {
  static_cast<void>(ReadCifar100(FolderInMemory(data, size), {.train = false}));
  return 0;
}

int FuzzGraph(const uint8_t* data, size_t size) {
  static_cast<void>(ReadGraph(InMemory(data, size), {.limits = kLimits}));
  return 0;
}

int FuzzCheckpoint(const uint8_t* data, size_t size) {
  const auto number = [](int64_t n) { return FromVector(std::vector<int64_t>{n}, {}); };
  const StateDict file = {
      {"a.x", number(7)},
      {"a.y", number(8)},
      {"firn_checkpoint.version", number(kCheckpointVersion)},
      {"firn_checkpoint.step", number(3)},
      {"firn_checkpoint.header", FromVector(std::vector<uint8_t>(data, data + size))}};
  const auto contents = internal::CheckpointOf("fuzz", file, {"a"});
  // Who gets the part gets all of it.
  if (contents.ok() && contents->state.Part("a").size() != 2) std::abort();
  return 0;
}

}  // namespace firn::io
