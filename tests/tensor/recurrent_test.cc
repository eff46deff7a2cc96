// What samples of recurrent layers do not see: sizes at which threads share out sequences or units,
// the form for devices that have no kernel, and that packed sequences, states and padding mean one
// thing.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "firn/autograd/backward.h"
#include "firn/autograd/graph/capture.h"
#include "firn/device/parallel.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/ops/recurrent/gru.h"
#include "firn/tensor/ops/recurrent/layer_rules.h"
#include "firn/tensor/ops/recurrent/lstm.h"
#include "firn/tensor/ops/recurrent/rnn.h"
#include "firn/tensor/ops/recurrent/sequence.h"
#include "firn/tensor/rng.h"
#include "tests/error_of.h"

namespace firn {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kGates[] = {1, 3, 4};  // rnn, gru, lstm

Tensor Draw(const Shape& shape) { return Mul(Randn(shape), Full({}, 0.3)); }

std::vector<RecurrentWeights> DrawWeights(int64_t gates, int64_t in, int64_t hidden,
                                          int64_t directions = 1) {
  std::vector<RecurrentWeights> all;
  for (int64_t i = 0; i < directions; ++i) {
    all.push_back({Draw({gates * hidden, in}), Draw({gates * hidden, hidden}),
                   Draw({gates * hidden}), Draw({gates * hidden})});
  }
  return all;
}

// y and the states of the kind with so many gates.
template <class X>
std::vector<Tensor> RunKind(int64_t gates, const X& x, const std::vector<RecurrentWeights>& weights,
                            const std::vector<Tensor>& initial = {{}, {}},
                            const RecurrentOptions& o = {}) {
  const auto data = [](const auto& y) -> Tensor {
    if constexpr (requires { y.data; }) {
      return y.data;
    } else {
      return y;
    }
  };
  if (gates == 4) {
    const auto r = Lstm(x, {initial[0], initial[1]}, weights, o);
    return {data(r.y), r.state.h, r.state.c};
  }
  if (gates == 3) {
    const auto r = Gru(x, initial[0], weights, o);
    return {data(r.y), r.h_n};
  }
  const auto r = Rnn(x, initial[0], weights, o);
  return {data(r.y), r.h_n};
}

void ExpectSame(const std::vector<Tensor>& got, const std::vector<Tensor>& want, double atol) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(got[i].shape(), want[i].shape()) << i;
    if (got[i].num_elements() == 0) continue;
    const Tensor difference = Max(Flatten(Abs(Sub(got[i], want[i]))));
    EXPECT_LE(difference.Item<double>(), atol) << "result " << i;
  }
}

class Threads {
 public:
  explicit Threads(int n) : before_(NumThreads()) { SetNumThreads(n); }
  ~Threads() { SetNumThreads(before_); }

 private:
  const int before_;
};

TEST(RecurrentTest, ThreadsShareSequencesOrUnitsAndGiveTheSameBits) {
  ManualSeed(1);
  // Many sequences with few weights, few sequences with many, and neither.
  for (const auto& [batch, hidden] : {std::pair(40, 48), std::pair(6, 200), std::pair(3, 20)}) {
    for (const int64_t gates : kGates) {
      std::vector<RecurrentWeights> w = DrawWeights(gates, 33, hidden);
      for (Tensor* t : {&w[0].w_ih, &w[0].w_hh, &w[0].b_ih, &w[0].b_hh}) t->SetRequiresGrad();
      Tensor x = Draw({9, batch, 33});
      x.SetRequiresGrad();
      const Tensor seed = Draw({9, batch, hidden});
      std::vector<Tensor> want;
      for (const int threads : {1, 2, 3}) {
        const Threads scope(threads);
        std::vector<Tensor> got = RunKind(gates, x, w);
        for (Tensor& g : Grad({got[0]}, {x, w[0].w_hh, w[0].b_hh}, {.seeds = {seed}})) {
          got.push_back(std::move(g));
        }
        const NoGradScope no_grad;
        // The products over all steps are cut as the threads are.
        const bool first = want.empty();
        if (first) want = got;
        ExpectSame({got[0], got[1]}, {want[0], want[1]}, 0);
        ExpectSame(got, want, 2e-4);
      }
    }
  }
}

