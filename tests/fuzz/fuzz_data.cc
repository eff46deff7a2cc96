// Data sets of several files, in folders of their own. What they throw is no finding.
#include <sys/stat.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "io/csv_rows.h"
#include "io/nnabla_cache.h"
#include "tensor/error.h"
#include "tests/fuzz/targets.h"

namespace firn::io {
namespace {

constexpr LoadLimits kLimits = {
    .max_tensors = 1000, .max_total_bytes = 1 << 22, .max_metadata_bytes = 1 << 20};

std::string NewFolder() {
  const char* tmp = std::getenv("TEST_TMPDIR");
  std::string made = std::string(tmp != nullptr ? tmp : "/tmp") + "/fuzz_data.XXXXXX";
  if (mkdtemp(made.data()) == nullptr) std::abort();
  return made;
}

void Write(const std::string& path, std::string_view bytes) {
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  if (file == nullptr || std::fwrite(bytes.data(), 1, bytes.size(), file) != bytes.size() ||
      std::fclose(file) != 0) {
    std::abort();
  }
}

// Reads the first and the last rows: there may be a million.
void ReadSome(const Rows& rows) {
  for (int64_t i = 0; i < rows.size(); i = i == 2 && rows.size() > 6 ? rows.size() - 3 : i + 1) {
    try {
      static_cast<void>(rows.Get(i));
    } catch (const Error&) {
    }
  }
}

}  // namespace

int FuzzCsvRows(const uint8_t* data, size_t size) {
  static const std::string folder = NewFolder();
  Write(folder + "/t.csv", {reinterpret_cast<const char*>(data), size});
  try {
    ReadSome(*CsvRows(folder + "/t.csv", {.limits = kLimits}));
  } catch (const Error&) {
  }
  return 0;
}

int FuzzNnablaCache(const uint8_t* data, size_t size) {
  static const std::string folder = NewFolder();
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  for (const char* name : kCacheParts) {
    const size_t end = rest.find(kCachePartEnd);
    Write(folder + "/" + name, rest.substr(0, end));
    rest = end == std::string_view::npos
               ? std::string_view()
               : rest.substr(end + std::string_view(kCachePartEnd).size());
  }
  try {
    ReadSome(*OpenNnablaCache(folder, {.limits = kLimits}));
  } catch (const Error&) {
  }
  return 0;
}

}  // namespace firn::io
