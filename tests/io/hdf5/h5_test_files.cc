// Each form that the library can write is an option; if it refuses to write one, the test fails.

#include "tests/io/hdf5/h5_test_files.h"

#include <numeric>

#include "gmock/gmock.h"
#include "tests/io/test_files.h"

namespace firn::io::internal {

std::string H5ReaderTest::Make(const std::function<void(hid_t file)>& fill, H5F_libver_t low,
                               H5F_libver_t high) {
  const std::string path = TempPath("file.h5");
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  EXPECT_GE(H5Pset_libver_bounds(access, low, high), 0);
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access);
  EXPECT_GE(file, 0);
  fill(file);
  EXPECT_GE(H5Fclose(file), 0);
  H5Pclose(access);
  return path;
}

absl::StatusOr<StateDict> H5ReaderTest::Load(const std::string& path, const LoadLimits& limits) {
  const auto file = RandomAccess::Open(path);
  EXPECT_TRUE(file.ok());
  return ReadH5(**file, {.limits = limits});
}

std::string H5ReaderTest::Error(const std::string& path, absl::StatusCode code,
                                const LoadLimits& limits) {
  const absl::StatusOr<StateDict> state = Load(path, limits);
  EXPECT_EQ(state.status().code(), code) << state.status();
  EXPECT_THAT(std::string(state.status().message()), ::testing::HasSubstr("file.h5"));
  return std::string(state.status().message());
}

void AddDataset(hid_t file, const char* name, hid_t type, const std::vector<hsize_t>& sizes,
                hid_t memory_type, const void* data, const DatasetOptions& options) {
  const std::vector<hsize_t> unlimited(sizes.size(), H5S_UNLIMITED);
  const hid_t space = H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(),
                                       options.extensible ? unlimited.data() : nullptr);
  const hid_t creation = H5Pcreate(H5P_DATASET_CREATE), links = H5Pcreate(H5P_LINK_CREATE);
  H5Pset_create_intermediate_group(links, 1);
  if (!options.chunk.empty()) {
    H5Pset_chunk(creation, static_cast<int>(options.chunk.size()), options.chunk.data());
  }
  if (options.shuffle) H5Pset_shuffle(creation);
  if (options.deflate) H5Pset_deflate(creation, 6);
  if (options.compact) H5Pset_layout(creation, H5D_COMPACT);
  if (options.early) H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY);
  const hid_t dataset = H5Dcreate2(file, name, type, space, links, creation, H5P_DEFAULT);
  EXPECT_GE(dataset, 0) << name;
  if (data != nullptr) {
    EXPECT_GE(H5Dwrite(dataset, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data), 0);
  }
  H5Dclose(dataset);
  H5Pclose(links);
  H5Pclose(creation);
  H5Sclose(space);
}

void AddNumbers(hid_t file, const char* name, const std::vector<hsize_t>& sizes,
                const DatasetOptions& options) {
  std::vector<float> values(
      std::accumulate(sizes.begin(), sizes.end(), hsize_t{1}, std::multiplies<hsize_t>()));
  std::iota(values.begin(), values.end(), 0.f);
  AddDataset(file, name, H5T_IEEE_F32LE, sizes, H5T_NATIVE_FLOAT, values.data(), options);
}

void ExpectNumbers(const Tensor& t, const Shape& shape) {
  EXPECT_EQ(t.shape(), shape);
  std::vector<float> expected(static_cast<size_t>(shape.num_elements()));
  std::iota(expected.begin(), expected.end(), 0.f);
  EXPECT_EQ(t.ToVector<float>(), expected);
}

}  // namespace firn::io::internal
