/* What MPI_Allreduce takes as a program of its own calls it, for ../collectives_compare.py, which
 * compiles this by `mpicc`: mpi_allreduce SECONDS BYTES..., a JSON line for each size. Sums of f32 in
 * place, one after the other, as ../collectives.cc makes them. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double time_of(float* data, int elements, long count) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (long i = 0; i < count; ++i) {
    MPI_Allreduce(MPI_IN_PLACE, data, elements, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return (MPI_Wtime() - begin) / (double)count;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const double seconds = argc > 1 ? atof(argv[1]) : 0.3;
  for (int i = 2; i < argc; ++i) {
    const int elements = atoi(argv[i]) < 4 ? 1 : atoi(argv[i]) / 4;
    float* data = calloc((size_t)elements, sizeof(float));
    if (data == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
    time_of(data, elements, 3);
    double count = seconds / time_of(data, elements, 3);
    if (count < 1) count = 1;
    MPI_Bcast(&count, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    const double each = time_of(data, elements, (long)count);
    if (rank == 0) printf("{\"bytes\": %zu, \"us\": %.3f}\n", elements * sizeof(float), each * 1e6);
    free(data);
  }
  MPI_Finalize();
  return 0;
}
