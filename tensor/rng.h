#ifndef FIRN_TENSOR_RNG_H_
#define FIRN_TENSOR_RNG_H_

#include <cstdint>

#include "firn/device/philox_state.h"
#include "firn/tensor/tensor.h"

namespace firn {

// A stream of random numbers (Philox, see device/philox.h). Its position is kept in a tensor, i64
// {seed, offset}, which every random operation takes as an argument, reads and moves on. So a
// captured graph, which holds that tensor, draws new numbers each time it runs.
//
// Which number an element gets depends on the position and the element's index only, not on threads
// or the device. Operations may draw from one generator on several threads at once and never share
// numbers, but timing then decides which thread gets which numbers: give each thread its own where
// reproducibility matters. Everything else is thread-compatible.
class RandomGenerator {
 public:
  explicit RandomGenerator(uint64_t seed = 0, Device device = {});
  RandomGenerator(const RandomGenerator&) = delete;
  RandomGenerator& operator=(const RandomGenerator&) = delete;

  // The tensor that holds the position: the argument of random operations.
  const Tensor& state() const { return state_; }
  Device device() const { return state_.device(); }

  // Starts the stream of another seed at its beginning.
  void SetSeed(inner::Integer seed) { SetPosition({static_cast<uint64_t>(int64_t{seed}), 0}); }
  // For checkpoints: a generator set to a saved position continues as the saved one would have.
  PhiloxState position() const;
  void SetPosition(const PhiloxState& position);
  // The same from a copy of state() on any device, such as a checkpoint's. Throws firn::Error
  // unless it is i64 [2].
  void SetState(const Tensor& state);

  // Takes `counters` counters (four 32-bit words each) for numbers drawn on the host. Throws during
  // capture: a graph would keep the drawn numbers and draw no new ones.
  PhiloxState Reserve(uint64_t counters);

 private:
  Tensor state_;
};

// The generator from which operations draw by default, one for each device. Its seed is FIRN_SEED,
// else 0: two runs of a program draw the same numbers unless it asks otherwise. Throws kUnavailable
// when there is no such device.
RandomGenerator& DefaultGenerator(Device device = {});

// Seeds the default generators of all devices.
void ManualSeed(inner::Integer seed);

// The generator of a random operation, and the device of its result.
struct RandomOptions {
  Device device = {};
  // If null, the device's default generator. A generator's own device is the one that counts.
  RandomGenerator* generator = nullptr;
};

namespace inner {
RandomGenerator& GeneratorOf(const RandomOptions& options);
}  // namespace inner

}  // namespace firn

#endif  // FIRN_TENSOR_RNG_H_
