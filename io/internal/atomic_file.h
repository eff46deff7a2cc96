#ifndef FIRN_IO_INTERNAL_ATOMIC_FILE_H_
#define FIRN_IO_INTERNAL_ATOMIC_FILE_H_

#include "device/atomic_file.h"

namespace firn::io::internal {

// As graph_file_write.cc names it.
using firn::internal::AtomicFile;

}  // namespace firn::io::internal

#endif  // FIRN_IO_INTERNAL_ATOMIC_FILE_H_
