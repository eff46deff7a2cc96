// What a program sees of checkpoints; the file itself is internal/checkpoint_file.cc.
#include "firn/io/checkpoints/checkpoint.h"

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "absl/status/statusor.h"
#include "firn/device/comm/communicator.h"
#include "firn/device/edit_distance.h"
#include "firn/device/status_macros.h"
#include "firn/io/checkpoints/internal/checkpoint_file.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/rank_seed.h"

namespace firn::io {
namespace {

template <class T>
Tensor Number(T value) {
  return FromVector(std::vector<T>{value}, Shape());
}

[[noreturn]] void RaiseNoValue(const StateDict& values, std::string_view name) {
  std::vector<std::string> names;
  for (const auto& [there, value] : values) names.push_back(there);
  RaiseStatus(NotFound("there is no value '", name, "'", inner::internal::InsteadOf(name, names)),
              "checkpoint");
}

// The value of that name, which must be one of `want`.
Tensor Find(const StateDict& values, std::string_view name, std::initializer_list<DType> want,
            int rank, const char* kind) {
  const Tensor* value = values.Find(name);
  if (value == nullptr) RaiseNoValue(values, name);
  bool fits = value->defined() && value->rank() == rank;
  bool is_one = false;
  for (const DType dtype : want) is_one = is_one || (fits && value->dtype() == dtype);
  if (!is_one) {
    const std::string got = value->defined() ? value->spec().ToString() : "undefined";
    RaiseStatus(InvalidArgument("value '", name, "' is ", got, " (want ", kind, ")"), "checkpoint");
  }
  return value->To(Device::Cpu());
}

// A generator's state, i64 [2]; of several ranks those of all, [ranks, 2].
Tensor StateOfRanks(const RandomGenerator& generator, comm::Communicator* ranks) {
  if (ranks == nullptr || ranks->size() == 1) return generator.state();
  const std::vector<int64_t> own = generator.state().ToVector<int64_t>();
  std::vector<int64_t> all(own.size() * static_cast<size_t>(ranks->size()));
  RaiseIfError(ranks->AllGather(own.data(), all.data(), std::ssize(own), comm::Element::kI64),
               "checkpoint");
  return FromVector(all, Shape{ranks->size(), std::ssize(own)});
}

// The state of rank `rank` or, where more ranks load than were saved, one that no saved rank has.
Tensor StateOfRank(const Tensor& state, int64_t rank) {
  if (state.rank() == 1 && rank == 0) return state;
  const bool one = state.rank() == 1, several = state.rank() == 2;
  if (state.dtype() != DType::kI64 || state.num_elements() == 0 || (!one && !several) ||
      state.size(state.rank() - 1) != 2) {
    RaiseStatus(
        InvalidArgument("the state of random generators must be i64 [2] or [ranks, 2], got ",
                        state.spec().ToString()),
        "checkpoint");
  }
  const std::vector<int64_t> all = state.ToVector<int64_t>();
  const int64_t ranks = one ? 1 : state.size(0);
  if (rank < ranks) {
    const auto at = static_cast<size_t>(2 * rank);
    return FromVector(std::vector<int64_t>{all[at], all[at + 1]});
  }
  const uint64_t seed = SeedOfRank(static_cast<uint64_t>(all[0]), rank);
  return FromVector(std::vector<int64_t>{static_cast<int64_t>(seed), all[1]});
}

}  // namespace

CheckpointPart::CheckpointPart(std::string_view name, RandomGenerator& generator)
    : CheckpointPart(name, generator, nullptr) {}

CheckpointPart::CheckpointPart(std::string_view name, RandomGenerator& generator,
                               comm::Communicator* ranks)
    : name_(name),
      save_([&generator, ranks] {
        return StateDict{{"state", StateOfRanks(generator, ranks)}};
      }),
      load_([&generator, ranks](const StateDict& state) {
        if (state.size() != 1 || !state.Contains("state")) {
          RaiseStatus(InvalidArgument("the state dict of a random generator has ", state.size(),
                                      " entries (want one, state)"),
                      "checkpoint");
        }
        generator.SetState(StateOfRank(state["state"], ranks == nullptr ? 0 : ranks->rank()));
      }) {}

void CheckpointPart::Load(const StateDict& state) const {
  if (!can_load()) {
    RaiseStatus(FailedPrecondition("part '", name_, "' is constant and cannot be loaded"),
                "checkpoint");
  }
  load_(state);
}

void CheckpointValues::Set(std::string_view name, const Tensor& value) {
  values_.Set(std::string(name), value);
}

void CheckpointValues::Set(std::string_view name, std::string_view text) {
  Set(name, FromVector(std::vector<uint8_t>(text.begin(), text.end())));
}

void CheckpointValues::SetInteger(std::string_view name, int64_t value) {
  Set(name, Number(value));
}

void CheckpointValues::SetReal(std::string_view name, double value) { Set(name, Number(value)); }

Tensor CheckpointValues::GetTensor(std::string_view name) const {
  const Tensor* value = values_.Find(name);
  if (value == nullptr) RaiseNoValue(values_, name);
  return *value;
}

std::string CheckpointValues::GetText(std::string_view name) const {
  const auto bytes = Find(values_, name, {DType::kU8}, 1, "text: u8, 1-D").ToVector<uint8_t>();
  return {bytes.begin(), bytes.end()};
}

int64_t CheckpointValues::GetInteger(std::string_view name) const {
  return Find(values_, name, {DType::kI64}, 0, "an i64 number").Item<int64_t>();
}

double CheckpointValues::GetReal(std::string_view name) const {
  const Tensor value = Find(values_, name, {DType::kF64, DType::kI64}, 0, "an f64 or i64 number");
  return value.dtype() == DType::kI64 ? static_cast<double>(value.Item<int64_t>())
                                      : value.Item<double>();
}

void SaveCheckpoint(const std::string& path, const CheckpointParts& parts,
                    const SaveCheckpointOptions& options) {
  const internal::CheckpointContents contents = internal::CollectParts(parts, options);
  RaiseIfError(internal::WriteCheckpoint(path, contents), "save checkpoint");
}

CheckpointInfo LoadCheckpoint(const std::string& path, const CheckpointParts& parts,
                              const LoadCheckpointOptions& options) {
  absl::StatusOr<internal::CheckpointContents> contents =
      internal::ReadCheckpoint(path, internal::PartNames(parts), options.limits);
  RaiseIfError(contents.status(), "load checkpoint");
  internal::LoadParts(path, *contents, parts);
  return contents->info;
}

CheckpointInfo ReadCheckpointInfo(const std::string& path, const LoadCheckpointOptions& options) {
  absl::StatusOr<internal::CheckpointContents> contents =
      internal::ReadCheckpoint(path, {}, options.limits);
  RaiseIfError(contents.status(), "read checkpoint");
  return contents->info;
}

}  // namespace firn::io
