// The reader against files that the HDF5 library makes: everything that it should understand, in
// each form that the library can write.
#include "firn/io/hdf5/internal/h5_reader.h"

#include <hdf5.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "firn/io/hdf5/hdf5_status.h"
#include "firn/io/random_access.h"
#include "firn/tensor/from.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/io/hdf5/h5_test_files.h"
#include "tests/io/test_files.h"

namespace firn::io::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST_F(H5ReaderTest, ReadsContiguousCompactAndChunked) {
  const std::string path = Make([](hid_t f) {
    AddNumbers(f, "contiguous", {3, 50});
    AddNumbers(f, "compact", {3, 5}, {.compact = true});
    AddNumbers(f, "chunked", {7, 9}, {.chunk = {2, 4}});
    AddNumbers(f, "one", {5}, {.chunk = {5}});
    AddNumbers(f, "deflated", {40, 30}, {.chunk = {7, 11}, .deflate = true});
    AddNumbers(f, "shuffled", {6, 5, 4}, {.chunk = {4, 2, 3}, .shuffle = true});
    AddNumbers(f, "both", {60, 50}, {.chunk = {13, 50}, .shuffle = true, .deflate = true});
    AddNumbers(f, "many", {100, 100}, {.chunk = {1, 10}});  // a tree of several levels
    AddNumbers(f, "empty", {0, 4}, {.chunk = {2, 2}});
  });
  const absl::StatusOr<StateDict> state = Load(path);
  ASSERT_TRUE(state.ok()) << state.status();
  ExpectNumbers((*state)["contiguous"], {3, 50});
  ExpectNumbers((*state)["compact"], {3, 5});
  ExpectNumbers((*state)["chunked"], {7, 9});
  ExpectNumbers((*state)["one"], {5});
  ExpectNumbers((*state)["deflated"], {40, 30});
  ExpectNumbers((*state)["shuffled"], {6, 5, 4});
  ExpectNumbers((*state)["both"], {60, 50});
  ExpectNumbers((*state)["many"], {100, 100});
  EXPECT_EQ((*state)["empty"].shape(), (Shape{0, 4}));
}

TEST_F(H5ReaderTest, ReadsEveryNumberInEitherByteOrder) {
  const std::vector<int64_t> small = {0, 1, 100};
  const std::vector<double> floats = {-1.5, 0, 1e4};
  const std::string path = Make([&](hid_t f) {
    const auto add = [&](const char* name, hid_t type) {
      AddDataset(f, name, type, {3}, H5T_NATIVE_INT64, small.data());
    };
    add("i8", H5T_STD_I8LE), add("u8", H5T_STD_U8LE);
    add("i16", H5T_STD_I16LE), add("i16be", H5T_STD_I16BE), add("u16", H5T_STD_U16BE);
    add("i32", H5T_STD_I32LE), add("i32be", H5T_STD_I32BE), add("u32", H5T_STD_U32LE);
    add("i64", H5T_STD_I64LE), add("i64be", H5T_STD_I64BE), add("u64", H5T_STD_U64BE);
    AddDataset(f, "f32be", H5T_IEEE_F32BE, {3}, H5T_NATIVE_DOUBLE, floats.data());
    AddDataset(f, "f64be", H5T_IEEE_F64BE, {3}, H5T_NATIVE_DOUBLE, floats.data());
  });
  const absl::StatusOr<StateDict> state = Load(path);
  ASSERT_TRUE(state.ok()) << state.status();
  for (const auto& [name, tensor] : *state) {
    if (name[0] == 'f') {
      EXPECT_THAT(tensor.ToVector<double>(), ElementsAre(-1.5, 0, 1e4)) << name;
    } else {
      EXPECT_EQ(tensor.ToVector<int64_t>(), small) << name;
    }
  }
  EXPECT_EQ((*state)["u16"].dtype(), DType::kI32);
  EXPECT_EQ((*state)["u32"].dtype(), DType::kI64);
  EXPECT_EQ((*state)["f64be"].dtype(), DType::kF64);
}

