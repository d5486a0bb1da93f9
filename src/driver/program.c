/*
** program.c - blocks of elements taken through all steps
*/
#include "driver/program.h"
#include "driver/sizes.h"


typedef struct ProgramJob {
  const Program *program;
  const Loop *loop;
  double *out;
} ProgramJob;


/* The last step that reads the result of step s. */
static int last_use (const Program *program, int s) {
  for (int t = program->steps - 1; t > s; t--)
    for (int k = 0; k < program->step[t].kernel->n_in; k++)
      if (program->step[t].in[k].is_step && program->step[t].in[k].index == s) return t;
  return s;
}

/* Each result gets the first slot that nobody needs any more; a step does not
   write where it reads. */
static void assign_slots (Program *program) {
  int busy_until[PROGRAM_MAX_STEPS];
  for (int i = 0; i < PROGRAM_MAX_STEPS; i++) busy_until[i] = -1;
  for (int s = 0; s < program->steps; s++) {
    int slot = 0;
    while (busy_until[slot] >= s) slot++;
    program->step[s].slot = slot;
    busy_until[slot] = last_use(program, s);
  }
}

static void run_block (const Program *program, size_t n, const double *const leaf[],
                       double slots[][PROGRAM_BLOCK], double *out) {
  const double *in[KERNEL_MAX_IN];
  for (int s = 0; s < program->steps; s++) {
    const ProgramStep *step = &program->step[s];
    for (int k = 0; k < step->kernel->n_in; k++) {
      Source from = step->in[k];
      in[k] = from.is_step ? slots[program->step[from.index].slot] : leaf[from.index];
    }
    step->kernel->value(n, in, s == program->steps - 1 ? out : slots[step->slot]);
  }
}

static void run_range (void *data, size_t first, size_t last) {
  const ProgramJob *job = data;
  double slots[PROGRAM_MAX_STEPS][PROGRAM_BLOCK];
  Blocks blocks;
  loop_start(job->loop, &blocks);
  for (size_t n; first < last; first += n) {
    n = loop_length(job->loop, first, last);
    if (n > PROGRAM_BLOCK) n = PROGRAM_BLOCK;
    loop_block(job->loop, first, n, &blocks);
    run_block(job->program, n, blocks.in, slots, job->out + first);
  }
}

void program_run (Pool *pool, Program *program, const Loop *loop, double *out) {
  ProgramJob job = {.program = program, .loop = loop, .out = out};
  assign_slots(program);
  pool_run(pool, loop->size, LOOP_GRAIN, LOOP_GRAIN, run_range, &job);
}
