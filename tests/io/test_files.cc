// Plain standard C++ and zlib, so that nothing here shares a mistake with the code it tests.
#include "tests/io/test_files.h"

#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "gtest/gtest.h"

namespace firn::io {

std::string TempPath(const std::string& name) {
  const auto* test = testing::UnitTest::GetInstance()->current_test_info();
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) /
                                       (std::string(test->test_suite_name()) + "." + test->name());
  std::filesystem::create_directories(folder);
  return (folder / name).string();
}

std::string MemoryPath(const std::string& name) {
  struct Folder {
    Folder() {
      std::string made = "/dev/shm/firn_test_XXXXXX";
      if (mkdtemp(made.data()) != nullptr) path = made;
    }
    ~Folder() {
      std::error_code ignored;
      if (!path.empty()) std::filesystem::remove_all(path, ignored);
    }
    std::string path;
  };
  static const Folder folder;
  return folder.path.empty() ? TempPath(name) : folder.path + "/" + name;
}

void WriteFile(const std::string& path, const std::string& bytes) {
  // Writing over a file's elements waits for the disk on ext4, for milliseconds on some machines;
  // tests that try thousands of damaged files would wait for a minute.
  std::filesystem::remove(path);
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << bytes;
  out.close();
  ASSERT_TRUE(out.good()) << path;
}

std::string ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in.good()) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> List(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string Gzip(const std::string& bytes) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, bytes.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(out.size() - stream.avail_out);
  deflateEnd(&stream);
  return out;
}

std::string Idx(int code, const std::vector<uint32_t>& sizes, const std::string& elements) {
  std::string out = {'\0', '\0', static_cast<char>(code), static_cast<char>(sizes.size())};
  for (const uint32_t size : sizes) {
    for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(size >> shift);
  }
  return out + elements;
}

}  // namespace firn::io
