// Round trips, NNabla's files, the atomic replacement, and what the HDF5 library says of our files.
#include <hdf5.h>
#include <sys/resource.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/escaping.h"
#include "firn/device/testing.h"
#include "firn/io/hdf5/hdf5_status.h"
#include "firn/io/hdf5/internal/h5_writer.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/tensor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/error_of.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> Names(const StateDict& state) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : state) names.push_back(name);
  return names;
}

void ExpectSame(const StateDict& a, const StateDict& b) {
  EXPECT_EQ(Names(a), Names(b));
  for (const auto& [name, tensor] : a) {
    const Tensor* other = b.Find(name);
    ASSERT_NE(other, nullptr) << name;
    EXPECT_EQ(tensor.dtype(), other->dtype()) << name;
    EXPECT_TRUE(tensor.Contiguous().Equals(*other)) << name;
    EXPECT_EQ(tensor.requires_grad(), other->requires_grad()) << name;
  }
}

StateDict RoundTrip(const StateDict& state) {
  const std::string path = TempPath("state.h5");
  const absl::Status saved = TrySaveHdf5(path, state);
  EXPECT_TRUE(saved.ok()) << saved;
  const absl::StatusOr<StateDict> loaded = TryLoadHdf5(path);
  EXPECT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_THAT(List(std::filesystem::path(path).parent_path().string()), ElementsAre("state.h5"));
  return loaded.ok() ? *loaded : StateDict();
}

Tensor Floats(const Shape& shape) {
  std::vector<float> values;
  for (int64_t i = 0; i < shape.num_elements(); ++i) values.push_back(static_cast<float>(i) - 2.5f);
  return FromVector(values, shape);
}

TEST(Hdf5Test, KeepsNamesOrderShapesAndGradientFlags) {
  StateDict state;
  state.Insert("layer2.conv1.weight", Floats({4, 3, 2, 2}).SetRequiresGrad());
  state.Insert("layer1.conv1.weight", Floats({2, 5}));
  state.Insert("layer1.bn.num_batches_tracked", FromVector<int64_t>({7}, {}));
  state.Insert("a", Floats({1}));
  ExpectSame(RoundTrip(state), state);
}

TEST(Hdf5Test, KeepsEveryDType) {
  StateDict state;
  for (const DType dtype : {DType::kF32, DType::kF64, DType::kF16, DType::kBF16, DType::kI8,
                            DType::kI32, DType::kI64, DType::kU8, DType::kBool}) {
    state.Insert(std::string("t.") + DTypeName(dtype), Floats({3, 4}).To(dtype));
    state.Insert(std::string("scalar.") + DTypeName(dtype), Floats({}).To(dtype));
    state.Insert(std::string("empty.") + DTypeName(dtype), Floats({2, 0, 3}).To(dtype));
  }
  state.Insert("big", FromValues<int64_t>({INT64_MIN, INT64_MAX}));
  ExpectSame(RoundTrip(state), state);
}

TEST(Hdf5Test, KeepsFloatsToTheBit) {
  const std::vector<uint32_t> bits = {0x7fc00001, 0xff800000, 0x80000000, 1, 0x7f7fffff};
  std::vector<float> values(5);
  std::memcpy(values.data(), bits.data(), 20);
  const StateDict loaded = RoundTrip({{"x", FromVector(values)}});
  EXPECT_EQ(std::memcmp(loaded["x"].host_view<float>().data(), bits.data(), 20), 0);
}

TEST(Hdf5Test, KeepsNamesThatAreNotTame) {
  using namespace std::string_literals;
  StateDict state;
  const std::string deep = [] {
    std::string name = "d";
    for (int i = 0; i < 100; ++i) name += ".d";
    return name;
  }();
  for (const std::string& name : {"w"s,     "w.m"s,       "w.m.v"s,
                                  "w.x.y"s, ""s,          "."s,
                                  ".."s,    ".a"s,        "a."s,
                                  "a..b"s,  "a/b"s,       "a.b"s,
                                  "a%2Fb"s, "100%"s,      "%"s,
                                  "%25"s,   "%2E"s,       "\xc3\xa9t\xc3\xa9.\xe2\x98\x83"s,
                                  "a b\n"s, "nul\0here"s, "@module.conv"s,
                                  deep}) {
    state.Insert(name, Floats({static_cast<int64_t>(state.size())}));
  }
  ExpectSame(RoundTrip(state), state);
}

