// Windows are moved by rolling the image the other way, which brings tokens of opposite sides into
// one window: those see each other through a mask of -100, as in the paper's code. A window has few
// tokens, so its attention weights fit in memory.
#include "firn/nn/zoo/swin.h"

#include <cmath>
#include <utility>

#include "firn/device/status_macros.h"
#include "firn/nn/activation.h"
#include "firn/nn/conv.h"
#include "firn/nn/init.h"
#include "firn/nn/shape_layers.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops/activation/softmax.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/create/range.h"
#include "firn/tensor/ops/index/select.h"
#include "firn/tensor/ops/linear/matmul.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/shape/join.h"
#include "firn/tensor/ops/shape/pad.h"
#include "firn/tensor/ops/shape/permute.h"
#include "firn/tensor/ops/shape/rearrange.h"
#include "firn/tensor/ops/shape/slices.h"
#include "firn/tensor/ops/shape/split.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn::zoo {
namespace {

constexpr float kHidden = -100;

nn::LinearOptions LinearOf(int64_t in, int64_t out, bool bias = true) {
  return {.in = in,
          .out = out,
          .bias = bias,
          .weight_init = nn::init::TruncatedNormal(0, 0.02),
          .bias_init = nn::init::Constant(0)};
}

nn::LayerNormOptions NormOf(int64_t channels, double eps = 1e-5) {
  return {.shape = {channels}, .eps = eps};
}

Tensor Table(const SwinUnitOptions& o) {
  const int64_t differences = 2 * o.window - 1;
  Tensor table = Zeros({differences * differences, o.heads});
  nn::init::TruncatedNormal(0, 0.02)(table);
  return table;
}

// For each pair of a window's tokens the table's row for their difference.
Tensor TableIndex(int64_t window) {
  const int64_t tokens = window * window, differences = 2 * window - 1;
  std::vector<int64_t> index;
  for (int64_t a = 0; a < tokens; ++a) {
    for (int64_t b = 0; b < tokens; ++b) {
      const int64_t rows = a / window - b / window + window - 1;
      const int64_t columns = a % window - b % window + window - 1;
      index.push_back(rows * differences + columns);
    }
  }
  return FromVector(std::move(index));
}

// Along one side of an image: the number of tokens, with the padding of the last window, and how
// far windows are moved.
struct Side {
  int64_t size = 0, padded = 0, window = 0, shift = 0;
  Side(int64_t tokens, int64_t of_window, int64_t moved)
      : size(tokens),
        padded((tokens + of_window - 1) / of_window * of_window),
        window(of_window),
        shift(of_window >= padded ? 0 : moved) {}
  int64_t windows() const { return padded / window; }
};

// [n, h, w, c] -> [n, windows, tokens, c], and back.
Tensor ToWindows(const Tensor& x, const Side& h, const Side& w) {
  const Tensor cut =
      Reshape(x, {x.size(0), h.windows(), h.window, w.windows(), w.window, x.size(3)});
  return Reshape(Permute(cut, {0, 1, 3, 2, 4, 5}),
                 {x.size(0), h.windows() * w.windows(), h.window * w.window, x.size(3)});
}
Tensor FromWindows(const Tensor& x, const Side& h, const Side& w) {
  const Tensor cut =
      Reshape(x, {x.size(0), h.windows(), w.windows(), h.window, w.window, x.size(3)});
  return Reshape(Permute(cut, {0, 1, 3, 2, 4, 5}), {x.size(0), h.padded, w.padded, x.size(3)});
}

// Which part of the image each token along a side of the moved one comes from: [padded].
Tensor Parts(const Side& side, Device device) {
  const Tensor at =
      Arange(int64_t{0}, side.padded, int64_t{1}, {.dtype = DType::kI64, .device = device});
  if (side.shift == 0) return ZerosLike(at);
  return Ge(at, side.padded - side.window).To(DType::kI64) +
         Ge(at, side.padded - side.shift).To(DType::kI64);
}

// What is added to the scores of attention in moved windows: [windows, 1, tokens, tokens]. It is
// computed by operations, since tensors made from host memory cannot be captured.
Tensor Hidden(const Side& h, const Side& w, const Tensor& x) {
  const Tensor parts = Reshape(Parts(h, x.device()), {h.padded, 1}) * 3 + Parts(w, x.device());
  const Tensor of = ToWindows(Reshape(parts, {1, h.padded, w.padded, 1}), h, w);
  const Tensor differ = Ne(Permute(of, {1, 0, 2, 3}), Permute(of, {1, 0, 3, 2}));
  return differ.To(x.dtype()) * kHidden;
}

}  // namespace

