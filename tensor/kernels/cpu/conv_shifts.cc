// With images laid out by conv_shift_image.h, y is a sum of shifted rows of x, each times a weight;
// the gradient of x is such a sum over y, phase by phase; and that of a weight is the product of
// the row of y with a shifted row of x.
//
// The work is cut into items that write to places of their own: some outputs of a group of an
// image, or of a part of the batch, whose sums are added up in order at the end. Items are given
// out in a fixed number of slots, each with its room, so that neither the workspace nor the
// results depend on the threads.

#include "firn/tensor/kernels/cpu/conv_shifts.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "firn/device/parallel.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/kernels/cpu/conv_shift_image.h"
#include "firn/tensor/kernels/cpu/conv_shift_sums.h"
#include "firn/tensor/kernels/cpu/half.h"

namespace firn::cpu {

struct ShiftConv : ShiftLayout {
  ShiftConv(const ConvProblem& problem, ConvPass which, DType type);

  ConvPass pass;
  DType dtype;
  // Forward: where each row of a group's weights reads x. Weight: where each tap does. Data: where
  // each weight of a phase reads y; `phase_taps` are the taps in order of their phases, and
  // `phase_begin` says where those of each begin.
  std::vector<int64_t> terms, phase_taps, phase_begin;
  int64_t taps, y_size;  // y_size: of the row of one channel's outputs
  int64_t x_room, y_room, flat_room, slot_room;
  int64_t outputs;          // of a group, that an item has some of
  int64_t unit, out_parts;  // how many, and items that share them
  int64_t batch_parts;      // images, or parts of the batch
  int64_t items, slots;
  int64_t weights() const { return p.out * p.in_per_group() * taps; }
};

namespace {

constexpr int64_t kSlots = 16;
constexpr int64_t kMostRoom = 1 << 18;  // elements of a slot, which should stay in the cache
constexpr int64_t kMostAtOnce = 4;      // outputs that share what they read
constexpr double kThreadFlops = 1e6;    // worth a thread

// Computes in T, on tensors of a dtype that may be a half type.
template <class T>
struct Pass {
  const ShiftConv& s;
  void *x, *y;
  const T *weight, *bias;  // weight: rows of terms
  T* sums;                 // of the weights' gradients, for each part of the batch