TEST(Hdf5Test, KeepsAnEmptyDict) { ExpectSame(RoundTrip({}), {}); }

// Enough members for several leaves and levels of the group's tree.
TEST(Hdf5Test, KeepsThousandsOfEntries) {
  StateDict state;
  for (int i = 0; i < 3000; ++i) {
    state.Insert((i % 2 == 0 ? "flat" : "g.h.") + std::to_string(i * 7919 % 3001), Floats({i % 3}));
  }
  ExpectSame(RoundTrip(state), state);
}

TEST(Hdf5Test, WritesViewsAndSharedTensorsAsTheyLook) {
  Tensor t = Floats({2, 3});
  const Tensor turned = FromBlob(t.mutable_host_view<float>().data(), {3, 2}, {1, 3}, DType::kF32);
  const StateDict loaded = RoundTrip({{"t", t}, {"view", turned}, {"again", t}});
  EXPECT_EQ(loaded["view"].shape(), (Shape{3, 2}));
  EXPECT_THAT(loaded["view"].ToVector<float>(), ElementsAre(-2.5, 0.5, -1.5, 1.5, -0.5, 2.5));
  EXPECT_TRUE(loaded["again"].Equals(t));
}

TEST(Hdf5Test, EqualDictsGiveEqualFiles) {
  const StateDict state = {{"a.b", Floats({5})}, {"c", Floats({2})}};
  const std::string first = TempPath("1.h5"), second = TempPath("2.h5");
  ASSERT_TRUE(TrySaveHdf5(first, state).ok());
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // times are in seconds
  ASSERT_TRUE(TrySaveHdf5(second, state).ok());
  EXPECT_EQ(ReadFile(first), ReadFile(second));
}

TEST(Hdf5Test, ReadsNnablaParameters) {
  const absl::StatusOr<StateDict> state = TryLoadHdf5("tests/io/hdf5/data/sample_params.h5");
  ASSERT_TRUE(state.ok()) << state.status();
  // In the order of the attribute `index`, which is not that of the names.
  EXPECT_THAT(Names(*state), ElementsAre("conv1.conv.W", "conv1.conv.b", "bn.mean",
                                         "affine.affine.W", "prelu.slope", "@conv_bn.conv.W"));
  for (const auto& [name, tensor] : *state) {
    SCOPED_TRACE(name);
    EXPECT_EQ(tensor.dtype(), DType::kF32);
    EXPECT_EQ(tensor.requires_grad(), name != "bn.mean");
  }
  const Tensor w = (*state)["conv1.conv.W"];
  EXPECT_EQ(w.shape(), (Shape{2, 1, 3, 3}));
  const std::vector<float> values = w.ToVector<float>();
  EXPECT_FLOAT_EQ(values.front(), 0.18527888f);
  EXPECT_FLOAT_EQ(values[1], -1.236787f);
  EXPECT_FLOAT_EQ(values.back(), 1.4542326f);
  const std::vector<float> affine = (*state)["affine.affine.W"].ToVector<float>();
  EXPECT_EQ((*state)["affine.affine.W"].shape(), (Shape{8, 10}));
  EXPECT_FLOAT_EQ(affine.front(), -2.2269547f);
  EXPECT_FLOAT_EQ(affine.back(), -1.0807056f);
  EXPECT_EQ((*state)["prelu.slope"].shape(), Shape());
  EXPECT_FLOAT_EQ((*state)["prelu.slope"].Item<float>(), 0.25f);
  EXPECT_EQ((*state)["@conv_bn.conv.W"].ToVector<float>(), std::vector<float>(4, 1));
}

