#include "tests/fuzz/corpus.h"

#include "gtest/gtest.h"
#include "io/checkpoint.h"
#include "io/hdf5.h"
#include "io/nnabla_cache.h"
#include "io/npy.h"
#include "io/npy_status.h"
#include "io/rows.h"
#include "io/wav.h"
#include "tensor/from.h"
#include "tests/fuzz/targets.h"
#include "tests/io/changed_graph_file.h"
#include "tests/io/image_test_files.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

std::vector<std::string> Images() {
  std::vector<std::string> files;
  for (auto& [name, bytes] : SmallImages()) files.push_back(std::move(bytes));
  return files;
}

Tensor Numbers() { return FromVector(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3}); }

std::vector<std::string> Npy() {
  std::vector<std::string> files;
  for (const DType d : {DType::kF32, DType::kF16, DType::kI64, DType::kU8, DType::kBool}) {
    files.push_back(*FormatNpy(Numbers().To(d)));
  }
  std::string fortran = files[0];
  fortran.replace(fortran.find("False"), 5, "True ");
  std::string big = files[0];
  big.replace(big.find("<f4"), 3, ">u4");
  files.push_back(fortran);
  files.push_back(big);
  return files;
}

std::vector<std::string> Npz() {
  std::vector<std::string> files;
  for (const bool compress : {false, true}) {
    WriteNpz(TempPath("seed.npz"), {{"x", Numbers()}, {"y", FromValues<int64_t>({7})}},
             {.compress = compress});
    files.push_back(ReadFile(TempPath("seed.npz")));
  }
  return files;
}

std::vector<std::string> Wav() {
  std::vector<std::string> files;
  for (const WavFormat format : {WavFormat::kPcm8, WavFormat::kPcm16, WavFormat::kPcm24,
                                 WavFormat::kPcm32, WavFormat::kFloat32}) {
    WriteWav(TempPath("seed.wav"), {Numbers(), 8000}, {.format = format});
    files.push_back(ReadFile(TempPath("seed.wav")));
  }
  return files;
}

std::vector<std::string> Hdf5() {
  EXPECT_TRUE(WriteHdf5(TempPath("seed.h5"), {{"conv.weight", Numbers()},
                                              {"conv.bias", FromValues({4.f})},
                                              {"step", FromVector<int64_t>({7}, {})}})
                  .ok());
  return {ReadFile(TempPath("seed.h5")), ReadFile("tests/io/data/sample_params.h5"),
          ReadFile("tests/io/data/sample_solver_states.h5")};
}

std::vector<std::string> Caches() {
  const std::string folder = TempPath("seed_cache");
  WriteNnablaCache(folder,
                   NameSamples(FromTensors(FromVector(std::vector<float>{1, 2, 3}, {3, 1}),
                                           FromValues<uint8_t>({7, 8, 9}))),
                   {.rows_per_file = 2, .replace = true});
  std::string joined;
  for (const char* part : kCacheParts) joined += ReadFile(folder + "/" + part) + kCachePartEnd;
  return {joined};
}

std::vector<std::string> Checkpoint() {
  CheckpointValues a, b;
  a.Set("x", 7);
  a.Set("y", 8);
  b.Set("note", "n");
  std::vector<std::string> headers;
  const auto add = [&](const CheckpointParts& parts, const SaveCheckpointOptions& options) {
    SaveCheckpoint(TempPath("seed.h5"), parts, options);
    const Tensor header = (*ReadHdf5(TempPath("seed.h5")))["firn_checkpoint.header"];
    const auto bytes = header.ToVector<uint8_t>();
    headers.emplace_back(bytes.begin(), bytes.end());
  };
  add({{"a", a}}, {});
  add({{"b", b}, {"a", a}}, {.metric = 0.5, .metadata = {{"model", "lenet"}, {"by", ""}}});
  return headers;
}

}  // namespace

std::vector<std::string> Corpus(const std::string& reader) {
  if (reader == "image") return Images();
  if (reader == "npy") return Npy();
  if (reader == "npz") return Npz();
  if (reader == "wav") return Wav();
  if (reader == "hdf5") return Hdf5();
  if (reader == "graph") return {SmallFile()};
  if (reader == "nnabla_cache") return Caches();
  if (reader == "csv_rows") {
    return {"x__0:a,x__1:b,y:label,#note\n1,2.5,-3e2,hello\n4,5,\"6\",\n",
            "x:image,y\r\na.png,1\r\n", "x\n../a.npy\n"};
  }
  if (reader == "checkpoint") return Checkpoint();
  if (reader == "idx") {
    const std::string plain = Idx(8, {2, 3}, "abcdef");
    return {plain, Gzip(plain), Idx(11, {3}, "abcdef"), Idx(14, {1}, "12345678")};
  }
  if (reader == "csv") {
    return {"1,2,3\n4,5,6\n", "a,b\n1.5,setosa\n-2e3, virginica \n", "\"1\",\"2\"\r\n3,4\r\n"};
  }
  EXPECT_EQ(reader, "cifar");
  return {"\x01\x02" + std::string(3072, 'x') + "\x13\x63" + std::string(3072, 'y'),
          Gzip("\x01\x02" + std::string(3072, 'x'))};
}

}  // namespace firn::io
