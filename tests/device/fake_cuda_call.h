#ifndef FIRN_TESTS_DEVICE_FAKE_CUDA_CALL_H_
#define FIRN_TESTS_DEVICE_FAKE_CUDA_CALL_H_

// How every method of FakeCuda begins: locked, counted, and with the failure injected for it.
#define FIRN_FAKE_CALL_()                                   \
  const std::lock_guard<std::recursive_mutex> lock(mutex_); \
  if (const int code = Called(__func__); code != 0) return code == kDropped ? 0 : code

#endif  // FIRN_TESTS_DEVICE_FAKE_CUDA_CALL_H_
