#ifndef FIRN_NN_ZOO_POINTNET_H_
#define FIRN_NN_ZOO_POINTNET_H_

// Qi et al., "PointNet: deep learning on point sets for 3D classification and segmentation", 2016:
// the classifier. The result does not depend on the order of the points.

#include <cstdint>
#include <string>
#include <vector>

#include "firn/nn/batch_norm.h"
#include "firn/nn/conv.h"
#include "firn/nn/dropout.h"
#include "firn/nn/layer.h"
#include "firn/nn/linear.h"
#include "firn/nn/zoo/network.h"

namespace firn::zoo {

struct PointFeaturesOptions {
  int64_t in = 3;                                   // numbers of a point
  std::vector<int64_t> channels = {64, 128, 1024};  // of the layers that see one point each
};

// Layers that see one point each, and the maximum of their results over all points. x: [n, in,
// points] y: [n, channels.back()] Children: conv1, bn1, ....
class PointFeatures final : public nn::LayerWithOptions<PointFeaturesOptions> {
 public:
  explicit PointFeatures(const Options& options);

  // The layers' result for each point: [n, channels.back(), points].
  Tensor Points(const Tensor& x);

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  std::vector<nn::Conv1d*> convs_;
  std::vector<nn::BatchNorm1d*> norms_;
};

struct PointTransformOptions {
  int64_t size = 3;  // of a point
};

// The paper's T-net: the matrix by which all points of a sample are multiplied, the identity plus
// the result of a small PointNet. x: [n, size, points] y: [n, size, size] Children: points.conv1,
// points.bn1, ..., fc1, bn1, fc2, bn2, fc3.
class PointTransform final : public nn::LayerWithOptions<PointTransformOptions> {
 public:
  explicit PointTransform(const Options& options);

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  PointFeatures& points_;
  nn::Linear& fc1_;
  nn::BatchNorm1d& bn1_;
  nn::Linear& fc2_;
  nn::BatchNorm1d& bn2_;
  nn::Linear& fc3_;
};

struct PointnetOptions {
  int64_t classes = 40;
  double dropout = 0.3;
  template <class V>
  void Visit(V& v) {
    v.Field("classes", classes);
    v.Field("dropout", dropout);
  }
};

// x: [n, 3, points]      y: [n, classes]
// Children: transform, a T-net of points; local.conv1, local.conv2; feature_transform, a T-net of
// their results; global.conv1 to global.conv3; fc1, bn1, fc2, bn2, dropout, fc3.
class Pointnet final : public nn::LayerWithOptions<PointnetOptions> {
 public:
  explicit Pointnet(const Options& options = {});

  // The mean over samples of |I - A A^T|^2, the distance of the 64-feature matrix A from an
  // orthogonal one, which the paper adds to the loss with a weight of 0.001.
  Tensor Regularizer(const Tensor& x);

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  // x [n, 3, points] as its own T-net turns it, with its 64 features.
  Tensor Local(const Tensor& x);

  PointTransform& transform_;
  PointFeatures& local_;
  PointTransform& feature_transform_;
  PointFeatures& global_;
  nn::Linear& fc1_;
  nn::BatchNorm1d& bn1_;
  nn::Linear& fc2_;
  nn::BatchNorm1d& bn2_;
  nn::Dropout& dropout_;
  nn::Linear& fc3_;
};

// Options of "pointnet". Throws for another name.
PointnetOptions PointnetOf(const std::string& name, const Options& options = {});

std::vector<Network> PointnetNetworks();

}  // namespace firn::zoo

#endif  // FIRN_NN_ZOO_POINTNET_H_
