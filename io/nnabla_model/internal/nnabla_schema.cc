// nnabla.proto of NNabla 1.39, a line a field. The fields of functions' and solvers' arguments come
// from the tables of nnabla_table.cc.
#include "firn/io/nnabla_model/internal/nnabla_schema.h"

#include <algorithm>
#include <utility>

#include "firn/io/nnabla_model/internal/nnabla_functions.h"

namespace firn::io::internal {
namespace {

using Arguments = std::vector<nnabla::Argument>;
using Kinds = std::vector<NnablaKind>;

// Types live for the whole of the program.
template <class S>
const ProtoType& Make(std::string_view name, std::vector<ProtoField> fields) {
  return *new ProtoType{name, sizeof(S), std::move(fields)};
}

const ProtoType& ShapeType() {
  static const ProtoType& type = Make<char>("Shape", {Only<std::vector<int64_t>>("dim", 1)});
  return type;
}

// A message whose fields are members of its owner.
ProtoField Inside(std::string_view name, int number, const ProtoType& type) {
  ProtoField field{.name = name, .number = number};
  field.type = &type;
  field.open = [](void* s, const ProtoField&) { return s; };
  field.at = [](const void* s, const ProtoField&, size_t) { return s; };
  return field;
}

nnabla::Value& ValueAt(const void* arguments, const ProtoField& field) {
  auto& all = *const_cast<Arguments*>(static_cast<const Arguments*>(arguments));
  return all[field.slot].value;
}

void* MemberOf(const void* arguments, const ProtoField& field) {
  return std::visit([](auto& value) -> void* { return &value; }, ValueAt(arguments, field));
}

ProtoKind KindOf(const nnabla::Value& zero, bool* repeated) {
  return std::visit(
      [&](const auto& value) {
        using T = std::decay_t<decltype(value)>;
        if constexpr (IsVector<T>::value) {
          *repeated = true;
          return ProtoKindOf<typename T::value_type>();
        } else {
          return ProtoKindOf<T>();
        }
      },
      zero);
}

// The message of a kind's arguments, which lie in Arguments behind the field's name.
const ProtoType& ArgumentsType(const NnablaKind& kind) {
  std::vector<ProtoField> fields;
  int number = 1;
  size_t slot = 1;
  for (const NnablaKind::Argument& argument : kind.arguments) {
    ProtoField field{.name = argument.name, .number = number++};
    if (argument.is_nothing) {
      field = Inside(field.name, field.number, Make<char>("Communicator", {}));
      field.at = [](const void*, const ProtoField&, size_t) -> const void* { return nullptr; };
      fields.push_back(field);
      continue;
    }
    field.slot = slot++;
    field.kind = argument.is_shape ? ProtoKind::kMessage : KindOf(argument.zero, &field.repeated);
    if (argument.is_shape) field.type = &ShapeType();
    field.open = [](void* m, const ProtoField& f) { return MemberOf(m, f); };
    field.at = [](const void* m, const ProtoField& f, size_t) -> const void* {
      return MemberOf(m, f);
    };
    fields.push_back(field);
  }
  return Make<Arguments>(kind.type, std::move(fields));
}

// The oneof of all kinds' arguments in S::arguments.
template <class S, const Kinds& (*kKinds)()>
void AddArguments(std::vector<ProtoField>* fields) {
  for (size_t i = 0; i < kKinds().size(); ++i) {
    const NnablaKind& kind = kKinds()[i];
    if (kind.field.empty()) continue;
    ProtoField field{.name = kind.field, .number = kind.number, .oneof = 1, .slot = i};
    field.type = &ArgumentsType(kind);
    field.open = [](void* s, const ProtoField& f) -> void* {
      Arguments& arguments = static_cast<S*>(s)->arguments;
      arguments = {{std::string(f.name), false}};
      for (const auto& argument : kKinds()[f.slot].arguments) {
        if (!argument.is_nothing) arguments.push_back({argument.name, argument.zero});
      }
      return &arguments;
    };
    field.at = [](const void* s, const ProtoField& f, size_t) -> const void* {
      const Arguments& arguments = static_cast<const S*>(s)->arguments;
      return !arguments.empty() && arguments[0].name == f.name ? &arguments : nullptr;
    };
    fields->push_back(field);
  }
}

}  // namespace

// A field of S with its member's name, or with another one.
#define FIRN_FIELD(member, number) FIRN_NAMED(member, #member, number)
#define FIRN_NAMED(member, name, number) Field<S, &S::member>(name, number)
#define FIRN_SHAPE(number) Part<S, &S::shape>("shape", number, ShapeType())

// ProtoTypeOf<nnabla::struct_>.
#define FIRN_PROTO(struct_, ...)                                     \
  template <>                                                        \
  const ProtoType& ProtoTypeOf<nnabla::struct_>() {                  \
    using S = nnabla::struct_;                                       \
    static const ProtoType& type = Make<S>(#struct_, {__VA_ARGS__}); \
    return type;                                                     \
  }

FIRN_PROTO(Context, FIRN_FIELD(backends, 1), FIRN_FIELD(array_class, 2), FIRN_FIELD(device_id, 3),
           FIRN_FIELD(backend, 4), FIRN_FIELD(compute_backend, 5))
FIRN_PROTO(GlobalConfig, FIRN_FIELD(default_context, 1))
FIRN_PROTO(TrainingConfig, FIRN_FIELD(max_epoch, 1), FIRN_FIELD(iter_per_epoch, 2),
           FIRN_FIELD(save_best, 100), FIRN_FIELD(monitor_interval, 200))

FIRN_PROTO(Initializer, FIRN_FIELD(type, 2), FIRN_FIELD(multiplier, 10))
FIRN_PROTO(Variable, FIRN_FIELD(name, 1), FIRN_FIELD(type, 2), FIRN_FIELD(repeat_id, 3),
           FIRN_SHAPE(20), FIRN_FIELD(initializer, 100))
FIRN_PROTO(RepeatInfo, FIRN_FIELD(id, 1), FIRN_FIELD(times, 2))
FIRN_PROTO(RepeatParameter, FIRN_FIELD(repeat_id, 1), FIRN_FIELD(times, 2))
FIRN_PROTO(RecurrentParameter, FIRN_FIELD(repeat_id, 1), FIRN_FIELD(length, 2), FIRN_FIELD(axis, 3))

template <>
const ProtoType& ProtoTypeOf<nnabla::Function>() {
  using S = nnabla::Function;
  static const ProtoType& type = *[] {
    std::vector<ProtoField> fields = {
        FIRN_FIELD(name, 1),           FIRN_FIELD(type, 2),
        FIRN_FIELD(repeat_id, 3),      FIRN_FIELD(context, 10),
        FIRN_FIELD(input, 20),         FIRN_FIELD(output, 30),
        FIRN_FIELD(repeat_param, 100), FIRN_FIELD(recurrent_param, 101)};
    AddArguments<S, NnablaFunctions>(&fields);
    // A function may have the arguments of its type even if the file has none.
    size_t most = 0;
    for (const NnablaKind& kind : NnablaFunctions()) most = std::max(most, kind.arguments.size());
    const size_t bytes = sizeof(S) + most * sizeof(nnabla::Argument);
    return new ProtoType{"Function", bytes, std::move(fields)};
  }();
  return type;
}

FIRN_PROTO(Network, FIRN_FIELD(name, 1), FIRN_FIELD(batch_size, 10), FIRN_FIELD(repeat_info, 11),
           FIRN_NAMED(variables, "variable", 100), FIRN_NAMED(functions, "function", 200))

FIRN_PROTO(Dataset, FIRN_FIELD(name, 1), FIRN_FIELD(type, 2), FIRN_FIELD(uri, 10),
           FIRN_FIELD(batch_size, 20), FIRN_FIELD(cache_dir, 30), FIRN_FIELD(overwrite_cache, 31),
           FIRN_FIELD(create_cache_explicitly, 32), FIRN_FIELD(shuffle, 100),
           FIRN_FIELD(no_image_normalization, 101), FIRN_FIELD(variable, 200))

// Maps are lists of keys and values.
template <>
const ProtoType& ProtoTypeOf<nnabla::StateParameter>() {
  using S = nnabla::StateParameter;
  static const ProtoType& value = Make<S>("Parameter", {FIRN_SHAPE(20), FIRN_FIELD(data, 100)});
  static const ProtoType& type =
      Make<S>("StateParameterEntry", {FIRN_NAMED(name, "key", 1), Inside("value", 2, value)});
  return type;
}
template <>
const ProtoType& ProtoTypeOf<nnabla::SolverState>() {
  using S = nnabla::SolverState;
  static const ProtoType& value =
      Make<S>("SolverState", {FIRN_FIELD(t, 1), FIRN_NAMED(state, "state_parameter", 2)});
  static const ProtoType& type =
      Make<S>("StatesEntry", {FIRN_NAMED(parameter, "key", 1), Inside("value", 2, value)});
  return type;
}

FIRN_PROTO(Solver::Polynomial, FIRN_FIELD(max_iter, 1), FIRN_FIELD(power, 2))
FIRN_PROTO(Solver::Cosine, FIRN_FIELD(max_iter, 1))
FIRN_PROTO(Solver::Exponential, FIRN_FIELD(gamma, 1), FIRN_FIELD(iter_interval, 2))
FIRN_PROTO(Solver::Step, FIRN_FIELD(gamma, 1), FIRN_FIELD(iter_steps, 2))
FIRN_PROTO(Solver::LinearWarmup, FIRN_FIELD(warmup_iter, 1))

template <>
const ProtoType& ProtoTypeOf<nnabla::Solver>() {
  using S = nnabla::Solver;
  static const ProtoType& type = *[] {
    std::vector<ProtoField> fields = {
        FIRN_FIELD(type, 2),
        FIRN_FIELD(context, 10),
        FIRN_FIELD(weight_decay, 20),
        FIRN_FIELD(lr_decay, 30),
        FIRN_FIELD(lr_decay_interval, 31),
        FIRN_FIELD(states, 40),
        FIRN_FIELD(lr_scheduler_type, 200),
        FIRN_NAMED(polynomial_scheduler, "polynomial_scheduler_param", 210),
        FIRN_NAMED(cosine_scheduler, "cosine_scheduler_param", 211),
        FIRN_NAMED(exponential_scheduler, "exponential_scheduler_param", 212),
        FIRN_NAMED(step_scheduler, "step_scheduler_param", 213),
        FIRN_FIELD(lr_warmup_scheduler_type, 300),
        FIRN_NAMED(linear_warmup_scheduler, "linear_warmup_scheduler_param", 310)};
    AddArguments<S, NnablaSolvers>(&fields);
    return &Make<S>("Solver", std::move(fields));
  }();
  return type;
}

FIRN_PROTO(DataVariable, FIRN_FIELD(variable_name, 1), FIRN_FIELD(data_name, 3))
FIRN_PROTO(GeneratorVariable, FIRN_FIELD(variable_name, 1), FIRN_FIELD(type, 2),
           FIRN_FIELD(multiplier, 3))
FIRN_PROTO(LossVariable, FIRN_FIELD(variable_name, 1))
FIRN_PROTO(ParameterVariable, FIRN_FIELD(variable_name, 1), FIRN_FIELD(learning_rate_multiplier, 2))
FIRN_PROTO(MonitorVariable, FIRN_FIELD(variable_name, 1), FIRN_FIELD(type, 2),
           FIRN_FIELD(data_name, 3), FIRN_FIELD(multiplier, 100))
FIRN_PROTO(OutputVariable, FIRN_FIELD(variable_name, 1), FIRN_FIELD(type, 2),
           FIRN_FIELD(data_name, 3))

FIRN_PROTO(Optimizer, FIRN_FIELD(name, 1), FIRN_FIELD(order, 3), FIRN_FIELD(network_name, 10),
           FIRN_FIELD(dataset_name, 20), FIRN_FIELD(solver, 30), FIRN_FIELD(update_interval, 40),
           FIRN_FIELD(data_variable, 50), FIRN_FIELD(generator_variable, 60),
           FIRN_FIELD(loss_variable, 70), FIRN_FIELD(parameter_variable, 80),
           FIRN_FIELD(start_iter, 100), FIRN_FIELD(end_iter, 101))
FIRN_PROTO(Monitor, FIRN_FIELD(name, 1), FIRN_FIELD(network_name, 10), FIRN_FIELD(dataset_name, 20),
           FIRN_FIELD(data_variable, 50), FIRN_FIELD(generator_variable, 60),
           FIRN_FIELD(monitor_variable, 70))
FIRN_PROTO(Executor, FIRN_FIELD(name, 1), FIRN_FIELD(network_name, 10),
           FIRN_FIELD(num_evaluations, 20), FIRN_FIELD(repeat_evaluation_type, 21),
           FIRN_FIELD(need_back_propagation, 30), FIRN_FIELD(data_variable, 50),
           FIRN_FIELD(generator_variable, 60), FIRN_FIELD(loss_variable, 70),
           FIRN_FIELD(output_variable, 80), FIRN_FIELD(parameter_variable, 90),
           FIRN_FIELD(no_image_normalization, 101))

template <>
const ProtoType& ProtoTypeOf<NnablaParameter>() {
  using S = NnablaParameter;
  static const ProtoType& type =
      Make<S>("Parameter", {FIRN_NAMED(name, "variable_name", 1), FIRN_SHAPE(20),
                            FIRN_FIELD(data, 100), FIRN_FIELD(need_grad, 101)});
  return type;
}

const ProtoType& NnablaTextType() {
  using S = NnablaMessage;
  static const ProtoType& type = Make<S>(
      "NNablaProtoBuf",
      {FIRN_FIELD(version, 1), FIRN_FIELD(global_config, 2), FIRN_FIELD(training_config, 10),
       FIRN_NAMED(networks, "network", 100), FIRN_NAMED(parameter, "parameter", 200),
       FIRN_NAMED(datasets, "dataset", 300), FIRN_NAMED(optimizers, "optimizer", 400),
       FIRN_NAMED(monitors, "monitor", 500), FIRN_NAMED(executors, "executor", 600)});
  return type;
}

const ProtoType& NnablaBinaryType() {
  static const ProtoType& type = *[] {
    auto* binary = new ProtoType(NnablaTextType());
    std::erase_if(binary->fields, [](const ProtoField& f) { return f.name == "network"; });
    return binary;
  }();
  return type;
}

const ProtoType& NnablaOptimizerType() { return ProtoTypeOf<nnabla::Optimizer>(); }

}  // namespace firn::io::internal
