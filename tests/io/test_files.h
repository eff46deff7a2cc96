#ifndef FIRN_TESTS_IO_TEST_FILES_H_
#define FIRN_TESTS_IO_TEST_FILES_H_

// Functions that make and look at files, for tests of io.

#include <cstdint>
#include <string>
#include <vector>

namespace firn::io {

// A path in the test's own scratch folder.
std::string TempPath(const std::string& name);
// The same, in a file system in memory if there is one: for files that are saved thousands of
// times, since each save waits for the disk.
std::string MemoryPath(const std::string& name);
void WriteFile(const std::string& path, const std::string& bytes);
std::string ReadFile(const std::string& path);
// Names in a folder, sorted, without "." and "..".
std::vector<std::string> List(const std::string& folder);
// Gzip of `bytes`, one member.
std::string Gzip(const std::string& bytes);

// An IDX file: type code, sizes, then the elements as they stand in the file.
std::string Idx(int code, const std::vector<uint32_t>& sizes, const std::string& elements);

}  // namespace firn::io

#endif  // FIRN_TESTS_IO_TEST_FILES_H_
