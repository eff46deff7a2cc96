#include "tests/nn/zoo/reference.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string_view>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "benchmarks/hash_values.h"
#include "firn/device/status_macros.h"
#include "firn/nn/zoo/zoo.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/pending.h"

namespace firn::testing {
namespace {

constexpr uint64_t kInputs = 1000, kLabels = 2000;
constexpr const char* kFolder = "tests/nn/zoo/references";

uint64_t Fnv1a(const std::string& text) {
  uint64_t value = 0xCBF29CE484222325;
  for (const char c : text) value = (value ^ static_cast<uint8_t>(c)) * 0x100000001B3;
  return value;
}

template <class T>
std::vector<T> Rest(std::istream& in) {
  std::vector<T> all;
  for (T value; in >> value;) all.push_back(value);
  return all;
}

Tensor ValueOf(const std::string& name, const Shape& shape) {
  const uint64_t salt = Fnv1a(name) % (uint64_t{1} << 32);
  const auto is = [&](const char* last) {
    return name == last || absl::EndsWith(name, absl::StrCat(".", last));
  };
  if (is("running_var")) return benchmarks::HashValues(shape, salt, 1) + 1;
  if (shape.rank() < 2) {
    return is("weight") ? benchmarks::HashValues(shape, salt, 0.4) + 1
                        : benchmarks::HashValues(shape, salt, 0.2);
  }
  const double fan = static_cast<double>(shape.num_elements()) / static_cast<double>(shape[0]);
  return benchmarks::HashValues(shape, salt, 2 * std::sqrt(6 / fan));
}

}  // namespace

std::vector<std::string> ZooReferences() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

ZooReference ReadZooReference(const std::string& name) {
  std::ifstream file(absl::StrCat(kFolder, "/", name, ".txt"));
  ZooReference r;
  for (std::string line, key; std::getline(file, line);) {
    std::istringstream in(line);
    in >> key;
    if (key == "input") {
      r.inputs.push_back({.shape = Rest<int64_t>(in)});
      in.clear();
      char colon = 0;
      in >> colon >> r.inputs.back().count;
    } else if (key == "parameters") {
      in >> r.parameters;
    } else if (key == "names") {
      std::getline(in >> std::ws, r.names);
    } else if (key == "shape") {
      r.shape = Rest<int64_t>(in);
    } else if (key == "largest") {
      in >> r.largest;
    } else if (key == "single") {
      in >> r.single;
    } else if (key == "values") {
      size_t count = 0;
      in >> count;
      r.values = Rest<double>(in);
      if (count != r.values.size()) r.values.clear();
    } else if (key == "losses") {
      r.losses = Rest<double>(in);
    } else if (key == "other") {
      std::string part;
      size_t count = 0;
      ZooReference::Other other;
      in >> part >> other.largest >> count;
      other.values = Rest<double>(in);
      if (count != other.values.size()) other.values.clear();
      r.others[part] = other;
    }
  }
  if (r.inputs.empty() || r.values.empty() || r.losses.size() != 2) {
    RaiseStatus(InvalidArgument("there is no reference of ", name), "ReadZooReference");
  }
  return r;
}

std::vector<std::string> ChosenNetworks() {
  const char* const asked = std::getenv("FIRN_ZOO");
  if (asked != nullptr && std::string_view(asked) == "all") return zoo::Names();
  if (asked != nullptr) return absl::StrSplit(asked, ',');
  std::map<std::string, const zoo::Network*> smallest;
  for (const std::string& name : zoo::Names()) {
    const zoo::Network& network = zoo::Find(name);
    const zoo::Network*& known = smallest[network.family];
    if (known == nullptr || network.parameters < known->parameters) known = &network;
  }
  std::vector<std::string> names;
  for (const auto& [family, network] : smallest) names.push_back(network->name);
  return names;
}

std::unique_ptr<nn::Module> MakeFromZoo(const std::string& name, const zoo::Options& options) {
  std::unique_ptr<nn::Module> net = zoo::MakeModule(name, options);
  const std::vector<Tensor> parameters = net->parameters();
  if (std::any_of(parameters.begin(), parameters.end(), IsPending)) {
    const NoGradScope no_grad;
    net->Eval();
    zoo::Call(*net, InputsOf(ReadZooReference(name)));
    net->Train();
  }
  return net;
}

void FillByNames(nn::Module& net, double norms) {
  StateDict filled;
  for (const auto& [name, tensor] : net.state_dict()) {
    if (!IsFloating(tensor.dtype())) {
      filled.Set(name, tensor);
      continue;
    }
    const Tensor value = ValueOf(name, tensor.shape());
    const bool of_norm = tensor.rank() == 1 && absl::EndsWith(name, ".weight");
    filled.Set(name, of_norm && norms != 1 ? value * norms : value);
  }
  static_cast<void>(net.LoadStateDict(filled));
}

// PyTorch's f32 is then within 4e-6 of its f64, relative to the largest, and two images' results
// are more than 0.01 of it apart. Smaller factors would leave no difference between images.
double NormsForSingle(const std::string& network) {
  const std::map<std::string, double> factors = {{"efficientnet_b6", 0.95},
                                                 {"efficientnet_b7", 0.95},
                                                 {"efficientnet_v2_m", 0.8},
                                                 {"regnet_y_1_6gf", 0.7},
                                                 {"senet154", 0.8}};
  const auto found = factors.find(network);
  return found == factors.end() ? 1 : found->second;
}

std::string NamesOf(const nn::Module& net) {
  std::vector<std::string> rows;
  for (const auto& [name, tensor] : net.state_dict()) {
    rows.push_back(absl::StrCat(name, " ", tensor.shape().ToString(), "\n"));
  }
  std::sort(rows.begin(), rows.end());
  return absl::StrCat(rows.size(), " ",
                      absl::Hex(Fnv1a(absl::StrJoin(rows, "")), absl::kZeroPad16));
}

std::vector<Tensor> InputsOf(const ZooReference& reference) {
  std::vector<Tensor> inputs;
  uint64_t salt = kInputs;
  for (const ZooReference::Input& i : reference.inputs) {
    inputs.push_back(
        i.count > 0 ? benchmarks::HashLabels(Shape(i.shape), salt, static_cast<uint64_t>(i.count))
                    : benchmarks::HashValues(Shape(i.shape), salt, 2));
    ++salt;
  }
  return inputs;
}

std::vector<double> Spread(const Tensor& y, size_t count) {
  const std::vector<double> all = y.Flatten().To(DType::kF64).ToVector<double>();
  std::vector<double> some;
  for (size_t i = 0; i < count; ++i) {
    some.push_back(all[count == 1 ? 0 : i * (all.size() - 1) / (count - 1)]);
  }
  return some;
}

Tensor ZooLoss(const Tensor& y) {
  if (y.shape().rank() != 2) return Mean(y * y);
  return CrossEntropy(
      y, benchmarks::HashLabels({y.size(0)}, kLabels, static_cast<uint64_t>(y.size(1))));
}

}  // namespace firn::testing
