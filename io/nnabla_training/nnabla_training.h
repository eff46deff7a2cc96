#ifndef FIRN_IO_NNABLA_TRAINING_NNABLA_TRAINING_H_
#define FIRN_IO_NNABLA_TRAINING_NNABLA_TRAINING_H_

// Training as NNabla's model files describe it: losses, their data, and the solvers that minimise
// them.
//
//   nnabla::Model model = io::LoadNnabla("lenet.nnp");
//   model.parameters = io::InitialNnablaParameters(model, "lenet.nnp");
//   io::NnablaTraining training = io::ImportNnablaTraining(model, "lenet.nnp");
//   TensorList losses = training.optimizers[0].network.Call({images, labels});
//
// The program brings the data, the solvers and the loop; `firn nnp train` is such a program
// (tools/firn/nnp).

#include <cstdint>
#include <string>
#include <vector>

#include "firn/autograd/network/network.h"
#include "firn/io/nnabla_model/nnabla_model.h"
#include "firn/io/nnabla_network/nnabla_network.h"
#include "firn/tensor/state_dict.h"

namespace firn::io {

// A network, and the data for its inputs.
struct NnablaFed {
  std::string name;
  std::string network_name;
  Network network;
  // By input: the variable of a data set, or, with % in front, a number that the loop knows:
  // "%iter", "%max_iter", "%epoch", "%epochf", "%max_epoch" or "%progress".
  std::vector<std::string> data;
  std::vector<std::string> datasets;  // in which the variables are looked for, the last one first
};

// An optimizer of the file. Outputs of its network are the losses; the sum of their means is
// minimised.
struct NnablaOptimizer : NnablaFed {
  // Names in `state` of the trained parameters, sorted: those that the losses need and whose
  // learning_rate_multiplier is above 0. NNabla uses that number for nothing else.
  std::vector<std::string> parameters;
  nnabla::Solver solver;
  int64_t update_interval = 1;           // iterations whose gradients one step sums
  int64_t start_iter = 0, end_iter = 0;  // the first and the last, from 1; 0: no limit
};

// A monitor of the file. The error is the sum of the means of its network's outputs.
struct NnablaEvaluation : NnablaFed {};

struct NnablaTraining {
  nnabla::TrainingConfig config;  // with 10 in the place of a monitor_interval of 0
  std::vector<NnablaOptimizer> optimizers;
  std::vector<NnablaEvaluation> monitors;
  // The parameters of all networks, by nnabla::ParameterName, f32: copies of those of the model.
  // requires_grad is set where an optimizer moves them. Networks share these tensors.
  StateDict state;
};

// For the model's parameters; networks are made as ImportNnabla makes them. Networks that no
// optimizer or monitor uses are ignored.
//
// Throws firn::Error, naming file, optimizer or monitor, and field: what ImportNnabla throws;
// InvalidArgument for a file without training_config or optimizers, and for numbers below 0 or
// beyond 2^53 iterations in all, names of networks, data sets, variables and parameters that the
// file does not have, and data that starts with % and is none of the numbers above.
// A `{loop}` in the name of a parameter stands for each of its copies.
NnablaTraining ImportNnablaTraining(const nnabla::Model& model, const std::string& source,
                                    const NnablaImportOptions& options = {});

}  // namespace firn::io

#endif  // FIRN_IO_NNABLA_TRAINING_NNABLA_TRAINING_H_
