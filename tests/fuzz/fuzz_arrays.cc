#include <cstdlib>
#include <string>

#include "io/internal/h5_reader.h"
#include "io/npy_status.h"
#include "io/wav_status.h"
#include "tests/fuzz/targets.h"

namespace firn::io {
namespace {

constexpr LoadLimits kLimits = {
    .max_tensors = 1000, .max_total_bytes = 1 << 22, .max_metadata_bytes = 1 << 20};

std::string_view View(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace

int FuzzNpy(const uint8_t* data, size_t size) {
  const auto array = ParseNpy(View(data, size), "fuzz", {.void_is_bf16 = true, .limits = kLimits});
  // What was read can be written.
  if (array.ok() && !FormatNpy(*array).ok()) std::abort();
  return 0;
}

int FuzzNpz(const uint8_t* data, size_t size) {
  static_cast<void>(ParseNpz(View(data, size), "fuzz", {.limits = kLimits}));
  return 0;
}

int FuzzWav(const uint8_t* data, size_t size) {
  static_cast<void>(ParseWav(View(data, size), "fuzz", kLimits));
  return 0;
}

int FuzzHdf5(const uint8_t* data, size_t size) {
  const auto file = internal::RandomAccess::FromMemory("fuzz", {data, size});
  static_cast<void>(internal::ReadH5(*file, {.limits = kLimits}));
  return 0;
}

}  // namespace firn::io
