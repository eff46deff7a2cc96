// With the windows of an image as columns, [channels and taps][windows], a convolution is the
// product of its weight and the columns, its data gradient the columns of a product put back in
// their places, and its weight gradient the product of y and the columns, summed over the batch
// (Chellapilla et al., 2006).
//
// Columns are made a tile at a time, small enough for the second-level cache, never all at once.
// The work is cut into items that write to places of their own: windows of y, channels of x,
// columns of the weight. The items are given out in a fixed number of slots, each with a tile's
// room, so that
// the workspace does not depend on the threads. Results do not depend on them either, unless there
// is a single item, whose products all threads share.

#include "firn/tensor/kernels/cpu/conv_columns.h"

#include <algorithm>

#include "firn/device/macros.h"
#include "firn/device/parallel.h"
#include "firn/tensor/kernels/cpu/gemm.h"
#include "firn/tensor/kernels/divide.h"

namespace firn::cpu {
namespace {

constexpr int64_t kSlots = 16;
constexpr int64_t kTileElements = 1 << 16;  // at most half a megabyte
constexpr int64_t kMostRows = 256;          // of a tile, unless one channel has more taps
constexpr int64_t kMostWindows = 1024;      // of a tile
constexpr int64_t kFewOutputs = 32;         // channels of y that are worth making columns for
constexpr double kThreadFlops = 1e6;        // worth a thread

struct Range {
  int64_t begin, end;
  int64_t size() const { return end - begin; }
};

// Part `i` of [0, size) cut into pieces of `unit`.
Range PartOf(int64_t i, int64_t unit, int64_t size) {
  return {i * unit, std::min(size, (i + 1) * unit)};
}

// How a pass is cut. The rows of the matrix of columns are channels of a group and their taps.
struct ColumnPlan {
  ColumnPlan(const ConvProblem& problem, ConvPass pass)
      : p(problem),
        taps(p.kernel.volume()),
        rows(p.in_per_group() * taps),
        windows(p.out_size.volume()),
        image(p.in_size.volume()),
        as_is(taps == 1 && p.attrs.stride.Are(1) && p.attrs.padding.Are(0) && windows == image) {
    const int64_t og = p.out_per_group();
    tile_rows = std::min(rows, kMostRows);
    if (pass == ConvPass::kBackwardData) {  // whole channels, which are one item's
      tile_rows = std::max<int64_t>(1, std::min(rows, kMostRows) / taps) * taps;
    } else if (pass == ConvPass::kBackwardWeight) {
      const int64_t wanted = CeilDiv(rows, CeilDiv(kSlots, p.attrs.groups));
      tile_rows = std::min(rows, std::clamp<int64_t>(wanted, kFewOutputs, kMostRows));
    }
    tile_windows =
        std::clamp<int64_t>(kTileElements / tile_rows, 1, std::min(windows, kMostWindows));
    row_parts = pass == ConvPass::kForward ? 1 : CeilDiv(rows, tile_rows);
    images = pass == ConvPass::kBackwardWeight ? 1 : p.batch;
    window_parts = pass == ConvPass::kForward ? CeilDiv(windows, tile_windows) : 1;
    const int64_t without = images * p.attrs.groups * row_parts * window_parts;
    // The last choice: columns are made again for every part of y's channels.
    const bool split = pass != ConvPass::kBackwardData && without < kSlots;
    out_unit =
        split ? std::max(std::min(og, kFewOutputs), CeilDiv(og, CeilDiv(kSlots, without))) : og;
    out_parts = CeilDiv(og, out_unit);
    items = without * out_parts;
    slots = std::min(items, kSlots);
  }

  int64_t slot_elements() const { return as_is ? 0 : tile_rows * tile_windows; }

  const ConvProblem& p;
  int64_t taps, rows, windows, image;
  bool as_is;  // the columns are the image
  int64_t tile_rows = 0, tile_windows = 0;
  int64_t images = 0, row_parts = 0, window_parts = 0, out_unit = 0, out_parts = 0;
  int64_t items = 0, slots = 0;
};

// The part of the problem that one item computes.
struct Item {
  Item(const ColumnPlan& plan, int64_t i) {
    const auto digit = [&i](int64_t size) {
      const int64_t d = i % size;
      i /= size;
      return d;
    };
    windows = digit(plan.window_parts);
    rows = digit(plan.row_parts);
    const int64_t og = plan.p.out_per_group();
    out = PartOf(digit(plan.out_parts), plan.out_unit, og);
    group = digit(plan.p.attrs.groups);
    image = i;
  }