TEST(RecurrentTest, OtherDevicesComputeTheSameByOperations) {
  ManualSeed(2);
  const std::vector<std::vector<int64_t>> sizes = {{}, {4, 4, 2, 1}, {3, 1}};
  for (const bool reverse : {false, true}) {
    for (const std::vector<int64_t>& batch_sizes : sizes) {
      int64_t rows = 0;
      for (const int64_t size : batch_sizes) rows += size;
      const int64_t batch = batch_sizes.empty() ? 3 : batch_sizes[0];
      const Tensor x = batch_sizes.empty() ? Draw({4, batch, 5}) : Draw({rows, 5});
      const RecurrentLayerAttrs attrs{reverse, batch_sizes};
      for (const int64_t gates : kGates) {
        const RecurrentWeights w = DrawWeights(gates, 5, 6)[0];
        LayerTensors t = {x, Draw({batch, 6}), w.w_ih, w.w_hh, w.b_ih, w.b_hh};
        LayerResults got;
        TensorList want;
        if (gates == 4) {
          t.c0 = Draw({batch, 6});
          got = LstmByOperations(t, attrs);
          want = Apply(Op("lstm_layer"), {x, t.h0, w.w_ih, w.w_hh, w.b_ih, w.b_hh, t.c0, Tensor()},
                       attrs);
        } else {
          got = gates == 3 ? GruByOperations(t, attrs) : RnnByOperations(t, attrs, false);
          want = Apply(Op(gates == 3 ? "gru_layer" : "rnn_tanh_layer"),
                       {x, t.h0, w.w_ih, w.w_hh, w.b_ih, w.b_hh}, attrs);
        }
        ExpectSame({got.y}, {want[0]}, 1e-6);
        for (size_t i = 0; i < got.states.size(); ++i) {
          ExpectSame({got.states[i]}, {want[1 + i]}, 1e-6);
        }
      }
    }
  }
}

TEST(RecurrentTest, PackedSequencesAreThoseOneByOne) {
  ManualSeed(3);
  const std::vector<int64_t> lengths = {2, 5, 1, 3};
  const Tensor x = Draw({5, 4, 3});
  for (const int64_t gates : kGates) {
    const std::vector<RecurrentWeights> w = DrawWeights(gates, 3, 4, 2);
    const RecurrentOptions both = {.bidirectional = true};
    const PackedSequence packed = PackPaddedSequence(x, lengths, {.enforce_sorted = false});
    EXPECT_EQ(packed.batch_sizes, (std::vector<int64_t>{4, 3, 2, 1, 1}));
    const std::vector<Tensor> r = RunKind(gates, packed, w, {{}, {}}, both);
    PackedSequence y = packed;
    y.data = r[0];
    const PaddedSequences padded = PadPackedSequence(y);
    EXPECT_EQ(padded.lengths, lengths);
    for (int64_t b = 0; b < 4; ++b) {
      const int64_t length = lengths[static_cast<size_t>(b)];
      const Tensor one = Slice(Select(x, 1, b), 0, 0, length);
      std::vector<Tensor> want = RunKind(gates, one, w, {{}, {}}, both), got;
      got.push_back(Slice(Select(padded.x, 1, b), 0, 0, length));
      for (size_t i = 1; i < r.size(); ++i) got.push_back(Select(r[i], 1, b));
      ExpectSame(got, want, 1e-6);
      const Tensor rest = Slice(Select(padded.x, 1, b), 0, length);
      EXPECT_EQ(Sum(Abs(rest)).Item<float>(), 0);
    }
  }
}

TEST(RecurrentTest, SequencesArePackedAsIfTheyHadBeenPadded) {
  ManualSeed(6);
  const Tensor x = Draw({4, 3, 2});
  const std::vector<int64_t> lengths = {2, 4, 1};
  std::vector<Tensor> sequences;
  for (int64_t b = 0; b < 3; ++b) {
    sequences.push_back(Slice(Select(x, 1, b), 0, 0, lengths[static_cast<size_t>(b)]));
  }
  const PackedSequence got = PackSequence(sequences, false);
  const PackedSequence want = PackPaddedSequence(x, lengths, {.enforce_sorted = false});
  EXPECT_TRUE(got.data.Equals(want.data));
  EXPECT_EQ(got.batch_sizes, want.batch_sizes);
  EXPECT_EQ(got.sorted_indices, want.sorted_indices);
  EXPECT_EQ(got.unsorted_indices, want.unsorted_indices);
  std::swap(sequences[0], sequences[1]);
  EXPECT_EQ(PackSequence(sequences).batch_sizes, want.batch_sizes);

  using testing::ErrorOf;
  std::swap(sequences[0], sequences[2]);
  EXPECT_EQ(ErrorOf([&] { PackSequence(sequences); }),
            "pack_sequence: lengths[1] is 2, more than the 1 before it: sort them, or say "
            "enforce_sorted = false");
  EXPECT_EQ(ErrorOf([] { PackSequence({}); }), "pack_sequence: the list of sequences is empty");
  EXPECT_EQ(ErrorOf([] {
              PackSequence({Zeros({2}), Tensor()});
            }),
            "pack_sequence: sequences[1] is an undefined tensor");
  EXPECT_EQ(ErrorOf([] { PackSequence({Tensor(1)}); }),
            "pack_sequence: sequences must be [steps, ...], got i64 [] on cpu");
  EXPECT_EQ(ErrorOf([] {
              PackSequence({Zeros({2}), Zeros({0})});
            }),
            "pack_sequence: lengths[1] is 0, want 1 to the 2 steps of x");
}