SwinAttention::SwinAttention(const Options& options)
    : LayerWithOptions(options),
      table_(AddParameter("relative_position_bias_table", Table(options))),
      index_(AddBuffer("relative_position_index", TableIndex(options.window))),
      qkv_(Add<nn::Linear>("qkv", LinearOf(options.channels, 3 * options.channels))),
      proj_(Add<nn::Linear>("proj", LinearOf(options.channels, options.channels))) {}

Tensor SwinAttention::Attend(const Tensor& windows, const Tensor& hidden) {
  const int64_t tokens = windows.size(2), heads = options().heads;
  const Tensor split = Reshape(qkv_(windows), {windows.size(0), windows.size(1), tokens, 3, heads,
                                               options().channels / heads});
  const std::vector<Tensor> qkv = Unbind(Permute(split, {3, 0, 1, 4, 2, 5}), 0);
  Tensor bias = Reshape(IndexSelect(table_, 0, index_), {1, tokens, tokens, heads});
  bias = Permute(bias, {0, 3, 1, 2});
  if (hidden.defined()) bias = bias + hidden;
  const double scale = 1 / std::sqrt(static_cast<double>(qkv[0].size(-1)));
  const Tensor scores = Matmul(qkv[0] * scale, qkv[1], false, true) + bias;
  const Tensor y = Matmul(Softmax(scores, -1), qkv[2]);
  return proj_(Reshape(Permute(y, {0, 1, 3, 2, 4}), windows.shape()));
}

Tensor SwinAttention::Forward(const Tensor& x) {
  const Side h(x.size(1), options().window, options().shift);
  const Side w(x.size(2), options().window, options().shift);
  Tensor moved = x;
  if (h.padded != h.size || w.padded != w.size) {
    moved = Pad(x, {0, 0, 0, w.padded - w.size, 0, h.padded - h.size});
  }
  const bool moves = h.shift + w.shift > 0;
  if (moves) moved = Roll(moved, {-h.shift, -w.shift}, {1, 2});
  const Tensor hidden = moves ? Hidden(h, w, x) : Tensor();
  Tensor y = FromWindows(Attend(ToWindows(moved, h, w), hidden), h, w);
  if (moves) y = Roll(y, {h.shift, w.shift}, {1, 2});
  return Narrow(Narrow(y, 1, 0, h.size), 2, 0, w.size);
}

SwinUnit::SwinUnit(const Options& options)
    : LayerWithOptions(options),
      norm1_(Add<nn::LayerNorm>("norm1", NormOf(options.channels))),
      attn_(Add<SwinAttention>("attn", options)),
      drop_(Add<nn::StochasticDepth>("stochastic_depth", {.p = options.drop})),
      norm2_(Add<nn::LayerNorm>("norm2", NormOf(options.channels))),
      mlp_(Add<nn::Sequential>(
          "mlp", {nn::New<nn::Linear>(LinearOf(options.channels, 4 * options.channels)),
                  nn::New<nn::Gelu>(), nn::New<nn::Identity>(),
                  nn::New<nn::Linear>(LinearOf(4 * options.channels, options.channels))})) {}

Tensor SwinUnit::Forward(const Tensor& x) {
  const Tensor h = x + drop_(attn_(norm1_(x)));
  return h + drop_(mlp_(norm2_(h)));
}

SwinMerging::SwinMerging(const Options& options)
    : LayerWithOptions(options),
      reduction_(Add<nn::Linear>("reduction",
                                 LinearOf(4 * options.channels, 2 * options.channels, false))),
      norm_(Add<nn::LayerNorm>("norm", NormOf(4 * options.channels))) {}

