#ifndef FIRN_IO_HDF5_INTERNAL_H5_LIBRARY_H_
#define FIRN_IO_HDF5_INTERNAL_H5_LIBRARY_H_

// Rules for all use of the HDF5 library: one thread at a time, nothing printed, nothing left open.

#include <hdf5.h>

#include <mutex>
#include <string>
#include <utility>

#include "absl/status/status.h"

namespace firn::io::internal {

// While one exists, its thread has the library, which may have been built without thread safety,
// and the library prints no errors. May be nested. Do not hold it during slow work, such as a write
// to the disk or a rest, since other threads would wait.
class H5Scope {
 public:
  [[nodiscard]] H5Scope();
  ~H5Scope();
  H5Scope(const H5Scope&) = delete;
  H5Scope& operator=(const H5Scope&) = delete;

 private:
  const std::lock_guard<std::recursive_mutex> lock_;
  H5E_auto2_t function_ = nullptr;
  void* data_ = nullptr;
};

// "HDF5 cannot <what>: <reason>", of the call that has just failed. Requires the scope of that.
absl::Status H5Error(const std::string& what);

// Owns one of the library's identifiers (negative: invalid) and closes it in a scope of its own.
// Thread-compatible.
class H5Id {
 public:
  H5Id() = default;
  H5Id(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  H5Id(H5Id&& other) noexcept
      : id_(std::exchange(other.id_, H5I_INVALID_HID)), close_(other.close_) {}
  H5Id& operator=(H5Id&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~H5Id() { Close(); }

  bool ok() const { return id_ >= 0; }
  hid_t get() const { return id_; }
  // Closes it; false on an error. True if it had been closed before.
  bool Close();

 private:
  hid_t id_ = H5I_INVALID_HID;
  herr_t (*close_)(hid_t) = nullptr;
};

}  // namespace firn::io::internal

#endif  // FIRN_IO_HDF5_INTERNAL_H5_LIBRARY_H_
