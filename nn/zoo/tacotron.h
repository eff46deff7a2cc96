#ifndef FIRN_NN_ZOO_TACOTRON_H_
#define FIRN_NN_ZOO_TACOTRON_H_

// Wang et al., "Tacotron: towards end-to-end speech synthesis", 2017, table 1.

#include <cstdint>
#include <string>
#include <vector>

#include "firn/nn/embedding.h"
#include "firn/nn/layer.h"
#include "firn/nn/linear.h"
#include "firn/nn/zoo/network.h"

namespace firn::zoo {

struct TacotronOptions {
  int64_t characters = 70;
  int64_t mels = 80;           // of a frame
  int64_t frequencies = 1025;  // of a frame of the spectrogram
  int64_t reduction = 2;       // frames that the decoder gives in a step
  int64_t hidden = 128;        // of the encoder; twice as many in the decoder
  double dropout = 0.5;        // of the recurrent layers' inputs
  template <class V>
  void Visit(V& v) {
    v.Field("characters", characters);
    v.Field("mels", mels);
    v.Field("frequencies", frequencies);
    v.Field("reduction", reduction);
    v.Field("hidden", hidden);
    v.Field("dropout", dropout);
  }
};

class TacotronPrenet;
class TacotronCbhg;
class TacotronDecoder;

// A text and the frames of its speech -> the same frames, each predicted from those before it. ids:
// [n, s] i64 below `characters` mels: [n, t, mels], t a multiple of `reduction` y: [n, t, mels] A
// step of the decoder reads the last frame of the step before, the first one zeros. Generate reads
// its own frames instead, and Spectrogram gives magnitudes, for which a phase can be found (Griffin
// and Lim, 1984). Children: embedding, prenet, encoder (a CBHG: a bank of convolutions, highway
// layers and a bidirectional GRU), decoder, post (a CBHG), linear.
class Tacotron final : public nn::LayerWithOptions<TacotronOptions, nn::LayerOf<Tensor, Tensor>> {
 public:
  // Throws unless the sizes are positive and `hidden` is even.
  explicit Tacotron(const Options& options = {});

  // ids: [n, s]      y: [n, frames, mels]. Throws unless `frames` is a positive multiple of
  // `reduction`.
  Tensor Generate(const Tensor& ids, int64_t frames);
  // mels: [n, t, mels]      y: [n, t, frequencies]
  Tensor Spectrogram(const Tensor& mels);

 protected:
  Tensor Forward(const Tensor& ids, const Tensor& mels) override;

 private:
  // [n, s, 2 hidden].
  Tensor Encoded(const Tensor& ids);
  void CheckFrames(int64_t frames) const;

  nn::Embedding& embedding_;
  TacotronPrenet& prenet_;
  TacotronCbhg& encoder_;
  TacotronDecoder& decoder_;
  TacotronCbhg& post_;
  nn::Linear& linear_;
};

// Options of "tacotron". Throws for another name.
TacotronOptions TacotronOf(const std::string& name, const Options& options = {});

std::vector<Network> TacotronNetworks();

}  // namespace firn::zoo

#endif  // FIRN_NN_ZOO_TACOTRON_H_
