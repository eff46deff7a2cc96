#ifndef FIRN_DEVICE_COMM_MPI_API_H_
#define FIRN_DEVICE_COMM_MPI_API_H_

// The functions of MPI that Firn calls. They are found at run time, so a build needs neither the
// header nor the library. The two existing binary interfaces differ in the type of handles and in
// the values of constants; functions have the names and arguments of the MPI 3.1 standard.

#include <string>

#include "absl/status/statusor.h"

namespace firn::comm {

// Open MPI 4 and 5: handles are addresses of the library's objects.
struct OpenMpi {
  using Handle = void*;
};
// MPICH 4, and those that keep its interface (Intel MPI, MVAPICH): handles are numbers.
struct Mpich {
  using Handle = int;
};

template <class Abi>
struct MpiApi {
  using Handle = typename Abi::Handle;

  int (*init_thread)(int*, char***, int required, int* provided);
  int (*query_thread)(int* provided);
  int (*initialized)(int*);
  int (*finalized)(int*);
  int (*finalize)();
  int (*comm_rank)(Handle, int*);
  int (*comm_size)(Handle, int*);
  int (*comm_dup)(Handle, Handle*);
  int (*comm_split)(Handle, int color, int key, Handle*);
  int (*comm_split_type)(Handle, int type, int key, Handle info, Handle*);
  int (*comm_free)(Handle*);
  int (*comm_set_errhandler)(Handle, Handle);
  int (*error_string)(int code, char*, int* length);
  int (*ibarrier)(Handle comm, Handle* request);
  int (*ibcast)(void*, int count, Handle type, int root, Handle comm, Handle* request);
  int (*ireduce)(const void*, void*, int count, Handle type, Handle op, int root, Handle comm,
                 Handle* request);
  int (*iallreduce)(const void*, void*, int count, Handle type, Handle op, Handle comm,
                    Handle* request);
  int (*iallgather)(const void*, int, Handle, void*, int, Handle, Handle comm, Handle* request);
  int (*ireduce_scatter_block)(const void*, void*, int count, Handle type, Handle op, Handle comm,
                               Handle* request);
  int (*isend)(const void*, int count, Handle type, int to, int tag, Handle comm, Handle* request);
  int (*irecv)(void*, int count, Handle type, int from, int tag, Handle comm, Handle* request);
  int (*test)(Handle* request, int* done, void* status);
  int (*cancel)(Handle* request);
  int (*request_free)(Handle* request);

  Handle world, info_null, errors_return;
  Handle f32, f64, i8, i32, i64, u8;
  Handle sum, prod, min, max;
  void* in_place;
  void* no_status;
  int shared_memory;  // the type of comm_split_type
};

// Which interface the library has, and where it is.
struct MpiLibrary {
  void* handle = nullptr;  // of dlopen; for good
  bool is_open_mpi = false;
  std::string file;
};

// The library of the launcher that started this process. NotFound, which lists the names that were
// tried.
absl::StatusOr<MpiLibrary> LoadMpi();
// NotFound for a function that is missing. Requires: `library` has this interface.
template <class Abi>
absl::StatusOr<MpiApi<Abi>> FindMpi(const MpiLibrary& library);

}  // namespace firn::comm

#endif  // FIRN_DEVICE_COMM_MPI_API_H_
