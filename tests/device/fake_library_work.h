#ifndef FIRN_TESTS_DEVICE_FAKE_LIBRARY_WORK_H_
#define FIRN_TESTS_DEVICE_FAKE_LIBRARY_WORK_H_

// Functions that stand-ins for libraries share. Needs CUDA.

#include <cuda_runtime.h>

#include "tests/device/fake_cuda.h"

namespace firn::fake {

// The device that libraries queue their work on.
FakeCuda& TheCuda();

// Queues kWork(argument) on the stream.
template <auto kWork, class Argument>
bool Queue(void* stream, const Argument& argument) {
  const auto run = [](const void* a) { kWork(*static_cast<const Argument*>(a)); };
  return TheCuda().Launch(0,
                          {.name = "a library's",
                           .kernel = nullptr,
                           .blocks = 1,
                           .threads = 1,
                           .shared_bytes = 0,
                           .argument = &argument,
                           .argument_bytes = sizeof(argument),
                           .on_host = run},
                          stream) == 0;
}

inline cudaError_t SetDevice(int) { return cudaSuccess; }

// Each turns the stand-in of its library on or off.
void UseCufft(bool use);
void UseCusolver(bool use);
void UseCudnnRnn(bool use);
void UseCudnnGraph(bool use);

}  // namespace firn::fake

#endif  // FIRN_TESTS_DEVICE_FAKE_LIBRARY_WORK_H_
