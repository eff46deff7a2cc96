// The text is read first, since the other members belong to its contents. Members of the ZIP are
// told by the ends of their names, as NNabla tells them, and others are not looked at.
#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "firn/device/escape.h"
#include "firn/device/status_macros.h"
#include "firn/io/hdf5/internal/h5_names.h"
#include "firn/io/hdf5/internal/h5_reader.h"
#include "firn/io/nnabla_model/internal/nnabla_schema.h"
#include "firn/io/nnabla_model/internal/nnabla_states.h"
#include "firn/io/nnabla_model/internal/proto_reading.h"
#include "firn/io/nnabla_model/nnabla_file_status.h"
#include "firn/io/random_access.h"
#include "firn/io/value_or_raise.h"
#include "firn/io/wire/internal/wire.h"
#include "firn/io/zip/internal/zip.h"
#include "firn/tensor/allocate.h"

namespace firn::io {

std::string nnabla::ParameterName(const std::string& variable) {
  return internal::H5Name(variable);
}

namespace {

using firn::inner::internal::JsonString;
using internal::NnablaMessage;
using internal::ZipMember;

bool IsText(std::string_view name) {
  return name.ends_with(".nntxt") || name.ends_with(".prototxt");
}

absl::Status In(const std::string& name, const absl::Status& status) {
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat(name, ": ", std::string(status.message())));
}

class Reading {
 public:
  explicit Reading(const LoadOptions& options)
      : options_(options), left_(options.limits.max_total_bytes) {}

  nnabla::Model& model() { return model_; }

  absl::Status Text(std::string_view text, const std::string& name) {
    NnablaMessage message;
    FIRN_RETURN_IF_ERROR(
        internal::ReadProtoText(text, name, internal::NnablaTextType(), options_.limits, &message));
    return Take(std::move(message), name);
  }

  absl::Status Bytes(std::string_view bytes, const std::string& name) {
    NnablaMessage message;
    FIRN_RETURN_IF_ERROR(Binary(bytes, name, &message));
    return Take(std::move(message), name);
  }

  // Parameters beside a text.
  absl::Status Parameters(std::string_view bytes, const std::string& name) {
    NnablaMessage message;
    FIRN_RETURN_IF_ERROR(Binary(bytes, name, &message));
    FIRN_RETURN_IF(message.global_config || message.training_config || !message.datasets.empty() ||
                       !message.optimizers.empty() || !message.monitors.empty() ||
                       !message.executors.empty(),
                   DataLoss(name, ": expected nothing but parameters beside the text"));
    return AddParameters(message, name);
  }

  absl::Status H5(std::string_view bytes, const std::string& name) {
    FIRN_ASSIGN_OR_RETURN(const StateDict state, ReadH5(bytes, name, options_.want));
    for (const auto& [entry, tensor] : state) {
      FIRN_RETURN_IF_ERROR(AddParameter(name, entry, tensor));
    }
    return absl::OkStatus();
  }

  absl::Status BinaryStates(std::string_view bytes, const std::string& name) {
    NnablaMessage message;
    FIRN_RETURN_IF_ERROR(Binary(bytes, name, &message));
    for (nnabla::Optimizer& optimizer : message.optimizers) {
      if (!optimizer.solver) continue;
      FIRN_ASSIGN_OR_RETURN(nnabla::Solver* const solver, FindSolver(optimizer.name, name));
      FIRN_RETURN_IF_ERROR(internal::CheckSolverStates(&*optimizer.solver, name, optimizer.name));
      solver->states = std::move(optimizer.solver->states);
    }
    return absl::OkStatus();
  }

  // `file` is the member's name: <optimizer>_<solver>_optimizer.h5.optimizer.
  absl::Status H5States(std::string_view bytes, std::string_view file, const std::string& name) {
    std::string optimizer(file.substr(0, file.find(".h5.optimizer")));
    for (int i = 0; i < 2; ++i) {
      const size_t line = optimizer.rfind('_');
      FIRN_RETURN_IF(line == std::string::npos,
                     DataLoss(name, ": expected a name of an optimizer and its solver"));
      optimizer.resize(line);
    }
    FIRN_ASSIGN_OR_RETURN(nnabla::Solver* const solver, FindSolver(optimizer, name));
    FIRN_ASSIGN_OR_RETURN(const StateDict state, ReadH5(bytes, name, {}));
    FIRN_ASSIGN_OR_RETURN(solver->states, internal::StatesOf(state, name));
    return absl::OkStatus();
  }

 private:
  absl::Status Binary(std::string_view bytes, const std::string& name, NnablaMessage* message) {
    internal::WireReader fields(bytes);
    while (!fields.AtEnd()) {
      const absl::StatusOr<internal::WireField> field = fields.Next();
      if (!field.ok()) break;  // of which the reader tells
      FIRN_RETURN_IF(
          field->number == 100,
          Unimplemented(name, ": offset ", field->offset,
                        ", network: fields of networks have other numbers in each release of "
                        "NNabla, so they are read from texts alone (.nntxt, .nnp)"));
    }
    return internal::ReadProtoBytes(bytes, name, internal::NnablaBinaryType(), options_.limits,
                                    message);
  }

