// A library without thread safety keeps errors and the function that prints them in one place for
// the whole program, so both are used only under the lock.
#include "firn/io/hdf5/internal/h5_library.h"

#include "firn/device/status_macros.h"

namespace firn::io::internal {
namespace {

std::recursive_mutex& LibraryMutex() {
  static auto* mutex = new std::recursive_mutex;
  return *mutex;
}

}  // namespace

H5Scope::H5Scope() : lock_(LibraryMutex()) {
  H5Eget_auto2(H5E_DEFAULT, &function_, &data_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

H5Scope::~H5Scope() { H5Eset_auto2(H5E_DEFAULT, function_, data_); }

absl::Status H5Error(const std::string& what) {
  std::string reason;
  const auto keep_last = [](unsigned, const H5E_error2_t* e, void* out) -> herr_t {
    if (e->desc != nullptr) *static_cast<std::string*>(out) = e->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, keep_last, &reason);
  return Internal("HDF5 cannot ", what, ": ", reason);
}

bool H5Id::Close() {
  if (!ok()) return true;
  const H5Scope scope;
  return close_(std::exchange(id_, H5I_INVALID_HID)) >= 0;
}

}  // namespace firn::io::internal
