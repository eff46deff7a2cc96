#include <algorithm>
#include <string>

#include "firn/tensor/ops/shape/moved_samples.h"
#include "firn/tensor/ops/shape/rearrange.h"
#include "firn/tensor/testing/golden_samples.h"

namespace firn::testing {
namespace {

int64_t Wrapped(int64_t i, int64_t n) { return (i % n + n) % n; }

struct FactorAttrs {
  int64_t factor = 2;
  template <class V>
  void Visit(V& v) {
    v.Field("factor", factor);
  }
};

FIRN_REGISTER_COMPOSITE(channel_shuffle) {
  s.Declare({{.name = "x", .min_rank = 2, .max_rank = kMaxRank - 1}});
  s.Function([](In in, const FactorAttrs& a) { return ChannelShuffle(in[0], a.factor); });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const int64_t groups = attrs.get<FactorAttrs>().factor, each = in[0].shape[1] / groups;
    return std::vector<RefTensor>{Moved(in[0], in[0].shape, [&](Index y) {
      y[1] = y[1] % groups * each + y[1] / groups;
      return y;
    })};
  });
  s.Add("channels", {Normal({2, 8, 3, 3})}, FactorAttrs{2});
  s.Add("4 groups of 3", {Normal({2, 12})}, FactorAttrs{4});
  s.Add("integers", {Integers({1, 6, 2}, 0, 9)}, FactorAttrs{3});
  s.Add("bool", {Booleans({1, 6, 2})}, FactorAttrs{1});
  s.AddLarge("64x64x32x32", {Normal({64, 64, 32, 32})}, FactorAttrs{4}, 0, 33.6e6);
  s.AddError("groups", {Normal({2, 8})}, FactorAttrs{3},
             "groups 3 must be positive and divide dim 1 of x [2, 8]");
}

FIRN_REGISTER_GOLDEN(channel_shuffle) { return ChannelShuffle(args["x"], args.Int("groups", 1)); }

FIRN_REGISTER_COMPOSITE(pixel_shuffle) {
  s.Declare({{.name = "x", .min_rank = 3, .max_rank = kMaxRank - 2}});
  s.Function([](In in, const FactorAttrs& a) { return PixelShuffle(in[0], a.factor); });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const int64_t r = attrs.get<FactorAttrs>().factor;
    Dims shape = in[0].shape.dims();
    const int c = shape.rank - 3;
    shape[c] /= r * r;
    shape[c + 1] *= r;
    shape[c + 2] *= r;
    return std::vector<RefTensor>{Moved(in[0], Shape::Trusted(shape), [&](Index y) {
      const auto at = static_cast<size_t>(c);
      y[at] = (y[at] * r + y[at + 1] % r) * r + y[at + 2] % r;
      y[at + 1] /= r;
      y[at + 2] /= r;
      return y;
    })};
  });
  s.Add("images", {Normal({2, 8, 3, 2})}, FactorAttrs{2});
  s.Add("no batch, 3", {Normal({9, 1, 2})}, FactorAttrs{3});
  s.Add("1", {Normal({1, 2, 3, 3})}, FactorAttrs{1});
  s.Add("integers", {Integers({1, 4, 2, 2}, 0, 9)}, FactorAttrs{2});
  s.Add("bool", {Booleans({1, 4, 2, 2})}, FactorAttrs{2});
  s.Add("nothing", {Normal({0, 4, 2, 2})}, FactorAttrs{2});
  s.AddLarge("64x64x32x32", {Normal({64, 64, 32, 32})}, FactorAttrs{2}, 0, 33.6e6);
  s.AddError("channels", {Normal({1, 6, 2, 2})}, FactorAttrs{2},
             "must be positive and divide dim -3");
  s.AddError("rank", {Normal({4, 4})}, FactorAttrs{2}, "x must have 3 to 6 dimensions");
}

FIRN_REGISTER_GOLDEN(pixel_shuffle) { return PixelShuffle(args["x"], args.Int("upscale", 1)); }

