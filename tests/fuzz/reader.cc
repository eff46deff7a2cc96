#include "tests/fuzz/reader.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

namespace firn::testing {

std::map<std::string, FuzzReader>& FuzzReaders() {
  static auto* readers = new std::map<std::string, FuzzReader>();
  return *readers;
}

std::vector<std::string> Seeds(const FuzzReader& reader) {
  return reader.seeds != nullptr ? reader.seeds() : std::vector<std::string>();
}

std::vector<std::string> KeptFiles(const std::string& name) {
  std::vector<std::filesystem::path> paths;
  std::error_code error;  // a folder that is not there has no files
  std::filesystem::directory_iterator at("tests/fuzz/corpus/" + name, error);
  for (; !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
    paths.push_back(at->path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> files;
  for (const std::filesystem::path& path : paths) {
    std::ifstream in(path, std::ios::binary);
    files.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  return files;
}

void FuzzCheck(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

}  // namespace firn::testing
