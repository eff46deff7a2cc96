#include "firn/io/nnabla_network/internal/nnabla_steps.h"

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "firn/device/escape.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/create/range.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/random/draws.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/copies.h"
#include "firn/tensor/ops/shape/expand.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn::io::internal {
namespace {

using autograd::NodeCall;
using autograd::Step;
using firn::inner::internal::JsonString;

// A function that looks at elements, after the number of its inputs was checked.
autograd::Lowering LookingOf(const NnablaOp& op, const nnabla::Function& function) {
  auto arguments = std::make_shared<const NnablaArguments>(function.arguments);
  return [&op, arguments](NodeCall& call) -> Step {
    op.lower(*arguments, call);
    return {};
  };
}

// How often a function has run, on the device of its inputs: a state of the network, which a
// capture finds rather than makes.
Tensor CountOf(Tensor* count, In in) {
  const Device device = in[0].device();
  static std::mutex mutex;  // calls on several threads have one count
  const std::lock_guard<std::mutex> lock(mutex);
  if (!count->defined() || count->device() != device) {
    const NoCaptureScope no_capture;
    *count = count->defined() ? ToDevice(*count, device) : Zeros({1}, DType::kI64, device);
  }
  return *count;
}

}  // namespace

bool IsOpen(const nnabla::Argument& argument) {
  const auto* const shape = std::get_if<std::vector<int64_t>>(&argument.value);
  return argument.name == "shape" && shape != nullptr && !shape->empty() && shape->front() == -1;
}

std::vector<nnabla::Argument> WithBatch(std::vector<nnabla::Argument> arguments, int64_t batch) {
  for (nnabla::Argument& argument : arguments) {
    if (IsOpen(argument)) std::get<std::vector<int64_t>>(argument.value).front() = batch;
  }
  return arguments;
}

autograd::Lowering LoweringOf(const NnablaOp& op, const nnabla::Function& function, bool open) {
  if (op.lower != nullptr) return LookingOf(op, function);
  auto whole = std::make_shared<const NnablaArguments>(function.arguments);
  const size_t outputs = function.output.size();
  const auto count = std::make_shared<Tensor>();
  return [&op, whole, outputs, count, open,
          all_arguments = function.arguments](NodeCall& call) -> Step {
    auto arguments = whole;
    if (open) {
      arguments = std::make_shared<const NnablaArguments>(
          WithBatch(all_arguments, call.ShapeAt(call.num_inputs() - 1)[0]));
    }
    const auto first = std::make_shared<bool>(op.options.writes > 0);
    return [&op, arguments, outputs, count, first, open](In in) {
      if (open) in.remove_suffix(1);
      std::vector<Tensor> all;
      if (op.options.counts || *first) {
        all.assign(in.begin(), in.end());
        if (op.options.counts) all.push_back(CountOf(count.get(), in));
        in = all;
      }
      if (*first) {
        *first = false;
        for (Tensor& tensor : all) tensor = Clone(tensor);
      }
      TensorList results = op.run(*arguments, in);
      if (results.size() < outputs) {
        RefuseNnabla("the number of outputs", absl::StrCat("at most ", results.size()),
                     absl::StrCat(outputs));
      }
      while (results.size() > outputs) results.pop_back();
      return results;
    };
  };
}

absl::StatusOr<Step> Generated(const nnabla::GeneratorVariable& generator, const Shape& shape) {
  const double m = generator.multiplier;
  const std::string& type = generator.type;
  if (type == "Normal") return Step([=](In) { return TensorList{Randn(shape, 0, m)}; });
  if (type == "Uniform") return Step([=](In) { return TensorList{Rand(shape, -m, m)}; });
  if (type == "Constant") return Step([=](In) { return TensorList{Full(shape, m)}; });
  if (type == "Range") {
    return Step([=](In) {
      // Along the last dimension, the same in all others.
      const int64_t last = shape.rank() == 0 ? 1 : shape[shape.rank() - 1];
      const Tensor numbers = Mul(Arange(static_cast<double>(last)), Tensor(m));
      const Tensor all = shape.rank() == 0 ? Reshape(numbers, shape) : numbers;
      return TensorList{Contiguous(Expand(all, shape.span()))};
    });
  }
  return InvalidArgument("generator_variable ", JsonString(generator.variable_name),
                         ", type: expected Normal, Uniform, Constant or Range, got ",
                         JsonString(type));
}

}  // namespace firn::io::internal
