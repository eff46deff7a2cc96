#ifndef FIRN_DEVICE_CUDA_H_
#define FIRN_DEVICE_CUDA_H_

#include <cstdint>
#include <string>

// What the rest of Firn needs to know of CUDA, without a CUDA header. Thread-safe.
namespace firn {

// Whether at least one CUDA device can be used now.
bool CudaAvailable();

// Why CudaAvailable() is false, for a skipped test or an error; empty when it is true.
std::string CudaUnavailableReason();

// Usable CUDA devices; 0 when CUDA is not available.
int CudaDeviceCount();

// "NVIDIA H100 80GB HBM3, 79.2 GiB, compute capability 9.0"; the error's text where the driver
// cannot tell; empty for a device that does not exist.
std::string CudaDeviceDescription(int index);

// How often a thread of this process waited for a CUDA device since the start: reads of tensors and
// explicit waits. Code that does not wait adds 0; a training step adds one for each value that it
// reads.
int64_t CudaSynchronizations();

// How many kernels of this process went to their device as part of a recording of launches that a
// program repeats (FIRN_CUDA_REPLAY=0 stops that).
int64_t CudaReplayedLaunches();

}  // namespace firn

#endif  // FIRN_DEVICE_CUDA_H_