TEST(RecurrentTest, GoesOnFromAState) {
  ManualSeed(4);
  const Tensor x = Draw({6, 2, 3});
  for (const int64_t gates : kGates) {
    const std::vector<RecurrentWeights> w = DrawWeights(gates, 3, 4);
    const std::vector<Tensor> whole = RunKind(gates, x, w);
    const std::vector<Tensor> begin = RunKind(gates, Slice(x, 0, 0, 4), w);
    const std::vector<Tensor> states = {begin[1], gates == 4 ? begin[2] : Tensor()};
    const std::vector<Tensor> rest = RunKind(gates, Slice(x, 0, 4), w, states);
    ExpectSame({Concat({begin[0], rest[0]}), rest[1]}, {whole[0], whole[1]}, 1e-6);
  }
}

TEST(RecurrentTest, DropsBetweenLayersInTrainingAlone) {
  ManualSeed(5);
  const Tensor x = Draw({3, 2, 4});
  std::vector<RecurrentWeights> w = DrawWeights(3, 4, 4);
  w.push_back(DrawWeights(3, 4, 4)[0]);
  const Tensor plain = RunKind(3, x, w)[0];
  ExpectSame({RunKind(3, x, w, {{}, {}}, {.dropout = 0.5})[0]}, {plain}, 0);
  const Tensor dropped = RunKind(3, x, w, {{}, {}}, {.dropout = 1, .training = true})[0];
  EXPECT_GT(Sum(Abs(Sub(dropped, plain))).Item<float>(), 0);
  const std::vector<RecurrentWeights> one = {w[0]};
  ExpectSame({RunKind(3, x, one, {{}, {}}, {.dropout = 1, .training = true})[0]},
             {RunKind(3, x, one)[0]}, 0);
}

TEST(RecurrentTest, SaysWhatDoesNotFit) {
  using testing::ErrorOf;
  const Tensor x = Draw({3, 2, 4});
  const std::vector<RecurrentWeights> w = DrawWeights(4, 4, 5);
  EXPECT_EQ(ErrorOf([&] { Lstm(x, {}, {}); }),
            "lstm: weights must be those of one or more layers in 1 direction(s), got 0");
  EXPECT_EQ(ErrorOf([&] {
              Lstm(x, {Draw({1, 2, 5}), {}}, w);
            }),
            "lstm: h and c must be given together");
  EXPECT_EQ(ErrorOf([&] {
              Lstm(Draw({3, 4}), {Draw({1, 2, 5}), Draw({1, 2, 5})}, w);
            }),
            "lstm: states of one sequence must be [layers * directions, width], got [1, 2, 5]");
  EXPECT_EQ(ErrorOf([&] { Lstm(x, {}, w, {.dropout = 1.5}); }),
            "lstm: dropout must lie in [0, 1], got 1.5");
  EXPECT_EQ(ErrorOf([&] {
              Gru(x, {}, {{w[0].w_ih, w[0].w_hh, {}, {}, Draw({2, 5})}});
            }),
            "gru: weights 0: w_hr [2, 5] is for lstm");
  EXPECT_EQ(ErrorOf([&] {
              Rnn(x, {}, {{Tensor(), w[0].w_hh}});
            }),
            "rnn: weights 0: w_ih must have 2 dimensions, got an undefined tensor");
  PackedSequence packed = PackPaddedSequence(x, {3, 2});
  packed.sorted_indices = {0, 0};
  packed.unsorted_indices = {0, 1};
  EXPECT_EQ(ErrorOf([&] { Lstm(packed, {}, w); }),
            "lstm: sorted_indices and unsorted_indices must be inverse permutations");
  EXPECT_EQ(ErrorOf([&] { PackPaddedSequence(x, Draw({2})); }),
            "pack_padded_sequence: lengths must be integers [batch], got f32 [2] on cpu");
  EXPECT_EQ(PackPaddedSequence(x, FromValues<int64_t>({3, 1})).batch_sizes,
            (std::vector<int64_t>{2, 1, 1}));
}