Tensor SwinMerging::Forward(const Tensor& x) {
  Tensor even = x;
  if (x.size(1) % 2 + x.size(2) % 2 > 0) even = Pad(x, {0, 0, 0, x.size(2) % 2, 0, x.size(1) % 2});
  std::vector<Tensor> neighbours;
  for (const int64_t column : {0, 1}) {
    for (const int64_t row : {0, 1}) {
      neighbours.push_back(Slice(Slice(even, 1, row, kEnd, 2), 2, column, kEnd, 2));
    }
  }
  return reduction_(norm_(Concat(neighbours, 3)));
}

namespace {

SwinOptions Checked(const SwinOptions& o) {
  bool right = !o.units.empty() && o.units.size() == o.heads.size();
  for (size_t i = 0; right && i < o.units.size(); ++i) {
    right = o.units[i] > 0 && o.heads[i] > 0 && (o.channels << i) % o.heads[i] == 0;
  }
  if (!right) {
    RaiseStatus(InvalidArgument("expected positive numbers of units and heads for each stage, and "
                                "heads that divide its channels; channels are ",
                                o.channels, " in the first of ", o.units.size(), " stages"),
                "zoo::Swin");
  }
  if (o.window < 1) {
    RaiseStatus(InvalidArgument("expected windows of at least one token, got ", o.window),
                "zoo::Swin");
  }
  return o;
}

std::vector<nn::LayerSpec> Features(const SwinOptions& checked) {
  const SwinOptions o = Checked(checked);
  std::vector<nn::LayerSpec> first = {
      nn::New<nn::Conv2d>({.in = 3, .out = o.channels, .kernel = 4, .stride = 4}),
      [](const Tensor& x) {
        return Permute(x, {0, 2, 3, 1});
      },
      nn::New<nn::LayerNorm>(NormOf(o.channels))};
  std::vector<nn::LayerSpec> features = {nn::New<nn::Sequential>(first)};
  int64_t all = 0, at = 0;
  for (const int64_t n : o.units) all += n;
  for (size_t stage = 0; stage < o.units.size(); ++stage) {
    SwinUnitOptions unit = {
        .channels = o.channels << stage, .heads = o.heads[stage], .window = o.window};
    std::vector<nn::LayerSpec> units;
    for (int64_t i = 0; i < o.units[stage]; ++i, ++at) {
      unit.shift = i % 2 == 0 ? 0 : o.window / 2;
      unit.drop = all == 1 ? 0 : o.dropout * static_cast<double>(at) / static_cast<double>(all - 1);
      units.push_back(nn::New<SwinUnit>(unit));
    }
    features.push_back(nn::New<nn::Sequential>(units));
    if (stage + 1 < o.units.size()) features.push_back(nn::New<SwinMerging>(unit));
  }
  return features;
}

int64_t LastChannels(const SwinOptions& o) { return o.channels << (o.units.size() - 1); }

}  // namespace

Swin::Swin(const Options& options)
    : LayerWithOptions(options),
      features_(Add<nn::Sequential>("features", Features(options))),
      norm_(Add<nn::LayerNorm>("norm", NormOf(LastChannels(options)))),
      head_(Add<nn::Linear>("head", LinearOf(LastChannels(options), options.classes))) {}

Tensor Swin::Forward(const Tensor& x) { return head_(Mean(norm_(features_(x)), {1, 2})); }

namespace {

const PublishedClassifiers<SwinOptions>& All() {
  static const auto* const all = new PublishedClassifiers<SwinOptions>{
      {"swin_t", {{}, 28'288'354, 4.491}},
      {"swin_s", {{.units = {2, 2, 18, 2}, .dropout = 0.3}, 49'606'258, 8.741}},
      {"swin_b",
       {{.channels = 128, .units = {2, 2, 18, 2}, .heads = {4, 8, 16, 32}, .dropout = 0.5},
        87'768'224,
        15.431}},
  };
  return *all;
}

}  // namespace

SwinOptions SwinOf(const std::string& name, const Options& options) {
  SwinOptions of = FindPublished(All(), name).options;
  of.classes = ClassesOr(options, of.classes);
  of.dropout = DropoutOr(options, of.dropout);
  return of;
}

std::vector<Network> SwinNetworks() {
  return ClassifiersOf<Swin>(
      All(), SwinOf,
      "Liu et al., \"Swin transformer: hierarchical vision transformer using "
      "shifted windows\", 2021");
}

}  // namespace firn::zoo
