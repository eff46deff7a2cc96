#ifndef FIRN_DEVICE_INTERNAL_CROWD_H_
#define FIRN_DEVICE_INTERNAL_CROWD_H_

namespace firn::inner::internal {

// Checks from time to time whether more threads want to run than there are cores; while that is so,
// it makes libgomp's waiting threads sleep soon. Results do not change: each thread computes the
// same as before.
void LookForCrowd(int threads);

// To be called before each parallel region, with the size of its team.
inline void NoteRegion(int threads) {
  static thread_local constinit int left = 0;
  if (--left > 0) [[likely]]
    return;
  left = 32;
  LookForCrowd(threads);
}

}  // namespace firn::inner::internal

#endif  // FIRN_DEVICE_INTERNAL_CROWD_H_
