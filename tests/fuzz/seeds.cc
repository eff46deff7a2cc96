// Small files of each format, by Firn's own writers where it has one.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "firn/io/checkpoints/checkpoint.h"
#include "firn/io/data/rows.h"
#include "firn/io/hdf5/hdf5_status.h"
#include "firn/io/nnabla/nnabla_cache.h"
#include "firn/io/nnabla/nnabla_solver.h"
#include "firn/io/npy/npy_status.h"
#include "firn/io/wav/wav.h"
#include "firn/tensor/from.h"
#include "gtest/gtest.h"
#include "tests/fuzz/reader.h"
#include "tests/fuzz/scratch.h"
#include "tests/io/graph/changed_graph_file.h"
#include "tests/io/image/image_test_files.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

FIRN_FUZZ_SEEDS(image) {
  std::vector<std::string> files;
  for (auto& [name, bytes] : SmallImages()) files.push_back(std::move(bytes));
  return files;
}

Tensor Numbers() { return FromVector(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3}); }

FIRN_FUZZ_SEEDS(npy) {
  std::vector<std::string> files;
  for (const DType d : {DType::kF32, DType::kF16, DType::kI64, DType::kU8, DType::kBool}) {
    files.push_back(*TryFormatNpy(Numbers().To(d)));
  }
  std::string fortran = files[0];
  fortran.replace(fortran.find("False"), 5, "True ");
  std::string big = files[0];
  big.replace(big.find("<f4"), 3, ">u4");
  files.push_back(fortran);
  files.push_back(big);
  return files;
}

FIRN_FUZZ_SEEDS(npz) {
  std::vector<std::string> files;
  for (const bool compress : {false, true}) {
    WriteNpz(TempPath("seed.npz"), {{"x", Numbers()}, {"y", FromValues<int64_t>({7})}},
             {.compress = compress});
    files.push_back(ReadFile(TempPath("seed.npz")));
  }
  return files;
}

FIRN_FUZZ_SEEDS(wav) {
  std::vector<std::string> files;
  for (const WavFormat format : {WavFormat::kPcm8, WavFormat::kPcm16, WavFormat::kPcm24,
                                 WavFormat::kPcm32, WavFormat::kFloat32}) {
    WriteWav(TempPath("seed.wav"), {Numbers(), 8000}, {.format = format});
    files.push_back(ReadFile(TempPath("seed.wav")));
  }
  return files;
}

FIRN_FUZZ_SEEDS(hdf5) {
  EXPECT_TRUE(TrySaveHdf5(TempPath("seed.h5"), {{"conv.weight", Numbers()},
                                                {"conv.bias", FromValues({4.f})},
                                                {"step", FromVector<int64_t>({7}, {})}})
                  .ok());
  return {ReadFile(TempPath("seed.h5")), ReadFile("tests/io/hdf5/data/sample_params.h5"),
          ReadFile("tests/io/hdf5/data/sample_solver_states.h5")};
}

FIRN_FUZZ_SEEDS(hdf5_dataset) {
  EXPECT_TRUE(TrySaveHdf5(TempPath("seed.h5"), {{"x", Numbers()}}).ok());
  return {ReadFile(TempPath("seed.h5"))};
}

// Rows of a small cache, in the format that `joined` reads.
std::vector<std::string> Cache(NnablaCacheFormat format, const std::vector<std::string>& names) {
  const std::string folder = TempPath("seed_cache");
  WriteNnablaCache(folder,
                   NameSamples(FromTensors(FromVector(std::vector<float>{1, 2, 3}, {3, 1}),
                                           FromValues<uint8_t>({7, 8, 9}))),
                   {.format = format, .rows_per_file = 2, .replace = true});
  return {testing::JoinFolder(folder, names)};
}

FIRN_FUZZ_SEEDS(nnabla_cache) {
  return Cache(NnablaCacheFormat::kNpy,
               {"cache_index.csv", "cache_info.csv", "cache_00000000_00000001.npy",
                "cache_00000002_00000002.npy"});
}

