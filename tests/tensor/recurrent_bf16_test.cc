// Compares recurrent layers in bfloat16 with the same in f32: results and gradients lose no more
// than their rounding, at sizes where products go by tiles and where they do not.

#include <utility>
#include <vector>

#include "firn/autograd/backward.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/rng.h"
#include "gtest/gtest.h"
#include "tests/tensor/recurrent_kinds.h"

namespace firn {
namespace {

using testing::Draw;
using testing::DrawWeights;
using testing::ExpectSame;
using testing::kGates;
using testing::RunKind;
using testing::Threads;

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
TEST(RecurrentBf16Test, Bfloat16LosesNoMoreThanItsResultsAreRounded) {
  ManualSeed(7);
  for (const int64_t gates : kGates) ExpectRoundedOnce(gates, 6, 37, 40, 288, 0.1);
}

// Rows and units that fill no tile, rows for one tile alone, sums of sequences that come before the
// steps, gates that are written past the caches, and states that are too long for one go.
TEST(RecurrentBf16Test, LstmInBfloat16IsRoundedOnceAtEverySize) {
  ManualSeed(8);
  ExpectRoundedOnce(4, 5, 35, 24, 20, 0.2);
  ExpectRoundedOnce(4, 3, 7, 17, 39, 0.2);
  ExpectRoundedOnce(4, 3, 33, 520, 200, 0.05);
  ExpectRoundedOnce(4, 64, 32, 48, 256, 0.1);
  ExpectRoundedOnce(4, 2, 5, 24, 530, 0.1);
}

// Products by tiles and, with a single gate, others. For one step, sums that are small beside the
// largest are of products each of which keeps 2^-17 of its factors; for several steps and for an
// rnn the gradient reads states, which were rounded at each step.
TEST(RecurrentBf16Test, GradientsInBfloat16LoseNoMoreThanTheyAreRounded) {
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

TEST(RecurrentBf16Test, LstmInBfloat16GivesTheSameBitsOnEveryThread) {
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

}  // namespace
}  // namespace firn
