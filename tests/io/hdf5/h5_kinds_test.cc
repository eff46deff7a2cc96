// Kinds of legal HDF5 beside plain arrays: values that were never written, user blocks, several
// names of an object, committed datatypes, the newer indices of chunks, checksums, attributes in a
// heap.
#include <hdf5.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "firn/io/data/hdf5_dataset.h"
#include "firn/io/hdf5/hdf5.h"
#include "firn/io/hdf5/internal/h5_reader.h"
#include "firn/io/random_access.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/error_of.h"
#include "tests/io/hdf5/h5_test_files.h"
#include "tests/io/test_files.h"

namespace firn::io::internal {
namespace {

using namespace std::string_literals;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class H5KindsTest : public H5ReaderTest {
 protected:
  static StateDict Read(const std::string& path) {
    const absl::StatusOr<StateDict> state = Load(path);
    EXPECT_TRUE(state.ok()) << state.status();
    return state.ok() ? *state : StateDict();
  }
};

struct Creation {
  std::vector<hsize_t> chunk = {};
  H5D_alloc_time_t room = H5D_ALLOC_TIME_DEFAULT;
  bool has_fill = false, checked = false, deflate = false, shuffle = false, plain_border = false;
};

// A dataset of big-endian i16 without written elements; its fill value is -3.
hid_t Create(hid_t file, const char* name, const std::vector<hsize_t>& sizes,
             const Creation& how = {}, const std::vector<hsize_t>& most = {}) {
  const hid_t space = H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(),
                                       most.empty() ? nullptr : most.data());
  const hid_t c = H5Pcreate(H5P_DATASET_CREATE);
  if (!how.chunk.empty()) {
    H5Pset_chunk(c, static_cast<int>(how.chunk.size()), how.chunk.data());
  }
  if (how.room != H5D_ALLOC_TIME_DEFAULT) H5Pset_alloc_time(c, how.room);
  const int16_t fill = -3;
  if (how.has_fill) H5Pset_fill_value(c, H5T_NATIVE_INT16, &fill);
  if (how.plain_border) H5Pset_chunk_opts(c, H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS);
  if (how.shuffle) H5Pset_shuffle(c);
  if (how.deflate) H5Pset_deflate(c, 6);
  if (how.checked) H5Pset_fletcher32(c);
  const hid_t dataset = H5Dcreate2(file, name, H5T_STD_I16BE, space, H5P_DEFAULT, c, H5P_DEFAULT);
  EXPECT_GE(dataset, 0) << name;
  H5Pclose(c);
  H5Sclose(space);
  return dataset;
}

// Sets one element to 5.
void Write(hid_t dataset, const std::vector<hsize_t>& at) {
  const hid_t space = H5Dget_space(dataset), one = H5Screate(H5S_SCALAR);
  const int16_t value = 5;
  H5Sselect_elements(space, H5S_SELECT_SET, 1, at.data());
  EXPECT_GE(H5Dwrite(dataset, H5T_NATIVE_INT16, one, space, H5P_DEFAULT, &value), 0);
  H5Sclose(one);
  H5Sclose(space);
}

TEST_F(H5KindsTest, GivesFillValuesWhereNothingWasWritten) {
  for (const H5F_libver_t low : {H5F_LIBVER_EARLIEST, H5F_LIBVER_V18, H5F_LIBVER_LATEST}) {
    for (const bool has_fill : {false, true}) {
      const int64_t value = has_fill ? -3 : 0;
      const std::string path = Make(
          [&](hid_t f) {
            H5Dclose(Create(f, "whole", {2, 3}, {.has_fill = has_fill}));
            for (const auto& [name, room] :
                 {std::pair{"early", H5D_ALLOC_TIME_EARLY}, std::pair{"late", H5D_ALLOC_TIME_LATE},
                  std::pair{"step", H5D_ALLOC_TIME_INCR}}) {
              const Creation how = {.chunk = {2, 2}, .room = room, .has_fill = has_fill};
              H5Dclose(Create(f, (std::string(name) + "_none").c_str(), {5, 3}, how));
              const hid_t some = Create(f, name, {5, 3}, how);
              Write(some, {4, 2});
              H5Dclose(some);
            }
          },
          low);
      const StateDict state = Read(path);
      EXPECT_THAT(state["whole"].ToVector<int64_t>(), Each(value));
      for (const std::string name : {"early", "late", "step"}) {
        EXPECT_EQ(state[name + "_none"].shape(), (Shape{5, 3}));
        EXPECT_THAT(state[name + "_none"].ToVector<int64_t>(), Each(value)) << name;
        std::vector<int64_t> expected(15, value);
        expected[14] = 5;
        EXPECT_EQ(state[name].ToVector<int64_t>(), expected) << name;
        const DatasetPtr rows =
            Hdf5Dataset(path, {.input = name, .target = "", .in_memory = false});
        EXPECT_THAT(rows->Get(4).input.ToVector<int64_t>(), ElementsAre(value, value, 5));
        EXPECT_THAT(rows->Get(1).input.ToVector<int64_t>(), Each(value));
      }
      const DatasetPtr rows =
          Hdf5Dataset(path, {.input = "whole", .target = "", .in_memory = false});
      EXPECT_THAT(rows->Get(1).input.ToVector<int64_t>(), ElementsAre(value, value, value));
    }
  }
}

TEST_F(H5KindsTest, CountsWhatWasNeverWritten) {
  const std::string path = Make([](hid_t f) { H5Dclose(Create(f, "x", {50}, {.chunk = {7}})); });
  EXPECT_TRUE(Load(path, {.max_unwritten_bytes = 100}).ok());
  EXPECT_THAT(
      Error(path, absl::StatusCode::kResourceExhausted, {.max_unwritten_bytes = 99}),
      HasSubstr("50 elements of 2 bytes that were never written are more than the 99 bytes that "
                "are left of those allowed (limits.max_unwritten_bytes)"));
}

TEST_F(H5KindsTest, ReadsBehindUserBlocks) {
  for (const H5F_libver_t low : {H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST}) {
    const std::string path = Make(
        [](hid_t f) {
          AddNumbers(f, "g/contiguous", {3, 5});
          AddNumbers(f, "chunked", {9, 7}, {.chunk = {4, 4}, .deflate = true});
        },
        low);
    const std::string bytes = ReadFile(path);
    for (const size_t block : {512u, 1024u, 8192u}) {
      // A user block as `h5jam` and other programs add it, which the superblock does not mention.
      WriteFile(path, std::string(block, 'u') + bytes);
      const StateDict state = Read(path);
      ExpectNumbers(state["g.contiguous"], {3, 5});
      ExpectNumbers(state["chunked"], {9, 7});
      for (const char* name : {"g.contiguous", "chunked"}) {
        const DatasetPtr rows =
            Hdf5Dataset(path, {.input = name, .target = "", .in_memory = false});
        EXPECT_EQ(rows->Get(1).input.ToVector<float>()[0], name[0] == 'g' ? 5.f : 7.f);
      }
      // Messages give the place of damage in the whole file.
      std::string cut = ReadFile(path);
      cut.resize(block + 30);
      WriteFile(path, cut);
      EXPECT_THAT(Error(path, absl::StatusCode::kDataLoss),
                  HasSubstr("offset " + std::to_string(block)));
    }
    WriteFile(path, std::string(513, 'u') + bytes);
    EXPECT_THAT(Error(path, absl::StatusCode::kDataLoss), HasSubstr("not an HDF5 file"));
  }
  // A user block that the library makes.
  const std::string path = TempPath("file.h5");
  const hid_t creation = H5Pcreate(H5P_FILE_CREATE);
  H5Pset_userblock(creation, 2048);
  const hid_t f = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation, H5P_DEFAULT);
  AddNumbers(f, "x", {4});
  H5Fclose(f);
  H5Pclose(creation);
  ExpectNumbers(Read(path)["x"], {4});
}

