#ifndef FIRN_TENSOR_KERNELS_CPU_ONEDNN_THREAD_H_
#define FIRN_TENSOR_KERNELS_CPU_ONEDNN_THREAD_H_

#include <oneapi/dnnl/dnnl.hpp>

#include "firn/device/internal/openmp.h"

// Parts shared by the kernels that run primitives of oneDNN. Making one costs far more than running
// a small one, so each thread keeps those that it made: a table per thread needs no lock.
namespace firn::cpu {

dnnl::engine& OneDnnEngine();

// While one exists, oneDNN uses so many threads when it is called from this one.
class OmpThreads {
 public:
  explicit OmpThreads(int threads) : before_(omp_get_max_threads()) {
    if (threads != before_) omp_set_num_threads(threads);
  }
  ~OmpThreads() { omp_set_num_threads(before_); }
  OmpThreads(const OmpThreads&) = delete;
  OmpThreads& operator=(const OmpThreads&) = delete;

 private:
  const int before_;
};

// The thread's own T, which is destroyed when the thread ends; destructors of other thread-local
// objects may still compute after that, and get a new one.
template <class T>
T& OfThread() {
  static thread_local constinit T* state = nullptr;
  struct Closer {
    ~Closer() {
      delete state;
      state = nullptr;
    }
  };
  if (state == nullptr) {
    static thread_local Closer closer;
    state = new T;
  }
  return *state;
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_ONEDNN_THREAD_H_
