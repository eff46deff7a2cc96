// Features of networks of speech and of pictures' codes that not every network of the zoo has.
#include <gtest/gtest.h>

#include <string>

#include "firn/nn/zoo/tacotron.h"
#include "firn/nn/zoo/vq_vae.h"
#include "firn/nn/zoo/wavenet.h"
#include "firn/tensor/error.h"
#include "firn/tensor/index.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/rng.h"

namespace firn::zoo {
namespace {

void ExpectNear(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.shape(), b.shape());
  EXPECT_LE(Amax(Abs(Sub(a, b))).Item(), 1e-5);
}

class Speech : public ::testing::Test {
 protected:
  void SetUp() override { ManualSeed(3); }
};

TEST_F(Speech, VqVaeDecodesItsCodes) {
  const NoGradScope no_grad;
  VqVae net({.hidden = 16, .codes = 8, .code_size = 4});
  const Tensor x = Randn({2, 3, 8, 12});
  const VqVaeResult r = net.Reconstruct(x);
  EXPECT_EQ(r.codes.shape(), Shape({2, 2, 3}));
  EXPECT_TRUE(net.Encode(x).Equals(r.codes));
  ExpectNear(net.Decode(r.codes), net(x));
  ExpectNear(r.reconstruction, net(x));
  EXPECT_THROW(net(Randn({1, 3, 8, 10})), Error);
}

// The reconstruction teaches the encoder through the codes, and the codebook learns by its own loss
// alone.
TEST_F(Speech, VqVaeLossesTeachWhatTheyShould) {
  VqVae net({.hidden = 16, .codes = 8, .code_size = 4});
  const Tensor x = Randn({2, 3, 8, 8});
  const auto taught = [&](const std::string& parameter) {
    for (const auto& [name, tensor] : net.named_parameters()) {
      if (name == parameter) return tensor.grad().defined() && Amax(Abs(tensor.grad())).Item() > 0;
    }
    return false;
  };
  const auto expect = [&](const Tensor& loss, bool encoder, bool codebook, bool decoder) {
    for (Tensor parameter : net.parameters()) parameter.ZeroGrad();
    loss.Backward();
    EXPECT_EQ(taught("encoder.0.weight"), encoder);
    EXPECT_EQ(taught("codebook.weight"), codebook);
    EXPECT_EQ(taught("decoder.0.weight"), decoder);
  };
  expect(Sum(net.Reconstruct(x).reconstruction), true, false, true);
  expect(net.Reconstruct(x).codebook_loss, false, true, false);
  expect(net.Reconstruct(x).commitment_loss, true, false, false);
}

TEST_F(Speech, WavenetHearsNothingOfTheFuture) {
  const NoGradScope no_grad;
  Wavenet net({.levels = 16, .cycles = 2, .layers = 3, .residual = 8, .skip = 8});
  const Tensor ids = Randint(0, 16, {1, 30});
  const Tensor want = net(ids);
  EXPECT_EQ(want.shape(), Shape({1, 16, 30}));
  const Tensor first = ids[{kAll, Range(0, 20)}];
  ExpectNear(net(first), want[{kAll, kAll, Range(0, 20)}]);
  // The network sees 2 (2^3 - 1) + 2 samples: the 17th result is the first on which sample 0 has no
  // influence.
  const Tensor other = Concat({(ids[{kAll, Range(0, 1)}] + 1) % 16, ids[{kAll, Range(1)}]}, 1);
  const Tensor got = net(other);
  ExpectNear(got[{kAll, kAll, Range(16)}], want[{kAll, kAll, Range(16)}]);
  EXPECT_GT(Amax(Abs(Sub(got, want)[{kAll, kAll, 15}])).Item(), 0);
}

TEST_F(Speech, TacotronGeneratesWhatItWouldFollow) {
  const NoGradScope no_grad;
  Tacotron net({.characters = 20, .mels = 6, .frequencies = 9, .hidden = 8});
  net.Eval();
  const Tensor ids = Randint(0, 20, {2, 7});
  const Tensor made = net.Generate(ids, 8);
  EXPECT_EQ(made.shape(), Shape({2, 8, 6}));
  ExpectNear(net(ids, made), made);
  EXPECT_EQ(net.Spectrogram(made).shape(), Shape({2, 8, 9}));
  EXPECT_THROW(net.Generate(ids, 7), Error);
  EXPECT_THROW(net(ids, Randn({2, 5, 6})), Error);
}

}  // namespace
}  // namespace firn::zoo