  // n elements of a tensor, and where to write them. Write() ends what Room() began.
  const T* Read(const void* from, int64_t at, int64_t n, T* flat) const {
    if constexpr (std::is_same_v<T, float>) {
      if (IsHalf(s.dtype)) {
        ToFloats(s.dtype, static_cast<const uint16_t*>(from) + at, n, flat);
        return flat;
      }
    }
    return static_cast<const T*>(from) + at;
  }
  T* Room(void* to, int64_t at, T* flat) const {
    return IsHalf(s.dtype) ? flat : static_cast<T*>(to) + at;
  }
  void Write(void* to, int64_t at, int64_t n, const T* flat) const {
    if constexpr (std::is_same_v<T, float>) {
      if (IsHalf(s.dtype)) FromFloats(flat, n, s.dtype, static_cast<uint16_t*>(to) + at);
    }
  }
};

// One item's part of the work, and a slot's room.
struct Item {
  Item(const ShiftConv& s, int64_t i)
      : first(i % s.out_parts * s.unit),
        last(std::min(s.outputs, first + s.unit)),
        group(i / s.out_parts % s.p.attrs.groups),
        part(i / s.out_parts / s.p.attrs.groups) {}
  int64_t first, last, group, part;
};
template <class T>
struct Slot {
  Slot(const ShiftConv& s, T* room)
      : x(room), y(x + s.x_room), flat(y + s.y_room), row(flat + s.flat_room) {}
  T *x, *y, *flat, *row;
};

// Copies a channel of y into the row of outputs, or back.
template <class T>
void CopyOutputs(const ShiftConv& s, const T* from, bool to_row, T* to) {
  const int64_t width = s.p.out_size[2];
  for (int64_t d = 0; d < s.p.out_size[0]; ++d) {
    for (int64_t h = 0; h < s.p.out_size[1]; ++h) {
      const int64_t apart = s.Row(d, h), together = (d * s.p.out_size[1] + h) * width;
      CopyShort(from + (to_row ? together : apart), width, to + (to_row ? apart : together));
    }
  }
}

template <class T>
void SumOutputs(int64_t outputs, const T* in, const int64_t* terms, int64_t count, const T* w,
                const T* init, int64_t n, T* out, int64_t out_stride) {
  for (int64_t j = 0; j < outputs;) {
    const int64_t left = outputs - j;
    const auto sum = left >= 4 ? SumTerms<T, 4> : left >= 2 ? SumTerms<T, 2> : SumTerms<T, 1>;
    sum(in, terms, count, w + j * count, count, init + j, n, out + j * out_stride, out_stride);
    j += left >= 4 ? 4 : left >= 2 ? 2 : 1;
  }
}

template <class T>
void SpreadGroup(const Pass<T>& pass, int64_t image, int64_t group, const Slot<T>& slot) {
  const ShiftConv& s = pass.s;
  const int64_t size = s.p.in_size.volume(), channels = s.p.in_per_group();
  for (int64_t c = 0; c < channels; ++c) {
    const int64_t at = (image * s.p.in + group * channels + c) * size;
    Spread(s, pass.Read(pass.x, at, size, slot.flat), slot.x + c * s.image_size(), slot.row);
  }
}

template <class T>
void RunForward(const Pass<T>& pass, const Item& item, const Slot<T>& slot) {
  const ShiftConv& s = pass.s;
  SpreadGroup(pass, item.part, item.group, slot);
  const auto count = static_cast<int64_t>(s.terms.size());
  const int64_t size = s.p.out_size.volume();
  for (int64_t o = item.first; o < item.last; o += kMostAtOnce) {
    const int64_t channel = item.group * s.outputs + o;
    const int64_t n = std::min(kMostAtOnce, item.last - o);
    constexpr T kNone[kMostAtOnce] = {};
    SumOutputs(n, slot.x, s.terms.data(), count, pass.weight + channel * count,
               pass.bias == nullptr ? kNone : pass.bias + channel, s.span, slot.y, s.y_size);
    for (int64_t j = 0; j < n; ++j) {
      const int64_t at = (item.part * s.p.out + channel + j) * size;
      CopyOutputs(s, slot.y + j * s.y_size, false, pass.Room(pass.y, at, slot.flat));
      pass.Write(pass.y, at, size, slot.flat);
    }
  }
}

template <class T>
void RunData(const Pass<T>& pass, const Item& item, const Slot<T>& slot) {
  const ShiftConv& s = pass.s;
  const int64_t og = s.p.out_per_group(), size = s.p.out_size.volume();
  const int64_t margin = s.y_size - s.phase_size;
  for (int64_t o = 0; o < og; ++o) {
    const int64_t at = (item.part * s.p.out + item.group * og + o) * size;
    CopyOutputs(s, pass.Read(pass.y, at, size, slot.flat), true, slot.y + o * s.y_size + margin);
  }
  const int64_t in = s.p.in_size.volume();
  for (int64_t c = item.first; c < item.last; c += kMostAtOnce) {
    const int64_t n = std::min(kMostAtOnce, item.last - c);
    const T* w = pass.weight + item.group * s.outputs * og * s.taps;
    for (int64_t f = 0; f < s.phases; ++f) {
      const int64_t begin = s.phase_begin[static_cast<size_t>(f)] * og;
      const int64_t count = s.phase_begin[static_cast<size_t>(f) + 1] * og - begin;
      constexpr T kNone[kMostAtOnce] = {};
      SumOutputs(n, slot.y, s.terms.data() + begin, count, w + begin * s.outputs + c * count, kNone,
                 s.phase_size, slot.x + f * s.phase_size, s.image_size());
    }
    for (int64_t j = 0; j < n; ++j) {
      const int64_t at = (item.part * s.p.in + item.group * s.outputs + c + j) * in;
      Gather(s, slot.x + j * s.image_size(), pass.Room(pass.x, at, slot.flat), slot.row);
      pass.Write(pass.x, at, in, slot.flat);
    }
  }
}

// One of Products' sums without the places between the rows of y: zeros there times an infinity of
// x give NaN.
template <class T>
T ExactProduct(const ShiftConv& s, const T* y, const T* x) {
  T sum = 0;
  for (int64_t d = 0; d < s.p.out_size[0]; ++d) {
    for (int64_t h = 0; h < s.p.out_size[1]; ++h) {
      const int64_t row = s.Row(d, h);
      for (int64_t w = 0; w < s.p.out_size[2]; ++w) sum += y[row + w] * x[row + w];
    }
  }
  return sum;
}

// Adds the products of one channel of y to the gradients of its weights.
template <class T>
void AddProducts(const ShiftConv& s, const Slot<T>& slot, T* sums) {
  const auto count = static_cast<int64_t>(s.terms.size());
  const int64_t calls = CeilDiv(count, kMostProducts), most = CeilDiv(count, calls);
  for (int64_t t = 0; t < count; t += most) {
    const int64_t n = std::min(most, count - t);
    T found[kMostProducts];
    SomeProducts<T>(std::make_index_sequence<kMostProducts>(), n, slot.y, slot.x,
                    s.terms.data() + t, s.span, found);
    for (int64_t i = 0; i < n; ++i) {
      const bool usual = std::isfinite(found[i]);
      const int64_t term = s.terms[static_cast<size_t>(t + i)];
      sums[t + i] += usual ? found[i] : ExactProduct(s, slot.y, slot.x + term);
    }
  }
}

template <class T>
void RunWeight(const Pass<T>& pass, const Item& item, const Slot<T>& slot) {
  const ShiftConv& s = pass.s;
  const auto count = static_cast<int64_t>(s.terms.size());
  const int64_t size = s.p.out_size.volume(), first = item.group * s.outputs;
  T* sums = pass.sums + item.part * s.weights() + first * count;
  std::fill(sums + item.first * count, sums + item.last * count, T(0));
  const int64_t begin = s.p.batch * item.part / s.batch_parts;
  const int64_t end = s.p.batch * (item.part + 1) / s.batch_parts;
  for (int64_t n = begin; n < end; ++n) {
    SpreadGroup(pass, n, item.group, slot);
    for (int64_t o = item.first; o < item.last; ++o) {
      const T* y = pass.Read(pass.y, (n * s.p.out + first + o) * size, size, slot.flat);
      CopyOutputs(s, y, true, slot.y);
      AddProducts(s, slot, sums + o * count);
    }
  }
}

// The weights as rows of terms: for the gradient of x, [group][phase][in][out][taps of the phase].
template <class T>
const T* PackWeights(const ShiftConv& s, const T* weight, T* packed) {
  if (s.pass != ConvPass::kBackwardData) return weight;
  const int64_t og = s.p.out_per_group(), cg = s.p.in_per_group();
  T* to = packed;
  for (int64_t g = 0; g < s.p.attrs.groups; ++g) {
    for (size_t f = 0; f + 1 < s.phase_begin.size(); ++f) {
      for (int64_t c = 0; c < cg; ++c) {
        for (int64_t o = 0; o < og; ++o) {
          const T* from = weight + ((g * og + o) * cg + c) * s.taps;
          for (int64_t t = s.phase_begin[f]; t < s.phase_begin[f + 1]; ++t) {
            *to++ = from[s.phase_taps[static_cast<size_t>(t)]];
          }
        }
      }
    }
  }
  return packed;
}

// Tensors of weights' size in the workspace: as floats and packed, or the sums of the parts.
int64_t WeightRooms(const ShiftConv& s) {
  return s.pass == ConvPass::kBackwardWeight ? s.batch_parts : 2;
}

template <class T>
void Run(const ShiftConv& s, void* x, void* weight, const void* bias, void* y, T* workspace) {
  const int64_t weights = s.weights();
  T* slots = workspace + WholeTiles(WeightRooms(s) * weights + s.p.out);
  Pass<T> pass{s, x, y, nullptr, nullptr, workspace};
  const bool into_weight = s.pass == ConvPass::kBackwardWeight;
  if (!into_weight) {
    pass.weight = PackWeights(s, pass.Read(weight, 0, weights, workspace), workspace + weights);
    if (bias != nullptr) pass.bias = pass.Read(bias, 0, s.p.out, workspace + 2 * weights);
  }
  const double per_slot = s.p.flops() / static_cast<double>(s.slots);
  const auto grain = static_cast<int64_t>(kThreadFlops / std::max(per_slot, 1.0)) + 1;
  const auto run = s.pass == ConvPass::kForward        ? RunForward<T>
                   : s.pass == ConvPass::kBackwardData ? RunData<T>
                                                       : RunWeight<T>;
  ParallelFor(s.slots, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const Slot<T> slot(s, slots + i * s.slot_room);
      std::fill_n(slot.x, s.slot_room, T(0));
      for (int64_t at = s.items * i / s.slots; at < s.items * (i + 1) / s.slots; ++at) {
        run(pass, Item(s, at), slot);
      }
    }
  });
  if (!into_weight) return;
  for (int64_t part = 1; part < s.batch_parts; ++part) {
    for (int64_t i = 0; i < weights; ++i) workspace[i] += workspace[part * weights + i];
  }
  if (!IsHalf(s.dtype)) std::copy_n(workspace, weights, static_cast<T*>(weight));
  pass.Write(weight, 0, weights, workspace);
}

}  // namespace