FIRN_FUZZ_SEEDS(nnabla_cache_h5) {
  return Cache(NnablaCacheFormat::kHdf5,
               {"cache_index.csv", "cache_00000000_00000001.h5", "cache_00000002_00000002.h5"});
}

FIRN_FUZZ_SEEDS(npy_dataset) {
  return {*TryFormatNpy(Numbers()), *TryFormatNpy(Numbers().To(DType::kBool)),
          *TryFormatNpy(FromVector(std::vector<int64_t>(12, 3), {4, 3, 1}))};
}

FIRN_FUZZ_SEEDS(nnabla_solver) {
  const std::string path = TempPath("seed.h5");
  const StateDict adam = {{"groups.0.lr", FromVector(std::vector<double>{0.1}, {})},
                          {"state.fc.weight.step", FromVector(std::vector<int64_t>{3}, {})},
                          {"state.fc.weight.exp_avg", Numbers()},
                          {"state.fc.weight.exp_avg_sq", Numbers()}};
  SaveNnablaSolver(path, adam, {.solver = "Adam"});
  std::vector<std::string> files = {ReadFile(path)};
  const StateDict momentum = {{"groups.0.lr", FromVector(std::vector<double>{0.1}, {})},
                              {"state.w.step", FromVector(std::vector<int64_t>{3}, {})},
                              {"state.w.momentum_buffer", Numbers()}};
  SaveNnablaSolver(path, momentum, {.solver = "Momentum"});
  files.push_back(ReadFile(path));
  return files;
}

// Two checkpoints, with and without all optional descriptions.
std::vector<std::string> Checkpoints() {
  CheckpointValues a, b;
  a.Set("x", 7);
  a.Set("y", 8);
  b.Set("note", "n");
  const std::string path = TempPath("seed.h5");
  SaveCheckpoint(path, {{"a", a}, {"b", b}});
  std::vector<std::string> files = {ReadFile(path)};
  SaveCheckpoint(path, {{"b", b}, {"a", a}},
                 {.metric = 0.5, .metadata = {{"model", "lenet"}, {"by", ""}}});
  files.push_back(ReadFile(path));
  return files;
}

FIRN_FUZZ_SEEDS(checkpoint_file) { return Checkpoints(); }

FIRN_FUZZ_SEEDS(checkpoint) {
  std::vector<std::string> headers;
  for (const std::string& file : Checkpoints()) {
    WriteFile(TempPath("seed.h5"), file);
    const Tensor header = (*TryLoadHdf5(TempPath("seed.h5")))["firn_checkpoint.header"];
    const auto bytes = header.ToVector<uint8_t>();
    headers.emplace_back(bytes.begin(), bytes.end());
  }
  return headers;
}

FIRN_FUZZ_SEEDS(graph) {
  return {SmallFile(), FileWithWords(),
          SmallFile({.pixel_scale = 0.5,
                     .mean = {1},
                     .stddev = {2},
                     .columns = {{.name = "a", .words = {"b", "c", "d"}}, {.place = 4}},
                     .target = GraphColumn{.name = "e"},
                     .missing = 0,
                     .missing_words = {"-"},
                     .classes = {"f", "g"}})};
}

FIRN_FUZZ_SEEDS(csv_rows) {
  return {"x__0:a,x__1:b,y:label,#note\n1,2.5,-3e2,hello\n4,5,\"6\",\n", "x:image,y\r\na.png,1\r\n",
          "x\n../a.npy\n"};
}

FIRN_FUZZ_SEEDS(csv) {
  return {"1,2,3\n4,5,6\n", "a,b\n1.5,setosa\n-2e3, virginica \n", "\"1\",\"2\"\r\n3,4\r\n"};
}

FIRN_FUZZ_SEEDS(idx) {
  const std::string plain = Idx(8, {2, 3}, "abcdef");
  return {plain, Gzip(plain), Idx(11, {3}, "abcdef"), Idx(14, {1}, "12345678")};
}

FIRN_FUZZ_SEEDS(cifar) {
  return {"\x01\x02" + std::string(3072, 'x') + "\x13\x63" + std::string(3072, 'y'),
          Gzip("\x01\x02" + std::string(3072, 'x'))};
}

}  // namespace
}  // namespace firn::io
