#ifndef FIRN_TENSOR_KERNELS_CPU_RECURRENT_STEPS_H_
#define FIRN_TENSOR_KERNELS_CPU_RECURRENT_STEPS_H_

// The walk over time of a recurrent layer, and which thread does what in it.

#include <algorithm>
#include <cstdint>

#include "firn/device/own_flags.h"
#include "firn/device/parallel.h"

namespace firn::cpu {

// The time steps of one layer in one direction. Rows of a step lie together, steps one behind the
// other in the order of time; row b of a step belongs to sequence b.
struct TimeSteps {
  int64_t count = 0, batch = 0;
  const int64_t* sizes = nullptr;  // rows of each step, never more than before; null: all sequences
  bool reverse = false;            // the last step is computed first

  int64_t size(int64_t t) const { return sizes == nullptr ? batch : sizes[t]; }
};

// A step: rows [at, at + rows) of all. The sequences that also had the step computed before it have
// their state in rows [before, before + carried); the others, behind them, begin here. The step
// computed after it has rows [after, after + after_rows).
struct TimeStep {
  int64_t at, rows, before = 0, carried = 0, after = 0, after_rows = 0;
};

// Calls f(step) in the order of computation, or, for gradients, in the opposite one.
template <class F>
void ForEachStep(const TimeSteps& s, bool backwards, const F& f) {
  const bool ascending = s.reverse == backwards;
  int64_t at = 0;
  for (int64_t t = 0; !ascending && t < s.count; ++t) at += s.size(t);
  for (int64_t i = 0; i < s.count; ++i) {
    const int64_t t = ascending ? i : s.count - 1 - i, rows = s.size(t);
    if (!ascending) at -= rows;
    TimeStep step{at, rows};
    const int64_t next = at + rows, next_rows = t + 1 < s.count ? s.size(t + 1) : 0;
    const int64_t last_rows = t > 0 ? s.size(t - 1) : 0, last = at - last_rows;
    step.before = s.reverse ? next : last;
    step.carried = std::min(rows, s.reverse ? next_rows : last_rows);
    step.after = s.reverse ? last : next;
    step.after_rows = s.reverse ? last_rows : next_rows;
    f(step);
    if (ascending) at += rows;
  }
}

// The step that is computed first.
inline TimeStep FirstStep(const TimeSteps& s) {
  TimeStep first{0, 0};
  ForEachStep(s, true, [&](const TimeStep& step) { first = step; });
  return first;
}

// What one thread does of every step: some sequences and some columns of the weights, counted in
// panels (recurrent_product.h).
struct StepPiece {
  int64_t row_begin, row_end, panel_begin, panel_end;
};

// How steps are cut. Sequences do not wait for each other, so a thread with all columns goes
// through all steps alone; if steps are cut by columns, every step waits for the one before it.
struct StepGrid {
  int64_t down = 1, across = 1, batch = 0, panels = 0;

  StepPiece Piece(int64_t i) const {
    const int64_t row = i / across, column = i % across;
    return {batch * row / down, batch * (row + 1) / down, panels * column / across,
            panels * (column + 1) / across};
  }
};

// A step's work: its operations, the weights that it reads, and the number of sequences from which
// a thread's products reach full speed.
struct StepCost {
  double flops, bytes;
  int64_t few_rows;
};

// Cuts by sequences where each thread has enough of them to make reading all weights worth it, by
// columns where a step is long enough for several threads; with `whole_rows` always by sequences.
// Cut by columns, threads wait for each other twice a step, some tens of microseconds of work:
// where another program takes a core, each of these waits may last a turn of the scheduler.
inline StepGrid PlanSteps(const TimeSteps& s, int64_t panels, const StepCost& cost,
                          bool whole_rows) {
  constexpr double kSharedFlops = 5e5, kAllFlops = 2e6;
  // The bytes of weights that stay in a second-level cache; less where the last sequences end
  // before the first ones, so that threads with all columns have unlike shares.
  const double near = s.sizes == nullptr ? 1 << 20 : 512 << 10;
  const auto [flops, bytes, few_rows] = cost;
  StepGrid grid{1, 1, s.batch, panels};
  const int64_t threads = NumChunks(NumThreads(), 1);
  if (flops * static_cast<double>(s.count) < kAllFlops) return grid;
  if (whole_rows || (s.batch >= threads * few_rows && bytes <= near)) {
    grid.down = std::clamp<int64_t>(threads, 1, std::max<int64_t>(s.batch, 1));
  } else if (flops >= kSharedFlops) {
    grid.across = std::min(threads, panels);
    grid.down = std::clamp<int64_t>(threads / grid.across, 1, s.batch);
  } else if (s.batch > 1) {
    grid.down = std::min(threads, s.batch);
  }
  return grid;
}

// Calls f(piece) for every piece, side by side.
template <class F>
void ForEachStepPiece(const StepGrid& grid, const F& f) {
  ParallelFor(grid.down * grid.across, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) f(grid.Piece(i));
  });
}

// Calls f(step, piece) for every step, in order, and every piece, side by side.
template <class F>
void ForEachStepAndPiece(const TimeSteps& s, const StepGrid& grid, bool backwards, const F& f) {
  if (grid.across == 1) {
    return ForEachStepPiece(grid, [&](const StepPiece& piece) {
      ForEachStep(s, backwards, [&](const TimeStep& step) { f(step, piece); });
    });
  }
  ForEachStep(s, backwards, [&](const TimeStep& step) {
    ForEachStepPiece(grid, [&](const StepPiece& piece) { f(step, piece); });
  });
}

// Calls f(begin, end, carried) for the sequences of a piece that a step has: first those that have
// the step before it, then those that begin with it.
template <class F>
void ForEachPart(const TimeStep& step, const StepPiece& piece, const F& f) {
  const int64_t end = std::min(piece.row_end, step.rows);
  const int64_t middle = std::clamp(step.carried, piece.row_begin, std::max(piece.row_begin, end));
  if (piece.row_begin < middle) f(piece.row_begin, middle, true);
  if (middle < end) f(middle, end, false);
}

// Copies of rows of `width` elements: copies the state before each step to the step's rows, from
// `y` (of all steps) or, for sequences that begin, from `initial`.
template <class T>
void StatesBefore(const TimeSteps& s, int64_t width, const T* y, const T* initial, T* to) {
  ForEachStep(s, false, [&](const TimeStep& step) {
    std::copy_n(y + step.before * width, step.carried * width, to + step.at * width);
    std::copy_n(initial + step.carried * width, (step.rows - step.carried) * width,
                to + (step.at + step.carried) * width);
  });
}

// The state of every sequence after its last step. Requires: each has a step.
template <class T>
void FinalStates(const TimeSteps& s, int64_t width, const T* y, T* to) {
  int64_t at = 0;
  for (int64_t t = 0; t < s.count; ++t) {
    // Sequences that the step computed after it does not have.
    const int64_t going_on =
        s.reverse ? (t > 0 ? s.size(t) : 0) : (t + 1 < s.count ? s.size(t + 1) : 0);
    const int64_t ending = s.size(t) - going_on;
    std::copy_n(y + (at + going_on) * width, ending * width, to + going_on * width);
    at += s.size(t);
  }
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_RECURRENT_STEPS_H_
