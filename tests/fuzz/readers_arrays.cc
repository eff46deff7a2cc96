// Readers of arrays, with and without names.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "firn/io/checkpoints/checkpoint.h"
#include "firn/io/checkpoints/internal/checkpoint_file.h"
#include "firn/io/hdf5/internal/h5_reader.h"
#include "firn/io/hdf5/internal/h5_words.h"
#include "firn/io/nnabla/nnabla_solver.h"
#include "firn/io/npy/npy_status.h"
#include "firn/io/random_access.h"
#include "firn/io/wav/wav_status.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "tests/fuzz/reader.h"
#include "tests/fuzz/scratch.h"

namespace firn::io {
namespace {

using testing::FuzzCheck;
using testing::InMemory;
using testing::kFuzzLimits;

FIRN_FUZZ_READER(npy) {
  const auto array = TryParseNpy(bytes, "fuzz", {.void_is_bf16 = true, .limits = kFuzzLimits});
  if (array.ok()) FuzzCheck(TryFormatNpy(*array).ok(), "what was read can be written");
  return array.ok();
}

FIRN_FUZZ_READER(npz) { return TryParseNpz(bytes, "fuzz", {.limits = kFuzzLimits}).ok(); }

FIRN_FUZZ_READER(wav) { return TryParseWav(bytes, "fuzz", kFuzzLimits).ok(); }

FIRN_FUZZ_READER(hdf5) {
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  const auto file = RandomAccess::FromMemory("fuzz", {data, bytes.size()});
  return internal::ReadH5(*file, {.limits = kFuzzLimits}).ok();
}

// The strings of the dataset "w".
FIRN_FUZZ_READER(hdf5_words) {
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  const auto file = RandomAccess::FromMemory("fuzz", {data, bytes.size()});
  return internal::ReadH5Words(*file, "w", kFuzzLimits).ok();
}

Tensor Number(int64_t n) { return FromVector(std::vector<int64_t>{n}, {}); }

// Solvers whose states are taken as they are, and one whose velocity is scaled.
FIRN_FUZZ_READER(nnabla_solver) {
  const StateDict optimizer = {{"groups.0.lr", FromVector(std::vector<double>{0.5}, {})}};
  const std::string path = InMemory(bytes);
  bool read = false;
  for (const char* solver : {"Adam", "Momentum"}) {
    try {
      const StateDict state =
          LoadNnablaSolver(path, optimizer, {.solver = solver, .limits = kFuzzLimits});
      FuzzCheck(state.Contains("groups.0.lr"), "options are the optimizer's own");
      read = true;
    } catch (const Error&) {
    }
  }
  return read;
}

// Puts the bytes into an intact file as its description of itself, since checksums stop most
// changes of a whole file.
FIRN_FUZZ_READER(checkpoint) {
  const StateDict file = {
      {"a.x", Number(7)},
      {"a.y", Number(8)},
      {"firn_checkpoint.version", Number(kCheckpointVersion)},
      {"firn_checkpoint.step", Number(3)},
      {"firn_checkpoint.header", FromVector(std::vector<uint8_t>(bytes.begin(), bytes.end()))}};
  const auto contents = internal::CheckpointOf("fuzz", file, {"a"});
  if (contents.ok()) {
    FuzzCheck(contents->state.Part("a").size() == 2, "who gets the part gets all of it");
  }
  return contents.ok();
}

FIRN_FUZZ_READER(checkpoint_file) {
  CheckpointValues a, b;
  a.Set("old", 1);
  b.Set("old", 1);
  const std::string path = InMemory(bytes);
  try {
    LoadCheckpoint(path, {{"a", a}, {"b", b}}, {.limits = kFuzzLimits});
  } catch (const Error&) {
    FuzzCheck(a.state_dict().size() == 1 && a.GetInteger("old") == 1 &&
                  b.state_dict().size() == 1 && b.GetInteger("old") == 1,
              "nothing has changed on an error");
    return false;
  }
  return true;
}

}  // namespace
}  // namespace firn::io
