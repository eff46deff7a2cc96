#ifndef FIRN_TESTS_IO_HDF5_H5_TEST_FILES_H_
#define FIRN_TESTS_IO_HDF5_H5_TEST_FILES_H_

// Files that the HDF5 library makes, for tests of our reader.

#include <gtest/gtest.h>
#include <hdf5.h>

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "firn/io/hdf5/internal/h5_reader.h"

namespace firn::io::internal {

class H5ReaderTest : public ::testing::Test {
 protected:
  // Makes a file, which `fill` fills, and gives its path.
  static std::string Make(const std::function<void(hid_t file)>& fill,
                          H5F_libver_t low = H5F_LIBVER_EARLIEST,
                          H5F_libver_t high = H5F_LIBVER_LATEST);
  static absl::StatusOr<StateDict> Load(const std::string& path, const LoadLimits& limits = {});
  // The message of an error with `code`.
  static std::string Error(const std::string& path, absl::StatusCode code,
                           const LoadLimits& limits = {});
};

struct DatasetOptions {
  std::vector<hsize_t> chunk = {};
  bool shuffle = false, deflate = false, compact = false, early = false;
  bool extensible = false;  // without bound, so that chunks may be larger than the array
};

// `data`: null for elements that are never written.
void AddDataset(hid_t file, const char* name, hid_t type, const std::vector<hsize_t>& sizes,
                hid_t memory_type, const void* data, const DatasetOptions& options = {});
// 0, 1, 2, ... as float.
void AddNumbers(hid_t file, const char* name, const std::vector<hsize_t>& sizes,
                const DatasetOptions& options = {});
void ExpectNumbers(const Tensor& t, const Shape& shape);

}  // namespace firn::io::internal

#endif  // FIRN_TESTS_IO_HDF5_H5_TEST_FILES_H_
