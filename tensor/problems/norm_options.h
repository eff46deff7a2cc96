#ifndef FIRN_TENSOR_PROBLEMS_NORM_OPTIONS_H_
#define FIRN_TENSOR_PROBLEMS_NORM_OPTIONS_H_

#include <cstdint>

#include "firn/device/enum_words.h"
#include "firn/tensor/dtype.h"

namespace firn {

// An activation that a normalisation can apply in its own pass.
enum class FusedActivation : uint8_t { kNone, kRelu, kTanh };
constexpr auto WordsOf(FusedActivation) {
  return inner::EnumWords<FusedActivation>({{FusedActivation::kNone, "none"},
                                            {FusedActivation::kRelu, "relu"},
                                            {FusedActivation::kTanh, "tanh"}});
}

namespace inner {
// The dtypes that statistics have.
inline constexpr DTypeSet kStatistics = SetOf(DType::kF32) | SetOf(DType::kF64);
// The dtype of statistics of data of type `d`: f32 for the half types.
constexpr DType StatisticsType(DType d) { return d == DType::kF64 ? DType::kF64 : DType::kF32; }

// Inputs and results of batch_norm_train and batch_norm_act_train, by position.
struct BatchNormIn {
  enum : int { kX, kWeight, kBias, kRunningMean, kRunningVar };
};
struct BatchNormOut {
  enum : int { kY, kMean, kInvstd };
};
// Those of batch_norm_grad.
struct BatchNormGradIn {
  enum : int { kDy, kX, kY, kWeight, kMean, kInvstd };
};
struct BatchNormGradOut {
  enum : int { kDx, kDweight, kDbias };
};

struct BatchNormAttrs {
  double momentum = 0.1, eps = 1e-5;
  FusedActivation activation = FusedActivation::kNone;
  template <class V>
  void Visit(V& v) {
    v.Field("momentum", momentum);
    v.Field("eps", eps);
    v.Field("activation", activation);
  }
};

struct LayerNormAttrs {
  double eps = 1e-5;
  template <class V>
  void Visit(V& v) {
    v.Field("eps", eps);
  }
};
}  // namespace inner

}  // namespace firn

#endif  // FIRN_TENSOR_PROBLEMS_NORM_OPTIONS_H_
