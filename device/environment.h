#ifndef FIRN_DEVICE_ENVIRONMENT_H_
#define FIRN_DEVICE_ENVIRONMENT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

// All environment variables Firn reads. Each is read by the one place that needs it, most of them
// once; a value that cannot be understood is reported on stderr and treated as unset. Thread-safe
// as long as nobody calls setenv at the same time.
//
// OpenMP's own variables (OMP_NUM_THREADS, OMP_PROC_BIND, ...) are obeyed as well.
namespace firn::env {

// FIRN_NUM_THREADS: what NumThreads() starts with, at least 1. Beats OMP_NUM_THREADS.
std::optional<int> NumThreads();

// FIRN_SEED: the seed default generators (tensor/rng.h) start with; 0 when unset.
uint64_t Seed();

// FIRN_CPU_MEMORY_LIMIT: the host allocator's limit to start with, in bytes, or with a suffix K, M,
// G or T (powers of 1024): "6G". See Allocator::SetLimit.
std::optional<size_t> CpuMemoryLimit();

// FIRN_HUGE_PAGES: 0 stops the host allocator from asking for transparent huge pages; 1 when unset.
bool HugePages();

// FIRN_SYNC_AFTER_LAUNCH: 1 waits after every CUDA kernel, so that a failure is reported by the
// operation that caused it and not by a later one; 0 when unset.
bool SyncAfterLaunch();

// FIRN_CUDA_REPLAY: 0 launches every CUDA kernel by itself, where otherwise launches that a program
// repeats go to the device as one; 1 when unset.
bool CudaReplay();

// FIRN_CUDA_NHWC: 0 leaves images row-major on CUDA devices, where convolutions otherwise bring
// those whose dtype has engines for it into NHWC; 1 when unset.
bool CudaNhwc();

// FIRN_CUDNN_ATTENTION: 0 leaves attention on CUDA devices to Firn's own kernels, where otherwise
// cuDNN computes what it can; 1 when unset.
bool CudnnAttention();

// FIRN_CHECK_COLLECTIVES: 1 has ranks compare their calls before data moves, so that those that do
// not fit together are named (device/comm/checked_ranks.h); the same on all ranks. 0 when unset.
bool CheckCollectives();

// FIRN_RECORD_COLLECTIVES: 1 has frozen steps with collectives of one group on CUDA devices become
// CUDA graphs, for programs in which all ranks run a frozen step together, also those whose batch
// is another one; the same on all ranks. 0 when unset.
bool RecordCollectives();

// FIRN_SHARED_RANKS: 0 has ranks of one machine exchange all through MPI, where otherwise they use
// memory that all of them see; 1 when unset.
bool SharedRanks();

// FIRN_CPU_LEVEL: "v2", "v3" or "v4", the kernels that a program with several (--config=portable)
// takes; the highest that the processor has when unset.
//
// `own`: the level of the program itself. `processor`: that of the processor, and what is returned
// where nothing lower is asked for.
int CpuLevel(int own, int processor);

// FIRN_CACHE_DIR: the folder of files that make later runs start faster; set and empty, there is
// none. When unset, it is "firn" in XDG_CACHE_HOME, or else ".cache/firn" in HOME. "": keep no such
// files.
std::string CacheFolder();

// This process's rank among those that a launcher of MPI started, and their number, from the
// launcher's own variables: OMPI_COMM_WORLD_RANK and _SIZE of Open MPI's, PMI_RANK and PMI_SIZE of
// MPICH's, PMIX_RANK and SLURM_NTASKS of Slurm's. Without these, SLURM_PROCID and
// SLURM_STEP_NUM_TASKS, which srun sets for each of its tasks, and neither a batch script nor
// salloc. size is 0 where no launcher started it.
struct Launched {
  int rank = 0, size = 0;
  bool by_mpich = false;     // its launcher cannot start programs of Open MPI
  bool without_mpi = false;  // by srun, without what libraries of MPI need to find the others
};
Launched LaunchedAs();

}  // namespace firn::env

#endif  // FIRN_DEVICE_ENVIRONMENT_H_