ShiftConv::ShiftConv(const ConvProblem& problem, ConvPass which, DType type)
    : ShiftLayout(problem), pass(which), dtype(type), taps(p.kernel.volume()) {
  const int64_t og = p.out_per_group(), cg = p.in_per_group();
  const bool into_x = pass == ConvPass::kBackwardData;
  int64_t margin = 0;
  std::vector<std::pair<int64_t, int64_t>> spots;  // phase and shift of each tap
  spots.reserve(static_cast<size_t>(taps));
  terms.reserve(static_cast<size_t>((into_x ? og : cg) * taps));
  phase_taps.reserve(static_cast<size_t>(into_x ? taps : 0));
  phase_begin.reserve(static_cast<size_t>(into_x ? phases + 1 : 1));
  for (int64_t t = 0; t < taps; ++t) {
    const int64_t w = t % p.kernel[2], h = t / p.kernel[2] % p.kernel[1];
    const int64_t d = t / (p.kernel[1] * p.kernel[2]);
    spots.emplace_back(Phase(d, h, w), Shift(d, h, w));
    margin = std::max(margin, spots.back().second);
  }
  y_size = into_x ? margin + phase_size : WholeTiles(span);
  for (int64_t f = 0; into_x && f < phases; ++f) {
    phase_begin.push_back(static_cast<int64_t>(phase_taps.size()));
    for (int64_t t = 0; t < taps; ++t) {
      if (spots[static_cast<size_t>(t)].first == f) phase_taps.push_back(t);
    }
    for (int64_t o = 0; o < og; ++o) {
      for (size_t i = static_cast<size_t>(phase_begin.back()); i < phase_taps.size(); ++i) {
        const auto t = static_cast<size_t>(phase_taps[i]);
        terms.push_back(o * y_size + margin - spots[t].second);
      }
    }
  }
  phase_begin.push_back(taps);
  for (int64_t c = 0; !into_x && c < cg; ++c) {
    for (const auto& [phase, shift] : spots) {
      terms.push_back(c * image_size() + phase * phase_size + shift);
    }
  }
  x_room = (into_x ? std::min(kMostAtOnce, cg) : cg) * image_size() + kShiftTile;
  y_room = into_x ? og * y_size : kMostAtOnce * y_size;
  flat_room = WholeTiles(std::max(p.in_size.volume(), p.out_size.volume()));
  slot_room = WholeTiles(x_room + y_room + flat_room + ShiftRowRoom(*this) + p.attrs.padding[2]);
  outputs = into_x ? cg : og;
  batch_parts = p.batch;
  if (pass == ConvPass::kBackwardWeight) {
    batch_parts = std::min(p.batch, CeilDiv(kSlots, p.attrs.groups));
  }
  const int64_t without = batch_parts * p.attrs.groups;
  const int64_t parts = std::min(CeilDiv(kSlots, without), CeilDiv(outputs, kMostAtOnce));
  unit = RoundUp(CeilDiv(outputs, parts), kMostAtOnce);
  out_parts = CeilDiv(outputs, unit);
  items = without * out_parts;
  slots = std::min(items, kSlots);
}

