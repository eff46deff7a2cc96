// Numbers of dtype u8, and no others, are pixels.
#include "tools/firn/forward_convert.h"

#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "tools/firn/fit_picture.h"

namespace firn::cli {
namespace {

// An error of a sample, whose name the caller puts in front.
template <class... What>
[[noreturn]] void RefuseSample(const What&... what) {
  RaiseStatus(InvalidArgument(what...), "");
}

class Conversion {
 public:
  Conversion(const io::GraphInfo& info, const TensorSpec& batch, const ConversionOptions& options)
      : info_(info), dtype_(batch.dtype), batch_(batch.ToString()), options_(options) {
    sample_.assign(batch.shape.begin() + 1, batch.shape.end());
  }

  Tensor operator()(const Tensor& stored) const {
    const Tensor x = Fitted(stored);
    return IsFloating(dtype_) ? Normalized(x) : Exact(x);
  }

 private:
  Tensor Fitted(Tensor x) const {
    const Shape want(sample_);
    const bool picture = x.rank() == 3 && want.rank() == 3 && x.size(0) == want[0];
    // Training crops pictures of every size, so this does, too.
    if (picture && (options_.crop > 0 || (options_.resize && x.shape() != want))) {
      x = FitPicture({want[1], want[2], options_.crop, options_.bicubic})(x);
    }
    if (x.num_elements() == 1 && want.num_elements() == 1) x = x.Reshape(want);
    if (x.shape() != want) {
      RefuseSample(
          "it is ", x.spec().ToString(), ", the graph takes ", batch_, ", a batch of ",
          want.ToString(),
          picture ? " (--resize stretches pictures to it, --crop N cuts the middle out)" : "");
    }
    return x;
  }

  Tensor Normalized(const Tensor& x) const {
    const bool pixels = x.dtype() == DType::kU8;
    if (pixels && !info_.pixel_scale.has_value()) {
      RefuseSample(
          "it has pixels, u8 from 0 to 255, and the graph takes ", DTypeName(dtype_),
          ": nobody says what they are multiplied by (--scale 1/255 divides them by 255, as is "
          "often done for training, --mean and --std come after it)");
    }
    const bool other = !pixels && !IsFloating(x.dtype()) && !options_.any_type;
    if (other && info_.pixel_scale.has_value()) {
      RefuseSample("it is ", DTypeName(x.dtype()),
                   ", and the graph was made for pixels: expected u8 from ",
                   "0 to 255, or floating point numbers (--scale 1/65535 takes pixels of 16 bits)");
    }
    const DType work = dtype_ == DType::kF64 ? DType::kF64 : DType::kF32;
    Tensor y = x.To(work);
    // Computes in f64; rounded to f32 this is k / 255 to the bit, as in training.
    if (pixels) y = (x.To(DType::kF64) * *info_.pixel_scale).To(work);
    if (!pixels && info_.scale != 1) y = y * info_.scale;
    if (!info_.mean.empty()) {
      y = (y - PerChannel(info_.mean, work)) / PerChannel(info_.stddev, work);
    }
    return y.To(dtype_);
  }

  Tensor PerChannel(const std::vector<double>& values, DType dtype) const {
    std::vector<int64_t> shape(sample_.size(), 1);
    if (!shape.empty()) shape[0] = static_cast<int64_t>(values.size());
    return FromVector(values).To(dtype).Reshape(Shape(shape));
  }

  // Numbers for a graph that takes whole numbers, which have only one meaning.
  Tensor Exact(const Tensor& x) const {
    const Tensor y = x.To(dtype_);
    if (!All(Eq(y.To(DType::kF64), x.To(DType::kF64))).Item<bool>()) {
      RefuseSample("it is ", x.spec().ToString(), ", and the graph takes ", DTypeName(dtype_),
                   ", which does not hold all of its numbers");
    }
    return y;
  }

  const io::GraphInfo info_;
  const DType dtype_;
  const std::string batch_;
  std::vector<int64_t> sample_;
  const ConversionOptions options_;
};

std::string ScaleText(double scale) {
  const double divisor = 1 / scale;
  return std::abs(divisor - std::round(divisor)) < 1e-9 * std::abs(divisor)
             ? absl::StrCat("divided by ", divisor)
             : absl::StrCat("times ", scale);
}

}  // namespace

std::function<Tensor(const Tensor& stored)> MakeConversion(const io::GraphInfo& info,
                                                           const TensorSpec& batch,
                                                           const ConversionOptions& options) {
  return Conversion(info, batch, options);
}

std::string NormalizationText(const io::GraphInfo& info) {
  std::vector<std::string> parts;
  const bool alike = info.pixel_scale.value_or(info.scale) == info.scale;
  if (!alike && *info.pixel_scale != 1) {
    parts.push_back(absl::StrCat("pixels (u8) are ", ScaleText(*info.pixel_scale)));
  }
  if (info.scale != 1) {
    parts.push_back(
        absl::StrCat(alike ? "numbers" : "other numbers", " are ", ScaleText(info.scale)));
  }
  if (!info.mean.empty()) {
    parts.push_back(absl::StrCat(parts.empty() ? "numbers" : "then", " lose the mean ",
                                 absl::StrJoin(info.mean, " "), " and are divided by ",
                                 absl::StrJoin(info.stddev, " ")));
  }
  return parts.empty() ? "numbers stay as they are" : absl::StrJoin(parts, ", ");
}

}  // namespace firn::cli
