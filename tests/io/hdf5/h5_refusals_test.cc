// What the reader must refuse of the files that the HDF5 library makes, and the limits that it
// keeps.
#include <hdf5.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "firn/device/cpu_allocator.h"
#include "firn/io/hdf5/internal/h5_reader.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/io/hdf5/h5_test_files.h"
#include "tests/io/test_files.h"

namespace firn::io::internal {
namespace {

using namespace std::string_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class H5RefusalsTest : public H5ReaderTest {};
class H5LimitsTest : public H5ReaderTest {};

TEST_F(H5RefusalsTest, RefusesNumbersBeyondTheDType) {
  const uint64_t big = uint64_t{1} << 63;
  const std::string path =
      Make([&](hid_t f) { AddDataset(f, "u64", H5T_STD_U64LE, {1}, H5T_NATIVE_UINT64, &big); });
  EXPECT_THAT(Error(path, absl::StatusCode::kUnimplemented), HasSubstr("beyond the largest i64"));
}

TEST_F(H5RefusalsTest, RefusesLinksToOtherFilesAndToNothing) {
  for (const H5F_libver_t low : {H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST}) {
    const auto make = [&](const std::function<void(hid_t)>& link) {
      return Make([&](hid_t f) { AddNumbers(f, "a", {1}), link(f); }, low);
    };
    EXPECT_THAT(Error(make([](hid_t f) {
                        H5Lcreate_external("/etc/passwd", "/x", f, "ext", H5P_DEFAULT, H5P_DEFAULT);
                      }),
                      absl::StatusCode::kUnimplemented),
                // The message does not name LoadOptions::want, which is asked only about datasets.
                AllOf(HasSubstr("external link ext"), Not(HasSubstr("LoadOptions"))));
    const std::string nowhere =
        make([](hid_t f) { H5Lcreate_soft("/none", f, "soft", H5P_DEFAULT, H5P_DEFAULT); });
    EXPECT_THAT(Error(nowhere, absl::StatusCode::kUnimplemented),
                AllOf(HasSubstr("a soft link to /none, where nothing is (at /soft)"),
                      HasSubstr("LoadOptions::want can leave this")));
    const auto file = RandomAccess::Open(nowhere);
    const auto others =
        ReadH5(**file, {.want = [](std::string_view name) { return name != "soft"; }});
    ASSERT_TRUE(others.ok()) << others.status();
    EXPECT_EQ(others->size(), 1u);
    EXPECT_THAT(Error(make([](hid_t f) {
                        H5Lcreate_soft("two", f, "one", H5P_DEFAULT, H5P_DEFAULT);
                        H5Lcreate_soft("one", f, "two", H5P_DEFAULT, H5P_DEFAULT);
                      }),
                      absl::StatusCode::kUnimplemented),
                HasSubstr("a cycle"));
    // Links that are left out change nothing for others.
    const std::string through = make([](hid_t f) {
      for (const char* name : {"b", "c", "d"}) {
        H5Lcreate_soft("a/b", f, name, H5P_DEFAULT, H5P_DEFAULT);
      }
    });
    for (const std::string_view wanted : {"b", "c", "d"}) {
      const auto opened = RandomAccess::Open(through);
      const auto state =
          ReadH5(**opened, {.want = [&](std::string_view name) { return name == wanted; }});
      EXPECT_EQ(state.status().code(), absl::StatusCode::kUnimplemented);
      EXPECT_THAT(std::string(state.status().message()), HasSubstr("goes through no group"));
    }
  }
}

TEST_F(H5RefusalsTest, RefusesCycles) {
  const auto make = [](const std::function<void(hid_t group)>& link) {
    return Make([&](hid_t f) {
      const hid_t g = H5Gcreate2(f, "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
      link(g);
      H5Gclose(g);
    });
  };
  for (const char* to : {"/", "/g", "."}) {
    const std::string hard =
        make([&](hid_t g) { H5Lcreate_hard(g, to, g, "up", H5P_DEFAULT, H5P_DEFAULT); });
    EXPECT_THAT(Error(hard, absl::StatusCode::kUnimplemented), HasSubstr("(at /g/up)")) << to;
    const std::string soft =
        make([&](hid_t g) { H5Lcreate_soft(to, g, "up", H5P_DEFAULT, H5P_DEFAULT); });
    EXPECT_THAT(Error(soft, absl::StatusCode::kUnimplemented), HasSubstr("cycle (at /g/up)")) << to;
  }
}

// Each group names the next one twice: 2^40 names of one dataset.
TEST_F(H5LimitsTest, CountsTheNamesOfGroupsWithinGroups) {
  const std::string path = Make([](hid_t f) {
    AddNumbers(f, "g0/x", {1});
    for (int i = 1; i <= 40; ++i) {
      const std::string name = "g" + std::to_string(i), last = "/g" + std::to_string(i - 1);
      const hid_t g = H5Gcreate2(f, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
      H5Lcreate_hard(f, last.c_str(), g, "a", H5P_DEFAULT, H5P_DEFAULT);
      H5Lcreate_soft(last.c_str(), g, "b", H5P_DEFAULT, H5P_DEFAULT);
      H5Gclose(g);
    }
  });
  EXPECT_THAT(Error(path, absl::StatusCode::kResourceExhausted), HasSubstr("structure"));
}

TEST_F(H5RefusalsTest, RefusesElementsThatAreElsewhere) {
  const std::string external = Make([](hid_t f) {
    const hsize_t size = 4;
    const hid_t space = H5Screate_simple(1, &size, nullptr), c = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_external(c, "/etc/passwd", 0, 16);
    H5Dclose(H5Dcreate2(f, "x", H5T_IEEE_F32LE, space, H5P_DEFAULT, c, H5P_DEFAULT));
    H5Pclose(c);
    H5Sclose(space);
  });
  EXPECT_THAT(Error(external, absl::StatusCode::kUnimplemented),
              HasSubstr("elements in other files (at /x); LoadOptions::want can leave this "
                        "dataset out"));
  const std::string virtual_dataset = Make([](hid_t f) {
    const hsize_t size = 4;
    const hid_t space = H5Screate_simple(1, &size, nullptr), c = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_virtual(c, space, "other.h5", "/x", space);
    H5Dclose(H5Dcreate2(f, "x", H5T_IEEE_F32LE, space, H5P_DEFAULT, c, H5P_DEFAULT));
    H5Pclose(c);
    H5Sclose(space);
  });
  EXPECT_THAT(Error(virtual_dataset, absl::StatusCode::kUnimplemented), HasSubstr("virtual"));
  const std::string no_value = Make([](hid_t f) {
    const hsize_t size = 4;
    const hid_t space = H5Screate_simple(1, &size, nullptr), c = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_fill_value(c, H5T_IEEE_F32LE, nullptr);
    H5Dclose(H5Dcreate2(f, "x", H5T_IEEE_F32LE, space, H5P_DEFAULT, c, H5P_DEFAULT));
    H5Pclose(c);
    H5Sclose(space);
  });
  EXPECT_THAT(Error(no_value, absl::StatusCode::kUnimplemented),
              HasSubstr("never written and have no fill value"));
}

// A dataspace of two dimensions, of which only one can be there.
TEST_F(H5RefusalsTest, SaysThatAMessageEndsEarly) {
  const std::string path = Make([](hid_t f) { AddNumbers(f, "x", {9}); });
  std::string bytes = ReadFile(path);
  const size_t at = bytes.find("\1\1\1\0\0\0\0\0\x9\0\0\0\0\0\0\0"s);
  ASSERT_NE(at, std::string::npos);
  bytes[at + 1] = 2;
  WriteFile(path, bytes);
  EXPECT_THAT(Error(path, absl::StatusCode::kDataLoss), HasSubstr("dataspace: it ends early"));
}

// A truncation at any place is reported as damage, never as a kind that is not read.
TEST_F(H5RefusalsTest, SaysDataLossForEveryTruncation) {
  for (const H5F_libver_t low : {H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST}) {
    const std::string path = Make([](hid_t f) { AddNumbers(f, "x", {9}, {.chunk = {2}}); }, low);
    const std::string bytes = ReadFile(path);
    for (size_t n = 0; n < bytes.size(); n += n < 200 ? 1 : 37) {
      WriteFile(path, bytes.substr(0, n));
      EXPECT_EQ(Load(path).status().code(), absl::StatusCode::kDataLoss) << n;
    }
  }
}

TEST_F(H5RefusalsTest, RefusesOtherTypesAndFilters) {
  const auto type_error = [&](hid_t type) {
    const std::string path =
        Make([&](hid_t f) { AddDataset(f, "x", type, {2}, type, nullptr, {.early = true}); });
    return Error(path, absl::StatusCode::kUnimplemented);
  };
  const hid_t text = H5Tcopy(H5T_C_S1), any_length = H5Tcopy(H5T_C_S1);
  H5Tset_size(any_length, H5T_VARIABLE);
  EXPECT_THAT(type_error(text), HasSubstr("class string, which LoadHdf5Words reads"));
  EXPECT_THAT(type_error(any_length),
              HasSubstr("class variable-length, which LoadHdf5Words reads"));
  const hid_t compound = H5Tcreate(H5T_COMPOUND, 8);
  H5Tinsert(compound, "a", 0, H5T_NATIVE_FLOAT);
  EXPECT_THAT(type_error(compound), HasSubstr("class compound"));
  EXPECT_THAT(type_error(H5T_STD_REF_OBJ), HasSubstr("class reference"));
  EXPECT_THAT(type_error(H5T_STD_B8LE), HasSubstr("class bit field"));
  const hid_t colour = H5Tenum_create(H5T_STD_I8LE);
  const int8_t zero = 0, one = 1;
  H5Tenum_insert(colour, "RED", &zero);
  H5Tenum_insert(colour, "BLUE", &one);
  EXPECT_THAT(type_error(colour), HasSubstr("enumeration"));
  EXPECT_THAT(type_error(H5T_NATIVE_LDOUBLE), HasSubstr("float type of 16 bytes"));
  for (const hid_t t : {text, any_length, compound, colour}) H5Tclose(t);

  const std::string packed = Make([](hid_t f) {
    const hsize_t size = 4;
    const hid_t space = H5Screate_simple(1, &size, nullptr), c = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(c, 1, &size);
    H5Pset_nbit(c);
    H5Dclose(H5Dcreate2(f, "x", H5T_IEEE_F32LE, space, H5P_DEFAULT, c, H5P_DEFAULT));
    H5Pclose(c);
    H5Sclose(space);
  });
  EXPECT_THAT(Error(packed, absl::StatusCode::kUnimplemented), HasSubstr("filter 5, nbit"));
}

TEST_F(H5RefusalsTest, RefusesNullSpacesAndTooManyDimensions) {
  const std::string null = Make([](hid_t f) {
    const hid_t space = H5Screate(H5S_NULL);
    H5Dclose(H5Dcreate2(f, "x", H5T_IEEE_F32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Sclose(space);
  });
  EXPECT_THAT(Error(null, absl::StatusCode::kUnimplemented), HasSubstr("without elements"));
  const std::string deep = Make([](hid_t f) { AddNumbers(f, "x", {1, 1, 1, 1, 1, 1, 1, 1, 1}); });
  EXPECT_THAT(Error(deep, absl::StatusCode::kUnimplemented),
              HasSubstr("at most 8 dimensions, got 9"));
}

// The library writes a chunk as it is told to, whatever its size.
TEST_F(H5RefusalsTest, RefusesChunksThatSkipAllFiltersAndHaveTheWrongSize) {
  const std::vector<float> values(20, 1.f);
  for (const bool shuffle : {false, true}) {
    const auto make = [&](size_t stored) {
      return Make([&](hid_t f) {
        AddNumbers(f, "x", {10}, {.chunk = {10}, .shuffle = shuffle, .deflate = true});
        const hid_t dataset = H5Dopen2(f, "x", H5P_DEFAULT);
        const hsize_t at = 0;
        EXPECT_GE(H5Dwrite_chunk(dataset, H5P_DEFAULT, shuffle ? 3 : 1, &at, stored, values.data()),
                  0);
        H5Dclose(dataset);
      });
    };
    const absl::StatusOr<StateDict> state = Load(make(40));
    ASSERT_TRUE(state.ok()) << state.status();
    EXPECT_EQ((*state)["x"].ToVector<float>(), std::vector<float>(10, 1.f));
    EXPECT_TRUE(Load(make(40), {.max_expansion = 0}).ok());  // it does not expand
    for (const size_t stored : {4, 39, 41, 80}) {
      EXPECT_THAT(Error(make(stored), absl::StatusCode::kDataLoss), HasSubstr("wrong size"))
          << stored;
    }
  }
}

// Small files that claim to be huge: their elements were never written.
TEST_F(H5LimitsTest, TakesNoMemoryForABomb) {
  const std::string sparse = Make([](hid_t f) {
    AddDataset(f, "x", H5T_IEEE_F32LE, {1u << 30, 1u << 20}, H5T_NATIVE_FLOAT, nullptr,
               {.chunk = {1024, 1024}, .deflate = true});
  });
  const int64_t before = CpuAllocator().stats().allocations;
  EXPECT_THAT(Error(sparse, absl::StatusCode::kResourceExhausted),
              HasSubstr("that were never written are more than the 268435456 bytes"));
  const std::string whole = Make([](hid_t f) {
    AddDataset(f, "x", H5T_IEEE_F32LE, {1u << 30, 1u << 20}, H5T_NATIVE_FLOAT, nullptr);
  });
  EXPECT_THAT(Error(whole, absl::StatusCode::kResourceExhausted), HasSubstr("never written"));
  EXPECT_EQ(CpuAllocator().stats().allocations, before);
}

TEST_F(H5LimitsTest, ObeysItsLimits) {
  const std::string path = Make([](hid_t f) {
    AddNumbers(f, "a/b/c", {100});
    AddNumbers(f, "a/b/d", {100});
  });
  EXPECT_TRUE(
      Load(path, {.max_tensors = 2, .max_total_bytes = 800, .max_name_bytes = 5, .max_depth = 3})
          .ok());
  constexpr auto kExhausted = absl::StatusCode::kResourceExhausted;
  EXPECT_THAT(Error(path, kExhausted, {.max_total_bytes = 799}), HasSubstr("f32 take more than"));
  EXPECT_THAT(Error(path, kExhausted, {.max_tensors = 1}), HasSubstr("more than the 1"));
  EXPECT_THAT(Error(path, kExhausted, {.max_depth = 2}), HasSubstr("nested more than the 2"));
  EXPECT_THAT(Error(path, kExhausted, {.max_name_bytes = 4}),
              HasSubstr("name has more than the 4"));
  EXPECT_THAT(Error(path, kExhausted, {.max_metadata_bytes = 1000}), HasSubstr("structure"));
}

// A name is made of the names of the groups above, which the file has only once.
TEST_F(H5LimitsTest, CountsNamesAsTheyAreRead) {
  const std::string path = Make([](hid_t f) {
    const std::string group(3000, 'x');
    for (int i = 0; i < 50; ++i) AddNumbers(f, (group + "/" + std::to_string(i)).c_str(), {1});
  });
  EXPECT_TRUE(Load(path, {.max_metadata_bytes = 200'000}).ok());
  EXPECT_THAT(Error(path, absl::StatusCode::kResourceExhausted, {.max_metadata_bytes = 100'000}),
              HasSubstr("all names have more than the 100000 bytes allowed"));
}

// Chunks that lie side by side need no index in the file.
TEST_F(H5LimitsTest, CountsChunksWithoutAnIndex) {
  const std::string path =
      Make([](hid_t f) { AddNumbers(f, "x", {4000}, {.chunk = {1}, .early = true}); },
           H5F_LIBVER_LATEST);
  EXPECT_TRUE(Load(path, {.max_metadata_bytes = 300'000}).ok());
  EXPECT_THAT(Error(path, absl::StatusCode::kResourceExhausted, {.max_metadata_bytes = 200'000}),
              HasSubstr("an index of 4000 chunks"));
}

// A file that has only links with long names and paths, each of which is read once.
TEST_F(H5LimitsTest, LetsAFileConsistOfSoftLinks) {
  for (const H5F_libver_t low : {H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST}) {
    const std::string path = Make(
        [](hid_t f) {
          const std::string name(1000, 'x'), to = "/" + name;
          AddNumbers(f, name.c_str(), {1});
          for (int i = 0; i < 300; ++i) {
            const std::string link = name + std::to_string(i);
            H5Lcreate_soft(to.c_str(), f, link.c_str(), H5P_DEFAULT, H5P_DEFAULT);
          }
        },
        low);
    const absl::StatusOr<StateDict> state = Load(path);
    ASSERT_TRUE(state.ok()) << state.status();
    EXPECT_EQ(state->size(), 301u);
  }
}

TEST_F(H5LimitsTest, CountsAChunkThatIsLargerThanTheArray) {
  const std::string path = Make([](hid_t f) {
    AddNumbers(f, "x", {3, 2}, {.chunk = {1024, 256}, .deflate = true, .extensible = true});
  });
  const absl::StatusOr<StateDict> state = Load(path);
  ASSERT_TRUE(state.ok()) << state.status();
  ExpectNumbers((*state)["x"], {3, 2});
  EXPECT_TRUE(Load(path, {.max_total_bytes = 1 << 20}).ok());
  EXPECT_THAT(Error(path, absl::StatusCode::kResourceExhausted, {.max_total_bytes = (1 << 20) - 1}),
              HasSubstr("a chunk of 1048576 bytes takes more than the 1048575"));
}

// All members of a symbol table are made to share one long name.
TEST_F(H5LimitsTest, CountsEachUseOfAName) {
  const std::string name(4000, 'x');
  const std::string path = Make([&](hid_t f) {
    AddNumbers(f, name.c_str(), {1});
    for (int i = 0; i < 200; ++i) AddNumbers(f, std::to_string(i).c_str(), {1});
  });
  std::string bytes = ReadFile(path);
  uint64_t heap = 0;
  std::memcpy(&heap, bytes.data() + bytes.find("HEAP") + 24, sizeof(heap));
  const uint64_t name_at = bytes.find(name, heap) - heap;
  int entries = 0;
  for (size_t at = 0; (at = bytes.find("SNOD", at)) != std::string::npos; at += 8) {
    uint16_t n = 0;
    std::memcpy(&n, bytes.data() + at + 6, sizeof(n));
    for (size_t i = 0; i < n; ++i, ++entries) {
      std::memcpy(bytes.data() + at + 8 + 40 * i, &name_at, sizeof(name_at));
    }
  }
  ASSERT_EQ(entries, 201);
  ASSERT_LT(4 * bytes.size(), 201 * name.size());
  WriteFile(path, bytes);
  EXPECT_THAT(Error(path, absl::StatusCode::kResourceExhausted), HasSubstr("structure"));
}

}  // namespace
}  // namespace firn::io::internal
