// Generators. The position is borrowed memory of the program, not the allocator's: it lives as long
// as anybody draws and is nobody's leak. Its two numbers are unsigned, kept as i64 bit for bit.

#include "tensor/rng.h"

#include <array>
#include <atomic>
#include <memory>
#include <utility>

#include "device/environment.h"
#include "device/status_macros.h"
#include "tensor/dispatch.h"
#include "tensor/error.h"

namespace firn {
namespace {

int64_t* Numbers(const Tensor& state) { return reinterpret_cast<int64_t*>(state.impl()->data); }

void RequireCpu(Device device) {
  if (device.is_cpu()) return;
  RaiseStatus(Unavailable("no device ", device.ToString(), " in this build"), "generator");
}

}  // namespace

Generator::Generator(uint64_t seed, Device device) {
  RequireCpu(device);
  auto numbers = std::make_shared<std::array<int64_t, 2>>();
  *numbers = {static_cast<int64_t>(seed), 0};
  void* data = numbers->data();
  auto storage = Storage::Borrow(data, sizeof(*numbers), device, [numbers](void*) {});
  state_ =
      WrapStorage(std::move(storage), data, TensorSpec::Contiguous(DType::kI64, Shape{2}, device));
}

PhiloxState Generator::position() const {
  const int64_t* s = Numbers(state_);
  return {static_cast<uint64_t>(s[0]), static_cast<uint64_t>(s[1])};
}

void Generator::SetPosition(const PhiloxState& position) {
  if (ThisThread().capture != nullptr) {
    RaiseIfError(ThisThread().capture->OnHostRead(state_), "generator");
  }
  int64_t* s = Numbers(state_);
  s[0] = static_cast<int64_t>(position.seed);
  s[1] = static_cast<int64_t>(position.offset);
}

PhiloxState Generator::Reserve(uint64_t counters) {
  if (ThisThread().capture != nullptr) {
    RaiseIfError(ThisThread().capture->OnHostRead(state_), "generator");
  }
  int64_t* s = Numbers(state_);
  const int64_t offset = std::atomic_ref<int64_t>(s[1]).fetch_add(static_cast<int64_t>(counters));
  return {static_cast<uint64_t>(s[0]), static_cast<uint64_t>(offset)};
}

Generator& DefaultGenerator(Device device) {
  RequireCpu(device);
  static Generator* const generator = new Generator(env::Seed());  // drawn from until the very end
  return *generator;
}

void ManualSeed(uint64_t seed) { DefaultGenerator().SetSeed(seed); }

Generator& GeneratorOf(const RandomOptions& options) {
  return options.generator != nullptr ? *options.generator : DefaultGenerator(options.device);
}

}  // namespace firn
