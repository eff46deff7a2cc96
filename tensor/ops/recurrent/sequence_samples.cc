#include "firn/tensor/ops/recurrent/sequence.h"
#include "firn/tensor/testing/golden_samples.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

FIRN_REGISTER_SAMPLES(reverse_sequence) {
  s.WithoutVectors("PyTorch has no such function");
  s.Function([](In in, const ReverseSequenceAttrs& a) {
    return ReverseSequence(in[0], in[1], a.time_dim, a.batch_dim);
  });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const auto& a = attrs.get<ReverseSequenceAttrs>();
    RefTensor y(in[0].shape);
    const auto time =
        static_cast<size_t>(a.time_dim < 0 ? a.time_dim + y.shape.rank() : a.time_dim);
    const auto batch =
        static_cast<size_t>(a.batch_dim < 0 ? a.batch_dim + y.shape.rank() : a.batch_dim);
    ForEachIndex(y.shape, [&](absl::Span<const int64_t> at) {
      std::vector<int64_t> from(at.begin(), at.end());
      const auto length = static_cast<int64_t>(in[1][at[batch]]);
      if (at[time] < length) from[time] = length - 1 - at[time];
      y.at(at) = in[0].at(from);
    });
    return std::vector<RefTensor>{y};
  });
  s.Add("matrix", {Normal({4, 3}), Indices({4, 2, 0})}, ReverseSequenceAttrs{});
  s.Add("batch first", {Normal({2, 5, 3}), Indices({3, 5})}, ReverseSequenceAttrs{1, 0});
  s.Add("time last", {Normal({3, 2, 2, 4}), Indices({1, 4})}, ReverseSequenceAttrs{-1, 2});
  s.Add("integers", {Integers({3, 2}, 0, 9), Indices({3, 2})}, ReverseSequenceAttrs{});
  s.Add("bool", {Booleans({3, 2}), Indices({3, 2})}, ReverseSequenceAttrs{});
  s.Add("nothing", {Normal({0, 2}), Indices({0, 0})}, ReverseSequenceAttrs{});
  s.AddLarge("256x64x512", {Normal({256, 64, 512}), Integers({64}, 0, 257)}, ReverseSequenceAttrs{},
             0, 2.0 * 256 * 64 * 512 * 4);
  s.AddError("one dimension twice", {Normal({3, 2}), Indices({3, 2})}, ReverseSequenceAttrs{1, -1},
             "time_dim and batch_dim are both dimension 1");
  s.AddError("lengths", {Normal({3, 2}), Indices({3})}, ReverseSequenceAttrs{},
             "lengths [1] must be [2], one for each sequence of x f64 [3, 2]");
  s.AddError("too long", {Normal({3, 2}), Indices({3, 4})}, ReverseSequenceAttrs{}, "4");
  s.AddError("rank", {Normal({3}), Indices({3})}, ReverseSequenceAttrs{}, "x must have");
}

struct PackAttrs {
  std::vector<int64_t> lengths = {};
  bool batch_first = false, enforce_sorted = true;
  template <class V>
  void Visit(V& v) {
    v.Field("lengths", lengths);
    v.Field("batch_first", batch_first);
    v.Field("enforce_sorted", enforce_sorted);
  }
};

// The sequences of these lengths, the longest first and otherwise as they come.
std::vector<int64_t> ByLength(const std::vector<int64_t>& lengths) {
  std::vector<int64_t> order;
  for (int64_t length = 100; length > 0; --length) {
    for (size_t b = 0; b < lengths.size(); ++b) {
      if (lengths[b] == length) order.push_back(static_cast<int64_t>(b));
    }
  }
  return order;
}

// Lengths of the large samples: 64 sequences of 128, 126, ... steps, and how many have each step.
std::vector<int64_t> LargeLengths() {
  std::vector<int64_t> lengths;
  for (int64_t length = 128; length > 0; length -= 2) lengths.push_back(length);
  return lengths;
}
std::vector<int64_t> LargeBatchSizes() {
  std::vector<int64_t> sizes;
  for (int64_t t = 0; t < 128; ++t) sizes.push_back(64 - t / 2);
  return sizes;
}
constexpr int64_t kLargeRows = 64 * 65;  // that all have together

