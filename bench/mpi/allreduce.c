/*
** allreduce.c - what MPI_Allreduce takes for n doubles, which may add them up in any order
**
** Prints "allreduce ranks n microseconds": the best of rounds.
*/
#include <stdio.h>
#include <stdlib.h>
#include <mpi.h>

enum { ROUNDS = 20 };

static double microseconds (double *x, double *sum, int n, int times) {
  double best = 1e9;
  for (int round = 0; round < ROUNDS; round++) {
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    for (int i = 0; i < times; i++) MPI_Allreduce(x, sum, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    double each = (MPI_Wtime() - begin) / times * 1e6;
    if (each < best) best = each;
  }
  return best;
}

int main (int argc, char **argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 1; i < argc; i++) {
    int n = atoi(argv[i]);
    double *x = calloc((size_t)n, sizeof *x), *sum = calloc((size_t)n, sizeof *sum);
    if (x == NULL || sum == NULL) return 1;
    double best = microseconds(x, sum, n, n < 5000 ? 200 : 20);
    if (rank == 0) printf("allreduce\t%d\t%d\t%.3f\n", size, n, best);
    free(x);
    free(sum);
  }
  MPI_Finalize();
  return 0;
}
