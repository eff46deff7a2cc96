#ifndef FIRN_NN_ZOO_WAVENET_H_
#define FIRN_NN_ZOO_WAVENET_H_

// van den Oord et al., "WaveNet: a generative model for raw audio", 2016.

#include <cstdint>
#include <string>
#include <vector>

#include "firn/nn/conv.h"
#include "firn/nn/embedding.h"
#include "firn/nn/layer.h"
#include "firn/nn/module_list.h"
#include "firn/nn/zoo/network.h"

namespace firn::zoo {

struct WavenetOptions {
  int64_t levels = 256;               // of samples, as MuLawEncoding gives them
  int64_t cycles = 3;                 // how often dilations grow from 1 on
  int64_t layers = 10;                // of a cycle, each with twice the dilation of the one before
  int64_t residual = 64, skip = 256;  // channels between layers; of the sum that gives the result
  template <class V>
  void Visit(V& v) {
    v.Field("levels", levels);
    v.Always("cycles", cycles);
    v.Always("layers", layers);
    v.Field("residual", residual);
    v.Field("skip", skip);
  }
};

class WavenetUnit;

// A sound -> for each of its samples, scores of what may follow it.
// ids: [n, t] i64 below `levels`      y: [n, levels, t], which CrossEntropy takes with [n, t]
// A score sees its own sample and those before it: cycles (2^layers - 1) + 2 of them, 3071.
// Children: embedding, causal (a convolution of 2), units.0 ..., each of filter, gate, residual,
// skip; head1, head2.
class Wavenet final : public nn::LayerWithOptions<WavenetOptions> {
 public:
  // Throws unless the sizes are positive and `layers` is at most 20.
  explicit Wavenet(const Options& options = {});

 protected:
  Tensor Forward(const Tensor& ids) override;

 private:
  nn::Embedding& embedding_;
  nn::Conv1d& causal_;
  nn::ModuleList<WavenetUnit>& units_;
  nn::Conv1d &head1_, &head2_;
};

// Options of "wavenet". Throws for another name.
WavenetOptions WavenetOf(const std::string& name, const Options& options = {});

std::vector<Network> WavenetNetworks();

}  // namespace firn::zoo

#endif  // FIRN_NN_ZOO_WAVENET_H_
