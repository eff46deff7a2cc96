#include "tools/firn/nnp/infer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "firn/autograd/network/definition.h"
#include "firn/device/atomic_file.h"
#include "firn/device/escape.h"
#include "firn/device/status_macros.h"
#include "firn/io/nnabla_model/nnabla_file.h"
#include "firn/io/nnabla_network/nnabla_network.h"
#include "firn/io/random_access.h"
#include "firn/io/value_or_raise.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"
#include "tools/firn/nnp/train.h"

namespace firn::cli {
namespace {

namespace nnabla = io::nnabla;
using inner::internal::JsonString;

struct ElementType {
  const char* name;
  DType dtype;
};
constexpr ElementType kTypes[] = {
    {"float32", DType::kF32}, {"int32", DType::kI32}, {"uint8", DType::kU8}};

DType TypeOf(const std::string& name) {
  for (const ElementType& type : kTypes) {
    if (name == type.name) return type.dtype;
  }
  throw UsageError(absl::StrCat("--data_type is ", name, ": expected uint8, int32 or float32"));
}

// Elements as they lie in a file, little-endian, as f32.
Tensor ReadInput(const std::string& path, DType type, const autograd::NetworkPort& port) {
  std::vector<int64_t> sizes;
  for (const autograd::NetworkDim& dim : *port.dims) sizes.push_back(*dim.size);
  const Shape shape{absl::Span<const int64_t>(sizes)};
  if (shape.num_elements() > std::numeric_limits<int64_t>::max() / SizeOf(type)) {
    RaiseStatus(InvalidArgument(path, ": expected a variable of less than 2^63 bytes, got ",
                                JsonString(port.name), " ", shape.ToString()),
                "infer");
  }
  const auto file = io::ValueOrRaise(io::RandomAccess::Open(path), "infer");
  const int64_t bytes = shape.num_elements() * SizeOf(type);
  if (file->size() != bytes) {
    RaiseStatus(InvalidArgument(path, ": expected ", bytes, " bytes, ", DTypeName(type), " ",
                                shape.ToString(), " for variable ", JsonString(port.name), ", got ",
                                file->size()),
                "infer");
  }
  std::vector<unsigned char> all(static_cast<size_t>(bytes));
  RaiseIfError(file->ReadAt(0, all.data(), bytes, "elements"), "infer");
  std::vector<float> values(static_cast<size_t>(shape.num_elements()));
  for (size_t i = 0; i < values.size(); ++i) {
    if (type == DType::kU8) {
      values[i] = all[i];
    } else if (type == DType::kI32) {
      int32_t value = 0;
      std::memcpy(&value, &all[4 * i], sizeof(value));
      values[i] = static_cast<float>(value);
    } else {
      std::memcpy(&values[i], &all[4 * i], sizeof(float));
    }
  }
  return FromVector(std::move(values), shape);
}

// Several runs of one executor as one result: the last, the mean, or the standard deviation.
TensorList Evaluated(const nnabla::Executor& executor, const std::string& at,
                     const Network& network, const TensorList& inputs) {
  constexpr int64_t kMost = 1'000'000;
  const int64_t runs = executor.num_evaluations == 0 ? 1 : executor.num_evaluations;
  if (runs < 1 || runs > kMost) {
    RaiseStatus(InvalidArgument(at, ", num_evaluations: expected 0 to ", kMost, ", got ", runs),
                "infer");
  }
  const std::string& type = executor.repeat_evaluation_type;
  TensorList sums = network.Call(inputs), squares;
  if (runs == 1 && type != "std") return sums;
  const auto n = static_cast<double>(runs);
  for (Tensor& sum : sums) {
    sum = Cast(sum, DType::kF64);
    squares.push_back(Square(sum));
  }
  for (int64_t i = 1; i < runs; ++i) {
    const TensorList results = network.Call(inputs);
    for (size_t j = 0; j < sums.size(); ++j) {
      const Tensor result = Cast(results[j], DType::kF64);
      sums[j] = type == "last" ? result : Add(sums[j], result);
      squares[j] = Add(squares[j], Square(result));
    }
  }
  for (size_t j = 0; j < sums.size(); ++j) {
    if (type == "last") continue;
    const Tensor mean = Div(sums[j], Tensor(n));
    const Tensor variance = Sub(Div(squares[j], Tensor(n)), Square(mean));
    // Rounding may make it negative.
    sums[j] = type == "std" ? Sqrt(Maximum(variance, Tensor(0.0))) : mean;
  }
  return sums;
}

// By sample, the elements of all outputs one behind the other.
void Append(const Tensor& output, const std::string& at, std::vector<std::vector<float>>* samples) {
  if (output.rank() == 0 || output.num_elements() == 0) {
    RaiseStatus(
        InvalidArgument(at, ", output_variable: expected outputs with a batch in front, got ",
                        output.rank() == 0 ? "one number" : output.shape().ToString()),
        "infer");
  }
  const std::vector<float> all = Contiguous(Cast(output, DType::kF32)).ToVector<float>();
  const auto n = static_cast<size_t>(output.size(0));
  if (samples->empty()) samples->resize(n);
  if (samples->size() != n) {
    RaiseStatus(InvalidArgument(at, ", output_variable: expected outputs of ", samples->size(),
                                " samples each, got ", n),
                "infer");
  }
  const size_t each = n == 0 ? 0 : all.size() / n;
  for (size_t i = 0; i < n; ++i) {
    const float* const first = all.data() + i * each;
    (*samples)[i].insert((*samples)[i].end(), first, first + each);
  }
}

}  // namespace

int InferNnp(const NnpInference& asked, Terminal& terminal) {
  const NoGradScope no_grad;
  const DType type = TypeOf(asked.data_type);
  nnabla::Model model = io::LoadNnabla(asked.model);
  if (!asked.parameters.empty()) model.parameters = NnpParameters(asked.parameters);
  // Networks without an executor may need parameters that only training has.
  std::erase_if(model.networks, [&](const nnabla::Network& network) {
    return std::ranges::none_of(
        model.executors, [&](const nnabla::Executor& e) { return e.network_name == network.name; });
  });
  const io::NnablaImport import = io::ImportNnablaModel(
      model, asked.model, {.batch_size = std::max<int64_t>(0, asked.batch_size)});
  if (import.executors.empty()) {
    RaiseStatus(InvalidArgument(asked.model, ": executor: expected at least one, got none"),
                "infer");
  }
  std::vector<std::string> names;
  for (const io::NnablaPart& executor : import.executors) {
    for (const auto& port : executor.network.inputs()) names.push_back(JsonString(port.name));
  }
  if (names.size() != asked.inputs.size()) {
    RaiseStatus(InvalidArgument(asked.model, ": expected ", names.size(), " files of inputs (",
                                absl::StrJoin(names, ", "), "), got ", asked.inputs.size()),
                "infer");
  }
  std::vector<std::vector<float>> samples;
  size_t next = 0;
  for (size_t i = 0; i < import.executors.size(); ++i) {
    const Network& network = import.executors[i].network;
    const std::string at =
        absl::StrCat(asked.model, ": executor ", JsonString(import.executors[i].name));
    TensorList inputs;
    for (const auto& port : network.inputs()) {
      inputs.push_back(ReadInput(asked.inputs[next++], type, port));
    }
    for (const Tensor& output : Evaluated(model.executors[i], at, network, inputs)) {
      Append(output, at, &samples);
    }
  }
  nlohmann::json value = {{"outputs", nlohmann::json::array()}};
  std::string text;
  for (size_t i = 0; i < samples.size(); ++i) {
    const std::vector<float>& sample = samples[i];
    if (asked.output.empty()) {
      value["outputs"].push_back(sample);
      absl::StrAppend(&text, absl::StrJoin(sample, " "), "\n");
      continue;
    }
    const std::string path = absl::StrCat(asked.output, "_", i, ".bin");
    const std::string bytes(reinterpret_cast<const char*>(sample.data()),
                            sample.size() * sizeof(float));
    RaiseIfError(inner::internal::ReplaceFile(path, bytes, inner::internal::WaitFor::kNothing),
                 "infer");
    value["outputs"].push_back(path);
    absl::StrAppend(&text, path, "\n");
  }
  terminal.Print(text, value);
  return 0;
}

}  // namespace firn::cli