TEST(Hdf5Test, ReadsNnablaSolverStates) {
  const absl::StatusOr<StateDict> state = TryLoadHdf5("tests/io/hdf5/data/sample_solver_states.h5");
  ASSERT_TRUE(state.ok()) << state.status();
  EXPECT_THAT(Names(*state),
              ::testing::UnorderedElementsAre("affine.affine.W.mean", "affine.affine.W.var",
                                              "affine.affine.W.t"));
  const Tensor t = (*state)["affine.affine.W.t"];
  EXPECT_EQ(t.dtype(), DType::kI64);
  EXPECT_EQ(t.shape(), Shape());
  EXPECT_EQ(t.Item<int64_t>(), 5);
  EXPECT_EQ((*state)["affine.affine.W.mean"].shape(), (Shape{8, 10}));
}

// --- What the library finds in our files ---------------------------------------------------------

TEST(Hdf5Test, TheLibraryReadsOurFilesAsNnablaWould) {
  const std::string path = TempPath("state.h5");
  ASSERT_TRUE(TrySaveHdf5(path, {{"conv1.W", Floats({2, 3}).SetRequiresGrad()},
                                 {"conv1.flag", Floats({1}).To(DType::kBool)}})
                  .ok());
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  ASSERT_GE(file, 0);
  const hid_t dataset = H5Dopen2(file, "/conv1/W", H5P_DEFAULT);
  ASSERT_GE(dataset, 0);
  float values[6];
  ASSERT_GE(H5Dread(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), 0);
  EXPECT_EQ(values[5], 2.5f);
  const hid_t index = H5Aopen(dataset, "index", H5P_DEFAULT);
  int64_t number = -1;
  ASSERT_GE(H5Aread(index, H5T_NATIVE_INT64, &number), 0);
  EXPECT_EQ(number, 0);
  const hid_t need_grad = H5Aopen(dataset, "need_grad", H5P_DEFAULT);
  const hid_t type = H5Aget_type(need_grad);
  EXPECT_EQ(H5Tget_class(type), H5T_ENUM);
  int8_t flag = 0;
  ASSERT_GE(H5Aread(need_grad, type, &flag), 0);
  EXPECT_EQ(flag, 1);
  const hid_t creation = H5Dget_create_plist(dataset);
  EXPECT_EQ(H5Pget_layout(creation), H5D_CONTIGUOUS);
  H5Pclose(creation);
  H5Tclose(type);
  H5Aclose(need_grad);
  H5Aclose(index);
  H5Dclose(dataset);
  EXPECT_GE(H5Fclose(file), 0);
}

// The library converts what it reads, so the right numbers show that each type is described right.
TEST(Hdf5Test, TheLibraryReadsEveryDType) {
  const std::string path = TempPath("state.h5");
  StateDict state;
  for (const DType dtype : {DType::kF32, DType::kF64, DType::kF16, DType::kBF16, DType::kI8,
                            DType::kI32, DType::kI64, DType::kU8, DType::kBool}) {
    state.Insert(std::string("deep.er.") + DTypeName(dtype), FromValues({0.f, 1.f, 1.f}).To(dtype));
  }
  ASSERT_TRUE(TrySaveHdf5(path, state).ok());
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  ASSERT_GE(file, 0);
  for (const auto& [name, tensor] : state) {
    const std::string dtype = DTypeName(tensor.dtype());
    const hid_t dataset = H5Dopen2(file, ("/deep/er/" + dtype).c_str(), H5P_DEFAULT);
    ASSERT_GE(dataset, 0) << dtype;
    if (tensor.dtype() == DType::kBool) {
      const hid_t type = H5Dget_type(dataset);
      int8_t flags[3] = {};
      ASSERT_GE(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, flags), 0);
      EXPECT_THAT(flags, ElementsAre(0, 1, 1));
      H5Tclose(type);
    } else {
      double values[3] = {};
      ASSERT_GE(H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), 0);
      EXPECT_THAT(values, ElementsAre(0, 1, 1)) << dtype;
    }
    H5Dclose(dataset);
  }
  EXPECT_GE(H5Fclose(file), 0);
}

