#ifndef FIRN_DEVICE_MACROS_H_
#define FIRN_DEVICE_MACROS_H_

// What is said to the compiler about functions. Nothing here depends on its flags.

#if defined(__CUDACC__)
#define FIRN_HOST_DEVICE __host__ __device__
#else
#define FIRN_HOST_DEVICE  // functors shared by the CPU loops, the CUDA loops and the interpreter
#endif

#define FIRN_ALWAYS_INLINE inline __attribute__((always_inline))
#define FIRN_NOINLINE __attribute__((noinline))
#define FIRN_FLATTEN __attribute__((flatten))  // all calls within are inlined
// ... nor copied for calls with constant arguments: every call runs the same instructions.
#if defined(__clang__)
#define FIRN_ONE_COPY __attribute__((noinline))
#else
#define FIRN_ONE_COPY __attribute__((noinline, noclone))
#endif

#endif  // FIRN_DEVICE_MACROS_H_
