#ifndef FIRN_DEVICE_MACROS_H_
#define FIRN_DEVICE_MACROS_H_

// Hints to the compiler about functions and loops, and facts about the compiler.

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

// Before a loop: no iteration needs what an earlier one wrote, even if the compiler cannot see that
// from the pointers. Do not use it before a loop that adds floats up in one variable: clang would
// do so in any order.
#if defined(__clang__)
#define FIRN_INDEPENDENT_STEPS _Pragma("clang loop vectorize(assume_safety)")
#else
#define FIRN_INDEPENDENT_STEPS _Pragma("GCC ivdep")
#endif

// Before a loop that adds floats up in the variables named, in any order, so in vectors.
#if defined(__clang__)
#define FIRN_SUMS_IN_ANY_ORDER(...) _Pragma("clang loop vectorize(assume_safety)")
#else
#define FIRN_PRAGMA_(...) _Pragma(#__VA_ARGS__)
#define FIRN_SUMS_IN_ANY_ORDER(...) FIRN_PRAGMA_(omp simd reduction(+ : __VA_ARGS__))
#endif

// Whether the code is compiled with AddressSanitizer, which g++ and clang tell in different ways.
#if defined(__SANITIZE_ADDRESS__)
#define FIRN_HAS_ASAN 1
#elif defined(__has_feature)
#define FIRN_HAS_ASAN __has_feature(address_sanitizer)
#else
#define FIRN_HAS_ASAN 0
#endif

// Registrations come before other global objects, which may hold tensors and modules and be made
// by operations.
#define FIRN_BEFORE_GLOBALS __attribute__((init_priority(500)))

#endif  // FIRN_DEVICE_MACROS_H_