// What a graph held of the first batch's lengths would be wrong for every other.
TEST(SequenceTest, PackingByLengthsIsRefusedInACaptureByName) {
  const Tensor x = Draw({3, 2, 4});
  const auto error = [&](const auto& f) {
    return testing::ErrorOf(
        [&] { Capture([&](absl::Span<const Tensor> in) { return TensorList{f(in[0])}; }, {x}); });
  };
  const std::string why = ": the lengths of sequences are numbers on the host";
  EXPECT_THAT(error([](const Tensor& t) {
                return PackPaddedSequence(t, {3, 2}).data;
              }),
              HasSubstr("pack_padded_sequence" + why));
  const Tensor lengths = FromValues<int64_t>({3, 1});
  EXPECT_THAT(error([&](const Tensor& t) { return PackPaddedSequence(t, lengths).data; }),
              HasSubstr("pack_padded_sequence" + why));
  EXPECT_THAT(error([](const Tensor& t) {
                return PadPackedSequence({.data = Flatten(t, 0, 1), .batch_sizes = {2, 2, 2}}).x;
              }),
              HasSubstr("pad_packed_sequence" + why));
}

// Results of a layer in bfloat16 and in f32, of weights and sequences that are bfloat16.
void ExpectRoundedOnce(int64_t gates, int64_t steps, int64_t batch, int64_t in, int64_t hidden,
                       double scale) {
  const auto half = [](const Tensor& t) { return t.To(DType::kBF16); };
  const auto small = [&](const Tensor& t) { return half(Mul(t, Full({}, scale))).To(DType::kF32); };
  const RecurrentWeights drawn = DrawWeights(gates, in, hidden)[0];
  const RecurrentWeights wide = {small(drawn.w_ih), small(drawn.w_hh), small(drawn.b_ih),
                                 small(drawn.b_hh)};
  const Tensor x = half(Randn({steps, batch, in})).To(DType::kF32);
  const std::vector<Tensor> want = RunKind(gates, x, {wide});
  const std::vector<Tensor> got = RunKind(
      gates, half(x), {{half(wide.w_ih), half(wide.w_hh), half(wide.b_ih), half(wide.b_hh)}});
  for (size_t i = 0; i < want.size(); ++i) {
    const Tensor difference = Abs(Sub(got[i].To(DType::kF32), want[i]));
    const Tensor rounding = Add(Mul(Abs(want[i]), Full({}, 1.0 / 256)), Full({}, 2e-6));
    EXPECT_LE(Max(Flatten(Sub(difference, rounding))).Item<double>(), 0)
        << gates << " gates, " << in << " to " << hidden << ", result " << i;
  }
}

// More rows and a longer inner direction than are multiplied at once by tiles of bfloat16; the
// rounding of states at each step would be 2^-9 of them.
TEST(RecurrentTest, Bfloat16LosesNoMoreThanItsResultsAreRounded) {
  ManualSeed(7);
  for (const int64_t gates : kGates) ExpectRoundedOnce(gates, 6, 37, 40, 288, 0.1);
}

// Rows and units that fill no tile, rows for one tile alone, sums of sequences that come before the
// steps, gates that are written past the caches, and states that are too long for one go.
TEST(RecurrentTest, LstmInBfloat16IsRoundedOnceAtEverySize) {
  ManualSeed(8);
  ExpectRoundedOnce(4, 5, 35, 24, 20, 0.2);
  ExpectRoundedOnce(4, 3, 7, 17, 39, 0.2);
  ExpectRoundedOnce(4, 3, 33, 520, 200, 0.05);
  ExpectRoundedOnce(4, 64, 32, 48, 256, 0.1);
  ExpectRoundedOnce(4, 2, 5, 24, 530, 0.1);
}