  absl::StatusOr<StateDict> ReadH5(std::string_view bytes, const std::string& name,
                                   const std::function<bool(std::string_view)>& want) {
    LoadOptions options = {.limits = options_.limits, .want = want};
    options.limits.max_total_bytes = left_;
    const auto file = RandomAccess::FromMemory(
        name, {reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()});
    FIRN_ASSIGN_OR_RETURN(StateDict state, internal::ReadH5(*file, options));
    for (const auto& [entry, tensor] : state) {
      left_ -= std::min(left_, tensor.num_elements() * SizeOf(tensor.dtype()));
    }
    return state;
  }

  absl::StatusOr<nnabla::Solver*> FindSolver(const std::string& optimizer,
                                             const std::string& name) {
    if (solvers_.empty()) {
      for (nnabla::Optimizer& o : model_.optimizers) {
        if (o.solver) solvers_.emplace(o.name, &*o.solver);
      }
    }
    const auto found = solvers_.find(optimizer);
    if (found != solvers_.end() && found->second->states.empty()) return found->second;
    return DataLoss(name, ": expected states of an optimizer of the text that has none yet, got ",
                    JsonString(optimizer));
  }

  absl::Status AddParameter(const std::string& file, const std::string& name, Tensor tensor) {
    FIRN_RETURN_IF(model_.parameters.Contains(name),
                   DataLoss(file, ": parameter ", JsonString(name),
                            ": expected different names, got it twice"));
    FIRN_RETURN_IF(static_cast<int64_t>(model_.parameters.size()) == options_.limits.max_tensors,
                   ResourceExhausted(file, ": more than the ", options_.limits.max_tensors,
                                     " tensors allowed (limits.max_tensors)"));
    model_.parameters.Insert(name, std::move(tensor));
    return absl::OkStatus();
  }

  absl::Status AddParameters(const NnablaMessage& message, const std::string& file) {
    for (const internal::NnablaParameter& p : message.parameter) {
      const std::string name = nnabla::ParameterName(p.name);
      if (options_.want && !options_.want(name)) continue;
      const std::string where = absl::StrCat(file, ": parameter ", JsonString(p.name));
      const absl::StatusOr<Shape> shape = internal::CheckNnablaShape(p.shape, p.data.size());
      FIRN_RETURN_IF(!shape.ok(), In(where, shape.status()));
      const auto bytes = static_cast<int64_t>(p.data.size() * sizeof(float));
      FIRN_RETURN_IF(bytes > left_,
                     ResourceExhausted(file, ": more than the ", options_.limits.max_total_bytes,
                                       " bytes allowed (limits.max_total_bytes)"));
      left_ -= bytes;
      FIRN_ASSIGN_OR_RETURN(
          Tensor tensor, AllocateTensor(TensorSpec::Contiguous(DType::kF32, *shape, Device::Cpu()),
                                        AllocTag::kOther));
      if (bytes > 0) std::memcpy(tensor.impl()->data, p.data.data(), static_cast<size_t>(bytes));
      if (p.need_grad) tensor.SetRequiresGrad();
      FIRN_RETURN_IF_ERROR(AddParameter(file, name, std::move(tensor)));
    }
    return absl::OkStatus();
  }

  absl::Status Take(NnablaMessage message, const std::string& name) {
    FIRN_RETURN_IF_ERROR(In(name, internal::FinishArguments(&message)));
    absl::flat_hash_set<std::string_view> networks;
    for (const nnabla::Network& network : message.networks) {
      const std::string where = absl::StrCat(name, ": network ", JsonString(network.name));
      FIRN_RETURN_IF(!networks.insert(network.name).second,
                     DataLoss(where, ": expected different names, got it twice"));
      absl::flat_hash_set<std::string_view> variables;
      for (const nnabla::Variable& variable : network.variables) {
        FIRN_RETURN_IF(!variables.insert(variable.name).second,
                       DataLoss(where, ", variable ", JsonString(variable.name),
                                ": expected different names, got it twice"));
      }
    }
    for (nnabla::Optimizer& o : message.optimizers) {
      if (o.solver) FIRN_RETURN_IF_ERROR(internal::CheckSolverStates(&*o.solver, name, o.name));
    }
    FIRN_RETURN_IF_ERROR(AddParameters(message, name));
    StateDict parameters = std::move(model_.parameters);
    model_ = std::move(static_cast<nnabla::Model&>(message));
    model_.parameters = std::move(parameters);
    return absl::OkStatus();
  }

