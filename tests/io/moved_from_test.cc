// Objects of io that hold nothing: made by default, moved from, empty or at their end. Each method
// gives a documented value or a firn::Error, and the program goes on.
#include <sstream>
#include <stdexcept>
#include <utility>
#include <vector>

#include "firn/autograd/graph/graph.h"
#include "firn/device/inner.h"
#include "firn/io/data/data_loader.h"
#include "firn/io/data/digits.h"
#include "firn/io/data/image_dataset_status.h"
#include "firn/io/graph/graph_file.h"
#include "firn/io/parameters.h"
#include "firn/io/progress/progress.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/pending.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/error_of.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

using ::firn::testing::ErrorOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

DatasetPtr Numbers(int64_t n) {
  std::vector<int64_t> values;
  for (int64_t i = 0; i < n; ++i) values.push_back(i);
  return FromTensors(FromVector(values));
}

constexpr char kNoBatch[] = "data loader: there is no batch: the loop is at its end";

TEST(MovedFromTest, ALoaderHasNoBatches) {
  DataLoader loader(Numbers(5), {.batch = 2});
  DataLoader taken = std::move(loader);
  EXPECT_EQ(taken.size(), 3);
  // NOLINTBEGIN(bugprone-use-after-move): this is the subject of the test.
  EXPECT_EQ(loader.size(), 0);
  EXPECT_EQ(loader.options().batch, 2);
  loader.SetEpoch(3);
  EXPECT_EQ(loader.epoch(), 3);
  EXPECT_EQ(ErrorOf([&] { loader.dataset(); }), "data loader: was moved from, and has no dataset");
  EXPECT_EQ(ErrorOf([&] { loader.begin(); }), ErrorOf([&] { loader.dataset(); }));
  EXPECT_EQ(loader.epoch(), 3);
  std::ostringstream out;
  EXPECT_EQ(ErrorOf([&] {
              for (const Sample& batch : ProgressBar(loader, {.out = &out})) (void)batch;
            }),
            ErrorOf([&] { loader.dataset(); }));
  // NOLINTEND
  loader = DataLoader(Numbers(2), {});
  EXPECT_EQ(loader.size(), 2);
}

TEST(MovedFromTest, AnIteratorIsAtTheEnd) {
  DataLoader loader(Numbers(2));
  DataLoader::Iterator i = loader.begin();
  const DataLoader::Iterator taken = std::move(i);
  EXPECT_EQ(taken->input.Item<int64_t>(), 0);
  EXPECT_TRUE(i == std::default_sentinel);  // NOLINT: this is the subject of the test
  EXPECT_EQ(ErrorOf([&] { *i; }), kNoBatch);
  EXPECT_EQ(ErrorOf([&] { static_cast<void>(i->input); }), kNoBatch);
  EXPECT_EQ(ErrorOf([&] { ++i; }), kNoBatch);
  EXPECT_EQ(ErrorOf([&] { i++; }), kNoBatch);
  i = loader.begin();
  EXPECT_EQ(i->input.Item<int64_t>(), 0);
}

TEST(AtTheEndTest, AnIteratorStaysThere) {
  for (const int threads : {0, 2}) {
    DataLoader none(Numbers(0), {.prefetch = threads});
    EXPECT_EQ(none.size(), 0);
    EXPECT_EQ(ErrorOf([&] { *none.begin(); }), kNoBatch);
    EXPECT_EQ(ErrorOf([&] { ++none.begin(); }), kNoBatch);
    DataLoader one(Numbers(1), {.prefetch = threads});
    DataLoader::Iterator i = one.begin();
    ++i;
    for (int times = 0; times < 2; ++times) {
      EXPECT_EQ(ErrorOf([&] { ++i; }), kNoBatch);
      EXPECT_EQ(ErrorOf([&] { *i; }), kNoBatch);
      EXPECT_TRUE(i == std::default_sentinel);
    }
  }
}

TEST(AtTheEndTest, ABatchThatCouldNotBeMadeIsNotGivenOut) {
  for (const int threads : {0, 2}) {
    const DatasetPtr failing = Map(Numbers(3), [](Sample s) {
      if (s.input.Item<int64_t>() == 1) throw std::runtime_error("no sample 1");
      return s;
    });
    DataLoader loader(failing, {.prefetch = threads});
    DataLoader::Iterator i = loader.begin();
    EXPECT_THROW(++i, std::runtime_error);
    EXPECT_EQ(ErrorOf([&] { *i; }), "data loader: batch 1 of 3 could not be made");
    ++i;
    EXPECT_EQ(i->input.Item<int64_t>(), 2);
  }
}

TEST(AtTheEndTest, AnEpochThatCannotBeginIsStillToCome) {
  DataLoader loader(Map(Numbers(1), [](Sample) -> Sample { throw std::runtime_error("none"); }));
  EXPECT_THROW(loader.begin(), std::runtime_error);
  EXPECT_EQ(loader.epoch(), 0);
}

