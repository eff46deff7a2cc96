#include "tests/fuzz/scratch.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <system_error>

#include "tests/fuzz/reader.h"

namespace firn::testing {
namespace {

constexpr std::string_view kEnd = "\n====\n";

}  // namespace

std::string InMemory(std::string_view bytes) {
  static const int fd = memfd_create("fuzz", 0);
  FuzzCheck(ftruncate(fd, 0) == 0 &&
                pwrite(fd, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()),
            "there is memory for the input");
  return "/proc/self/fd/" + std::to_string(fd);
}

std::string InMemory(std::string_view bytes, const std::string& name) {
  const std::string path = ScratchFolder("links") + "/" + name;
  std::error_code error;
  std::filesystem::create_symlink(InMemory(bytes), path, error);  // once
  return path;
}

std::string ScratchFolder(const std::string& kind) {
  static std::map<std::string, std::string> folders;
  std::string& folder = folders[kind];
  if (folder.empty()) {
    const char* tmp = std::getenv("TEST_TMPDIR");
    folder = std::string(tmp != nullptr ? tmp : "/tmp") + "/fuzz_" + kind + ".XXXXXX";
    FuzzCheck(mkdtemp(folder.data()) != nullptr, "there can be a folder");
  }
  return folder;
}

std::string JoinFolder(const std::string& folder, const std::vector<std::string>& names) {
  std::string joined;
  for (const std::string& name : names) {
    std::ifstream in(folder + "/" + name, std::ios::binary);
    FuzzCheck(in.good(), "the folder has its files");
    joined.append(std::istreambuf_iterator<char>(in), {});
    joined += kEnd;
  }
  return joined;
}

void SplitIntoFolder(std::string_view bytes, const std::vector<std::string>& names,
                     const std::string& folder) {
  for (const std::string& name : names) {
    const size_t end = bytes.find(kEnd);
    const std::string path = folder + "/" + name;
    std::error_code error;
    std::filesystem::remove(path, error);  // ext4 waits for the disk if a file is made empty
    std::ofstream out(path, std::ios::binary);
    out << bytes.substr(0, end);
    out.close();
    FuzzCheck(out.good(), "there is room on the disk");
    bytes = end == std::string_view::npos ? std::string_view() : bytes.substr(end + kEnd.size());
  }
}

}  // namespace firn::testing