TEST_F(H5KindsTest, ReadsEveryNameOfAnObject) {
  for (const H5F_libver_t low : {H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST}) {
    const std::string path = Make(
        [](hid_t f) {
          AddNumbers(f, "a/x", {3});
          H5Lcreate_hard(f, "/a/x", f, "hard", H5P_DEFAULT, H5P_DEFAULT);
          H5Lcreate_soft("/a/x", f, "soft", H5P_DEFAULT, H5P_DEFAULT);
          H5Lcreate_soft("a", f, "group", H5P_DEFAULT, H5P_DEFAULT);
          H5Lcreate_soft("group//./x", f, "through", H5P_DEFAULT, H5P_DEFAULT);
          H5Lcreate_soft("through", f, "twice", H5P_DEFAULT, H5P_DEFAULT);
          const hid_t a = H5Gopen2(f, "a", H5P_DEFAULT);
          H5Lcreate_soft("x", a, "beside", H5P_DEFAULT, H5P_DEFAULT);
          H5Gclose(a);
        },
        low);
    const StateDict state = Read(path);
    EXPECT_EQ(state.size(), 8u);
    for (const char* name :
         {"a.x", "hard", "soft", "group.x", "group.beside", "through", "twice", "a.beside"}) {
      ASSERT_NE(state.Find(name), nullptr) << name;
      ExpectNumbers(state[name], {3});
    }
    EXPECT_THAT(firn::testing::ErrorOf(
                    [&] { Hdf5Dataset(path, {.input = "x", .target = "", .in_memory = false}); }),
                HasSubstr("expected an array called x, got none; of "));
    const DatasetPtr rows = Hdf5Dataset(path, {.input = "twice", .target = "", .in_memory = false});
    EXPECT_EQ(rows->Get(2).input.ToVector<float>()[0], 2.f);
    const auto file = RandomAccess::Open(path);
    const auto some = ReadH5(**file, {.want = [](std::string_view n) { return n == "soft"; }});
    ASSERT_TRUE(some.ok()) << some.status();
    EXPECT_EQ(some->size(), 1u);
  }
}