FIRN_REGISTER_COMPOSITE(pixel_unshuffle) {
  s.Declare({{.name = "x", .min_rank = 3, .max_rank = kMaxRank - 2}});
  s.Function([](In in, const FactorAttrs& a) { return PixelUnshuffle(in[0], a.factor); });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const int64_t r = attrs.get<FactorAttrs>().factor;
    Dims shape = in[0].shape.dims();
    const int c = shape.rank - 3;
    shape[c] *= r * r;
    shape[c + 1] /= r;
    shape[c + 2] /= r;
    return std::vector<RefTensor>{Moved(in[0], Shape::Trusted(shape), [&](Index y) {
      const auto at = static_cast<size_t>(c);
      y[at + 1] = y[at + 1] * r + y[at] / r % r;
      y[at + 2] = y[at + 2] * r + y[at] % r;
      y[at] /= r * r;
      return y;
    })};
  });
  s.Add("images", {Normal({2, 2, 6, 4})}, FactorAttrs{2});
  s.Add("no batch, 3", {Normal({1, 3, 6})}, FactorAttrs{3});
  s.Add("integers", {Integers({1, 1, 2, 2}, 0, 9)}, FactorAttrs{2});
  s.Add("bool", {Booleans({1, 1, 2, 2})}, FactorAttrs{2});
  s.AddLarge("64x16x64x64", {Normal({64, 16, 64, 64})}, FactorAttrs{2}, 0, 33.6e6);
  s.AddError("size", {Normal({1, 2, 3, 4})}, FactorAttrs{2}, "divide dim -2 of x [1, 2, 3, 4]");
}

FIRN_REGISTER_GOLDEN(pixel_unshuffle) {
  return PixelUnshuffle(args["x"], args.Int("downscale", 1));
}

struct RollAttrs {
  DimList shifts, dims;
  template <class V>
  void Visit(V& v) {
    v.Field("shifts", shifts);
    v.Field("dims", dims);
  }
};

std::vector<RefTensor> RollReference(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const RollAttrs& a = attrs.get<RollAttrs>();
  const RefTensor& x = in[0];
  if (a.dims.empty()) {
    RefTensor y = x;
    for (int64_t i = 0; i < y.size(); ++i) y[i] = x[Wrapped(i - a.shifts.begin()[0], y.size())];
    return {y};
  }
  return {Moved(x, x.shape, [&](Index y) {
    for (size_t i = 0; i < a.dims.size(); ++i) {
      const auto d = static_cast<size_t>(Wrapped(a.dims.begin()[i], x.shape.rank()));
      y[d] = Wrapped(y[d] - a.shifts.begin()[i], x.shape[static_cast<int>(d)]);
    }
    return y;
  })};
}

FIRN_REGISTER_COMPOSITE(roll) {
  s.Declare({{.name = "x"}});
  s.Function([](In in, const RollAttrs& a) { return Roll(in[0], a.shifts, a.dims); });
  s.Reference(RollReference);
  s.Add("flat", {Normal({3, 4})}, RollAttrs{{2}, {}});
  s.Add("rows", {Normal({3, 4})}, RollAttrs{{1}, {0}});
  s.Add("both, back", {Normal({3, 4})}, RollAttrs{{-1, 6}, {0, 1}});
  s.Add("one dimension twice", {Normal({2, 5})}, RollAttrs{{1, 2}, {-1, 1}});
  s.Add("channels", {Normal({2, 8, 3})}, RollAttrs{{3}, {1}});
  s.Add("integers", {Integers({5}, 0, 9)}, RollAttrs{{1}, {}});
  s.Add("bool", {Booleans({5})}, RollAttrs{{1}, {0}});
  s.Add("a scalar", {Normal({})}, RollAttrs{{1}, {}});
  s.Add("nothing", {Normal({0, 3})}, RollAttrs{{1}, {0}});
  s.AddLarge("4M", {Normal({2048, 2048})}, RollAttrs{{100}, {1}}, 0, 33.6e6);
  s.AddError("lists", {Normal({3, 4})}, RollAttrs{{1, 2}, {0}}, "shifts and dims must be as many");
  s.AddError("dim", {Normal({3})}, RollAttrs{{1}, {1}}, "dim 1");
}

