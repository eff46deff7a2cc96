// A block can be left out if its input and output have the same shape: if it has 128 channels on
// both sides. Blocks are drawn on the host, before their operations run.
#include "benchmarks/changing_cnn.h"

#include "firn/nn/zoo/small.h"
#include "firn/tensor/ops/activation/sigmoids.h"
#include "firn/tensor/ops/pool/avg_pool.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn::benchmarks {

ChangingCnn::ChangingCnn(const Options& options) : options_(options), random_(options.seed) {
  zoo::AddDeepCnnBlocks(options.depth, &convs_, &bns_);
}

bool ChangingCnn::Drops(size_t block) {
  const auto& o = convs_[block].options();
  return training() && o.in == o.out &&
         std::uniform_real_distribution<double>()(random_) < options_.drop;
}

Tensor ChangingCnn::Forward(const Tensor& x) {
  Tensor h = x;
  dropped_ = 0;
  for (size_t i = 0; i < convs_.size(); ++i) {
    if (Drops(i)) {
      ++dropped_;
    } else {
      h = Tanh(bns_[i](convs_[i](h)));
    }
  }
  h = Flatten(AvgPool2d(h, 2), 1);
  return fc2_(Tanh(fc1_(h)));
}

}  // namespace firn::benchmarks
