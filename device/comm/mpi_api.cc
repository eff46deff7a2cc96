#include "firn/device/comm/mpi_api.h"

#include <dlfcn.h>

#include <vector>

#include "absl/strings/str_join.h"
#include "firn/device/environment.h"
#include "firn/device/status_macros.h"

namespace firn::comm {
namespace {

// Finds functions and objects, and keeps the name of the first that is missing.
struct Finder {
  void* library;
  std::string missing;

  void* Object(const char* name) {
    void* const found = dlsym(library, name);
    if (found == nullptr && missing.empty()) missing = name;
    return found;
  }
  template <class F>
  void operator()(const char* name, F** function) {
    *function = reinterpret_cast<F*>(Object(name));
  }
};

void SetConstants(Finder& find, MpiApi<OpenMpi>* api) {
  api->world = find.Object("ompi_mpi_comm_world");
  api->info_null = find.Object("ompi_mpi_info_null");
  api->errors_return = find.Object("ompi_mpi_errors_return");
  api->f32 = find.Object("ompi_mpi_float");
  api->f64 = find.Object("ompi_mpi_double");
  api->i8 = find.Object("ompi_mpi_int8_t");
  api->i32 = find.Object("ompi_mpi_int32_t");
  api->i64 = find.Object("ompi_mpi_int64_t");
  api->u8 = find.Object("ompi_mpi_uint8_t");
  api->sum = find.Object("ompi_mpi_op_sum");
  api->prod = find.Object("ompi_mpi_op_prod");
  api->min = find.Object("ompi_mpi_op_min");
  api->max = find.Object("ompi_mpi_op_max");
  api->in_place = reinterpret_cast<void*>(1);
  api->no_status = nullptr;
  api->shared_memory = 0;
}

void SetConstants(Finder&, MpiApi<Mpich>* api) {
  api->world = 0x44000000;
  api->info_null = 0x1c000000;
  api->errors_return = 0x54000001;
  api->f32 = 0x4c00040a;
  api->f64 = 0x4c00080b;
  api->i8 = 0x4c000137;
  api->i32 = 0x4c000439;
  api->i64 = 0x4c00083a;
  api->u8 = 0x4c00013b;
  api->sum = 0x58000003;
  api->prod = 0x58000004;
  api->min = 0x58000002;
  api->max = 0x58000001;
  api->in_place = reinterpret_cast<void*>(-1);
  api->no_status = reinterpret_cast<void*>(1);
  api->shared_memory = 1;
}

}  // namespace

absl::StatusOr<MpiLibrary> LoadMpi() {
  // MPICH's launcher speaks PMI; Open MPI's and Slurm's PMIx speak to either.
  std::vector<std::string> files = {"libmpi.so.40", "libmpich.so.12", "libmpi.so.12"};
  const bool by_mpich = env::LaunchedAs().by_mpich;
  if (by_mpich) files = {"libmpich.so.12", "libmpi.so.12"};
  for (const std::string& file : files) {
    // RTLD_GLOBAL is needed: Open MPI's plug-ins look for its functions among the global ones.
    void* const handle = dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (handle == nullptr) continue;
    return MpiLibrary{handle, dlsym(handle, "ompi_mpi_comm_world") != nullptr, file};
  }
  return NotFound("no MPI library: looked for ", absl::StrJoin(files, ", "),
                  by_mpich ? " (Open MPI's is for its own mpirun and for srun --mpi=pmix)" : "");
}

template <class Abi>
absl::StatusOr<MpiApi<Abi>> FindMpi(const MpiLibrary& library) {
  MpiApi<Abi> api = {};
  Finder find = {library.handle, ""};
  find("MPI_Init_thread", &api.init_thread);
  find("MPI_Query_thread", &api.query_thread);
  find("MPI_Initialized", &api.initialized);
  find("MPI_Finalized", &api.finalized);
  find("MPI_Finalize", &api.finalize);
  find("MPI_Comm_rank", &api.comm_rank);
  find("MPI_Comm_size", &api.comm_size);
  find("MPI_Comm_dup", &api.comm_dup);
  find("MPI_Comm_split", &api.comm_split);
  find("MPI_Comm_split_type", &api.comm_split_type);
  find("MPI_Comm_free", &api.comm_free);
  find("MPI_Comm_set_errhandler", &api.comm_set_errhandler);
  find("MPI_Error_string", &api.error_string);
  find("MPI_Ibarrier", &api.ibarrier);
  find("MPI_Ibcast", &api.ibcast);
  find("MPI_Ireduce", &api.ireduce);
  find("MPI_Iallreduce", &api.iallreduce);
  find("MPI_Iallgather", &api.iallgather);
  find("MPI_Ireduce_scatter_block", &api.ireduce_scatter_block);
  find("MPI_Isend", &api.isend);
  find("MPI_Irecv", &api.irecv);
  find("MPI_Test", &api.test);
  find("MPI_Cancel", &api.cancel);
  find("MPI_Request_free", &api.request_free);
  SetConstants(find, &api);
  if (!find.missing.empty()) return NotFound(library.file, " has no ", find.missing);
  return api;
}

template absl::StatusOr<MpiApi<OpenMpi>> FindMpi(const MpiLibrary& library);
template absl::StatusOr<MpiApi<Mpich>> FindMpi(const MpiLibrary& library);

}  // namespace firn::comm
