#ifndef FIRN_DEVICE_INTERNAL_CROWD_H_
#define FIRN_DEVICE_INTERNAL_CROWD_H_

namespace firn::inner::internal {

// Looks, from time to time, whether more threads want to run than there are cores, and has those of
// libgomp that wait for work sleep soon for as long as that is so. Says nothing about results: who
// computes what stays the same.
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
