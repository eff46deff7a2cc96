// Format (nnabla-c-runtime's nnablart/network.h; little-endian, blocks at multiples of 4):
//
//   14 words: version, API level; for buffers, variables, functions, inputs and outputs each how
//   many there are and the number of the block that lists them; how many blocks, and their bytes
//   the offset of each block, a word each, counted from behind these words
//   the blocks
//
// A list is named by the number of its block. A variable is its number, its shape's rank and list,
// its type and where its numbers are: the number of a block, or -1 less the number of a buffer. A
// function is its number, which kind of implementation, lists of inputs and outputs, and its
// arguments as C lays them out: bools a byte, words behind these at multiples of 4.
#include <algorithm>
#include <bit>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "firn/device/atomic_file.h"
#include "firn/device/escape.h"
#include "firn/device/status_macros.h"
#include "firn/io/nnabla_model/internal/nnabla_functions.h"
#include "firn/io/nnabla_model/internal/nnb_buffers.h"
#include "firn/io/nnabla_model/internal/nnb_functions.h"
#include "firn/io/nnabla_model/nnabla_file_status.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops.h"

namespace firn::io {
namespace {

using firn::inner::internal::JsonString;
using internal::NnablaKind;
using internal::NnbLife;
using internal::NnbWeight;

constexpr uint32_t kVersion = 2, kApiLevel = 45;

// Words that arguments may have, in the order of their numbers.
constexpr std::string_view kBorderModes[] = {"nearest", "reflect"};

void Append(std::string* out, uint32_t word) {
  for (int i = 0; i < 4; ++i) out->push_back(static_cast<char>(word >> (8 * i)));
}
void Append(std::string* out, float value) { Append(out, std::bit_cast<uint32_t>(value)); }

class Writer {
 public:
  Writer(const nnabla::Model& model, const SaveNnbOptions& options)
      : model_(model), options_(options) {}

  absl::StatusOr<std::string> Run();

 private:
  absl::Status Find();
  absl::Status CheckFunctions() const;
  absl::Status FindVariables();
  absl::Status FindWeights();
  absl::Status FindLives();
  absl::StatusOr<uint32_t> ListOf(const std::vector<std::string>& names);
  absl::StatusOr<uint32_t> Variables();
  absl::StatusOr<uint32_t> Parameter(const nnabla::Variable& variable,
                                     const std::vector<int64_t>& shape);
  absl::StatusOr<uint32_t> Function(const nnabla::Function& function);
  absl::Status Arguments(const nnabla::Function& function, std::string* out);

  // A new block, by its number.
  uint32_t Add(std::string bytes) {
    offsets_.push_back(static_cast<uint32_t>(data_.size()));
    data_ += bytes;
    data_.resize((data_.size() + 3) / 4 * 4, '\0');
    return static_cast<uint32_t>(offsets_.size() - 1);
  }
  template <class Numbers>
  uint32_t AddWords(const Numbers& numbers) {
    std::string bytes;
    for (const auto number : numbers) Append(&bytes, static_cast<uint32_t>(number));
    return Add(std::move(bytes));
  }
  std::vector<int64_t> ShapeOf(const std::vector<int64_t>& dims) const {
    std::vector<int64_t> shape = dims;
    for (int64_t& size : shape) size = size < 0 ? batch_ : size;
    return shape;
  }
  absl::StatusOr<size_t> IndexOf(const std::string& name) const {
    const auto at = variables_.find(name);
    FIRN_RETURN_IF(at == variables_.end(),
                   InvalidArgument("expected a variable of the network, got ", JsonString(name)));
    return at->second;
  }

