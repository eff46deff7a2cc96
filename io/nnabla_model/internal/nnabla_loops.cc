// Loops are counted before anything is made of them: a file of a few bytes can ask for 2^31 copies.
#include "firn/io/nnabla_model/internal/nnabla_loops.h"

#include <variant>

#include "absl/strings/str_cat.h"
#include "firn/device/escape.h"
#include "firn/device/status_macros.h"

namespace firn::io::internal {
namespace {

using firn::inner::internal::JsonString;
using nnabla::ExpandOptions;
using nnabla::Function;
using nnabla::Network;

bool OfRepeat(const Function& function) {
  return function.type == "RepeatStart" || function.type == "RepeatEnd";
}

bool OfRecurrent(const Function& function) {
  return function.type == "RecurrentInput" || function.type == "RecurrentOutput" ||
         function.type == "Delay";
}

size_t ArgumentBytes(const Function& function) {
  size_t bytes = 0;
  for (const nnabla::Argument& argument : function.arguments) {
    bytes += sizeof(argument);
    if (const auto* text = std::get_if<std::string>(&argument.value)) bytes += text->size();
    if (const auto* list = std::get_if<std::vector<int64_t>>(&argument.value)) {
      bytes += 8 * list->size();
    }
    if (const auto* list = std::get_if<std::vector<float>>(&argument.value)) {
      bytes += 4 * list->size();
    }
  }
  return bytes;
}

}  // namespace

std::string NnablaPlace(const Network& network) {
  return absl::StrCat("network ", JsonString(network.name));
}

std::string NnablaPlace(const Network& network, const nnabla::Variable& variable) {
  return absl::StrCat(NnablaPlace(network), ", variable ", JsonString(variable.name));
}

std::string NnablaPlace(const Network& network, size_t i) {
  const Function& function = network.functions[i];
  return absl::StrCat(NnablaPlace(network), ", function ", i, " ", JsonString(function.name), " (",
                      function.type, ")");
}

bool NnablaLoops::Advance(const std::vector<std::string>& loops, Index* index) const {
  for (size_t i = loops.size(); i-- > 0;) {
    if (++(*index)[i] < times_.at(loops[i])) return true;
    (*index)[i] = 0;
  }
  return false;
}

std::string NnablaLoops::Step(std::string_view loop, int64_t i) {
  return absl::StrCat("_", std::string(loop), "[", i, "]");
}

absl::Status NnablaLoops::Check(const ExpandOptions& options) {
  FIRN_RETURN_IF_ERROR(CheckLoops(options));
  for (const nnabla::Variable& variable : network_.variables) {
    const std::string at = NnablaPlace(network_, variable);
    const size_t bytes = variable.name.size() + 8 * variable.shape.size();
    FIRN_RETURN_IF_ERROR(CountCopies(options, variable.repeat_id, bytes, at));
    FIRN_RETURN_IF(!variables_.emplace(variable.name, &variable).second,
                   InvalidArgument(at, ": expected it once, got it twice"));
  }
  for (size_t i = 0; i < network_.functions.size(); ++i) {
    FIRN_RETURN_IF_ERROR(CheckFunction(i));
    const Function& function = network_.functions[i];
    size_t bytes = function.name.size() + function.type.size() + ArgumentBytes(function);
    for (const auto* names : {&function.input, &function.output}) {
      for (const std::string& name : *names) {
        bytes += name.size() + 32;
        for (const std::string& loop : function.repeat_id) bytes += loop.size() + 8;
      }
    }
    if (function.type.starts_with("Recurrent") && OfRecurrent(function)) {
      bytes *= static_cast<size_t>(Times(function.recurrent_param->repeat_id));
    }
    FIRN_RETURN_IF_ERROR(CountCopies(options, function.repeat_id, bytes, NnablaPlace(network_, i)));
  }
  return absl::OkStatus();
}

absl::Status NnablaLoops::CheckLoops(const ExpandOptions& options) {
  for (const nnabla::RepeatInfo& loop : network_.repeat_info) {
    const std::string at =
        absl::StrCat(NnablaPlace(network_), ", repeat_info ", JsonString(loop.id));
    FIRN_RETURN_IF(loop.times < 1,
                   InvalidArgument(at, ", times: expected at least 1, got ", loop.times));
    FIRN_RETURN_IF(loop.times > options.max_times,
                   ResourceExhausted(at, ", times: expected at most ", options.max_times,
                                     " (ExpandOptions.max_times), got ", loop.times));
    FIRN_RETURN_IF(!times_.emplace(loop.id, loop.times).second,
                   InvalidArgument(at, ", id: expected it once, got it twice"));
  }
  return absl::OkStatus();
}

absl::Status NnablaLoops::CheckId(const std::string& id, const std::string& at,
                                  const char* field) const {
  FIRN_RETURN_IF(
      !times_.contains(id),
      InvalidArgument(at, ", ", field, ": expected the id of a repeat_info, got ", JsonString(id)));
  return absl::OkStatus();
}

// Adds the memory of copies of an item with so many bytes in its names.
absl::Status NnablaLoops::CountCopies(const ExpandOptions& options,
                                      const std::vector<std::string>& loops, size_t bytes,
                                      const std::string& at) {
  FIRN_RETURN_IF(
      static_cast<int64_t>(loops.size()) > options.max_depth,
      ResourceExhausted(at, ", repeat_id: expected at most ", options.max_depth,
                        " loops in each other (ExpandOptions.max_depth), got ", loops.size()));
  int64_t copies = 1;
  for (const std::string& id : loops) {
    FIRN_RETURN_IF_ERROR(CheckId(id, at, "repeat_id"));
    bytes += id.size() + 8;
    FIRN_RETURN_IF(Times(id) > (options.max_copies - copies_) / copies,
                   ResourceExhausted(at, ": expected at most ", options.max_copies,
                                     " copies of variables and functions in all loops "
                                     "(ExpandOptions.max_copies), got more"));
    copies *= Times(id);
  }
  FIRN_RETURN_IF(copies > options.max_copies - copies_,
                 ResourceExhausted(at, ": expected at most ", options.max_copies,
                                   " variables and functions (ExpandOptions.max_copies), got "
                                   "more"));
  copies_ += copies;
  FIRN_RETURN_IF(
      static_cast<int64_t>(bytes) > (options.max_bytes - bytes_) / copies,
      ResourceExhausted(at, ": expected names, shapes and arguments of at most ", options.max_bytes,
                        " bytes in all copies (ExpandOptions.max_bytes), got more"));
  bytes_ += static_cast<int64_t>(bytes) * copies;
  return absl::OkStatus();
}

absl::Status NnablaLoops::CheckFunction(size_t i) const {
  const Function& function = network_.functions[i];
  if (!OfRepeat(function) && !OfRecurrent(function)) return absl::OkStatus();
  const std::string at = NnablaPlace(network_, i);
  const bool repeat = OfRepeat(function);
  const char* const field = repeat ? "repeat_param" : "recurrent_param";
  FIRN_RETURN_IF(
      repeat ? !function.repeat_param.has_value() : !function.recurrent_param.has_value(),
      InvalidArgument(at, ", ", field, ": expected one, got none"));
  const std::string& id =
      repeat ? function.repeat_param->repeat_id : function.recurrent_param->repeat_id;
  FIRN_RETURN_IF_ERROR(CheckId(id, at, field));
  const bool start = function.type == "RepeatStart" || function.type == "Delay";
  const size_t inputs = start ? 2 : 1;
  FIRN_RETURN_IF(function.input.size() != inputs, InvalidArgument(at, ", input: expected ", inputs,
                                                                  ", got ", function.input.size()));
  FIRN_RETURN_IF(function.output.size() != 1,
                 InvalidArgument(at, ", output: expected 1, got ", function.output.size()));
  const bool inside = start || function.type == "RecurrentInput";
  FIRN_RETURN_IF(
      inside && (function.repeat_id.empty() || function.repeat_id.back() != id),
      InvalidArgument(at, ", repeat_id: expected the function's own loop ", JsonString(id),
                      " as the last, got ",
                      function.repeat_id.empty() ? "none" : JsonString(function.repeat_id.back())));
  return CheckSteps(i);
}

// Checks that a tensor is taken apart and put together in as many steps as the loop has.
absl::Status NnablaLoops::CheckSteps(size_t i) const {
  const Function& function = network_.functions[i];
  const std::string at = NnablaPlace(network_, i);
  if (function.type == "RecurrentOutput") {
    const nnabla::RecurrentParameter& loop = *function.recurrent_param;
    FIRN_RETURN_IF(loop.length != Times(loop.repeat_id),
                   InvalidArgument(at, ", recurrent_param.length: expected ", Times(loop.repeat_id),
                                   ", the loop's times, got ", loop.length));
  }
  if (function.type != "RecurrentInput") return absl::OkStatus();
  const nnabla::RecurrentParameter& loop = *function.recurrent_param;
  const auto found = variables_.find(function.input[0]);
  FIRN_RETURN_IF(found == variables_.end(),
                 InvalidArgument(at, ", input: expected a variable of the network, got ",
                                 JsonString(function.input[0])));
  const std::vector<int64_t>& shape = found->second->shape;
  const auto rank = static_cast<int64_t>(shape.size());
  FIRN_RETURN_IF(
      loop.axis < 0 || loop.axis >= rank,
      InvalidArgument(at, ", recurrent_param.axis: expected a dimension of ",
                      JsonString(function.input[0]), ", which has ", rank, ", got ", loop.axis));
  const int64_t size = shape[static_cast<size_t>(loop.axis)];
  FIRN_RETURN_IF(size != Times(loop.repeat_id),
                 InvalidArgument(at, ": expected ", Times(loop.repeat_id),
                                 " steps, the loop's times, got ", size, ", the size of ",
                                 JsonString(function.input[0]), " along axis ", loop.axis));
  return absl::OkStatus();
}

}  // namespace firn::io::internal
