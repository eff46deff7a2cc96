// The reader against files that the HDF5 library makes: all that it should understand, in each form
// that the library can be asked for, and all that it must refuse.
#include "io/internal/h5_reader.h"

#include <hdf5.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "device/cpu_allocator.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/io/test_files.h"

namespace firn::io::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Makes a file with the library and gives its path.
class H5ReaderTest : public testing::Test {
 protected:
  std::string Make(const std::function<void(hid_t file)>& fill,
                   H5F_libver_t low = H5F_LIBVER_EARLIEST, H5F_libver_t high = H5F_LIBVER_LATEST) {
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

  static absl::StatusOr<StateDict> Load(const std::string& path, const LoadLimits& limits = {}) {
    const auto file = RandomAccess::Open(path);
    EXPECT_TRUE(file.ok());
    return ReadH5(**file, limits);
  }

  // The message of an error with `code`.
  static std::string Error(const std::string& path, absl::StatusCode code,
                           const LoadLimits& limits = {}) {
    const absl::StatusOr<StateDict> state = Load(path, limits);
    EXPECT_EQ(state.status().code(), code) << state.status();
    EXPECT_THAT(std::string(state.status().message()), HasSubstr("file.h5"));
    return std::string(state.status().message());
  }
};

struct DatasetOptions {
  std::vector<hsize_t> chunk = {};
  bool shuffle = false, deflate = false, compact = false, early = false;
  bool extensible = false;  // without bound, so that chunks may be larger than the array
};

void AddDataset(hid_t file, const char* name, hid_t type, const std::vector<hsize_t>& sizes,
                hid_t memory_type, const void* data, const DatasetOptions& options = {}) {
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

// 0, 1, 2, ... as float.
void AddNumbers(hid_t file, const char* name, const std::vector<hsize_t>& sizes,
                const DatasetOptions& options = {}) {
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

TEST_F(H5ReaderTest, RefusesNumbersBeyondTheDType) {
  const uint64_t big = uint64_t{1} << 63;
  const std::string path =
      Make([&](hid_t f) { AddDataset(f, "u64", H5T_STD_U64LE, {1}, H5T_NATIVE_UINT64, &big); });
  EXPECT_THAT(Error(path, absl::StatusCode::kDataLoss), HasSubstr("beyond the largest i64"));
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

// --- Refused -------------------------------------------------------------------------------------

TEST_F(H5ReaderTest, RefusesLinksThatAreNotHard) {
  for (const H5F_libver_t low : {H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST}) {
    const auto make = [&](const std::function<void(hid_t)>& link) {
      return Make([&](hid_t f) { AddNumbers(f, "a", {1}), link(f); }, low);
    };
    EXPECT_THAT(
        Error(make([](hid_t f) { H5Lcreate_soft("/a", f, "soft", H5P_DEFAULT, H5P_DEFAULT); }),
              absl::StatusCode::kUnimplemented),
        HasSubstr("soft link"));
    EXPECT_THAT(Error(make([](hid_t f) {
                        H5Lcreate_external("/etc/passwd", "/x", f, "ext", H5P_DEFAULT, H5P_DEFAULT);
                      }),
                      absl::StatusCode::kUnimplemented),
                HasSubstr("link"));
    EXPECT_THAT(
        Error(make([](hid_t f) { H5Lcreate_hard(f, "a", f, "b", H5P_DEFAULT, H5P_DEFAULT); }),
              absl::StatusCode::kDataLoss),
        HasSubstr("the object has another name already"));
  }
}

TEST_F(H5ReaderTest, RefusesCycles) {
  const std::string path = Make([](hid_t f) {
    const hid_t g = H5Gcreate2(f, "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_hard(f, "/", g, "up", H5P_DEFAULT, H5P_DEFAULT);
    H5Gclose(g);
  });
  EXPECT_THAT(Error(path, absl::StatusCode::kDataLoss), HasSubstr("(at /g/up)"));
}

TEST_F(H5ReaderTest, RefusesElementsThatAreElsewhere) {
  const std::string external = Make([](hid_t f) {
    const hsize_t size = 4;
    const hid_t space = H5Screate_simple(1, &size, nullptr), c = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_external(c, "/etc/passwd", 0, 16);
    H5Dclose(H5Dcreate2(f, "x", H5T_IEEE_F32LE, space, H5P_DEFAULT, c, H5P_DEFAULT));
    H5Pclose(c);
    H5Sclose(space);
  });
  EXPECT_THAT(Error(external, absl::StatusCode::kUnimplemented),
              HasSubstr("elements in other files (at /x)"));
  const std::string virtual_dataset = Make([](hid_t f) {
    const hsize_t size = 4;
    const hid_t space = H5Screate_simple(1, &size, nullptr), c = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_virtual(c, space, "other.h5", "/x", space);
    H5Dclose(H5Dcreate2(f, "x", H5T_IEEE_F32LE, space, H5P_DEFAULT, c, H5P_DEFAULT));
    H5Pclose(c);
    H5Sclose(space);
  });
  EXPECT_THAT(Error(virtual_dataset, absl::StatusCode::kUnimplemented), HasSubstr("virtual"));
  const std::string never =
      Make([](hid_t f) { AddDataset(f, "x", H5T_IEEE_F32LE, {1000}, H5T_NATIVE_FLOAT, nullptr); });
  EXPECT_THAT(Error(never, absl::StatusCode::kDataLoss), HasSubstr("none were ever written"));
}

TEST_F(H5ReaderTest, RefusesOtherTypesAndFilters) {
  const auto type_error = [&](hid_t type) {
    const std::string path =
        Make([&](hid_t f) { AddDataset(f, "x", type, {2}, type, nullptr, {.early = true}); });
    return Error(path, absl::StatusCode::kUnimplemented);
  };
  const hid_t text = H5Tcopy(H5T_C_S1), any_length = H5Tcopy(H5T_C_S1);
  H5Tset_size(any_length, H5T_VARIABLE);
  EXPECT_THAT(type_error(text), HasSubstr("class string"));
  EXPECT_THAT(type_error(any_length), HasSubstr("class variable-length"));
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

  const std::string checked = Make([](hid_t f) {
    const hsize_t size = 4;
    const hid_t space = H5Screate_simple(1, &size, nullptr), c = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(c, 1, &size);
    H5Pset_fletcher32(c);
    H5Dclose(H5Dcreate2(f, "x", H5T_IEEE_F32LE, space, H5P_DEFAULT, c, H5P_DEFAULT));
    H5Pclose(c);
    H5Sclose(space);
  });
  EXPECT_THAT(Error(checked, absl::StatusCode::kUnimplemented), HasSubstr("filter 3"));
}

TEST_F(H5ReaderTest, RefusesNullSpacesAndTooManyDimensions) {
  const std::string null = Make([](hid_t f) {
    const hid_t space = H5Screate(H5S_NULL);
    H5Dclose(H5Dcreate2(f, "x", H5T_IEEE_F32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Sclose(space);
  });
  EXPECT_THAT(Error(null, absl::StatusCode::kUnimplemented), HasSubstr("without elements"));
  const std::string deep = Make([](hid_t f) { AddNumbers(f, "x", {1, 1, 1, 1, 1, 1, 1, 1, 1}); });
  EXPECT_THAT(Error(deep, absl::StatusCode::kDataLoss), HasSubstr("at most 8 dimensions, got 9"));
}

// The library writes a chunk as it is told to, whatever its size.
TEST_F(H5ReaderTest, RefusesChunksThatSkipAllFiltersAndHaveTheWrongSize) {
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
    for (const size_t stored : {4, 39, 41, 80}) {
      EXPECT_THAT(Error(make(stored), absl::StatusCode::kDataLoss), HasSubstr("wrong size"))
          << stored;
    }
  }
}

// A small file that claims to be huge: its chunks were never written.
TEST_F(H5ReaderTest, TakesNoMemoryForABomb) {
  const std::string sparse = Make([](hid_t f) {
    AddDataset(f, "x", H5T_IEEE_F32LE, {1u << 30, 1u << 20}, H5T_NATIVE_FLOAT, nullptr,
               {.chunk = {1024, 1024}, .deflate = true});
  });
  const int64_t before = CpuAllocator().stats().allocations;
  EXPECT_FALSE(Load(sparse).ok());
  EXPECT_EQ(CpuAllocator().stats().allocations, before);
}

TEST_F(H5ReaderTest, ObeysItsLimits) {
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

TEST_F(H5ReaderTest, CountsAChunkThatIsLargerThanTheArray) {
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
TEST_F(H5ReaderTest, CountsEachUseOfAName) {
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
