// The members are those of NNabla's own files, stored as they are. HDF5 is written by its library
// into files, which are put into the ZIP from a folder of their own.
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "firn/device/atomic_file.h"
#include "firn/device/escape.h"
#include "firn/device/status_macros.h"
#include "firn/io/hdf5/internal/h5_names.h"
#include "firn/io/hdf5/internal/h5_writer.h"
#include "firn/io/nnabla_model/internal/nnabla_schema.h"
#include "firn/io/nnabla_model/internal/proto_reading.h"
#include "firn/io/nnabla_model/nnabla_file_status.h"
#include "firn/io/wire/internal/wire.h"
#include "firn/io/zip/internal/zip.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"

namespace firn::io {
namespace {

using firn::inner::internal::JsonString;
using internal::NnablaMessage;

// A new temporary folder, which is removed with its files.
class Scratch {
 public:
  Scratch() {
    std::string path = (std::filesystem::temp_directory_path(error_) / "firn_XXXXXX").string();
    if (!error_ && mkdtemp(path.data()) != nullptr) path_ = path;
  }
  ~Scratch() {
    if (!path_.empty()) std::filesystem::remove_all(path_, error_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  // The bytes of an HDF5 file.
  absl::StatusOr<std::string> H5(const StateDict& state, absl::Span<const std::string> groups) {
    FIRN_RETURN_IF(path_.empty(),
                   FailedPrecondition("no folder can be made for files on their way (TMPDIR)"));
    const std::string path = path_ + "/state.h5";
    FIRN_RETURN_IF_ERROR(internal::WriteH5(path, state, groups));
    std::ifstream in(path, std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    FIRN_RETURN_IF(bytes.empty(), Internal("cannot read ", path));
    return bytes;
  }

 private:
  std::error_code error_;
  std::string path_;
};

// Parameters are found by the names of variables, which come back from paths of datasets.
absl::Status CheckNames(const nnabla::Model& model) {
  for (const nnabla::Network& network : model.networks) {
    for (const nnabla::Variable& variable : network.variables) {
      const std::string name = nnabla::ParameterName(variable.name);
      FIRN_RETURN_IF(model.parameters.Contains(name) &&
                         internal::H5Path(model.parameters, name) != variable.name,
                     InvalidArgument("network ", JsonString(network.name), ", variable ",
                                     JsonString(variable.name),
                                     ": expected the name of a parameter to have slashes for dots, "
                                     "as in .h5: ",
                                     internal::H5Path(model.parameters, name)));
    }
  }
  return absl::OkStatus();
}

// The contents of a file of NNabla's solver.save_states.
absl::StatusOr<std::string> StatesOf(const nnabla::Solver& solver, Scratch* scratch) {
  StateDict state;
  std::vector<std::string> groups;
  const auto add = [&](const std::string& name, Tensor tensor) {
    FIRN_RETURN_IF(state.Contains(name),
                   InvalidArgument("state ", JsonString(name), ": expected different names"));
    state.Insert(name, std::move(tensor));
    return absl::OkStatus();
  };
  for (const nnabla::SolverState& of : solver.states) {
    for (const nnabla::StateParameter& p : of.state) {
      const absl::StatusOr<Shape> shape = Shape::Make(p.shape);
      FIRN_RETURN_IF(
          !shape.ok() || shape->num_elements() != static_cast<int64_t>(p.data.size()),
          InvalidArgument("state ", JsonString(of.parameter + "." + p.name),
                          ": expected as many numbers as its shape says, got ", p.data.size()));
      FIRN_RETURN_IF_ERROR(add(of.parameter + "." + p.name, FromVector(p.data, *shape)));
    }
    FIRN_RETURN_IF_ERROR(add(of.parameter + ".t", FromVector(std::vector<int64_t>{of.t}, Shape{})));
  }
  for (const nnabla::SolverState& of : solver.states) {
    const std::string t = internal::H5Path(state, of.parameter + ".t");
    groups.push_back(t.substr(0, t.rfind('/')));
  }
  return scratch->H5(state, groups);
}

// All but parameters and states.
absl::StatusOr<std::string> TextOf(nnabla::Model model) {
  FIRN_RETURN_IF_ERROR(internal::MarkArguments(&model));
  NnablaMessage message;
  static_cast<nnabla::Model&>(message) = std::move(model);
  for (nnabla::Optimizer& optimizer : message.optimizers) {
    if (optimizer.solver) optimizer.solver->states.clear();
  }
  const std::string text = internal::WriteProtoText(internal::NnablaTextType(), &message);
  NnablaMessage again;  // names that are no UTF-8 or too long
  const absl::Status readable = internal::ReadProtoText(
      text, "network.nntxt", internal::NnablaTextType(), LoadLimits(), &again);
  FIRN_RETURN_IF(!readable.ok(), InvalidArgument(std::string(readable.message())));
  return text;
}

absl::Status AddText(const nnabla::Model& model, inner::internal::AtomicFile* out) {
  FIRN_ASSIGN_OR_RETURN(const std::string text, TextOf(model));
  return out->Write(text.data(), text.size());
}

// NNablaProtoBuf with parameters alone, the one part whose numbers all releases share.
absl::StatusOr<std::string> ParameterBytes(const StateDict& parameters) {
  enum { kParameter = 200, kName = 1, kShape = 20, kDim = 1, kData = 100, kNeedGrad = 101 };
  internal::WireWriter out;
  for (const auto& [name, tensor] : parameters) {
    FIRN_RETURN_IF(tensor.dtype() != DType::kF32 && tensor.dtype() != DType::kF16 &&
                       tensor.dtype() != DType::kBF16,
                   InvalidArgument("parameter ", JsonString(name),
                                   ": expected f32, or f16 or bf16, which become that, got ",
                                   DTypeName(tensor.dtype())));
    const std::string variable = internal::H5Path(parameters, name);
    FIRN_RETURN_IF(!inner::internal::IsUtf8(variable),
                   InvalidArgument("parameter ", JsonString(name), ": expected UTF-8"));
    const std::vector<float> data = tensor.Detach().To(DType::kF32).ToVector<float>();
    internal::WireWriter shape;
    for (const int64_t size : tensor.shape()) shape.Integer(kDim, size);
    const size_t begun = out.Begin(kParameter);
    out.Bytes(kName, variable).Message(kShape, shape);
    out.Bytes(kData, {reinterpret_cast<const char*>(data.data()), data.size() * sizeof(float)});
    if (tensor.requires_grad()) out.Integer(kNeedGrad, 1);
    out.End(begun);
    FIRN_RETURN_IF(out.bytes().size() > std::numeric_limits<int32_t>::max(),
                   InvalidArgument("expected less than 2 GiB, which is what readers of protocol "
                                   "buffers take (an .h5 or an .nnp holds more)"));
  }
  return std::move(out).Take();
}

absl::Status AddParameters(const nnabla::Model& model, inner::internal::AtomicFile* out) {
  FIRN_ASSIGN_OR_RETURN(const std::string bytes, ParameterBytes(model.parameters));
  return out->Write(bytes.data(), bytes.size());
}

absl::Status AddAll(const nnabla::Model& model, inner::internal::AtomicFile* out) {
  internal::ZipWriter zip(out);
  FIRN_RETURN_IF_ERROR(CheckNames(model));
  FIRN_ASSIGN_OR_RETURN(const std::string text, TextOf(model));
  FIRN_RETURN_IF_ERROR(zip.Add("nnp_version.txt", "0.1\n", false));
  FIRN_RETURN_IF_ERROR(zip.Add("network.nntxt", text, false));
  Scratch scratch;
  FIRN_ASSIGN_OR_RETURN(const std::string parameters, scratch.H5(model.parameters, {}));
  FIRN_RETURN_IF_ERROR(zip.Add("parameter.h5", parameters, false));
  for (const nnabla::Optimizer& optimizer : model.optimizers) {
    if (!optimizer.solver || optimizer.solver->states.empty()) continue;
    FIRN_ASSIGN_OR_RETURN(const std::string states, StatesOf(*optimizer.solver, &scratch));
    FIRN_RETURN_IF_ERROR(zip.Add(
        absl::StrCat(optimizer.name, "_", optimizer.solver->type, "_optimizer.h5.optimizer"),
        states, false));
  }
  return zip.Finish();
}

}  // namespace

absl::Status TrySaveNnabla(const std::string& path, const nnabla::Model& model) {
  absl::Status (*add)(const nnabla::Model&, inner::internal::AtomicFile*) = nullptr;
  if (absl::EndsWithIgnoreCase(path, ".nnp")) add = AddAll;
  if (absl::EndsWithIgnoreCase(path, ".nntxt")) add = AddText;
  if (absl::EndsWithIgnoreCase(path, ".protobuf")) add = AddParameters;
  FIRN_RETURN_IF(
      add == nullptr,
      InvalidArgument(path, ": expected .nnp, .nntxt or .protobuf at the end of the name"));
  FIRN_ASSIGN_OR_RETURN(inner::internal::AtomicFile out, inner::internal::AtomicFile::Create(path));
  const absl::Status added = add(model, &out);
  if (!added.ok()) {
    return absl::Status(added.code(),
                        absl::StrCat("save ", path, ": ", std::string(added.message())));
  }
  return out.Commit();
}

void SaveNnabla(const std::string& path, const nnabla::Model& model) {
  RaiseIfError(TrySaveNnabla(path, model), "save_nnabla");
}

}  // namespace firn::io
