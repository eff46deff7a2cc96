#ifndef FIRN_IO_NNABLA_MODEL_NNABLA_MODEL_H_
#define FIRN_IO_NNABLA_MODEL_NNABLA_MODEL_H_

// The contents of NNabla's model files, as data: the messages of its NNablaProtoBuf (nnabla.proto
// of NNabla 1.39) with the names that they have there. Fields that a file leaves out are 0, false,
// "" or empty, as NNabla reads them too, whatever the defaults of its functions are. All are plain
// values.

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "firn/tensor/state_dict.h"

namespace firn::io::nnabla {

// One argument of a function or a solver. NNabla's `Shape` is a list of int64_t, too.
using Value = std::variant<bool, int64_t, float, double, std::string, std::vector<int64_t>,
                           std::vector<float>>;
struct Argument {
  std::string name;
  Value value;
};

struct Context {
  std::vector<std::string> backends;
  std::string array_class, device_id;
  std::string backend, compute_backend;  // as files before 1.0 have them
};

struct GlobalConfig {
  std::optional<Context> default_context;
};

struct TrainingConfig {
  int64_t max_epoch = 0, iter_per_epoch = 0;
  bool save_best = false;
  int64_t monitor_interval = 0;  // 0 means 10
};

struct Initializer {
  std::string type;
  float multiplier = 0;
};

struct Variable {
  std::string name;
  std::string type;  // "Buffer" or "Parameter"
  std::vector<std::string> repeat_id;
  std::vector<int64_t> shape;  // -1 in front stands for the batch
  std::optional<Initializer> initializer;
};

struct RepeatInfo {
  std::string id;
  int64_t times = 0;
};

struct RepeatParameter {
  std::string repeat_id;
  int64_t times = 0;
};

struct RecurrentParameter {
  std::string repeat_id;
  int64_t length = 0, axis = 0;
};

struct Function {
  std::string name;  // "" in old files
  std::string type;  // "Convolution"
  std::vector<std::string> repeat_id;
  std::optional<Context> context;
  std::vector<std::string> input, output;
  std::optional<RepeatParameter> repeat_param;
  std::optional<RecurrentParameter> recurrent_param;
  // All that NNabla 1.39 has for the type, in its order, after reading; in writing those that are
  // not 0. Empty for types that it does not have.
  std::vector<Argument> arguments;
};

struct Network {
  std::string name;
  int64_t batch_size = 0;
  std::vector<RepeatInfo> repeat_info;
  std::vector<Variable> variables;
  std::vector<Function> functions;
};

struct Dataset {
  std::string name, type, uri;
  int64_t batch_size = 0;
  std::string cache_dir;
  bool overwrite_cache = false, create_cache_explicitly = false;
  bool shuffle = false, no_image_normalization = false;
  std::vector<std::string> variable;
};

struct StateParameter {
  std::string name;
  std::vector<int64_t> shape;
  std::vector<float> data;  // row-major
};

// A solver's state for one parameter, if the file has it in a message.
struct SolverState {
  std::string parameter;
  uint32_t t = 0;
  std::vector<StateParameter> state;
};

struct Solver {
  std::string type;  // "Adam"
  std::optional<Context> context;
  float weight_decay = 0;
  float lr_decay = 0;
  int64_t lr_decay_interval = 0;
  std::vector<SolverState> states;
  std::vector<Argument> arguments;  // as of a function
  std::string lr_scheduler_type;
  struct Polynomial {
    float max_iter = 0, power = 0;
  };
  struct Cosine {
    float max_iter = 0;
  };
  struct Exponential {
    float gamma = 0;
    int64_t iter_interval = 0;
  };
  struct Step {
    float gamma = 0;
    std::vector<int64_t> iter_steps;
  };
  std::optional<Polynomial> polynomial_scheduler;
  std::optional<Cosine> cosine_scheduler;
  std::optional<Exponential> exponential_scheduler;
  std::optional<Step> step_scheduler;
  std::string lr_warmup_scheduler_type;
  struct LinearWarmup {
    int64_t warmup_iter = 0;
  };
  std::optional<LinearWarmup> linear_warmup_scheduler;
};

struct DataVariable {
  std::string variable_name, data_name;
};

struct GeneratorVariable {
  std::string variable_name, type;
  float multiplier = 0;
};

struct LossVariable {
  std::string variable_name;
};

struct ParameterVariable {
  std::string variable_name;
  float learning_rate_multiplier = 0;
};

struct MonitorVariable {
  std::string variable_name, type, data_name;
  float multiplier = 0;
};

struct OutputVariable {
  std::string variable_name, type, data_name;
};

struct Optimizer {
  std::string name;
  int64_t order = 0;
  std::string network_name;
  std::vector<std::string> dataset_name;
  std::optional<Solver> solver;
  int64_t update_interval = 0;
  std::vector<DataVariable> data_variable;
  std::vector<GeneratorVariable> generator_variable;
  std::vector<LossVariable> loss_variable;
  std::vector<ParameterVariable> parameter_variable;
  int64_t start_iter = 0, end_iter = 0;
};

struct Monitor {
  std::string name, network_name;
  std::vector<std::string> dataset_name;
  std::vector<DataVariable> data_variable;
  std::vector<GeneratorVariable> generator_variable;
  std::vector<MonitorVariable> monitor_variable;
};

struct Executor {
  std::string name, network_name;
  int64_t num_evaluations = 0;  // 0 means 1
  std::string repeat_evaluation_type;
  bool need_back_propagation = false, no_image_normalization = false;
  std::vector<DataVariable> data_variable;
  std::vector<GeneratorVariable> generator_variable;
  std::vector<LossVariable> loss_variable;
  std::vector<OutputVariable> output_variable;
  std::vector<ParameterVariable> parameter_variable;
};

struct Model {
  std::string version;
  std::optional<GlobalConfig> global_config;
  std::optional<TrainingConfig> training_config;
  std::vector<Network> networks;
  std::vector<Dataset> datasets;
  std::vector<Optimizer> optimizers;
  std::vector<Monitor> monitors;
  std::vector<Executor> executors;
  // By ParameterName of the variables; requires_grad is need_grad.
  StateDict parameters;
};

// The name of a parameter's entry in `Model::parameters`: slashes are dots, as where io::Load reads
// NNabla's .h5 ("conv1/conv/W" is "conv1.conv.W").
std::string ParameterName(const std::string& variable);

}  // namespace firn::io::nnabla

#endif  // FIRN_IO_NNABLA_MODEL_NNABLA_MODEL_H_