FIRN_REGISTER_COMPOSITE(pack_padded_sequence) {
  s.captured = false;  // lengths on the host, which a graph would hold for ever
  s.Declare({{.name = "x", .min_rank = 2}});
  s.Function([](In in, const PackAttrs& a) {
    return PackPaddedSequence(in[0], a.lengths, {a.batch_first, a.enforce_sorted}).data;
  });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const auto& a = attrs.get<PackAttrs>();
    const Shape& shape = in[0].shape;
    Dims dims = shape.dims();
    dims.rank -= 1;
    dims[0] = 0;
    for (int64_t length : a.lengths) dims[0] += length;
    for (int d = 1; d < dims.rank; ++d) dims[d] = shape[d + 1];
    RefTensor y(Shape(dims.span()));
    int64_t row = 0;
    const int64_t width = y.size() / dims[0], steps = shape[a.batch_first ? 1 : 0];
    const auto batch = static_cast<int64_t>(a.lengths.size());
    for (int64_t t = 0; t < steps; ++t) {
      for (const int64_t b : ByLength(a.lengths)) {
        if (a.lengths[static_cast<size_t>(b)] <= t) continue;
        const int64_t from = a.batch_first ? b * steps + t : t * batch + b;
        for (int64_t i = 0; i < width; ++i) y[row * width + i] = in[0][from * width + i];
        ++row;
      }
    }
    return std::vector<RefTensor>{y};
  });
  s.Add("sorted", {Normal({4, 3, 2})}, PackAttrs{{4, 2, 1}});
  s.Add("unsorted, batch first", {Normal({3, 4, 2})}, PackAttrs{{1, 4, 2}, true, false});
  s.Add("numbers", {Integers({3, 2}, 0, 9)}, PackAttrs{{2, 2}});
  s.Add("bools", {Booleans({3, 2})}, PackAttrs{{3, 1}});
  s.AddLarge("128x64x256", {Normal({128, 64, 256})}, PackAttrs{LargeLengths()}, 0, 12.6e6);
  s.AddError("growing", {Normal({4, 2})}, PackAttrs{{1, 3}},
             "lengths[1] is 3, more than the 1 before it: sort them, or say enforce_sorted");
  s.AddError("beyond the data", {Normal({4, 2})}, PackAttrs{{5, 3}},
             "lengths[0] is 5, want 1 to the 4 steps of x");
  s.AddError("empty sequence", {Normal({4, 2})}, PackAttrs{{4, 0}}, "lengths[1] is 0, want 1");
  s.AddError("count", {Normal({4, 2})}, PackAttrs{{4}}, "got 1 for x [4, 2]");
  s.AddError("rank", {Normal({4})}, PackAttrs{{4}}, "x must be [steps, batch, ...]");
}

FIRN_REGISTER_GOLDEN(pack_padded_sequence) {
  return PackPaddedSequence(args["x"], args.Ints("lengths"),
                            {args.Flag("batch_first", false), args.Flag("enforce_sorted", true)})
      .data;
}

struct PadPackedAttrs {
  std::vector<int64_t> batch_sizes = {};
  bool batch_first = false;
  double padding_value = 0;
  int64_t total_length = 0;  // 0: that of the longest
  template <class V>
  void Visit(V& v) {
    v.Field("batch_sizes", batch_sizes);
    v.Field("batch_first", batch_first);
    v.Field("padding_value", padding_value);
    v.Field("total_length", total_length);
  }
};

