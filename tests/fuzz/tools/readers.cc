// The readers of the command line `firn` beyond those of io.
#include <string>
#include <string_view>

#include "firn/io/monitors/tfrecord.h"
#include "firn/tensor/error.h"
#include "tests/fuzz/reader.h"
#include "tests/fuzz/scratch.h"
#include "tools/firn/files.h"
#include "tools/firn/train/config.h"
#include "tools/firn/train/train_config.h"

namespace firn::cli {
namespace {

FIRN_FUZZ_READER(train_config) {
  try {
    static_cast<void>(ParseTrainConfig(Config::Parse(bytes, "train.json")));
  } catch (const Error&) {
    return false;
  }
  return true;
}

// `firn inspect` goes through text and events a record at a time, with code of its own; the end of
// the name says which.
bool Inspect(std::string_view bytes, const std::string& name) {
  const std::string path = testing::InMemory(bytes, name);
  try {
    // The first bytes may be those of another format than the name's.
    testing::FuzzCheck(!ReadFile(path, testing::kFuzzLimits).format.empty(), "it has a format");
  } catch (const Error&) {
    return false;
  }
  return true;
}

FIRN_FUZZ_READER(inspect_csv) { return Inspect(bytes, "f.csv"); }
FIRN_FUZZ_SEEDS(inspect_csv) {
  return {"step,loss,note\n0,2,x\n1,nan,\n2,4,\"y\nz\"\n3,", "1,2\n3,4\n"};
}

FIRN_FUZZ_READER(inspect_jsonl) { return Inspect(bytes, "f.jsonl"); }
FIRN_FUZZ_SEEDS(inspect_jsonl) {
  return {"{\"a\":1}\n{\"a\":3,\"b\":\"x\",\"c\":null}\n{}\n{\"a\":\"NaN\"}\n"};
}

FIRN_FUZZ_READER(inspect_lines) {
  const bool series = Inspect(bytes, "f.series.txt");
  return Inspect(bytes, "f.timer.txt") || series;
}
FIRN_FUZZ_SEEDS(inspect_lines) { return {"0 1\n1 2\n20 nan\n", "9 60 10 60\n19 30 10 90\n"}; }

// Reads the bytes as the reader `events` does, whose files these are, too.
FIRN_FUZZ_READER(inspect_events) {
  const bool read = Inspect(bytes, "f.tfevents.1");
  return Inspect(io::RecordOf(bytes), "f.tfevents.1") || read;
}
FIRN_FUZZ_SEEDS(inspect_events) { return testing::Seeds(testing::FuzzReaders().at("events")); }

}  // namespace
}  // namespace firn::cli
