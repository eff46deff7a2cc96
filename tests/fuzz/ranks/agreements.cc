// What ranks tell each other about themselves and their calls.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "firn/device/comm/agreement.h"
#include "firn/device/comm/checked_ranks.h"
#include "firn/device/comm/shared_status.h"
#include "firn/io/checkpoints/checkpoint_manager.h"
#include "firn/tensor/error.h"
#include "tests/fuzz/ranks/strange_ranks.h"
#include "tests/fuzz/reader.h"
#include "tests/fuzz/scratch.h"

namespace firn::comm {
namespace {

using testing::FuzzCheck;
using testing::Received;
using testing::StrangeRank;
using Ranks = std::unique_ptr<Communicator>;

// --- Lines that all have to have ----------------------------------------------------------------

const std::vector<std::string> kLines = {"Firn 1", "bucket_bytes 7", "parameter fc.weight f32 [2]"};

// A message that ranks differ counts as an answer, too.
FIRN_FUZZ_READER(ranks_agreement) {
  const absl::Status status = CheckAgreement(*StrangeRank(1, 3, bytes), kLines);
  return status.ok() || status.code() == absl::StatusCode::kFailedPrecondition;
}

FIRN_FUZZ_SEEDS(ranks_agreement) {
  std::vector<std::string> files;
  for (const std::vector<std::string>& lines :
       {kLines, {"Firn 1", "bucket_bytes 8"}, {"\n\n\n\n"}, {std::string("\0\xff\x80\"", 4)}}) {
    for (const int unlike : {0, 2}) {
      files.push_back(Received(1, 3, [&](Ranks ranks) {
        CheckAgreement(*ranks, ranks->rank() == unlike ? lines : kLines).IgnoreError();
      }));
    }
  }
  return files;
}

// --- Errors and texts ---------------------------------------------------------------------------

// A text of rank 0, after work that succeeded or failed.
absl::StatusOr<std::vector<std::string>> TextsOfFirst(Communicator& ranks, const absl::Status& own,
                                                      std::vector<std::string> texts) {
  const absl::Status all = StatusOfAll(ranks, own);
  const absl::Status told = BroadcastTexts(ranks, texts, 0);
  if (!told.ok()) return told;
  if (!all.ok() && all.message().substr(0, 5) != "rank ") return all;
  return texts;
}

FIRN_FUZZ_READER(ranks_texts) {
  const auto texts = TextsOfFirst(*StrangeRank(1, 3, bytes), absl::OkStatus(), {"own"});
  if (!texts.ok()) return false;
  size_t sizes = 0;
  for (const std::string& text : *texts) sizes += text.size();
  FuzzCheck(sizes <= bytes.size(), "what rank 0 has said is what came");
  return true;
}

FIRN_FUZZ_SEEDS(ranks_texts) {
  const std::vector<std::vector<std::string>> all = {
      {}, {""}, {"a", "", std::string("\0\xff", 2), std::string(300, 'x')}};
  std::vector<std::string> files;
  for (const auto& texts : all) {
    for (const int bad : {-1, 0, 2}) {
      files.push_back(Received(1, 3, [&](Ranks ranks) {
        const absl::Status own =
            ranks->rank() == bad ? absl::DataLossError("the disk is full") : absl::OkStatus();
        TextsOfFirst(*ranks, own, ranks->rank() == 0 ? texts : std::vector<std::string>())
            .IgnoreError();
      }));
    }
  }
  return files;
}

// --- Checkpoints that rank 0 has ----------------------------------------------------------------

bool ListCheckpoints(Communicator& ranks, const std::string& folder) {
  try {
    const io::CheckpointManager manager(folder, {.ranks = &ranks});
    const auto files = manager.files();
    const auto best = manager.best();
    return files.size() < 1000 && (!best || !best->path.empty());
  } catch (const Error&) {
    return false;
  }
}

FIRN_FUZZ_READER(ranks_checkpoints) {
  return ListCheckpoints(*StrangeRank(1, 2, bytes), "of rank 0");
}

FIRN_FUZZ_SEEDS(ranks_checkpoints) {
  std::vector<std::string> files;
  for (const int count : {0, 1, 3}) {
    const std::string folder = testing::ScratchFolder("ranks") + "/" + std::to_string(count);
    io::CheckpointManager alone(folder, {.keep_best = 1});
    io::CheckpointValues values;
    values.Set("x", 7);
    for (int i = 0; i < count; ++i) {
      alone.Save({{"a", values}}, {.step = i, .metric = i == 1 ? 0.5 : 0.25});
    }
    alone.Wait();
    files.push_back(
        Received(1, 2, [&](Ranks ranks) { static_cast<void>(ListCheckpoints(*ranks, folder)); }));
  }
  return files;
}

// --- Calls that are compared --------------------------------------------------------------------

bool CallChecked(Ranks plain) {
  const Ranks ranks = CheckedRanks(std::move(plain));
  std::vector<float> x(6, 1.0f), all(18);
  bool good = ranks->AllReduce(x.data(), 6, Element::kF32, Reduction::kSum).ok();
  good = ranks->Broadcast(x.data(), 5, Element::kF32, 2).ok() && good;
  good = ranks->AllGather(x.data(), all.data(), 6, Element::kF32).ok() && good;
  if (ranks->rank() == 0) good = ranks->Send(x.data(), 4, Element::kF32, 1).ok() && good;
  if (ranks->rank() == 1) good = ranks->Recv(x.data(), 4, Element::kF32, 0).ok() && good;
  const auto part = ranks->Split(0, -ranks->rank());
  if (!part.ok()) return false;
  good = (*part)->AllReduce(x.data(), 3, Element::kF32, Reduction::kMax).ok() && good;
  return (*part)->Barrier().ok() && good;
}

FIRN_FUZZ_READER(ranks_checked) { return CallChecked(StrangeRank(1, 3, bytes)); }

FIRN_FUZZ_SEEDS(ranks_checked) {
  return {Received(1, 3, [](Ranks ranks) { static_cast<void>(CallChecked(std::move(ranks))); })};
}

}  // namespace
}  // namespace firn::comm