  const nnabla::Model& model_;
  const SaveNnbOptions& options_;
  const nnabla::Executor* executor_ = nullptr;
  const nnabla::Network* network_ = nullptr;
  int64_t batch_ = 1;
  absl::flat_hash_map<std::string, size_t> variables_;
  absl::flat_hash_map<std::string, NnbWeight> weights_;  // by variable that a function takes
  internal::NnbBuffers buffers_;
  std::vector<uint32_t> offsets_;
  std::string data_;
};

absl::Status Writer::Find() {
  for (const nnabla::Executor& executor : model_.executors) {
    if (executor_ == nullptr && (options_.executor.empty() || executor.name == options_.executor)) {
      executor_ = &executor;
    }
  }
  FIRN_RETURN_IF(executor_ == nullptr,
                 NotFound("expected an executor", options_.executor.empty() ? "" : " called ",
                          options_.executor, ", got none"));
  for (const nnabla::Network& network : model_.networks) {
    if (network.name == executor_->network_name) network_ = &network;
  }
  FIRN_RETURN_IF(network_ == nullptr,
                 NotFound("executor ", JsonString(executor_->name), ": expected the network ",
                          JsonString(executor_->network_name), ", got no such one"));
  FIRN_RETURN_IF(!executor_->generator_variable.empty(),
                 Unimplemented("generator_variable ",
                               JsonString(executor_->generator_variable[0].variable_name),
                               ": the C runtime draws no numbers"));
  batch_ =
      options_.batch_size != 0 ? options_.batch_size : std::max<int64_t>(network_->batch_size, 1);
  return absl::OkStatus();
}

absl::Status Writer::CheckFunctions() const {
  FIRN_RETURN_IF(!network_->repeat_info.empty(),
                 InvalidArgument("network ", JsonString(network_->name),
                                 ": expected loops to be unrolled (nnabla::Expand)"));
  std::vector<std::string> missing;
  for (const nnabla::Function& function : network_->functions) {
    if (internal::NnbNumberOf(function.type) != nullptr) continue;
    missing.push_back(absl::StrCat(JsonString(function.name), " (", function.type, ")"));
  }
  FIRN_RETURN_IF(!missing.empty(),
                 Unimplemented("NNabla's C runtime does not have ", absl::StrJoin(missing, ", ")));
  return absl::OkStatus();
}

absl::Status Writer::FindVariables() {
  for (size_t i = 0; i < network_->variables.size(); ++i) {
    const nnabla::Variable& variable = network_->variables[i];
    FIRN_RETURN_IF(!variables_.emplace(variable.name, i).second,
                   InvalidArgument("variable ", JsonString(variable.name),
                                   ": expected different names, got it twice"));
  }
  return absl::OkStatus();
}

// Weights that the file stores in another form must be parameters that all functions take in the
// same form.
absl::Status Writer::FindWeights() {
  for (const nnabla::Function& function : network_->functions) {
    for (size_t i = 0; i < function.input.size(); ++i) {
      const NnbWeight kind = internal::NnbWeightAt(function.type, i);
      const std::string& name = function.input[i];
      FIRN_ASSIGN_OR_RETURN(const size_t at, IndexOf(name));
      const bool parameter = network_->variables[at].type == "Parameter";
      const NnbWeight known = weights_.emplace(name, kind).first->second;
      FIRN_RETURN_IF(known != kind || (kind != NnbWeight::kNone && !parameter),
                     Unimplemented("NNabla's C runtime has affine functions and those of binary "
                                   "weights only with parameters of their own as weights, got ",
                                   JsonString(name)));
    }
  }
  return absl::OkStatus();
}

// Inputs live from the first function on, outputs beyond the last.
absl::Status Writer::FindLives() {
  std::vector<NnbLife> lives(network_->variables.size());
  absl::flat_hash_set<size_t> inputs, outputs;
  for (const auto& v : executor_->data_variable) {
    FIRN_ASSIGN_OR_RETURN(const size_t at, IndexOf(v.variable_name));
    inputs.insert(at);
  }
  for (const auto& v : executor_->output_variable) {
    FIRN_ASSIGN_OR_RETURN(const size_t at, IndexOf(v.variable_name));
    outputs.insert(at);
  }
  const auto count = static_cast<int64_t>(network_->functions.size());
  for (int64_t f = 0; f < count; ++f) {
    const nnabla::Function& function = network_->functions[static_cast<size_t>(f)];
    for (const auto* list : {&function.input, &function.output}) {
      for (const std::string& name : *list) {
        FIRN_ASSIGN_OR_RETURN(const size_t at, IndexOf(name));
        if (network_->variables[at].type != "Buffer") continue;
        NnbLife& life = lives[at];
        if (!life.named()) life.first = inputs.contains(at) ? 0 : f;
        life.last = outputs.contains(at) ? count : f;
      }
    }
  }
  // A program that runs the network fills all inputs, even those that no function takes.
  FIRN_RETURN_IF(network_->functions.empty(),
                 Unimplemented("expected functions, got a network of variables alone"));
  for (const size_t at : inputs) {
    if (network_->variables[at].type != "Buffer" || lives[at].named()) continue;
    lives[at].first = 0;
    lives[at].last = count;
  }
  for (size_t i = 0; i < lives.size(); ++i) {
    lives[i].size = 1;
    for (const int64_t size : ShapeOf(network_->variables[i].shape)) {
      FIRN_RETURN_IF(size <= 0 || size > (int64_t{1} << 30) / lives[i].size,
                     InvalidArgument("variable ", JsonString(network_->variables[i].name),
                                     ": expected from 1 to 2^30 numbers"));
      lives[i].size *= size;
    }
  }
  buffers_ = internal::AssignNnbBuffers(lives, count);
  return absl::OkStatus();
}

absl::StatusOr<uint32_t> Writer::ListOf(const std::vector<std::string>& names) {
  std::vector<size_t> numbers;
  for (const std::string& name : names) {
    FIRN_ASSIGN_OR_RETURN(const size_t at, IndexOf(name));
    numbers.push_back(at);
  }
  return AddWords(numbers);
}

absl::StatusOr<uint32_t> Writer::Parameter(const nnabla::Variable& variable,
                                           const std::vector<int64_t>& shape) {
  const std::string name = nnabla::ParameterName(variable.name);
  FIRN_RETURN_IF(!model_.parameters.Contains(name),
                 InvalidArgument("expected a parameter called ", JsonString(name), ", got none"));
  Tensor elements = model_.parameters[name].Detach().To(Device::Cpu()).To(DType::kF32);
  const Shape& got = elements.shape();
  FIRN_RETURN_IF(!std::equal(got.begin(), got.end(), shape.begin(), shape.end()),
                 InvalidArgument("parameter ", JsonString(name), ": expected the shape [",
                                 absl::StrJoin(shape, ", "), "], got ", got.ToString()));
  const auto weight = weights_.find(variable.name);
  const NnbWeight kind = weight == weights_.end() ? NnbWeight::kNone : weight->second;
  FIRN_RETURN_IF(kind != NnbWeight::kNone && elements.num_elements() == 0,
                 InvalidArgument("parameter ", JsonString(name), ": expected elements, got none"));
  if (kind == NnbWeight::kTransposed) {
    elements = Reshape(elements, {shape.empty() ? 1 : shape[0], -1}).T();
  }
  if (kind == NnbWeight::kUnread) elements = Narrow(Flatten(elements), 0, 0, 1);
  std::string bytes;
  for (const float value : Contiguous(elements).ToVector<float>()) Append(&bytes, value);
  return Add(std::move(bytes));
}

absl::StatusOr<uint32_t> Writer::Variables() {
  std::vector<uint32_t> blocks;
  for (size_t i = 0; i < network_->variables.size(); ++i) {
    const nnabla::Variable& variable = network_->variables[i];
    const std::vector<int64_t> shape = ShapeOf(variable.shape);
    const uint32_t list = AddWords(shape);
    int64_t place = -std::max<int64_t>(buffers_.buffer[i] + 1, 1);
    if (variable.type == "Parameter") {
      FIRN_ASSIGN_OR_RETURN(place, Parameter(variable, shape));
    }
    std::string record;
    Append(&record, static_cast<uint32_t>(i));
    Append(&record, static_cast<uint32_t>(shape.size()));
    Append(&record, list);
    Append(&record, uint32_t{0});  // f32
    Append(&record, static_cast<uint32_t>(place));
    blocks.push_back(Add(std::move(record)));
  }
  return AddWords(blocks);
}

absl::Status Writer::Arguments(const nnabla::Function& function, std::string* out) {
  const NnablaKind* kind = internal::FindKind(internal::NnablaFunctions(), function.type);
  std::vector<nnabla::Argument> arguments = function.arguments;
  FIRN_RETURN_IF_ERROR(internal::CompleteArguments(*kind, &arguments));
  const auto word = [&](uint32_t value) {
    out->resize((out->size() + 3) / 4 * 4, '\0');
    Append(out, value);
  };
  for (size_t i = 0; i < arguments.size(); ++i) {
    const nnabla::Value& value = arguments[i].value;
    if (const auto* flag = std::get_if<bool>(&value)) {
      out->push_back(*flag ? '\1' : '\0');
    } else if (const auto* whole = std::get_if<int64_t>(&value)) {
      word(static_cast<uint32_t>(*whole));
    } else if (const auto* real = std::get_if<float>(&value)) {
      word(std::bit_cast<uint32_t>(*real));
    } else if (const auto* twice = std::get_if<double>(&value)) {
      word(std::bit_cast<uint32_t>(static_cast<float>(*twice)));
    } else if (const auto* list = std::get_if<std::vector<int64_t>>(&value)) {
      const bool sizes = kind->arguments[i].is_shape && kind->arguments[i].name == "shape";
      word(static_cast<uint32_t>(list->size()));
      word(AddWords(sizes ? ShapeOf(*list) : *list));
    } else {
      const auto* text = std::get_if<std::string>(&value);
      const auto* at =
          std::find(std::begin(kBorderModes), std::end(kBorderModes), text == nullptr ? "" : *text);
      FIRN_RETURN_IF(at == std::end(kBorderModes),
                     Unimplemented("function ", JsonString(function.name), ", ", arguments[i].name,
                                   ": NNabla's C runtime has no such word"));
      word(static_cast<uint32_t>(at - std::begin(kBorderModes)));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<uint32_t> Writer::Function(const nnabla::Function& function) {
  std::string record;
  Append(&record,
         uint32_t{*internal::NnbNumberOf(function.type)});  // and the implementation 0, of floats
  for (const auto* list : {&function.input, &function.output}) {
    FIRN_ASSIGN_OR_RETURN(const uint32_t block, ListOf(*list));
    Append(&record, static_cast<uint32_t>(list->size()));
    Append(&record, block);
  }
  FIRN_RETURN_IF_ERROR(Arguments(function, &record));
  return Add(std::move(record));
}

absl::StatusOr<std::string> Writer::Run() {
  FIRN_RETURN_IF_ERROR(Find());
  FIRN_RETURN_IF_ERROR(CheckFunctions());
  FIRN_RETURN_IF_ERROR(FindVariables());
  FIRN_RETURN_IF_ERROR(FindWeights());
  FIRN_RETURN_IF_ERROR(FindLives());
  std::vector<std::string> inputs, outputs;
  for (const auto& v : executor_->data_variable) inputs.push_back(v.variable_name);
  for (const auto& v : executor_->output_variable) outputs.push_back(v.variable_name);
  FIRN_ASSIGN_OR_RETURN(const uint32_t input_list, ListOf(inputs));
  FIRN_ASSIGN_OR_RETURN(const uint32_t output_list, ListOf(outputs));
  const uint32_t buffer_list = AddWords(buffers_.sizes);
  FIRN_ASSIGN_OR_RETURN(const uint32_t variable_list, Variables());
  std::vector<uint32_t> functions;
  for (const nnabla::Function& function : network_->functions) {
    FIRN_ASSIGN_OR_RETURN(const uint32_t block, Function(function));
    functions.push_back(block);
  }
  const uint32_t function_list = AddWords(functions);
  FIRN_RETURN_IF(data_.size() >> 32 != 0, InvalidArgument("expected less than 4 GB"));
  std::string file;
  const size_t words[] = {kVersion,          kApiLevel,     buffers_.sizes.size(), buffer_list,
                          variables_.size(), variable_list, functions.size(),      function_list,
                          inputs.size(),     input_list,    outputs.size(),        output_list,
                          offsets_.size(),   data_.size()};
  for (const size_t word : words) Append(&file, static_cast<uint32_t>(word));
  for (const uint32_t offset : offsets_) Append(&file, offset);
  return file + data_;
}

}  // namespace

absl::StatusOr<std::string> TryNnbBytes(const nnabla::Model& model, const SaveNnbOptions& options) {
  const NoGradScope no_grad;
  return Writer(model, options).Run();
}

absl::Status TrySaveNnb(const std::string& path, const nnabla::Model& model,
                        const SaveNnbOptions& options) {
  const absl::StatusOr<std::string> bytes = TryNnbBytes(model, options);
  if (!bytes.ok()) {
    return absl::Status(bytes.status().code(),
                        absl::StrCat("save ", path, ": ", std::string(bytes.status().message())));
  }
  return inner::internal::ReplaceFile(path, *bytes);
}

void SaveNnb(const std::string& path, const nnabla::Model& model, const SaveNnbOptions& options) {
  RaiseIfError(TrySaveNnb(path, model, options), "save_nnb");
}

}  // namespace firn::io
