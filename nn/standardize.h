#ifndef FIRN_NN_STANDARDIZE_H_
#define FIRN_NN_STANDARDIZE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "firn/nn/layer.h"

namespace firn::nn {

struct StandardizeOptions {
  // Whether NaN, such as a missing cell, becomes 0, which is the mean. Otherwise Update refuses
  // NaN, and Forward leaves it unchanged.
  bool fill_missing = false;
  template <class V>
  void Visit(V& v) {
    v.Field("fill_missing", fill_missing);
  }
};

// (x - mean) / std for each feature, by the means and deviations of the training data. They are
// buffers, so checkpoints, state dicts and graph files contain them, and later inputs are scaled
// like the training data.
//
//   nn::Standardize scale;
//   scale.Fit(table);                                     // or, batch by batch:
//   for (auto [x, y] : train) scale.Update(x);
//   Tensor y = net(scale(x));
//
// x: [..., features]      y: as x
// Buffers: mean, std [features] (f32). A feature that is the same everywhere, as far as f32 can
// tell, has the std 1. Before there are any, from Fit, Update or a state dict, Forward throws
// FailedPrecondition.
class Standardize final : public LayerWithOptions<StandardizeOptions> {
 public:
  explicit Standardize(const Options& options = {});

  const Tensor& mean() const { return mean_; }
  const Tensor& std() const { return std_; }
  std::string Describe() const override;

  // Takes means and deviations (over n, not n - 1) of these rows, and forgets earlier ones. Throws
  // firn::Error if x has no rows, no features, another number of features than the layer, values
  // that are not finite, or means or deviations that f32 cannot hold; then nothing has changed.
  void Fit(const Tensor& x);
  // Adds these rows to all since the layer was made or Fit. Values from a state dict are replaced,
  // not continued.
  void Update(const Tensor& x);

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  // The statistics of a feature: the number of values, their mean, and the sum of squared
  // differences from it.
  struct Moments {
    int64_t count = 0;
    double mean = 0, squares = 0;
  };
  void Add(const Tensor& x, std::vector<Moments> before);

  Tensor &mean_, &std_;
  std::vector<Moments> moments_;
};

}  // namespace firn::nn

#endif  // FIRN_NN_STANDARDIZE_H_