// Groups of every size, so that each way to store links is met, in each version of the format.
TEST_F(H5ReaderTest, ReadsGroupsOfAllSizesInAllVersions) {
  for (const auto& [low, high] : {std::pair{H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST},
                                  std::pair{H5F_LIBVER_V18, H5F_LIBVER_V18},
                                  std::pair{H5F_LIBVER_LATEST, H5F_LIBVER_LATEST}}) {
    for (const int n : {0, 1, 8, 9, 30, 500, 4000}) {
      const std::string path = Make(
          [&, n = n](hid_t f) {
            for (int i = 0; i < n; ++i) {
              const std::string name =
                  "g/member" + std::to_string(i) + std::string(static_cast<size_t>(i % 40), 'x');
              AddNumbers(f, name.c_str(), {static_cast<hsize_t>(i % 5 + 1)});
            }
            const hid_t other = H5Gcreate2(f, "other", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
            H5Gclose(other);
          },
          low, high);
      const absl::StatusOr<StateDict> state = Load(path);
      ASSERT_TRUE(state.ok()) << state.status() << " for " << n;
      EXPECT_EQ(static_cast<int>(state->size()), n) << low;
      for (int i = 0; i < n; ++i) {
        const Tensor* t = state->Find("g.member" + std::to_string(i) +
                                      std::string(static_cast<size_t>(i % 40), 'x'));
        ASSERT_NE(t, nullptr) << i;
        ExpectNumbers(*t, {i % 5 + 1});
      }
    }
  }
}

void AddAttribute(hid_t object, const char* name, int64_t value) {
  const hid_t space = H5Screate(H5S_SCALAR);
  const hid_t attribute = H5Acreate2(object, name, H5T_STD_I32BE, space, H5P_DEFAULT, H5P_DEFAULT);
  EXPECT_GE(H5Awrite(attribute, H5T_NATIVE_INT64, &value), 0);
  H5Aclose(attribute);
  H5Sclose(space);
}

TEST_F(H5ReaderTest, SortsByIndexAndPutsThoseWithoutLast) {
  for (const H5F_libver_t low : {H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST}) {
    const std::string path = Make(
        [](hid_t f) {
          for (const char* name : {"b", "a", "z/y", "c"}) AddNumbers(f, name, {1});
          const auto tag = [&](const char* name, int64_t index) {
            const hid_t d = H5Dopen2(f, name, H5P_DEFAULT);
            AddAttribute(d, "unrelated", 5);
            AddAttribute(d, "index", index);
            AddAttribute(d, "need_grad", 1);
            H5Dclose(d);
          };
          tag("z/y", 0);
          tag("b", 1);
        },
        low);
    const absl::StatusOr<StateDict> state = Load(path);
    ASSERT_TRUE(state.ok()) << state.status();
    std::vector<std::string> names;
    for (const auto& [name, tensor] : *state) names.push_back(name);
    EXPECT_THAT(names, ElementsAre("z.y", "b", "a", "c"));
    EXPECT_TRUE((*state)["b"].requires_grad());
    EXPECT_FALSE((*state)["a"].requires_grad());
  }
}

// Checksums cover names of links, like everything in files of the newer kind.
TEST_F(H5ReaderTest, LooksAtChecksumsOfAHeap) {
  for (const int links : {20, 400}) {  // in one block, and in several
    const std::string path = Make(
        [&](hid_t f) {
          for (int i = 0; i < links; ++i) AddNumbers(f, ("entry" + std::to_string(i)).c_str(), {1});
        },
        H5F_LIBVER_LATEST);
    ASSERT_TRUE(Load(path).ok());
    std::string bytes = ReadFile(path);
    const size_t at = bytes.rfind("entry1");
    ASSERT_NE(at, std::string::npos);
    bytes[at] = 'f';
    WriteFile(path, bytes);
    EXPECT_THAT(Error(path, absl::StatusCode::kDataLoss),
                HasSubstr("heap block of objects: the checksum is wrong"))
        << links;
  }
}

// The name under which a dataset was written decides, whichever of its names a walk meets first and
// whichever are wanted.
TEST_F(H5ReaderTest, FindsTheNameThatAChecksumIsOf) {
  const std::string path = TempPath("file.h5");
  ASSERT_TRUE(TrySaveHdf5(path, {{"m", FromValues({1.25f, 2.5f})}, {"n", FromValues({3.f})}}).ok());
  const hid_t f = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  for (const char* name : {"a", "z"}) {
    H5Lcreate_hard(f, "m", f, name, H5P_DEFAULT, H5P_DEFAULT);
  }
  H5Fclose(f);
  const auto read = [&](const std::string& wanted) {
    const auto file = RandomAccess::Open(path);
    return ReadH5(**file, {.want = [&](std::string_view name) {
      return wanted.find(name) != std::string::npos;
    }});
  };
  for (const std::string wanted : {"amnz", "az", "m", "a", "z", "zn"}) {
    const absl::StatusOr<StateDict> state = read(wanted);
    ASSERT_TRUE(state.ok()) << wanted << ": " << state.status();
    EXPECT_EQ(state->size(), wanted.size());
  }
  std::string bytes = ReadFile(path);
  const float value = 1.25f;
  const size_t at = bytes.find(std::string(reinterpret_cast<const char*>(&value), sizeof(value)));
  ASSERT_NE(at, std::string::npos);
  bytes[at] = static_cast<char>(bytes[at] ^ 1);
  WriteFile(path, bytes);
  for (const std::string wanted : {"amnz", "az", "m", "a", "z", "zn"}) {
    const absl::Status status = read(wanted).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << wanted;
    EXPECT_THAT(std::string(status.message()), HasSubstr("does not have the checksum")) << wanted;
  }
  EXPECT_TRUE(read("n").ok());
}

}  // namespace
}  // namespace firn::io::internal
