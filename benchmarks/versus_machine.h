#ifndef FIRN_BENCHMARKS_VERSUS_MACHINE_H_
#define FIRN_BENCHMARKS_VERSUS_MACHINE_H_

// Describes the machine, and how busy other processes keep it during a measurement, as
// compare_machine.py does. Linux only.

#include <chrono>
#include <cstdint>
#include <string>

namespace firn::benchmarks {

// What a reader needs to judge the numbers.
struct MachineFacts {
  std::string cpu;
  int64_t cores = 0;
  std::string simd;  // the widest: "amx_tile", "avx512f", "avx2", "avx", "sse2"
  double memory_gb = 0;
  std::string kernel;
  double load_at_start = 0;
  std::string gpus;  // "NVIDIA H200, NVIDIA H200"; "" where the driver tells of none
};
MachineFacts DescribeMachine();

// The share of the machine (0..1) that other processes have used since construction.
class OthersLoad {
 public:
  OthersLoad();
  double Share() const;

 private:
  const std::chrono::steady_clock::time_point start_;
  const double busy_s_, own_s_;
};

}  // namespace firn::benchmarks

#endif  // FIRN_BENCHMARKS_VERSUS_MACHINE_H_
