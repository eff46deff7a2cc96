// Results are compared with the expected ones element by element, as f64, or as i64 where types are
// integral.
#include "firn/io/onnx/onnx_test_folder.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "firn/device/status_macros.h"
#include "firn/io/onnx/internal/onnx_elements.h"
#include "firn/io/onnx/internal/onnx_read.h"
#include "firn/io/onnx/internal/onnx_run.h"
#include "firn/io/onnx/internal/onnx_tensor.h"
#include "firn/io/value_or_raise.h"
#include "firn/tensor/error.h"

namespace firn::io {
namespace {

namespace files = std::filesystem;
using internal::OnnxModel;
using internal::OnnxType;
using internal::OnnxValueInfo;

constexpr char kWho[] = "test_onnx_folder";

// "input_0.pb", "input_1.pb", ... as many as there are.
std::vector<std::string> Numbered(const files::path& folder, const char* word, const char* end) {
  std::vector<std::string> paths;
  for (;;) {
    const files::path path = folder / absl::StrCat(word, "_", paths.size(), end);
    std::error_code error;
    if (!files::exists(path, error)) return paths;
    paths.push_back(path.string());
  }
}

// The inputs for which a data set has files: all but initializers, which only have defaults.
std::vector<const OnnxValueInfo*> Wanted(const OnnxModel& model) {
  absl::flat_hash_set<std::string> stored;
  for (const auto& tensor : model.graph.initializers) stored.insert(tensor.name);
  std::vector<const OnnxValueInfo*> wanted;
  for (const OnnxValueInfo& input : model.graph.inputs) {
    if (!stored.contains(input.name)) wanted.push_back(&input);
  }
  return wanted;
}

absl::StatusOr<Tensor> ReadValue(const std::string& path, const OnnxValueInfo& value,
                                 const LoadLimits& limits) {
  FIRN_RETURN_IF(value.type.kind != OnnxType::Kind::kTensor,
                 Unimplemented(path, ": value \"", value.name,
                               "\" is no tensor (sequences and optional values are not read)"));
  FIRN_ASSIGN_OR_RETURN(const internal::OnnxTensor tensor,
                        internal::ReadOnnxTensorFile(path, limits));
  return internal::OnnxElements(path, std::nullopt, limits).Read(tensor, true);
}

template <class T>
std::string Apart(const Tensor& got, const Tensor& expected, double rtol, double atol) {
  const std::vector<T> x = got.ToVector<T>(), y = expected.ToVector<T>();
  int64_t count = 0;
  double most = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const auto u = static_cast<double>(x[i]), v = static_cast<double>(y[i]);
    if (x[i] == y[i] || (std::isnan(u) && std::isnan(v))) continue;
    const double apart = std::abs(u - v);
    if (std::isfinite(apart) && apart <= atol + rtol * std::abs(v)) continue;
    ++count;
    most = std::isnan(apart) ? HUGE_VAL : std::max(most, apart);
  }
  if (count == 0) return "";
  return absl::StrFormat("%d of %d elements differ, by %.4g at most", count, x.size(), most);
}

// The error in a result, or "". `chance`: its numbers are not compared.
std::string Difference(const Tensor& got, const Tensor& expected, bool chance,
                       const OnnxTestOptions& o) {
  if (got.shape() != expected.shape() || got.dtype() != expected.dtype()) {
    return absl::StrCat("expected ", expected.spec().ToString(), ", got ", got.spec().ToString());
  }
  if (chance) return "";
  const double steps = got.dtype() == DType::kBF16  ? std::ldexp(1, -6)
                       : got.dtype() == DType::kF16 ? std::ldexp(1, -9)
                                                    : 0;
  const double rtol = std::max(o.rtol, steps);
  return IsFloating(got.dtype()) ? Apart<double>(got, expected, rtol, o.atol)
                                 : Apart<int64_t>(got, expected, rtol, o.atol);
}

// Whether a node's result is random. A Dropout's may be; from opset 12 on its third input decides.
bool Draws(const internal::OnnxNode& node) {
  const std::string& type = node.op_type;
  return type == "Bernoulli" || type == "Multinomial" || type.starts_with("Random") ||
         (type == "Dropout" && node.inputs.size() > 2);
}

// The errors in the results of one data set, or "".
absl::StatusOr<std::string> RunDataSet(const OnnxModel& model, const std::string& folder,
                                       bool chance, const OnnxTestOptions& o) {
  const std::vector<const OnnxValueInfo*> wanted = Wanted(model);
  const std::vector<std::string> inputs = Numbered(folder, "input", ".pb");
  const std::vector<std::string> outputs = Numbered(folder, "output", ".pb");
  FIRN_RETURN_IF(inputs.size() > wanted.size() || outputs.size() > model.graph.outputs.size(),
                 InvalidArgument(folder, ": expected at most ", wanted.size(), " inputs and ",
                                 model.graph.outputs.size(), " outputs, got ", inputs.size(),
                                 " and ", outputs.size()));
  FIRN_RETURN_IF(outputs.empty(), InvalidArgument(folder, ": expected output_0.pb, got none"));
  std::vector<std::pair<std::string, Tensor>> given;
  for (size_t i = 0; i < inputs.size(); ++i) {
    FIRN_ASSIGN_OR_RETURN(Tensor value, ReadValue(inputs[i], *wanted[i], o.limits));
    given.emplace_back(wanted[i]->name, std::move(value));
  }
  std::vector<Tensor> expected;
  for (size_t i = 0; i < outputs.size(); ++i) {
    FIRN_ASSIGN_OR_RETURN(Tensor value, ReadValue(outputs[i], model.graph.outputs[i], o.limits));
    expected.push_back(std::move(value));
  }
  const std::vector<Tensor> got = internal::RunOnnxModel(model, given);
  for (size_t i = 0; i < expected.size(); ++i) {
    const std::string what = Difference(got[i], expected[i], chance, o);
    if (!what.empty()) return absl::StrCat("output \"", model.graph.outputs[i].name, "\": ", what);
  }
  return std::string();
}

absl::StatusOr<std::string> RunAll(const std::string& folder, const OnnxTestOptions& o,
                                   bool* chance) {
  const std::vector<std::string> sets = Numbered(folder, "test_data_set", "");
  FIRN_RETURN_IF(sets.empty(), NotFound(folder, ": expected test_data_set_0, got none"));
  FIRN_ASSIGN_OR_RETURN(const OnnxModel model,
                        internal::ReadOnnxModel(folder + "/model.onnx", o.limits));
  *chance = std::any_of(model.graph.nodes.begin(), model.graph.nodes.end(), Draws);
  for (const std::string& set : sets) {
    FIRN_ASSIGN_OR_RETURN(const std::string what, RunDataSet(model, set, *chance, o));
    if (!what.empty()) return what;
  }
  return std::string();
}

OnnxTestResult Verdict(const absl::Status& status, const std::string& what) {
  const bool unsupported = status.code() == absl::StatusCode::kUnimplemented;
  return {unsupported ? OnnxVerdict::kUnsupported : OnnxVerdict::kWrong, what};
}

}  // namespace

OnnxTestResult TestOnnxFolder(const std::string& folder, const OnnxTestOptions& options) {
  bool chance = false;
  try {
    const absl::StatusOr<std::string> what = RunAll(folder, options, &chance);
    if (!what.ok() && what.status().code() == absl::StatusCode::kNotFound) {
      RaiseStatus(what.status(), kWho);
    }
    if (!what.ok()) return Verdict(what.status(), std::string(what.status().message()));
    if (!what->empty()) return {OnnxVerdict::kWrong, *what};
  } catch (const Error& error) {
    if (error.code() == absl::StatusCode::kNotFound) throw;
    return Verdict(error.status(), error.what());
  }
  return {OnnxVerdict::kPass, chance ? "drawn by chance: shapes and types were compared" : ""};
}

}  // namespace firn::io