FIRN_REGISTER_SAMPLES(roll_dim) {
  s.Internal("roll along one dimension");
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const RollDimAttrs& a = attrs.get<RollDimAttrs>();
    const auto d = static_cast<size_t>(a.dim);
    return std::vector<RefTensor>{Moved(in[0], in[0].shape, [&](Index y) {
      y[d] = Wrapped(y[d] - a.shift, in[0].shape[static_cast<int>(a.dim)]);
      return y;
    })};
  });
  s.Add("rows", {Normal({3, 4})}, RollDimAttrs{0, 2});
  s.Add("columns", {Normal({2, 150})}, RollDimAttrs{1, 70});
  s.Add("channels", {Normal({2, 8, 3})}, RollDimAttrs{1, 3});
  s.Add("integers", {Integers({5}, 0, 9)}, RollDimAttrs{0, 0});
  s.Add("bool", {Booleans({5})}, RollDimAttrs{0, 4});
  s.Add("nothing", {Normal({0, 3})}, RollDimAttrs{1, 1});
  s.AddError("dim", {Normal({3})}, RollDimAttrs{1, 1}, "dim 1 is outside [0, 1)");
  s.AddError("shift", {Normal({3})}, RollDimAttrs{0, 3}, "shift 3 is outside [0, 3)");
}

struct ShiftAttrs {
  DimList shifts;
  PadMode border = PadMode::kReplicate;
  template <class V>
  void Visit(V& v) {
    v.Field("shifts", shifts);
    v.Field("border", border);
  }
};

std::vector<RefTensor> ShiftReference(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const ShiftAttrs& a = attrs.get<ShiftAttrs>();
  const Shape& shape = in[0].shape;
  const int first = shape.rank() - static_cast<int>(a.shifts.size());
  return {Moved(in[0], shape, [&](Index y) {
    for (int d = first; d < shape.rank(); ++d) {
      const int64_t n = shape[d], at = y[static_cast<size_t>(d)] - a.shifts.begin()[d - first];
      int64_t from = at;
      if (a.border == PadMode::kConstant && (at < 0 || at >= n)) return Index();
      if (a.border == PadMode::kReplicate) from = std::clamp<int64_t>(at, 0, n - 1);
      if (a.border == PadMode::kSymmetric) from = at < 0 ? -1 - at : at >= n ? 2 * n - 1 - at : at;
      y[static_cast<size_t>(d)] = from;
    }
    return y;
  })};
}

FIRN_REGISTER_COMPOSITE(shift) {
  s.Declare({{.name = "x"}});
  s.Function([](In in, const ShiftAttrs& a) { return Shift(in[0], a.shifts, a.border); });
  s.Reference(ShiftReference);
  s.Add("right and up", {Normal({2, 4, 5})}, ShiftAttrs{{-3, 2}});
  s.Add("too far", {Normal({2, 3})}, ShiftAttrs{{7}});
  s.Add("too far back, zeros", {Normal({2, 3})}, ShiftAttrs{{-4}, PadMode::kConstant});
  s.Add("zeros", {Normal({2, 8, 3})}, ShiftAttrs{{1, 0, -1}, PadMode::kConstant});
  s.Add("symmetric", {Normal({2, 5})}, ShiftAttrs{{1, -3}, PadMode::kSymmetric});
  s.Add("integers", {Integers({5}, 0, 9)}, ShiftAttrs{{1}});
  s.Add("bool", {Booleans({5})}, ShiftAttrs{{-1}});
  s.Add("no shift", {Normal({})}, ShiftAttrs{{}});
  s.AddLarge("4M", {Normal({2048, 2048})}, ShiftAttrs{{3, -3}}, 0, 67e6);
  s.AddError("shifts", {Normal({3})}, ShiftAttrs{{1, 1}}, "got 2 shifts for x [3]");
  s.WithoutVectors("PyTorch does not have it");
}

struct Rot90Attrs {
  int64_t k = 1;
  DimList dims = {0, 1};
  template <class V>
  void Visit(V& v) {
    v.Field("k", k);
    v.Field("dims", dims);
  }
};

std::vector<RefTensor> Rot90Reference(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const Rot90Attrs& a = attrs.get<Rot90Attrs>();
  RefTensor y = in[0];
  const auto p = static_cast<size_t>(Wrapped(a.dims.begin()[0], y.shape.rank()));
  const auto q = static_cast<size_t>(Wrapped(a.dims.begin()[1], y.shape.rank()));
  for (int64_t turn = 0; turn < Wrapped(a.k, 4); ++turn) {
    Dims shape = y.shape.dims();
    std::swap(shape[static_cast<int>(p)], shape[static_cast<int>(q)]);
    const int64_t n = y.shape[static_cast<int>(q)];
    y = Moved(y, Shape::Trusted(shape), [&](Index index) {
      const int64_t i = index[p];
      index[p] = index[q];
      index[q] = n - 1 - i;
      return index;
    });
  }
  return {y};
}

