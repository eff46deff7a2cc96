#ifndef FIRN_DEVICE_INTERNAL_RACE_DETECTOR_H_
#define FIRN_DEVICE_INTERNAL_RACE_DETECTOR_H_

#if defined(__SANITIZE_THREAD__)
#define FIRN_HAS_TSAN_ 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define FIRN_HAS_TSAN_ 1
#endif
#endif

#if defined(FIRN_HAS_TSAN_)
#include <sanitizer/tsan_interface.h>

// Keeps ThreadSanitizer away from one function.
#define FIRN_NO_TSAN __attribute__((no_sanitize_thread))
#else
#define FIRN_NO_TSAN
#endif

// Tells ThreadSanitizer of an order that it cannot see, as libgomp is not built for it: what came
// before Release(x) in one thread happens before what follows Acquire(x) in another. Does nothing
// in other builds.
namespace firn::inner::internal {

#if defined(FIRN_HAS_TSAN_)
inline void TsanRelease(void* tag) { __tsan_release(tag); }
inline void TsanAcquire(void* tag) { __tsan_acquire(tag); }
#else
inline void TsanRelease(void*) {}
inline void TsanAcquire(void*) {}
#endif

}  // namespace firn::inner::internal

#endif  // FIRN_DEVICE_INTERNAL_RACE_DETECTOR_H_
