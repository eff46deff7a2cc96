// Generators. On the CPU the position is borrowed memory of the program, not the allocator's: it
// lives as long as the program draws, and does not count as a leak. Its two numbers are unsigned,
// kept as i64 bit for bit.

#include "firn/tensor/rng.h"

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "firn/device/context.h"
#include "firn/device/environment.h"
#include "firn/device/fork.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/allocate.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"

namespace firn {
namespace {

int64_t* Numbers(const Tensor& state) { return reinterpret_cast<int64_t*>(state.impl()->data); }

using Position = std::array<int64_t, 2>;

Tensor NewState(const Position& position, Device device) {
  const TensorSpec spec = TensorSpec::Contiguous(DType::kI64, Shape{2}, device);
  if (device.is_cpu()) {
    auto numbers = std::make_shared<Position>(position);
    void* data = numbers->data();
    auto storage = Storage::Borrow(data, sizeof(Position), device, [numbers](void*) {});
    return WrapStorage(std::move(storage), data, spec);
  }
  absl::StatusOr<Tensor> state = AllocateTensor(spec, AllocTag::kOther);
  RaiseIfError(state.status(), "generator");
  return *std::move(state);
}

// Whatever device the numbers lie on.
Position Read(const Tensor& state) {
  Position numbers;
  absl::StatusOr<DeviceContext*> context = GetDeviceContext(state.device());
  RaiseIfError(context.status(), "generator");
  RaiseIfError((*context)->CopyToHost(numbers.data(), state.impl()->data, sizeof(numbers)),
               "generator");
  return numbers;
}

void Write(const Tensor& state, const Position& numbers) {
  absl::StatusOr<DeviceContext*> context = GetDeviceContext(state.device());
  RaiseIfError(context.status(), "generator");
  RaiseIfError((*context)->CopyFromHost(state.impl()->data, numbers.data(), sizeof(numbers)),
               "generator");
}

void RefuseInCapture(const Tensor& state) { RaiseIfError(CheckHostRead(state), "generator"); }

}  // namespace

RandomGenerator::RandomGenerator(uint64_t seed, Device device) {
  const Position start = {static_cast<int64_t>(seed), 0};
  state_ = NewState(start, device);
  if (device.is_cuda()) Write(state_, start);
}

PhiloxState RandomGenerator::position() const {
  const Position s = Read(state_);
  return {static_cast<uint64_t>(s[0]), static_cast<uint64_t>(s[1])};
}

void RandomGenerator::SetPosition(const PhiloxState& position) {
  RefuseInCapture(state_);
  Write(state_, {static_cast<int64_t>(position.seed), static_cast<int64_t>(position.offset)});
}

void RandomGenerator::SetState(const Tensor& state) {
  CheckDefined(state, "set_state", "state");
  if (state.dtype() != DType::kI64 || state.shape() != Shape{2}) {
    RaiseStatus(
        InvalidArgument("state must be i64 [2] {seed, offset}, got ", state.spec().ToString()),
        "set_state");
  }
  state_.CopyFrom(state.To(device()));
}

PhiloxState RandomGenerator::Reserve(uint64_t counters) {
  RefuseInCapture(state_);
  if (device().is_cuda()) {
    PhiloxState s = position();
    Write(state_, {static_cast<int64_t>(s.seed), static_cast<int64_t>(s.offset + counters)});
    return s;
  }
  int64_t* s = Numbers(state_);
  const int64_t offset = std::atomic_ref<int64_t>(s[1]).fetch_add(static_cast<int64_t>(counters));
  return {static_cast<uint64_t>(s[0]), static_cast<uint64_t>(offset)};
}

namespace {

// The default generators, each made at first use: drawn from until the very end.
class Defaults {
 public:
  static Defaults& Get() {
    static Defaults* const defaults = new Defaults;
    return *defaults;
  }
  RandomGenerator& Of(Device device) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& generator : made_) {
      if (generator->device() == device) return *generator;
    }
    return *made_.emplace_back(std::make_unique<RandomGenerator>(seed_, device));
  }
  void Seed(uint64_t seed) {
    const std::lock_guard<std::mutex> lock(mutex_);
    seed_ = seed;
    for (const auto& generator : made_) generator->SetSeed(seed);
  }

 private:
  Defaults() { KeepOverFork(mutex_, ForkOrder::kGenerators); }

  std::mutex mutex_;
  uint64_t seed_ = env::Seed();
  std::vector<std::unique_ptr<RandomGenerator>> made_;
};

}  // namespace

RandomGenerator& DefaultGenerator(Device device) {
  static RandomGenerator& cpu = Defaults::Get().Of(Device::Cpu());  // the usual one, without a lock
  return device == Device::Cpu() ? cpu : Defaults::Get().Of(device);
}

void ManualSeed(Integer seed) {
  DefaultGenerator();
  Defaults::Get().Seed(seed);
}

RandomGenerator& inner::GeneratorOf(const RandomOptions& options) {
  return options.generator != nullptr ? *options.generator : DefaultGenerator(options.device);
}

}  // namespace firn