FIRN_REGISTER_COMPOSITE(rot90) {
  s.Declare({{.name = "x", .min_rank = 2}});
  s.Function([](In in, const Rot90Attrs& a) { return Rot90(in[0], a.k, a.dims); });
  s.Reference(Rot90Reference);
  for (int64_t k : {1, 2, 3, 4, -1}) {
    s.Add("turns: " + std::to_string(k), {Normal({2, 3, 2})}, Rot90Attrs{k, {0, 1}});
  }
  s.Add("the other way, last dimensions", {Normal({2, 8, 3})}, Rot90Attrs{1, {-1, -2}});
  s.Add("integers", {Integers({2, 3}, 0, 9)}, Rot90Attrs{});
  s.Add("bool", {Booleans({2, 3})}, Rot90Attrs{});
  s.AddLarge("4M", {Normal({2048, 2048})}, Rot90Attrs{}, 0, 33.6e6);
  s.AddError("dims", {Normal({2, 3})}, Rot90Attrs{1, {0}},
             "dims must be two dimensions of x, got 1");
}

struct RepeatAttrs {
  int64_t repeats = 1, dim = 0;
  bool flat = false;
  template <class V>
  void Visit(V& v) {
    v.Field("repeats", repeats);
    v.Field("dim", dim);
    v.Field("flat", flat);
  }
};

// By the number, or by an input of numbers.
Tensor CallRepeat(In in, const RepeatAttrs& a) {
  const std::optional<int64_t> dim = a.flat ? std::optional<int64_t>() : a.dim;
  return in.size() > 1 ? RepeatInterleave(in[0], in[1], dim)
                       : RepeatInterleave(in[0], a.repeats, dim);
}

std::vector<RefTensor> RepeatReference(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const RepeatAttrs& a = attrs.get<RepeatAttrs>();
  RefTensor x = in[0];
  if (a.flat || x.shape.rank() == 0) x.shape = Shape({x.size()});
  const auto d = static_cast<int>(a.flat ? 0 : Wrapped(a.dim, x.shape.rank()));
  std::vector<int64_t> from;
  for (int64_t i = 0; i < x.shape[d]; ++i) {
    const int64_t count =
        in.size() == 1 ? a.repeats : static_cast<int64_t>(in[1][in[1].size() == 1 ? 0 : i]);
    from.insert(from.end(), static_cast<size_t>(count), i);
  }
  Dims shape = x.shape.dims();
  shape[d] = static_cast<int64_t>(from.size());
  return {Moved(x, Shape::Trusted(shape), [&](Index y) {
    int64_t& at = y[static_cast<size_t>(d)];
    at = from[static_cast<size_t>(at)];
    return y;
  })};
}

FIRN_REGISTER_COMPOSITE(repeat_interleave) {
  s.Declare({{.name = "x", .max_rank = kMaxRank - 1}});
  s.Function(CallRepeat);
  s.Reference(RepeatReference);
  s.Add("rows", {Normal({2, 3})}, RepeatAttrs{3, 0});
  s.Add("columns", {Normal({2, 8, 3})}, RepeatAttrs{2, -1});
  s.Add("flat", {Normal({2, 3})}, RepeatAttrs{2, 0, true});
  s.Add("none", {Normal({2, 3})}, RepeatAttrs{0, 1});
  s.Add("a scalar", {Normal({})}, RepeatAttrs{4, 0});
  s.Add("integers", {Integers({3}, 0, 9)}, RepeatAttrs{2, 0});
  s.Add("bool", {Booleans({3})}, RepeatAttrs{2, 0});
  s.AddLarge("1M", {Normal({1024, 1024})}, RepeatAttrs{4, 1}, 0, 21e6);
  s.AddError("repeats", {Normal({3})}, RepeatAttrs{-1, 0}, "repeats must be at least 0");
}

struct MeshAttrs {
  MeshIndexing indexing = MeshIndexing::kIj;
  template <class V>
  void Visit(V& v) {
    v.Field("indexing", indexing);
  }
};