// Products by tiles and, of a single gate, others. Of one step, sums that are small beside the
// largest are of products of which each keeps 2^-17 of its factors; of several steps and of an rnn
// the gradient reads states, which were rounded at each step.
TEST(RecurrentTest, GradientsInBfloat16LoseNoMoreThanTheyAreRounded) {
  ManualSeed(10);
  const auto half = [](const Tensor& t) { return t.To(DType::kBF16); };
  for (const int64_t gates : kGates) {
    for (const int64_t steps : {1, 3}) {
      const RecurrentWeights drawn = DrawWeights(gates, 72, 96)[0];
      const std::vector<Tensor> given = {half(Draw({steps, 80, 72})), half(Draw({1, 80, 96})),
                                         half(Mul(drawn.w_ih, Full({}, 0.3))),
                                         half(Mul(drawn.w_hh, Full({}, 0.3))), half(drawn.b_hh)};
      const Tensor seed = half(Randn({steps, 80, 96}));
      const auto gradients = [&](DType dtype) {
        std::vector<Tensor> in;
        for (const Tensor& t : given) in.push_back(t.To(dtype).Detach().SetRequiresGrad());
        const std::vector<Tensor> y =
            RunKind(gates, in[0], {{in[2], in[3], {}, in[4]}}, {in[1], Zeros({1, 80, 96}, dtype)});
        return Grad({y[0]}, in, {.seeds = {seed.To(dtype)}});
      };
      const std::vector<Tensor> got = gradients(DType::kBF16), want = gradients(DType::kF32);
      for (size_t i = 0; i < want.size(); ++i) {
        const bool of_states = steps > 1 || gates == 1;
        const double share = of_states ? static_cast<double>(steps + 1) / 256 : 0x1p-15;
        const double small = share * Max(Flatten(Abs(want[i]))).Item<double>();
        const Tensor difference = Abs(Sub(got[i].To(DType::kF32), want[i]));
        const Tensor rounding = Add(Mul(Abs(want[i]), Full({}, 1.0 / 256)), Full({}, small));
        EXPECT_LE(Max(Flatten(Sub(difference, rounding))).Item<double>(), 0)
            << gates << " gates, " << steps << " steps, gradient " << i;
      }
    }
  }
}

TEST(RecurrentTest, LstmInBfloat16GivesTheSameBitsOnEveryThread) {
  ManualSeed(9);
  for (const auto& [batch, hidden] : {std::pair(40, 48), std::pair(6, 200)}) {
    const auto half = [](const Tensor& t) { return t.To(DType::kBF16); };
    const RecurrentWeights w = DrawWeights(4, 33, hidden)[0];
    const RecurrentWeights halves = {half(w.w_ih), half(w.w_hh), half(w.b_ih), half(w.b_hh)};
    const Tensor x = half(Draw({9, batch, 33}));
    std::vector<Tensor> want;
    for (const int threads : {1, 2, 3}) {
      const Threads scope(threads);
      const std::vector<Tensor> got = RunKind(4, x, {halves});
      if (want.empty()) want = got;
      ExpectSame(got, want, 0);
    }
  }
}

TEST(RecurrentTest, LargeSumsOfAnLstmSaturate) {
  const RecurrentWeights w = {Full({4, 1}, 1.0), Zeros({4, 1})};
  const Tensor x = FromVector(std::vector<float>{1e4f, -1e4f, 200.0f, -200.0f}, {4, 1, 1});
  const LstmResult r = Lstm(x, {}, {w});
  // in, forget and out are 1 or 0 and the candidate 1 or -1; cells are 1, 0, 1, 0.
  const std::vector<float> y = Flatten(r.y).ToVector<float>();
  EXPECT_NEAR(y[0], 0.76159416f, 1e-6);
  EXPECT_EQ(y[1], 0);
  EXPECT_NEAR(y[2], 0.76159416f, 1e-6);
  EXPECT_NEAR(y[3], 0, 1e-30);
}

// Gates share what they are divided by.
TEST(RecurrentTest, AGateThatIsNanLeavesTheOthers) {
  constexpr int64_t kHidden = 20, kOutGate = 3;
  const Tensor x = Draw({1, 2, 5});
  for (const DType dtype : {DType::kF32, DType::kBF16}) {
    RecurrentWeights w = DrawWeights(4, 5, kHidden)[0];
    std::vector<float> bias(4U * kHidden, 0.1f);
    const auto run = [&] {
      return Lstm(
          x.To(dtype), {},
          {{w.w_ih.To(dtype), w.w_hh.To(dtype), FromVector(bias, {4 * kHidden}).To(dtype), {}}});
    };
    const std::vector<float> whole = run().state.c.To(DType::kF32).ToVector<float>();
    bias[kOutGate * kHidden + 7] = std::numeric_limits<float>::quiet_NaN();
    const LstmResult r = run();
    EXPECT_EQ(r.state.c.To(DType::kF32).ToVector<float>(), whole);
    const std::vector<float> h = r.state.h.To(DType::kF32).ToVector<float>();
    for (size_t i = 0; i < h.size(); ++i) EXPECT_EQ(std::isnan(h[i]), i % kHidden == 7) << i;
  }
}

}  // namespace
}  // namespace firn