TEST(EmptyTest, NullDatasetsAreRefused) {
  const DatasetPtr null;
  EXPECT_EQ(ErrorOf([&] { DataLoader{null}; }), "data loader: the dataset is null");
  EXPECT_EQ(ErrorOf([&] { Map(null, [](Sample s) { return s; }); }), "map: the dataset is null");
  EXPECT_EQ(ErrorOf([&] { Subset(null, {}); }), "subset: the dataset is null");
  EXPECT_EQ(ErrorOf([&] { Subset(null, 0, 0); }), "subset: the dataset is null");
  EXPECT_EQ(ErrorOf([&] { Shuffle(null, 1); }), "shuffle: the dataset is null");
  EXPECT_EQ(ErrorOf([&] { Concat({Numbers(1), null}); }), "concat: the dataset is null");
  EXPECT_EQ(ErrorOf([&] { Batch(null, 1); }), "batch: the dataset is null");
  EXPECT_EQ(ErrorOf([&] { Prefetch(null); }), "prefetch: the dataset is null");
  EXPECT_EQ(ErrorOf([&] { Map(Numbers(1), nullptr); }), "map: the function is empty");
  DatasetPtr digits = Digits();
  const DatasetPtr taken = std::move(digits);
  EXPECT_EQ(ErrorOf([&] { DataLoader{digits}; }), "data loader: the dataset is null");  // NOLINT
  EXPECT_THAT(ErrorOf([&] { taken->Get(-1); }), HasSubstr("index -1 is outside [0, 1797)"));
}

TEST(EmptyTest, DatasetsWithoutSamplesHaveNone) {
  const DatasetPtr none = Numbers(0);
  const auto same = [](Sample s) { return s; };
  for (const DatasetPtr& d : std::vector<DatasetPtr>{
           none, Map(none, same), Subset(Numbers(3), {}), Shuffle(none, 1), Concat({}),
           Concat({none, none}), Batch(none, 4), Batch(Numbers(3), 4, true), Prefetch(none),
           MakeImageDataset(Zeros({0, 1, 2, 2}, DType::kU8), Zeros({0}, DType::kI64))}) {
    EXPECT_EQ(d->size(), 0);
    EXPECT_THAT(ErrorOf([&] { d->Get(0); }), HasSubstr("index 0 is outside [0, 0)"));
    DataLoader loader(d);
    EXPECT_TRUE(loader.begin() == loader.end());
  }
  EXPECT_EQ(ErrorOf([] { Stack({}); }), "stack: there is no sample");
  const std::vector<Sample> undefined(2);
  EXPECT_FALSE(Stack(undefined).input.defined());
  EXPECT_THAT(ErrorOf([] { FromTensors(Tensor()); }), HasSubstr("rank 1 or more, got undefined"));
  EXPECT_EQ(TryMakeImageDataset({}, {}).status().code(), absl::StatusCode::kInvalidArgument);
}

class OfNegativeSize final : public Dataset {
 public:
  int64_t size() const override { return -1; }
  Sample Get(int64_t) const override { return {}; }
};

TEST(EmptyTest, ADatasetOfNegativeSizeIsRefused) {
  EXPECT_EQ(ErrorOf([] { DataLoader(std::make_shared<OfNegativeSize>()); }),
            "data loader: the dataset's size is -1 (want >= 0)");
}

// Parameters that wait for the first input of their layer.
TEST(EmptyTest, PendingTensorsAreRefused) {
  const Tensor pending = MakePending(DType::kF32, Device::Cpu());
  const std::string path = TempPath("pending.h5");
  EXPECT_THAT(ErrorOf([&] { Save(path, {{"w", pending}}); }), HasSubstr("save: save " + path));
  EXPECT_THAT(ErrorOf([&] { FromTensors(pending); }), HasSubstr("dataset: "));
  EXPECT_THAT(ErrorOf([&] { FromTensors(Ones({0, 2}), pending); }), HasSubstr("dataset: "));
  const Sample sample{pending, {}};
  EXPECT_THAT(ErrorOf([&] { Stack({&sample, 1}); }), HasSubstr("stack: "));
}

TEST(EmptyTest, AMeterOfNoStepsShowsNothing) {
  std::ostringstream out;
  {
    ProgressMeter meter(0, {.out = &out, .terminal = true});
    meter.Note("note");
    meter.Step();
    ProgressMeter unknown(-1, {.out = &out});
    unknown.Step();
    std::vector<int> nothing;
    for (int i : ProgressBar(nothing, {.out = &out, .terminal = true})) ADD_FAILURE() << i;
  }
  EXPECT_EQ(out.str(), "");
  {
    ProgressMeter meter(1, {.out = &out, .clock = [] { return 0.0; }});
    meter.Step();
    meter.Step();  // one too many
  }
  EXPECT_THAT(out.str(), HasSubstr("1/1  100.0%"));
  EXPECT_EQ(out.str().find('\n'), out.str().size() - 1);
}

TEST(EmptyTest, DictsAndGraphsOfNothingAreSavedAndLoaded) {
  const std::string dict = TempPath("empty.h5"), graph = TempPath("empty.firn");
  Save(dict, {});
  EXPECT_TRUE(Load(dict).empty());
  EXPECT_THAT(ErrorOf([] { Load(""); }), HasSubstr("load: expected a path, got an empty one"));
  EXPECT_THAT(ErrorOf([] { Save("undefined.h5", {{"w", Tensor()}}); }), HasSubstr("w"));
  SaveGraph(graph, Graph());
  StaticGraph loaded = LoadGraph(graph);
  EXPECT_TRUE(loaded.captured().outputs.empty());
  EXPECT_THAT(ErrorOf([] { LoadGraph(""); }), HasSubstr("load graph: cannot open "));
  EXPECT_THAT(ErrorOf([] { SaveGraph("", Graph()); }), HasSubstr("its path is empty"));
}

}  // namespace
}  // namespace firn::io
