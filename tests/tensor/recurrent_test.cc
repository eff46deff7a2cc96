// What samples of recurrent layers do not test: sizes at which threads divide sequences or units,
// the form for devices that have no kernel, and the equal meaning of packed sequences, states and
// padding.

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
#include "tests/tensor/recurrent_kinds.h"

namespace firn {
namespace {

using testing::Draw;
using testing::DrawWeights;
using testing::ExpectSame;
using ::testing::HasSubstr;
using testing::kGates;
using testing::RunKind;
using testing::Threads;

TEST(RecurrentTest, ThreadsShareSequencesOrUnitsAndGiveTheSameBits) {
  ManualSeed(1);
  // Many sequences with few weights, few sequences with many weights, and few of both.
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

// Lengths of the first batch that a graph kept would be wrong for every other batch.
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

// Gates of a unit share their divisor, unless one of them is NaN: then the others of that unit are
// rounded otherwise, and those of other units are as before.
TEST(RecurrentTest, AGateThatIsNanLeavesTheOthers) {
  constexpr int64_t kHidden = 20, kOutGate = 3, kUnit = 7;
  ManualSeed(11);
  for (int i = 0; i < 20; ++i) {
    const Tensor x = Draw({1, 2, 5});
    for (const DType dtype : {DType::kF32, DType::kBF16}) {
      const RecurrentWeights w = DrawWeights(4, 5, kHidden)[0];
      std::vector<float> bias(4U * kHidden, 0.1f);
      const auto run = [&] {
        return Lstm(
            x.To(dtype), {},
            {{w.w_ih.To(dtype), w.w_hh.To(dtype), FromVector(bias, {4 * kHidden}).To(dtype), {}}});
      };
      const std::vector<float> whole = run().state.c.To(DType::kF32).ToVector<float>();
      bias[kOutGate * kHidden + kUnit] = std::numeric_limits<float>::quiet_NaN();
      const LstmResult r = run();
      const std::vector<float> c = r.state.c.To(DType::kF32).ToVector<float>();
      const std::vector<float> h = r.state.h.To(DType::kF32).ToVector<float>();
      const float rounding = dtype == DType::kF32 ? 4e-7f : 0x1p-7f;  // of one step of c's dtype
      for (size_t j = 0; j < c.size(); ++j) {
        const bool nan = j % kHidden == kUnit;
        EXPECT_NEAR(c[j], whole[j], nan ? rounding * std::abs(whole[j]) : 0) << j;
        EXPECT_EQ(std::isnan(h[j]), nan) << j;
      }
    }
  }
}

}  // namespace
}  // namespace firn
