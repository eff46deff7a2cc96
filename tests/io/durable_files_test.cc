// Which files wait for the disk: those that a training run is gone on from, and not those that can
// be made again.
#include <gtest/gtest.h>

#include <string>

#include "firn/io/image/image.h"
#include "firn/io/monitors/plot.h"
#include "firn/io/npy/npy.h"
#include "firn/io/parameters.h"
#include "firn/io/wav/wav.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/state_dict.h"
#include "tests/device/sync_count.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

TEST(DurableFilesTest, ParametersWaitForTheDisk) {
  StateDict state;
  state.Set("weight", Ones({2, 3}));
  for (const char* end : {"safetensors", "npz", "h5", "pt"}) {
    SCOPED_TRACE(end);
    testing::SyncCount count;
    Save(MemoryPath("weights.") + end, state);
    EXPECT_EQ(count.Take(), 2);  // the bytes, and the name
  }
  testing::SyncCount count;
  WriteNpy(MemoryPath("rows.npy"), Ones({2, 3}));
  EXPECT_EQ(count.Take(), 2);
}

TEST(DurableFilesTest, PicturesAndSoundsDoNot) {
  testing::SyncCount count;
  for (const char* end : {"png", "jpg"}) {
    WriteImage(MemoryPath("picture.") + end, Zeros({3, 4, 5}).To(DType::kU8));
  }
  WriteWav(MemoryPath("tone.wav"), {Zeros({1, 100}), 8000});
  PlotSeries(MemoryPath("loss.svg"), {{.name = "loss", .x = {0, 1}, .y = {1, 0}}});
  EXPECT_EQ(count.Take(), 0);
}

}  // namespace
}  // namespace firn::io