  int64_t image, group, windows, rows;  // parts of the plan
  Range out;                            // of the group's
};

// Calls f(at, from, n) for the windows `some` in which tap (d, h, w) meets the image: n windows,
// the first of which is the range's window `at` and meets the image at `from`; the others follow, a
// stride apart.
template <class F>
void ForEachRun(const ConvProblem& p, int64_t tap, Range some, F&& f) {
  const ConvAttrs& a = p.attrs;
  const int64_t kw = tap % p.kernel[2], kh = tap / p.kernel[2] % p.kernel[1];
  const int64_t kd = tap / (p.kernel[2] * p.kernel[1]);
  const int64_t width = p.out_size[2], height = p.out_size[1], step = a.stride[2];
  const int64_t shift = kw * a.dilation[2] - a.padding[2];
  // Windows o with 0 <= o * step + shift < in.
  const int64_t low = shift >= 0 ? 0 : CeilDiv(-shift, step);
  const int64_t high = p.in_size[2] <= shift ? 0 : CeilDiv(p.in_size[2] - shift, step);
  int64_t first = some.begin % width, row = some.begin / width;
  int64_t h = row % height, d = row / height;
  for (int64_t at = 0, left = some.size(); left > 0;) {
    const int64_t n = std::min(width - first, left);
    const int64_t id = d * a.stride[0] - a.padding[0] + kd * a.dilation[0];
    const int64_t ih = h * a.stride[1] - a.padding[1] + kh * a.dilation[1];
    const int64_t begin = std::max(first, low), end = std::min(first + n, high);
    if (id >= 0 && id < p.in_size[0] && ih >= 0 && ih < p.in_size[1] && begin < end) {
      f(at + begin - first, (id * p.in_size[1] + ih) * p.in_size[2] + begin * step + shift,
        end - begin);
    }
    at += n;
    left -= n;
    first = 0;
    if (++h == height) h = 0, ++d;
  }
}

// A tile of columns of a group's image.
template <class T>
void MakeColumns(const ColumnPlan& plan, const T* image, Range rows, Range windows, T* columns) {
  const int64_t step = plan.p.attrs.stride[2];
  for (int64_t row = rows.begin; row < rows.end; ++row, columns += windows.size()) {
    const T* plane = image + row / plan.taps * plan.image;
    std::fill_n(columns, windows.size(), T{});
    ForEachRun(plan.p, row % plan.taps, windows, [&](int64_t at, int64_t from, int64_t n) {
      T* to = columns + at;
      const T* x = plane + from;
      if (step == 1) {
        for (int64_t i = 0; i < n; ++i) to[i] = x[i];
      } else {
        for (int64_t i = 0; i < n; ++i) to[i] = x[i * step];
      }
    });
  }
}

// Adds a tile of columns to the group's image.
template <class T>
void AddColumns(const ColumnPlan& plan, const T* columns, Range rows, Range windows, T* image) {
  const int64_t step = plan.p.attrs.stride[2];
  for (int64_t row = rows.begin; row < rows.end; ++row, columns += windows.size()) {
    T* plane = image + row / plan.taps * plan.image;
    ForEachRun(plan.p, row % plan.taps, windows, [&](int64_t at, int64_t to, int64_t n) {
      const T* from = columns + at;
      T* x = plane + to;
      if (step == 1) {
        FIRN_INDEPENDENT_STEPS
        for (int64_t i = 0; i < n; ++i) x[i] += from[i];
      } else {
        for (int64_t i = 0; i < n; ++i) x[i * step] += from[i];
      }
    });
  }
}

// A tile of columns as an operand: made in `room`, or the image itself.
template <class T>
struct Columns {
  Columns(const ColumnPlan& plan, const T* image, Range rows, Range windows, T* room)
      : at(room), row_stride(windows.size()) {
    if (plan.as_is) {
      at = image + rows.begin * plan.image + windows.begin;
      row_stride = plan.image;
    } else {
      MakeColumns(plan, image, rows, windows, room);
    }
  }
  const T* at;
  int64_t row_stride;
};

template <class T>
void Multiply(int64_t m, int64_t n, int64_t k, const T* a, MatrixStrides a_strides, const T* b,
              MatrixStrides b_strides, T* c, int64_t c_row, bool accumulate) {
  // Operands in place: no workspace.
  Gemm<T>({.m = m, .n = n, .k = k, .a = a_strides, .b = b_strides, .c_row = c_row}, a, b, c,
          accumulate, nullptr);
}

template <class T>
struct Tensors {
  T *x, *weight;
  const T* bias;
  T* y;
};

template <class T>
void RunForward(const ColumnPlan& plan, const Item& item, const Tensors<T>& t, T* room) {
  const ConvProblem& p = plan.p;
  const Range windows = PartOf(item.windows, plan.tile_windows, plan.windows);
  const T* image = t.x + (item.image * p.in + item.group * p.in_per_group()) * plan.image;
  const int64_t out = item.group * p.out_per_group() + item.out.begin;
  T* y = t.y + (item.image * p.out + out) * plan.windows + windows.begin;
  for (int64_t o = 0; t.bias != nullptr && o < item.out.size(); ++o) {
    std::fill_n(y + o * plan.windows, windows.size(), t.bias[out + o]);
  }
  for (int64_t first = 0; first < plan.rows; first += plan.tile_rows) {
    const Range rows{first, std::min(plan.rows, first + plan.tile_rows)};
    const Columns<T> columns(plan, image, rows, windows, room);
    Multiply<T>(item.out.size(), windows.size(), rows.size(), t.weight + out * plan.rows + first,
                {plan.rows, 1}, columns.at, {columns.row_stride, 1}, y, plan.windows,
                first > 0 || t.bias != nullptr);
  }
}

template <class T>
void RunData(const ColumnPlan& plan, const Item& item, const Tensors<T>& t, T* room) {
  const ConvProblem& p = plan.p;
  const Range rows = PartOf(item.rows, plan.tile_rows, plan.rows);
  const int64_t og = p.out_per_group();
  T* image = t.x + (item.image * p.in + item.group * p.in_per_group()) * plan.image;
  const T* weight = t.weight + item.group * og * plan.rows + rows.begin;
  const T* y = t.y + (item.image * p.out + item.group * og) * plan.windows;
  if (!plan.as_is) {
    std::fill(image + rows.begin / plan.taps * plan.image,
              image + rows.end / plan.taps * plan.image, T{});
  }
  for (int64_t first = 0; first < plan.windows; first += plan.tile_windows) {
    const Range windows{first, std::min(plan.windows, first + plan.tile_windows)};
    T* columns = plan.as_is ? image + rows.begin * plan.image + first : room;
    const int64_t stride = plan.as_is ? plan.image : windows.size();
    Multiply<T>(rows.size(), windows.size(), og, weight, {1, plan.rows}, y + first,
                {plan.windows, 1}, columns, stride, false);
    if (!plan.as_is) AddColumns(plan, columns, rows, windows, image);
  }
}

template <class T>
void RunWeight(const ColumnPlan& plan, const Item& item, const Tensors<T>& t, T* room) {
  const ConvProblem& p = plan.p;
  const Range rows = PartOf(item.rows, plan.tile_rows, plan.rows);
  const int64_t out = item.group * p.out_per_group() + item.out.begin;
  T* weight = t.weight + out * plan.rows + rows.begin;
  for (int64_t n = 0; n < p.batch; ++n) {
    const T* image = t.x + (n * p.in + item.group * p.in_per_group()) * plan.image;
    const T* y = t.y + (n * p.out + out) * plan.windows;
    for (int64_t first = 0; first < plan.windows; first += plan.tile_windows) {
      const Range windows{first, std::min(plan.windows, first + plan.tile_windows)};
      const Columns<T> columns(plan, image, rows, windows, room);
      Multiply<T>(item.out.size(), rows.size(), windows.size(), y + first, {plan.windows, 1},
                  columns.at, {1, columns.row_stride}, weight, plan.rows, n > 0 || first > 0);
    }
  }
}

}  // namespace

template <class T>
size_t ConvOfColumnsWorkspace(const ConvProblem& p, ConvPass pass) {
  const ColumnPlan plan(p, pass);
  return static_cast<size_t>(plan.slots * plan.slot_elements()) * sizeof(T);
}

template <class T>
void ConvOfColumns(const ConvProblem& p, ConvPass pass, T* x, T* weight, const T* bias, T* y,
                   void* workspace) {
  const ColumnPlan plan(p, pass);
  const Tensors<T> tensors{x, weight, bias, y};
  const auto run = pass == ConvPass::kForward        ? RunForward<T>
                   : pass == ConvPass::kBackwardData ? RunData<T>
                                                     : RunWeight<T>;
  const double per_slot = p.flops() / static_cast<double>(plan.slots);
  const auto grain = static_cast<int64_t>(kThreadFlops / std::max(per_slot, 1.0)) + 1;
  ParallelFor(plan.slots, grain, [&](int64_t begin, int64_t end) {
    for (int64_t slot = begin; slot < end; ++slot) {
      T* room = static_cast<T*>(workspace) + slot * plan.slot_elements();
      for (int64_t i = plan.items * slot / plan.slots; i < plan.items * (slot + 1) / plan.slots;
           ++i) {
        run(plan, Item(plan, i), tensors, room);
      }
    }
  });
}

template size_t ConvOfColumnsWorkspace<float>(const ConvProblem&, ConvPass);
template size_t ConvOfColumnsWorkspace<double>(const ConvProblem&, ConvPass);
template void ConvOfColumns(const ConvProblem&, ConvPass, float*, float*, const float*, float*,
                            void*);
template void ConvOfColumns(const ConvProblem&, ConvPass, double*, double*, const double*, double*,
                            void*);

}  // namespace firn::cpu