FIRN_REGISTER_COMPOSITE(pad_packed_sequence) {
  s.captured = false;  // lengths on the host, which a graph would hold for ever
  s.Declare({{.name = "data", .min_rank = 1}}, {{.name = "y", .same_dtype_as = "data"}});
  s.Function([](In in, const PadPackedAttrs& a) {
    PadPackedOptions o{a.batch_first, a.padding_value, {}};
    if (a.total_length != 0) o.total_length = a.total_length;
    return PadPackedSequence({in[0], a.batch_sizes}, o).x;
  });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const auto& a = attrs.get<PadPackedAttrs>();
    const auto longest = static_cast<int64_t>(a.batch_sizes.size());
    const int64_t steps = a.total_length == 0 ? longest : a.total_length;
    const int64_t batch = a.batch_sizes[0];
    std::vector<int64_t> sizes = {a.batch_first ? batch : steps, a.batch_first ? steps : batch};
    for (int d = 1; d < in[0].shape.rank(); ++d) sizes.push_back(in[0].shape[d]);
    RefTensor y(Shape(absl::MakeConstSpan(sizes)), a.padding_value);
    const int64_t width = in[0].size() / in[0].shape[0];
    int64_t row = 0;
    for (int64_t t = 0; t < longest; ++t) {
      for (int64_t b = 0; b < a.batch_sizes[static_cast<size_t>(t)]; ++b, ++row) {
        const int64_t to = a.batch_first ? b * steps + t : t * batch + b;
        for (int64_t i = 0; i < width; ++i) y[to * width + i] = in[0][row * width + i];
      }
    }
    return std::vector<RefTensor>{y};
  });
  s.Add("steps first", {Normal({6, 2})}, PadPackedAttrs{{3, 2, 1}});
  s.Add("batch first, longer", {Normal({5, 2, 2})}, PadPackedAttrs{{2, 2, 1}, true, 1.5, 5});
  s.Add("numbers", {Integers({3}, 0, 9)}, PadPackedAttrs{{2, 1}});
  s.Add("bools", {Booleans({3})}, PadPackedAttrs{{2, 1}});
  s.AddLarge("128x64x256", {Normal({kLargeRows, 256})}, PadPackedAttrs{LargeBatchSizes()}, 0,
             12.6e6);
  s.AddError("sizes", {Normal({6, 2})}, PadPackedAttrs{{3, 2}},
             "batch_sizes do not add up to the 6 rows of data");
  s.AddError("growing", {Normal({6, 2})}, PadPackedAttrs{{2, 3, 1}}, "never grow");
  s.AddError("too short", {Normal({6, 2})}, PadPackedAttrs{{3, 2, 1}, false, 0, 2},
             "total_length 2 is less than the 3 steps of the longest sequence");
}

FIRN_REGISTER_GOLDEN(pad_packed_sequence) {
  PadPackedOptions o{args.Flag("batch_first", false), args.Number("padding_value", 0), {}};
  if (args.Has("total_length")) o.total_length = args.Int("total_length", 0);
  return PadPackedSequence({args["data"], args.Ints("batch_sizes")}, o).x;
}

struct PadListAttrs {
  bool batch_first = false;
  double padding_value = 0;
  template <class V>
  void Visit(V& v) {
    v.Field("batch_first", batch_first);
    v.Field("padding_value", padding_value);
  }
};

