// Tries every truncation of small files, every flipped bit of a file of Firn and a few of each byte
// of other files, and many files with several changed bytes: none may cause a crash, unbounded
// memory or, in files with checksums, a wrong answer.
#include <hdf5.h>

#include <cstdint>
#include <string>
#include <vector>

#include "firn/device/cpu_allocator.h"
#include "firn/device/inner.h"
#include "firn/device/philox.h"
#include "firn/io/hdf5/hdf5_status.h"
#include "firn/io/hdf5/internal/h5_reader.h"
#include "firn/tensor/from.h"
#include "gtest/gtest.h"
#include "tests/io/test_files.h"

namespace firn::io::internal {
namespace {

absl::StatusOr<StateDict> Load(const std::string& bytes) {
  const auto file = RandomAccess::FromMemory(
      "fuzz.h5", {reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()});
  return ReadH5(*file, {});
}

// Calls f with each variant of `whole` of one truncation or one flipped bit; of the bits only each
// `stride`th, which is odd, so that all places in a byte come up.
template <class F>
void ForEachDamage(const std::string& whole, size_t stride, F f) {
  for (size_t n = 0; n < whole.size(); ++n) f(whole.substr(0, n));
  std::string flipped = whole;
  for (size_t bit = 0; bit < whole.size() * 8; bit += stride) {
    const auto mask = static_cast<char>(1 << bit % 8);
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ mask);
    f(flipped);
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ mask);
  }
}

bool Same(const StateDict& a, const StateDict& b) {
  if (a.size() != b.size()) return false;
  for (auto i = a.begin(), j = b.begin(); i != a.end(); ++i, ++j) {
    if (i->first != j->first || i->second.dtype() != j->second.dtype() ||
        !i->second.Equals(j->second) || i->second.requires_grad() != j->second.requires_grad()) {
      return false;
    }
  }
  return true;
}

std::string OwnFile() {
  const std::string path = TempPath("own.h5");
  EXPECT_TRUE(TrySaveHdf5(path, {{"conv.weight", FromValues({1.f, 2.f, 3.f}).SetRequiresGrad()},
                                 {"conv.bias", FromValues({4.f})},
                                 {"flag", FromVector(std::vector<bool>{true, false})},
                                 {"step", FromVector<int64_t>({7}, {})}})
                  .ok());
  return ReadFile(path);
}

// Chunks, filters and, in the newest format, links in a heap, which only the library writes.
std::string LibraryFile(H5F_libver_t low) {
  const std::string path = TempPath("library.h5");
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS), creation = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_libver_bounds(access, low, H5F_LIBVER_LATEST);
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access);
  const hsize_t sizes[2] = {5, 6}, chunk[2] = {2, 4};
  const std::vector<double> values(30, 0.1);
  const hid_t space = H5Screate_simple(2, sizes, nullptr);
  if (low == H5F_LIBVER_EARLIEST) {  // the newest format's chunks are not read
    H5Pset_chunk(creation, 2, chunk);
    H5Pset_shuffle(creation);
    H5Pset_deflate(creation, 1);
  }
  const int datasets = low == H5F_LIBVER_EARLIEST ? 1 : 10;  // more than eight links go to a heap
  for (int i = 0; i < datasets; ++i) {
    const std::string name(1, static_cast<char>('a' + i));
    const hid_t dataset =
        H5Dcreate2(file, name.c_str(), H5T_IEEE_F64BE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    EXPECT_GE(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()),
              0);
    H5Dclose(dataset);
  }
  H5Sclose(space);
  H5Pclose(creation);
  H5Pclose(access);
  EXPECT_GE(H5Fclose(file), 0);
  return ReadFile(path);
}

TEST(H5FuzzTest, OwnFilesGiveTheRightAnswerOrAnError) {
  const std::string whole = OwnFile();
  const StateDict right = *Load(whole);
  int64_t errors = 0;
  ForEachDamage(whole, 1, [&](const std::string& damaged) {
    const absl::StatusOr<StateDict> state = Load(damaged);
    if (state.ok()) {
      EXPECT_TRUE(Same(*state, right));
    } else {
      ++errors;
    }
  });
  EXPECT_GT(errors, static_cast<int64_t>(whole.size()));  // each truncation at least
}

TEST(H5FuzzTest, FilesOfOthersNeverCrash) {
  for (const std::string& whole :
       {ReadFile("tests/io/hdf5/data/sample_params.h5"),
        ReadFile("tests/io/hdf5/data/sample_solver_states.h5"), LibraryFile(H5F_LIBVER_EARLIEST),
        LibraryFile(H5F_LIBVER_LATEST)}) {
    ASSERT_TRUE(Load(whole).ok()) << Load(whole).status();
    CpuAllocator().ResetPeak();
    const int64_t before = CpuAllocator().stats().live_bytes;
    int64_t errors = 0;
    ForEachDamage(whole, 5,
                  [&](const std::string& damaged) { errors += Load(damaged).ok() ? 0 : 1; });
    EXPECT_GT(errors, static_cast<int64_t>(whole.size()) / 2);
    EXPECT_LT(CpuAllocator().stats().peak_bytes - before, int64_t{64} << 20);
  }
}

// Several bytes at once get past single checks. The interesting bytes are those that lengths and
// addresses are made of.
TEST(H5FuzzTest, ManyWrongBytesNeverCrash) {
  uint64_t drawn = 0;
  const auto draw = [&](uint64_t below) { return PhiloxAt({20240607, drawn++}, 0).v[0] % below; };
  constexpr unsigned char kValues[] = {0, 1, 2, 7, 8, 16, 0x7f, 0x80, 0xff};
  for (const std::string& whole : {OwnFile(), ReadFile("tests/io/hdf5/data/sample_params.h5")}) {
    for (int round = 0; round < 8000; ++round) {
      std::string damaged = whole;
      const uint64_t changes = 1 + draw(8);
      for (uint64_t i = 0; i < changes; ++i) {
        const uint64_t at = draw(2) == 0 ? draw(damaged.size()) : draw(2048) % damaged.size();
        damaged[at] = draw(2) == 0 ? static_cast<char>(kValues[draw(std::size(kValues))])
                                   : damaged[draw(damaged.size())];
      }
      static_cast<void>(Load(damaged));
    }
  }
}

}  // namespace
}  // namespace firn::io::internal
