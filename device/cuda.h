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

// "NVIDIA H100 80GB HBM3, 79.2 GiB, compute capability 9.0"; what went wrong instead where the
// driver does not tell, empty for a device that is not there.
std::string CudaDeviceDescription(int index);

// How often a thread of this process waited for a CUDA device since the start: reads of tensors and
// explicit waits. What does not wait shows here as 0: a training step counts one for each value it
// reads.
int64_t CudaSynchronizations();

// How many kernels of this process went to their device as part of a recording of launches that a
// program repeats (FIRN_CUDA_REPLAY=0 stops that).
int64_t CudaReplayedLaunches();

}  // namespace firn

#endif  // FIRN_DEVICE_CUDA_H_