absl::StatusOr<std::shared_ptr<const ShiftConv>> ShiftConvFor(const ConvProblem& p, ConvPass pass,
                                                              DType dtype) {
  constexpr int64_t kMostChannels = 8, kMostWeights = 4096;
  FIRN_RETURN_IF(p.flops() == 0, Unimplemented("empty tensors"));
  const int64_t cg = p.in_per_group(), og = p.out_per_group(), taps = p.kernel.volume();
  FIRN_RETURN_IF(cg > kMostChannels || og > kMostChannels || cg * og * taps > kMostWeights,
                 Unimplemented("wants few channels a group"));
  // Strides far longer than kernels would make phases that no tap reads.
  FIRN_RETURN_IF(p.attrs.stride.volume() > 4 * taps, Unimplemented("long strides"));
  const double room = static_cast<double>(cg + og) * static_cast<double>(p.attrs.stride.volume()) *
                      static_cast<double>(ShiftLayout(p).phase_size);
  FIRN_RETURN_IF(room > kMostRoom, Unimplemented("images that the cache does not hold"));
  return std::make_shared<const ShiftConv>(p, pass, dtype);
}

size_t ShiftConvWorkspace(const ShiftConv& s) {
  const int64_t weights = WholeTiles(WeightRooms(s) * s.weights() + s.p.out);
  const size_t bytes = s.dtype == DType::kF64 ? sizeof(double) : sizeof(float);
  return static_cast<size_t>(weights + s.slots * s.slot_room) * bytes;
}

void ShiftConvRun(const ShiftConv& s, void* x, void* weight, const void* bias, void* y,
                  void* workspace) {
  if (s.dtype == DType::kF64) {
    Run(s, x, weight, bias, y, static_cast<double*>(workspace));
  } else {
    Run(s, x, weight, bias, y, static_cast<float*>(workspace));
  }
}

}  // namespace firn::cpu
