#ifndef FIRN_DEVICE_INTERNAL_OPENMP_H_
#define FIRN_DEVICE_INTERNAL_OPENMP_H_

// What Firn calls of libgomp, g++'s OpenMP runtime, on which Debian's oneDNN runs too. Clang brings
// the header of another runtime or none, and makes of `#pragma omp parallel` calls of that one: a
// second pool of threads in the process, which the first would spin beside. So both compilers call
// the function that g++ makes of the pragma. Not to be included with <omp.h>.
extern "C" {

int omp_get_max_threads();
int omp_get_num_procs();
void omp_set_num_threads(int threads);
int omp_in_parallel();
int omp_get_num_threads();
int omp_get_thread_num();
// Ends the threads that wait for the calling thread's next team. Returns 0 on success; within a
// team it fails.
int omp_pause_resource_all(int kind);

// Calls fn(data) on each thread of a team of `threads`, the caller among them, and waits for all.
void GOMP_parallel(void (*fn)(void*), void* data, unsigned threads, unsigned flags);

}  // extern "C"

#endif  // FIRN_DEVICE_INTERNAL_OPENMP_H_
