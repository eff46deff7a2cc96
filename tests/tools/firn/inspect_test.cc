// `firn inspect` on a file of each format.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "firn/io/checkpoints/checkpoint.h"
#include "firn/io/image/image.h"
#include "firn/io/monitors/event_writer.h"
#include "firn/io/monitors/monitor.h"
#include "firn/io/monitors/record_writer.h"
#include "firn/io/npy/npy.h"
#include "firn/io/parameters.h"
#include "firn/io/wav/wav.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"
#include "tests/io/test_files.h"
#include "tests/tools/firn/firn_command.h"
#include "tools/firn/command.h"
#include "tools/firn/files.h"
#include "tools/firn/statistics.h"

namespace firn::cli {
namespace {

using ::firn::io::TempPath;
using ::firn::io::WriteFile;
using ::testing::HasSubstr;

nlohmann::json Inspect(const std::string& path) {
  const Outcome o = Firn({"inspect", path, "--json"});
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_EQ(Firn({"inspect", path}).status, 0);
  return o.status == 0 ? nlohmann::json::parse(o.out) : nlohmann::json();
}

// Whether every truncation of a file and of its contents gets a message and exit status 1.
void ExpectTruncationsRefused(const std::string& path) {
  const std::string bytes = io::ReadFile(path);
  for (size_t n = 0; n < bytes.size(); n += 1 + bytes.size() / 40) {
    WriteFile(path, bytes.substr(0, n));
    EXPECT_EQ(Firn({"inspect", path}).status, 1) << path << ", " << n << " bytes";
  }
}

TEST(InspectTest, Arrays) {
  const std::string npy = TempPath("a.npy"), npz = TempPath("a.npz");
  io::WriteNpy(npy, FromVector(std::vector<float>{1, 2, 3, 6}, {2, 2}));
  io::WriteNpz(npz, {{"x", Ones({3})}, {"y", Zeros({2})}});
  nlohmann::json j = Inspect(npy);
  EXPECT_EQ(j["format"], "NPY");
  EXPECT_EQ(j["tensors"][0]["shape"], nlohmann::json({2, 2}));
  EXPECT_EQ(j["tensors"][0]["mean"], 3);
  j = Inspect(npz);
  EXPECT_EQ(j["format"], "NPZ");
  EXPECT_EQ(j["tensors"][1]["name"], "y");
  ExpectTruncationsRefused(npy);
  ExpectTruncationsRefused(npz);
}

TEST(InspectTest, Weights) {
  for (const auto& [name, format] : {std::pair("w.safetensors", "safetensors"),
                                     std::pair("w.pt", "PyTorch"), std::pair("w.npz", "NPZ")}) {
    io::Save(TempPath(name), {{"fc.weight", Full({2, 3}, 5)}});
    const nlohmann::json j = Inspect(TempPath(name));
    EXPECT_EQ(j["format"], format);
    ASSERT_EQ(j["tensors"].size(), 1u);
    EXPECT_EQ(j["tensors"][0]["name"], "fc.weight");
    EXPECT_EQ(j["tensors"][0]["mean"], 5);
    ExpectTruncationsRefused(TempPath(name));
  }
  io::Save(TempPath("w.safetensors"), {{"fc.weight", Ones({2})}});
  EXPECT_EQ(Inspect(TempPath("w.safetensors"))["facts"]["format"], "pt");
}

// A block of another program in front, which may look like any other file.
TEST(InspectTest, Hdf5BehindAUserBlock) {
  const std::string path = TempPath("a.mat");
  io::Save(TempPath("a.h5"), {{"x", Ones({3})}});
  const std::string bytes = io::ReadFile(TempPath("a.h5"));
  for (const char* const start : {"MATLAB 7.3 MAT-file", "P2\n2 1\n", "x"}) {
    const std::string text = start;
    WriteFile(path, text + std::string(1024 - text.size(), ' ') + bytes);
    const nlohmann::json j = Inspect(path);
    EXPECT_EQ(j["format"], "HDF5");
    EXPECT_EQ(j["tensors"][0]["name"], "x");
  }
}

// Sound without its size, and sound that may be longer than 4 GB.
TEST(InspectTest, StreamedAndLongSound) {
  const std::string path = TempPath("s.wav");
  io::WriteWav(path, {Full({2, 800}, 0.5), 16000});
  const std::string whole = io::ReadFile(path);
  std::string streamed = whole;
  streamed.replace(4, 4, "\xff\xff\xff\xff").replace(40, 4, "\xff\xff\xff\xff");
  std::string ds64 = std::string("ds64\x1c\0\0\0", 8) + std::string(28, '\0');
  ds64[8 + 8] = '\x80';  // 3200 bytes
  ds64[8 + 9] = '\x0c';
  std::string wide = "RF64\xff\xff\xff\xffWAVE" + ds64 + streamed.substr(12);
  for (const std::string& bytes : {streamed, wide}) {
    WriteFile(path, bytes);
    const nlohmann::json j = Inspect(path);
    EXPECT_EQ(j["format"], "WAV");
    EXPECT_EQ(j["facts"]["seconds"], 0.05);
    EXPECT_EQ(j["tensors"][0]["shape"], nlohmann::json({2, 800}));
  }
}

TEST(InspectTest, ImagesAndSound) {
  const std::string png = TempPath("a.png"), jpeg = TempPath("a.jpg"), wav = TempPath("a.wav");
  io::WriteImage(png, Full({3, 4, 5}, 200).To(DType::kU8));
  io::WriteImage(jpeg, Full({3, 4, 5}, 200).To(DType::kU8));
  io::WriteWav(wav, {Zeros({2, 800}), 16000});
  EXPECT_EQ(Inspect(png)["tensors"][0]["max"], 200);
  EXPECT_EQ(Inspect(jpeg)["tensors"][0]["shape"], nlohmann::json({3, 4, 5}));
  WriteFile(TempPath("a.pgm"), "P2\n2 1\n9\n3 4\n");
  EXPECT_EQ(Inspect(TempPath("a.pgm"))["format"], "image");
  const nlohmann::json sound = Inspect(wav);
  EXPECT_EQ(sound["format"], "WAV");
  EXPECT_EQ(sound["facts"]["sample rate"], 16000);
  EXPECT_EQ(sound["facts"]["seconds"], 0.05);
  ExpectTruncationsRefused(png);
  ExpectTruncationsRefused(wav);
}

TEST(InspectTest, DataSets) {
  const std::string idx = io::Idx(8, {2, 3}, "\1\2\3\4\5\6");
  WriteFile(TempPath("labels"), idx);
  WriteFile(TempPath("labels.gz"), io::Gzip(idx));
  EXPECT_EQ(Inspect(TempPath("labels"))["format"], "IDX");
  EXPECT_EQ(Inspect(TempPath("labels.gz"))["tensors"][0]["mean"], 3.5);
  WriteFile(TempPath("data_batch_1.bin"), std::string(2 * 3073, '\0'));
  const nlohmann::json cifar = Inspect(TempPath("data_batch_1.bin"));
  EXPECT_EQ(cifar["format"], "CIFAR");
  EXPECT_EQ(cifar["tensors"][1]["shape"], nlohmann::json({2, 3, 32, 32}));
  WriteFile(TempPath("train.bin.gz"), io::Gzip(std::string(3074, '\1')));
  EXPECT_EQ(Inspect(TempPath("train.bin.gz"))["tensors"][0]["max"], 1);
  ExpectTruncationsRefused(TempPath("labels"));
}

TEST(InspectTest, Checkpoints) {
  io::CheckpointValues values;
  values.Set("x", Ones({3}));
  io::SaveCheckpoint(TempPath("run.h5"), {{"mine", values}},
                     {.step = 7, .metric = 0.25, .metadata = {{"note", "third try"}}});
  const nlohmann::json j = Inspect(TempPath("run.h5"));
  EXPECT_EQ(j["format"], "Firn checkpoint");
  EXPECT_EQ(j["facts"]["step"], 7);
  EXPECT_EQ(j["facts"]["metric"], 0.25);
  EXPECT_EQ(j["facts"]["note"], "third try");
  ASSERT_EQ(j["tensors"].size(), 1u);
  EXPECT_EQ(j["tensors"][0]["name"], "mine.x");
}

TEST(InspectTest, NamesOfACheckpointNeedNotBeUtf8) {
  io::CheckpointValues values;
  values.Set("x", Ones({3}));
  io::SaveCheckpoint(TempPath("run.h5"), {{"mine\xff", values}});
  const Outcome o = Firn({"inspect", TempPath("run.h5")});
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_THAT(o.out, HasSubstr("parts: [\"mine\xef\xbf\xbd\"]"));
}

TEST(InspectTest, TablesAreThoseOfLoadCsv) {
  const auto table = [](const std::string& text) {
    WriteFile(TempPath("same.csv"), text);
    return Inspect(TempPath("same.csv"));
  };
  // The last line needs no end, lines end in any way, blanks, quotes and a mark are no text.
  for (const std::string text : {"a,b\n1,2\n3,4", "a,b\r1,2\r3,4\r", "a,b\r\n1,2\r\n3,4",
                                 "\xEF\xBB\xBF"
                                 "a,b\n 1 ,2\n\"3\",\t4\n\n",
                                 "\xEF\xBB\xBF"
                                 "1,2\n3,4"}) {
    const nlohmann::json j = table(text);
    EXPECT_EQ(j["facts"]["records"], 2) << text;
    EXPECT_EQ(j["facts"]["cut off"], false) << text;
    EXPECT_EQ(j["columns"][0]["name"], text.find('a') == std::string::npos ? "0" : "a");
    EXPECT_EQ(j["columns"][0]["numbers"], 2) << text;
    EXPECT_EQ(j["columns"][1]["mean"], 3) << text;
  }
  // Packed, and by any letters of its ending.
  WriteFile(TempPath("same.csv.gz"), io::Gzip("a,b\n1,2\n3,4"));
  WriteFile(TempPath("same.CSV"), "a,b\n1,2\n3,4");
  for (const char* name : {"same.csv.gz", "same.CSV"}) {
    EXPECT_EQ(Inspect(TempPath(name))["format"], "CSV");
    EXPECT_EQ(Inspect(TempPath(name))["facts"]["records"], 2);
    EXPECT_EQ(Inspect(TempPath(name))["columns"][1]["mean"], 3);
  }
  const nlohmann::json j = table("word,x\n\"a\nb\",1\ntrue,NA\n");
  EXPECT_EQ(j["facts"]["records"], 2);
  EXPECT_EQ(j["columns"][0]["others"], 2);
  EXPECT_EQ(j["columns"][1]["others"], 1);
  WriteFile(TempPath("same.csv"), "1\n\n2\n");
  EXPECT_THAT(Firn({"inspect", TempPath("same.csv")}).err, HasSubstr("line 2: expected a row"));
}

TEST(InspectTest, Tables) {
  WriteFile(TempPath("a.csv"), "step,loss,note\n0,2,x\n1,nan,\n2,4,y\n3,");
  nlohmann::json j = Inspect(TempPath("a.csv"));
  EXPECT_EQ(j["facts"]["records"], 3);
  EXPECT_EQ(j["facts"]["cut off"], true);
  EXPECT_EQ(j["columns"][1]["name"], "loss");
  EXPECT_EQ(j["columns"][1]["mean"], 3);
  EXPECT_EQ(j["columns"][1]["nan"], 1);
  EXPECT_EQ(j["columns"][2]["others"], 3);
  WriteFile(TempPath("b.csv"), "1,2\n3,4\n");
  EXPECT_EQ(Inspect(TempPath("b.csv"))["columns"][1]["mean"], 3);
  WriteFile(TempPath("a.jsonl"), "{\"a\":1}\n{\"a\":3,\"b\":\"x\"}\n");
  EXPECT_EQ(Inspect(TempPath("a.jsonl"))["columns"][0]["max"], 3);
  WriteFile(TempPath("a.series.txt"), "0 1\n1 2\n");
  EXPECT_EQ(Inspect(TempPath("a.series.txt"))["columns"][1]["mean"], 1.5);
  WriteFile(TempPath("a.timer.txt"), "9 60 10 60\n");
  EXPECT_EQ(Inspect(TempPath("a.timer.txt"))["columns"][1]["mean"], 6);
  WriteFile(TempPath("bad.csv"), "a,b\n1\n");
  EXPECT_THAT(Firn({"inspect", TempPath("bad.csv")}).err,
              HasSubstr("bad.csv: line 2: expected 2 columns, got 1"));
  // A table has no tensors that could be compared.
  EXPECT_EQ(Firn({"compare", TempPath("a.csv"), TempPath("b.csv")}).status, 1);
}

TEST(InspectTest, Events) {
  std::string path;
  {
    io::EventWriter events(TempPath("events"), {.clock = [] { return 1.6e9; }});
    path = events.path();
    events.AddScalar("loss", 2, 3);
    events.AddScalar("loss", 4, 8);
    events.AddText("note", "x", 9);
    events.AddScalar("cut off", 4, 10);
  }
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
  const nlohmann::json j = Inspect(path);
  EXPECT_EQ(j["format"], "TensorBoard events");
  EXPECT_EQ(j["facts"]["texts"], 1);
  EXPECT_EQ(j["facts"]["last step"], 9);
  EXPECT_EQ(j["facts"]["cut off"], true);
  ASSERT_EQ(j["columns"].size(), 1u);
  EXPECT_EQ(j["columns"][0]["mean"], 3);
}

TEST(InspectTest, RefusesMoreThanIsAllowedAndWhatNobodyKnows) {
  io::WriteNpy(TempPath("a.npy"), Zeros({1000}));
  EXPECT_THAT(Firn({"inspect", TempPath("a.npy"), "--max-gib", "0.000001"}).err,
              HasSubstr("a.npy"));
  EXPECT_EQ(Firn({"inspect", TempPath("a.npy"), "--max-gib", "0.000001"}).status, 1);
  EXPECT_EQ(Firn({"inspect", TempPath("a.npy"), "--max-gib", "0"}).status, 2);
  // The last ones are a signature that breaks off.
  for (const char* bytes : {"what is this", "", "RIFF", "RIFF123", "RIFF1234WAV"}) {
    WriteFile(TempPath("unknown"), bytes);
    EXPECT_THAT(Firn({"inspect", TempPath("unknown")}).err, HasSubstr("known are"));
  }
  // An array of 2^40 elements that the file does not have.
  WriteFile(TempPath("huge"), io::Idx(8, {1u << 20, 1u << 20}, "abc"));
  EXPECT_EQ(Firn({"inspect", TempPath("huge")}).status, 1);
  for (const std::string& name : FormatNames()) {
    EXPECT_THAT(Firn({"inspect", "--help"}).out, HasSubstr(name));
  }
}

nlohmann::json StatisticsOf(const Tensor& t) {
  Statistics s;
  s.Add(t);
  EXPECT_EQ(s.count(), t.num_elements());
  nlohmann::json j;
  s.AddTo(&j);
  return j;
}

TEST(StatisticsTest, OfLongTensorsAndOddNumbers) {
  const nlohmann::json s = StatisticsOf(Arange(0, 200'000));
  EXPECT_DOUBLE_EQ(s["mean"].get<double>(), 99'999.5);
  EXPECT_NEAR(s["std"].get<double>(), 200'000 / std::sqrt(12.0), 0.1);
  EXPECT_EQ(s["max"], 199'999);
  const nlohmann::json odd = StatisticsOf(FromValues({std::nan(""), HUGE_VAL, 2.0}));
  EXPECT_EQ(odd["nan"], 1);
  EXPECT_EQ(odd["infinite"], 1);
  EXPECT_EQ(odd["mean"], 2);
  EXPECT_FALSE(StatisticsOf(Zeros({0})).contains("mean"));
  EXPECT_EQ(StatisticsOf(Full({}, 3))["mean"], 3);
}

}  // namespace
}  // namespace firn::cli