// In the oldest files the place of a committed datatype is an entry of a symbol table.
TEST_F(H5KindsTest, ReadsCommittedDatatypesOfTheOldestFiles) {
  const std::string path = Make([](hid_t f) {
    const hid_t type = H5Tcopy(H5T_STD_U16BE);
    H5Tcommit2(f, "kept", type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const std::array<int, 2> data = {1, 65535};
    AddDataset(f, "x", type, {2}, H5T_NATIVE_INT, data.data());
    H5Tclose(type);
  });
  std::string bytes = ReadFile(path);
  // Version 2 takes 16 bytes, and a fill value of as many stands behind it, which a dataset need
  // not have.
  const size_t at = bytes.find("\3\0\x10\0\3\0\0\0\2\2"s);
  ASSERT_NE(at, std::string::npos);
  ASSERT_EQ(bytes.substr(at + 24, 4), "\5\0\x8\0"s);
  const std::string address = bytes.substr(at + 10, 8);
  bytes.replace(
      at, 40,
      "\3\0\x20\0\3\0\0\0\1\0\0\0\0\0\0\0\x10\0\0\0\0\0\0\0"s + address + std::string(8, '\0'));
  WriteFile(path, bytes);
  EXPECT_THAT(Read(path)["x"].ToVector<int64_t>(), ElementsAre(1, 65535));
  // HDF5 treats both as the same.
  const hid_t f = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  const hid_t x = H5Dopen2(f, "x", H5P_DEFAULT);
  std::array<int, 2> read = {};
  EXPECT_GE(H5Dread(x, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, read.data()), 0);
  EXPECT_THAT(read, ElementsAre(1, 65535));
  H5Dclose(x);
  H5Fclose(f);
}

TEST_F(H5KindsTest, ReadsCommittedDatatypes) {
  for (const H5F_libver_t low : {H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST}) {
    const std::string path = Make(
        [](hid_t f) {
          const hid_t type = H5Tcopy(H5T_STD_U16BE);
          H5Tcommit2(f, "kept", type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
          const std::array<int, 2> data = {1, 65535};
          AddDataset(f, "x", type, {2}, H5T_NATIVE_INT, data.data());
          AddDataset(f, "y", type, {2}, H5T_NATIVE_INT, data.data());
          H5Tclose(type);
        },
        low);
    const StateDict state = Read(path);
    EXPECT_EQ(state.size(), 2u);
    EXPECT_THAT(state["x"].ToVector<int64_t>(), ElementsAre(1, 65535));
    EXPECT_THAT(state["y"].ToVector<int64_t>(), ElementsAre(1, 65535));
  }
}

// One of each index that the newest files have: h5py's libver='latest'.
TEST_F(H5KindsTest, ReadsEveryIndexOfChunks) {
  constexpr hsize_t kUnlimited = H5S_UNLIMITED;
  struct Case {
    const char* name;
    std::vector<hsize_t> sizes, chunk, most;
    bool early = false;
  };
  const std::vector<Case> cases = {
      {"single", {5, 7}, {5, 7}, {}},
      {"implicit", {5, 7}, {2, 3}, {}, true},
      {"implicit_grows", {5, 7}, {2, 3}, {20, 30}, true},
      {"fixed", {5, 7}, {2, 3}, {}},
      {"fixed_grows", {5, 7}, {2, 3}, {20, 30}},
      {"fixed_pages", {3000}, {1}, {}},
      {"extensible", {5, 7}, {2, 3}, {kUnlimited, 9}},
      {"extensible_second", {5, 7}, {2, 3}, {9, kUnlimited}},
      {"extensible_blocks", {3000}, {1}, {kUnlimited}},
      {"tree", {5, 7}, {2, 3}, {kUnlimited, kUnlimited}},
      {"deep_tree", {80, 80}, {1, 1}, {kUnlimited, kUnlimited}},
  };
  for (int filters = 0; filters < 4; ++filters) {
    const std::string path = Make(
        [&](hid_t f) {
          for (const Case& c : cases) {
            if (c.early && filters > 0) continue;
            const hid_t d = Create(f, c.name, c.sizes,
                                   {.chunk = c.chunk,
                                    .room = c.early ? H5D_ALLOC_TIME_EARLY : H5D_ALLOC_TIME_DEFAULT,
                                    .checked = filters == 2,
                                    .deflate = filters > 0,
                                    .shuffle = filters > 1,
                                    .plain_border = filters == 3},
                                   c.most);
            std::vector<int16_t> values(c.sizes.size() == 1 ? c.sizes[0] : c.sizes[0] * c.sizes[1]);
            for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int16_t>(i * 7);
            EXPECT_GE(H5Dwrite(d, H5T_NATIVE_INT16, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()),
                      0);
            H5Dclose(d);
          }
        },
        H5F_LIBVER_LATEST);
    const StateDict state = Read(path);
    for (const Case& c : cases) {
      if (c.early && filters > 0) continue;
      ASSERT_NE(state.Find(c.name), nullptr) << c.name;
      const std::vector<int64_t> got = state[c.name].ToVector<int64_t>();
      for (size_t i = 0; i < got.size(); ++i) {
        ASSERT_EQ(got[i], static_cast<int16_t>(i * 7)) << c.name << ", element " << i;
      }
    }
  }
}

// Chunks that stand alone, far into blocks and pages that were never made.
TEST_F(H5KindsTest, ReadsIndicesWithHoles) {
  const std::string path = Make(
      [](hid_t f) {
        for (const auto& [name, most] :
             {std::pair<const char*, std::vector<hsize_t>>{"fixed", {}},
              std::pair<const char*, std::vector<hsize_t>>{"extensible", {H5S_UNLIMITED}}}) {
          const hid_t d = Create(f, name, {200000}, {.chunk = {1}, .has_fill = true}, most);
          for (const hsize_t at : {2u, 90u, 5000u, 140000u, 199999u}) Write(d, {at});
          H5Dclose(d);
        }
      },
      H5F_LIBVER_LATEST);
  const StateDict state = Read(path);
  for (const char* name : {"fixed", "extensible"}) {
    std::vector<int64_t> expected(200000, -3);
    for (const size_t at : {2u, 90u, 5000u, 140000u, 199999u}) expected[at] = 5;
    EXPECT_EQ(state[name].ToVector<int64_t>(), expected) << name;
  }
}

TEST_F(H5KindsTest, LooksAtChecksumsOfChunks) {
  for (const bool deflate : {false, true}) {
    const std::string path = Make([&](hid_t f) {
      const hid_t d = Create(f, "x", {40},
                             {.chunk = {40}, .checked = true, .deflate = deflate, .shuffle = true});
      std::vector<int16_t> values(40, 0x1234);
      H5Dwrite(d, H5T_NATIVE_INT16, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
      H5Dclose(d);
    });
    EXPECT_THAT(Read(path)["x"].ToVector<int64_t>(), Each(0x1234));
    std::string bytes = ReadFile(path);
    const std::string packed = deflate ? "x\x9c" : std::string(40, '\x12');
    const size_t at = bytes.find(packed);
    ASSERT_NE(at, std::string::npos);
    bytes[at + 2] = static_cast<char>(bytes[at + 2] ^ 1);
    WriteFile(path, bytes);
    EXPECT_THAT(Error(path, absl::StatusCode::kDataLoss),
                HasSubstr("the checksum (fletcher32) is wrong (at /x)"));
  }
}

// Those beside them may be of any size: beyond 4 KiB the heap keeps them somewhere else.
TEST_F(H5KindsTest, FindsAttributesInAHeap) {
  const std::string path = Make(
      [](hid_t f) {
        for (const char* name : {"a", "b"}) {
          AddNumbers(f, name, {1});
          const hid_t d = H5Dopen2(f, name, H5P_DEFAULT), space = H5Screate(H5S_SCALAR);
          for (int i = 0; i < 30; ++i) {
            const std::string key = i == 17 ? "index" : "attribute" + std::to_string(i);
            const hid_t a =
                H5Acreate2(d, key.c_str(), H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT);
            const int value = name[0] == 'a' ? 1 : 0;
            H5Awrite(a, H5T_NATIVE_INT, &value);
            H5Aclose(a);
          }
          const std::vector<float> many(5000);
          const hsize_t size = many.size();
          const hid_t line = H5Screate_simple(1, &size, nullptr);
          const hid_t large =
              H5Acreate2(d, "large", H5T_IEEE_F32LE, line, H5P_DEFAULT, H5P_DEFAULT);
          EXPECT_GE(H5Awrite(large, H5T_NATIVE_FLOAT, many.data()), 0);
          H5Aclose(large);
          H5Sclose(line);
          H5Sclose(space);
          H5Dclose(d);
        }
      },
      H5F_LIBVER_LATEST);
  EXPECT_EQ(Read(path).begin()->first, "b");
}

}  // namespace
}  // namespace firn::io::internal