// Numbers of elements from a few, which wait for the library's own bytes, to those that take
// several pieces, and the numbers at which one way becomes the other.
TEST(Hdf5Test, KeepsElementsOfAnyLength) {
  StateDict state;
  for (const int64_t bytes :
       {1, 4096, (64 << 10) - 1, 64 << 10, (64 << 10) + 1, 2 << 20, (2 << 20) + 1, 5'000'001}) {
    std::vector<uint8_t> v(static_cast<size_t>(bytes));
    for (size_t i = 0; i < v.size(); ++i) v[i] = static_cast<uint8_t>(i % 251);
    state.Insert("group.of_" + std::to_string(bytes), FromVector(std::move(v)));
    state.Insert("small_" + std::to_string(bytes), Floats({3}));
  }
  ExpectSame(RoundTrip(state), state);
  const hid_t file = H5Fopen(TempPath("state.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  ASSERT_GE(file, 0);
  const hid_t dataset = H5Dopen2(file, "/group/of_5000001", H5P_DEFAULT);
  std::vector<uint8_t> read(5'000'001);
  ASSERT_GE(H5Dread(dataset, H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, read.data()), 0);
  EXPECT_EQ(read, state["group.of_5000001"].ToVector<uint8_t>());
  H5Dclose(dataset);
  EXPECT_GE(H5Fclose(file), 0);
}

// Other threads need not wait for a slow one.
TEST(Hdf5Test, AnotherThreadMaySaveWhileOneRests) {
  const StateDict state = {{"a", Floats({1 << 20})}, {"b", Floats({3})}, {"c", Floats({3})}};
  int rests = 0;
  bool free = true;
  std::vector<std::future<void>> abandoned;
  const auto rest = [&] {
    ++rests;
    if (!free) return;
    auto saved = std::async(std::launch::async, [&] {
      const absl::Status status = TrySaveHdf5(TempPath("other.h5"), {{"x", Floats({5})}});
      EXPECT_TRUE(status.ok() && TryLoadHdf5(TempPath("other.h5")).ok()) << status;
    });
    free = saved.wait_for(std::chrono::seconds(20)) == std::future_status::ready;
    EXPECT_TRUE(free) << "at rest " << rests;
    // The destructor of `saved` would wait here for a thread that waits for this one.
    if (!free) abandoned.push_back(std::move(saved));
  };
  ASSERT_TRUE(internal::WriteH5(TempPath("state.h5"), state, {}, rest).ok());
  EXPECT_GE(rests, 4);
  ExpectSame(*TryLoadHdf5(TempPath("state.h5")), state);
}

// --- Replacing a file ----------------------------------------------------------------------------

TEST(Hdf5Test, RefusesUndefinedTensorsAndKeepsTheOldFile) {
  const std::string path = TempPath("state.h5");
  ASSERT_TRUE(TrySaveHdf5(path, {{"a", Floats({3})}}).ok());
  const absl::Status status = TrySaveHdf5(path, {{"a", Floats({4})}, {"b", Tensor()}});
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("b is an undefined tensor"));
  EXPECT_EQ((*TryLoadHdf5(path))["a"].shape(), Shape{3});
  EXPECT_THAT(List(std::filesystem::path(path).parent_path().string()), ElementsAre("state.h5"));
}

// A limit on file sizes stands for a full disk: both make write() fail half way.
TEST(Hdf5Test, AFullDiskKeepsTheOldFile) {
  const std::string path = TempPath("state.h5");
  ASSERT_TRUE(TrySaveHdf5(path, {{"a", Floats({3})}}).ok());
  rlimit old;
  getrlimit(RLIMIT_FSIZE, &old);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  for (const rlim_t limit : {0, 1, 4096, 100000}) {
    const rlimit small = {limit, old.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    const absl::Status status = TrySaveHdf5(path, {{"a", Floats({100000})}});
    setrlimit(RLIMIT_FSIZE, &old);
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(path));
    EXPECT_EQ((*TryLoadHdf5(path))["a"].shape(), Shape{3});
    EXPECT_THAT(List(std::filesystem::path(path).parent_path().string()), ElementsAre("state.h5"));
  }
  std::signal(SIGXFSZ, handler);
  EXPECT_TRUE(TrySaveHdf5(path, {{"a", Floats({100000})}}).ok());
}

TEST(Hdf5Test, SaysWhyAFileCannotBeWritten) {
  EXPECT_EQ(TrySaveHdf5("/nowhere/state.h5", {}).code(), absl::StatusCode::kNotFound);
  EXPECT_FALSE(TrySaveHdf5(::testing::TempDir(), {}).ok());
  EXPECT_FALSE(TrySaveHdf5("", {}).ok());
  const std::string path = TempPath("long.h5");
  const auto named = [&](size_t bytes) {
    return TrySaveHdf5(path, {{std::string(bytes, 'a'), Floats({3})}});
  };
  EXPECT_TRUE(named(4096).ok());
  EXPECT_EQ(named(4097).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(TryLoadHdf5(path)->begin()->first.size(), 4096u) << "the file that was there is gone";
}

// A file of tensors with a text beside them.
std::string FileWithText() {
  const std::string path = TempPath("with_text.h5");
  EXPECT_TRUE(TrySaveHdf5(path, {{"w", FromValues({1.f, 2.f})}, {"b", FromValues({3.f})}}).ok());
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t text = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
  H5Tset_size(text, 4);
  const hid_t dataset =
      H5Dcreate2(file, "version", text, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  EXPECT_GE(H5Dwrite(dataset, text, H5S_ALL, H5S_ALL, H5P_DEFAULT, "1.23"), 0);
  H5Dclose(dataset);
  H5Sclose(space);
  H5Tclose(text);
  EXPECT_GE(H5Fclose(file), 0);
  return path;
}

TEST(Hdf5Test, ReadsWhatIsWantedAndNothingElse) {
  const std::string path = FileWithText();
  const absl::Status refused = TryLoadHdf5(path).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("(at /version)"));
  const auto read = [&](std::string_view without) {
    return TryLoadHdf5(path, {.want = [=](std::string_view name) { return name != without; }});
  };
  const absl::StatusOr<StateDict> state = read("version");
  ASSERT_TRUE(state.ok()) << state.status();
  EXPECT_THAT(Names(*state), ElementsAre("w", "b"));
  EXPECT_THAT((*state)["w"].ToVector<float>(), ElementsAre(1, 2));
  EXPECT_FALSE(read("w").ok());
  ASSERT_TRUE(TrySaveHdf5(path, {{"a.w", FromValues({1.f})}, {"b.w", FromValues({2.f})}}).ok());
  EXPECT_THAT(Names(*read("a.w")), ElementsAre("b.w"));
}

TEST(Hdf5Test, SaysWhyAFileCannotBeRead) {
  EXPECT_EQ(TryLoadHdf5(TempPath("none.h5")).status().code(), absl::StatusCode::kNotFound);
  const std::string path = TempPath("text.h5");
  for (const std::string text : {"hello", "this is no HDF5 file", "", "\x89HDF"}) {
    WriteFile(path, text);
    const absl::Status status = TryLoadHdf5(path).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
    const std::string got =
        text.empty() ? "an empty file" : "\"" + absl::CHexEscape(text.substr(0, 8)) + "\"";
    EXPECT_EQ(status.message(), path +
                                    ": offset 0, signature: expected \"\\x89HDF\\r\\n\\x1a\\n\", " +
                                    "got " + got + ": not an HDF5 file");
  }
}

TEST(Hdf5Test, WithoutAStatusItThrows) {
  SaveHdf5(TempPath("thrown.h5"), {{"w", FromValues({1.f, 2.f})}});
  EXPECT_EQ(LoadHdf5(TempPath("thrown.h5"))["w"].num_elements(), 2);
  EXPECT_THAT(firn::testing::ErrorOf([] { SaveHdf5("/nowhere/net.h5", {}); }),
              HasSubstr("save_hdf5: "));
  EXPECT_THAT(firn::testing::ErrorOf([] { LoadHdf5("/nowhere/net.h5"); }),
              HasSubstr("load_hdf5: cannot open /nowhere/net.h5"));
}

}  // namespace
}  // namespace firn::io