FIRN_REGISTER_COMPOSITE(pad_sequence) {
  s.Declare({{.name = "sequences", .min_rank = 1, .variadic = true}},
            {{.name = "y", .same_dtype_as = "sequences"}});
  s.Function([](In in, const PadListAttrs& a) {
    return PadSequence(in.all(), {a.batch_first, a.padding_value});
  });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const auto& a = attrs.get<PadListAttrs>();
    const auto batch = static_cast<int64_t>(in.size());
    int64_t steps = 0;
    for (const RefTensor& t : in) steps = std::max(steps, t.shape[0]);
    std::vector<int64_t> sizes = {a.batch_first ? batch : steps, a.batch_first ? steps : batch};
    int64_t width = 1;
    for (int d = 1; d < in[0].shape.rank(); ++d) {
      sizes.push_back(in[0].shape[d]);
      width *= in[0].shape[d];
    }
    RefTensor y(Shape(absl::MakeConstSpan(sizes)), a.padding_value);
    for (int64_t b = 0; b < batch; ++b) {
      const RefTensor& from = in[static_cast<size_t>(b)];
      for (int64_t t = 0; t < from.shape[0]; ++t) {
        const int64_t to = a.batch_first ? b * steps + t : t * batch + b;
        for (int64_t i = 0; i < width; ++i) y[to * width + i] = from[t * width + i];
      }
    }
    return std::vector<RefTensor>{y};
  });
  s.Add("rows", {Normal({2, 3}), Normal({4, 3}, 2), Normal({1, 3}, 3)}, PadListAttrs{});
  s.Add("batch first, a value", {Normal({2}), Normal({3}, 2)}, PadListAttrs{true, -1.5});
  s.Add("batch first, rows", {Normal({1, 3}), Normal({4, 3}, 2), Normal({4, 3}, 3)},
        PadListAttrs{true, 2});
  s.Add("one", {Normal({2, 2})}, PadListAttrs{});
  s.Add("integers", {Integers({2}, 0, 9), Integers({0}, 0, 9)}, PadListAttrs{});
  s.Add("bools", {Booleans({3}), Booleans({2}, 2)}, PadListAttrs{});
  std::vector<Tensor> lines;
  for (const int64_t length : LargeLengths()) lines.push_back(Normal({length, 256}));
  s.AddLarge("128x64x256", lines, PadListAttrs{}, 0, 12.6e6);
  s.AddError("other sizes", {Normal({2, 3}), Normal({4, 2})}, PadListAttrs{},
             "sequences[1] [4, 2] and sequences[0] [2, 3] differ behind their steps");
  s.AddError("scalar", {Normal({2, 3}), Normal({})}, PadListAttrs{}, "sequences must");
}

FIRN_REGISTER_GOLDEN(pad_sequence) {
  return PadSequence(args.List("sequences"),
                     {args.Flag("batch_first", false), args.Number("padding_value", 0)});
}

struct PackListAttrs {
  bool enforce_sorted = true;
  template <class V>
  void Visit(V& v) {
    v.Field("enforce_sorted", enforce_sorted);
  }
};

FIRN_REGISTER_COMPOSITE(pack_sequence) {
  s.Declare({{.name = "sequences", .min_rank = 1, .variadic = true}},
            {{.name = "y", .same_dtype_as = "sequences"}});
  s.Function(
      [](In in, const PackListAttrs& a) { return PackSequence(in.all(), a.enforce_sorted).data; });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef) {
    std::vector<int64_t> lengths;
    int64_t rows = 0;
    for (const RefTensor& t : in) rows += lengths.emplace_back(t.shape[0]);
    Dims dims = in[0].shape.dims();
    dims[0] = rows;
    RefTensor y(Shape(dims.span()));
    const int64_t width = y.size() / rows;
    for (int64_t t = 0, row = 0; row < rows; ++t) {
      for (const int64_t b : ByLength(lengths)) {
        if (t >= lengths[static_cast<size_t>(b)]) continue;
        const RefTensor& from = in[static_cast<size_t>(b)];
        for (int64_t i = 0; i < width; ++i) y[row * width + i] = from[t * width + i];
        ++row;
      }
    }
    return std::vector<RefTensor>{y};
  });
  s.Add("sorted", {Normal({4, 2}), Normal({4, 2}, 2), Normal({1, 2}, 3)}, PackListAttrs{});
  s.Add("unsorted", {Normal({2}), Normal({3}, 2), Normal({1}, 3)}, PackListAttrs{false});
  s.Add("integers", {Integers({2}, 0, 9), Integers({1}, 0, 9)}, PackListAttrs{});
  s.Add("bools", {Booleans({3}), Booleans({2}, 2)}, PackListAttrs{});
  s.AddError("growing", {Normal({2, 3}), Normal({4, 3})}, PackListAttrs{},
             "lengths[1] is 4, more than the 2 before it");
  s.AddError("other sizes", {Normal({4, 3}), Normal({2, 2})}, PackListAttrs{}, "");
  s.AddError("empty", {Normal({2}), Normal({0})}, PackListAttrs{}, "lengths[1] is 0");
  s.AddError("scalar", {Normal({2}), Normal({})}, PackListAttrs{}, "sequences must");
}

FIRN_REGISTER_GOLDEN(pack_sequence) {
  return PackSequence(args.List("sequences"), args.Flag("enforce_sorted", true)).data;
}

}  // namespace
}  // namespace firn::testing
