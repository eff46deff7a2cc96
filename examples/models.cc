#include "models.h"

#include "firn/device/status_macros.h"

namespace firn::examples {

absl::StatusOr<std::unique_ptr<nn::Layer>> MakeModel(const std::string& name, int64_t depth) {
  if (name == "lenet") return std::make_unique<Lenet>();
  if (name == "mlp") return std::make_unique<Mlp>();
  if (name == "resnet") return std::make_unique<Resnet>();
  if (name == "deep_cnn") return std::make_unique<DeepCnn>(DeepCnnOptions{.depth = depth});
  return InvalidArgument("there is no model '", name, "' (want lenet, mlp, resnet or deep_cnn)");
}

}  // namespace firn::examples