  const LoadOptions& options_;
  int64_t left_;
  nnabla::Model model_;
  absl::flat_hash_map<std::string, nnabla::Solver*> solvers_;  // of the text
};

absl::Status ReadMember(const internal::ZipReader& zip, const ZipMember& member,
                        const std::string& name, Reading* reading) {
  const std::string_view end = member.name;
  const bool is_parameter = end.ends_with(".h5") || end.ends_with(".protobuf");
  if (!is_parameter && !IsText(end) && !end.ends_with(".optimizer")) return absl::OkStatus();
  FIRN_ASSIGN_OR_RETURN(const std::string bytes, zip.Read(member));
  if (IsText(end)) return reading->Text(bytes, name);
  if (end.ends_with(".h5")) return reading->H5(bytes, name);
  if (end.ends_with(".protobuf")) return reading->Parameters(bytes, name);
  if (end.ends_with(".h5.optimizer")) return reading->H5States(bytes, end, name);
  FIRN_RETURN_IF(!end.ends_with(".protobuf.optimizer"),
                 Unimplemented(name, ": expected .h5.optimizer or .protobuf.optimizer"));
  return reading->BinaryStates(bytes, name);
}

absl::Status ReadArchive(const RandomAccess& file, const LoadLimits& limits, Reading* reading) {
  FIRN_ASSIGN_OR_RETURN(const internal::ZipReader zip, internal::ZipReader::Open(file, limits));
  constexpr size_t kMembers = 16;
  FIRN_RETURN_IF(zip.members().size() > kMembers,
                 DataLoss(file.name(), ": expected at most ", kMembers, " members, got ",
                          zip.members().size()));
  int64_t left = limits.max_total_bytes;
  int texts = 0;
  for (const ZipMember& member : zip.members()) {
    FIRN_RETURN_IF(
        member.size > left,
        ResourceExhausted(file.name(), ": members of more than the ", limits.max_total_bytes,
                          " bytes allowed (limits.max_total_bytes)"));
    left -= member.size;
    FIRN_RETURN_IF(
        IsText(member.name) && member.size > limits.max_metadata_bytes,
        ResourceExhausted(file.name(), ": a text of more than the ", limits.max_metadata_bytes,
                          " bytes allowed (limits.max_metadata_bytes)"));
    texts += IsText(member.name);
  }
  FIRN_RETURN_IF(texts != 1,
                 DataLoss(file.name(), ": expected one member .nntxt or .prototxt, got ", texts));
  for (const bool text : {true, false}) {
    for (const ZipMember& member : zip.members()) {
      if (IsText(member.name) != text) continue;
      FIRN_RETURN_IF_ERROR(
          ReadMember(zip, member, absl::StrCat(file.name(), "(", member.name, ")"), reading));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<nnabla::Model> Read(const RandomAccess& file, const LoadOptions& options) {
  Reading reading(options);
  char first[2] = {};
  if (file.size() > 1) FIRN_RETURN_IF_ERROR(file.ReadAt(0, first, 2, "signature"));
  if (first[0] == 'P' && first[1] == 'K') {
    FIRN_RETURN_IF_ERROR(ReadArchive(file, options.limits, &reading));
    return std::move(reading.model());
  }
  // Names of files count in any letters; names within an archive only as NNabla writes them.
  const std::string& name = file.name();
  const std::string end = absl::AsciiStrToLower(name);
  FIRN_RETURN_IF(end.ends_with(".nnp"), ExpectSignature(file, "PK", "an .nnp file"));
  FIRN_RETURN_IF(!IsText(end) && !end.ends_with(".protobuf"),
                 InvalidArgument(name,
                                 ": expected .nnp, .nntxt, .prototxt or .protobuf at the end "
                                 "of the name"));
  FIRN_RETURN_IF(file.size() > options.limits.max_total_bytes,
                 ResourceExhausted(name, ": more than the ", options.limits.max_total_bytes,
                                   " bytes allowed (limits.max_total_bytes)"));
  std::string bytes(static_cast<size_t>(file.size()), '\0');
  FIRN_RETURN_IF_ERROR(file.ReadAt(0, bytes.data(), file.size(), "messages"));
  FIRN_RETURN_IF_ERROR(IsText(end) ? reading.Text(bytes, name) : reading.Bytes(bytes, name));
  return std::move(reading.model());
}

}  // namespace

absl::StatusOr<nnabla::Model> TryLoadNnabla(const std::string& path, const LoadOptions& options) {
  FIRN_ASSIGN_OR_RETURN(const auto file, RandomAccess::Open(path));
  return Read(*file, options);
}

absl::StatusOr<nnabla::Model> TryParseNnabla(std::string_view bytes, const std::string& name,
                                             const LoadOptions& options) {
  const auto file = RandomAccess::FromMemory(
      name, {reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()});
  return Read(*file, options);
}

nnabla::Model LoadNnabla(const std::string& path, const LoadOptions& options) {
  return ValueOrRaise(TryLoadNnabla(path, options), "load_nnabla");
}

}  // namespace firn::io