std::vector<RefTensor> MeshReference(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const bool xy = attrs.get<MeshAttrs>().indexing == MeshIndexing::kXy && in.size() > 1;
  const auto place = [&](size_t i) { return xy && i < 2 ? 1 - i : i; };
  Dims shape(static_cast<int>(in.size()), 1);
  for (size_t i = 0; i < in.size(); ++i) shape[static_cast<int>(place(i))] = in[i].size();
  std::vector<RefTensor> grids;
  for (size_t i = 0; i < in.size(); ++i) {
    RefTensor line = in[i];
    line.shape = Shape({line.size()});
    grids.push_back(
        Moved(line, Shape::Trusted(shape), [&](const Index& y) { return Index{y[place(i)]}; }));
  }
  return grids;
}

FIRN_REGISTER_COMPOSITE(meshgrid) {
  s.Declare({{.name = "tensors", .max_rank = 1, .variadic = true}},
            {{.name = "y", .same_dtype_as = "tensors", .variadic = true}});
  s.Function([](In in, const MeshAttrs& a) { return Meshgrid(in.all(), a.indexing); });
  s.Reference(MeshReference);
  s.Add("ij", {Normal({2}), Normal({3}, 2)}, MeshAttrs{});
  s.Add("xy", {Normal({2}), Normal({3}, 2), Normal({4}, 3)}, MeshAttrs{MeshIndexing::kXy});
  s.Add("one", {Normal({3})}, MeshAttrs{MeshIndexing::kXy});
  s.Add("a scalar", {Normal({}), Normal({3}, 2)}, MeshAttrs{});
  s.Add("nothing", {Normal({0}), Normal({3}, 2)}, MeshAttrs{});
  s.Add("integers", {Integers({3}, 0, 9), Integers({2}, 0, 9)}, MeshAttrs{});
  s.Add("bool", {Booleans({3}), Booleans({2})}, MeshAttrs{});
  s.AddLarge("2048x2048", {Normal({2048}), Normal({2048}, 2)}, MeshAttrs{}, 0, 0);
  s.AddError("rank", {Normal({2, 2})}, MeshAttrs{}, "tensors must be 1-D, got [2, 2]");
}

FIRN_REGISTER_GOLDEN(meshgrid) {
  const bool xy = args.Text("indexing") == "xy";
  const std::vector<Tensor> grids =
      Meshgrid(args.List("tensors"), xy ? MeshIndexing::kXy : MeshIndexing::kIj);
  return {{"y.0", grids.at(0)}, {"y.1", grids.at(1)}};
}

FIRN_REGISTER_SAMPLES(sliding_window) {
  s.Function([](In in, const SlidingWindowAttrs& a) {
    return SlidingWindow(in[0], a.dim, a.size, a.step);
  });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const SlidingWindowAttrs& a = attrs.get<SlidingWindowAttrs>();
    Dims shape = in[0].shape.dims();
    const auto d = static_cast<int>(Wrapped(a.dim, shape.rank));
    shape[d] = (shape[d] - a.size) / a.step + 1;
    shape.push_back(a.size);
    return std::vector<RefTensor>{Moved(in[0], Shape::Trusted(shape), [&](Index y) {
      y[static_cast<size_t>(d)] = y[static_cast<size_t>(d)] * a.step + y.back();
      y.pop_back();
      return y;
    })};
  });
  s.Add("overlapping", {Normal({7})}, SlidingWindowAttrs{0, 3, 2});
  s.Add("side by side", {Normal({2, 8})}, SlidingWindowAttrs{-1, 2, 2});
  s.Add("with gaps", {Normal({8, 2, 2})}, SlidingWindowAttrs{0, 2, 3});
  s.Add("channels", {Normal({2, 8, 3})}, SlidingWindowAttrs{1, 5, 1});
  s.Add("one window", {Normal({3})}, SlidingWindowAttrs{0, 3, 7});
  s.Add("integers", {Integers({5}, 0, 9)}, SlidingWindowAttrs{0, 2, 1});
  s.AddLarge("64x16K", {Normal({64, 16384})}, SlidingWindowAttrs{1, 512, 128}, 0, 0);
  s.AddError("size", {Normal({3})}, SlidingWindowAttrs{0, 4, 1},
             "size 4 must be from 1 to 3, the size of dim 0");
  s.AddError("step", {Normal({3})}, SlidingWindowAttrs{0, 2, 0}, "step must be at least 1, got 0");
}

}  // namespace
}  // namespace firn::testing
