#ifndef FIRN_TESTS_NN_ZOO_REFERENCE_H_
#define FIRN_TESTS_NN_ZOO_REFERENCE_H_

// PyTorch's results of a network of the zoo (make_references.py), and how the networks of both are
// filled.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "firn/nn/module.h"
#include "firn/nn/zoo/network.h"
#include "firn/tensor/tensor.h"

namespace firn::testing {

struct ZooReference {
  struct Input {
    std::vector<int64_t> shape;  // with its batch
    int64_t count = 0;           // i64 indices below it; 0: numbers
  };
  std::vector<Input> inputs;
  int64_t parameters = 0;
  std::string names;           // how many, and a digest
  std::vector<int64_t> shape;  // of the result
  double largest = 0;          // of its absolute values
  // The distance of PyTorch's own result in f32, relative to the largest element; 0 if it is
  // negligible.
  double single = 0;
  std::vector<double> values;  // some of the result, evenly spread
  std::vector<double> losses;  // before and after a step of SGD
  // The results of a method of the network other than its call.
  struct Other {
    double largest = 0;
    std::vector<double> values;
  };
  std::map<std::string, Other> others;
};
inline constexpr double kZooRate = 0.01;  // of that step

// The names of the files in references/.
std::vector<std::string> ZooReferences();
// Throws if the file is no reference.
ZooReference ReadZooReference(const std::string& name);

// The networks that tests try.
//
// FIRN_ZOO: names of networks with commas between them, or "all"; the smallest of each family when
// unset.
std::vector<std::string> ChosenNetworks();
// A network of the zoo with the sizes that are left to the first input.
std::unique_ptr<nn::Module> MakeFromZoo(const std::string& name, const zoo::Options& options = {});

// Fills parameters and buffers by their names. Weights of norms are multiplied by `norms`; those of
// the references are not.
void FillByNames(nn::Module& net, double norms = 1);
// Such a factor with which f32 keeps enough digits to compare two computations of the network with
// each other: in deep networks each block enlarges its input a little, and rounding errors with it.
// 1 for most.
double NormsForSingle(const std::string& network);
// The names in the form of ZooReference::names.
std::string NamesOf(const nn::Module& net);
std::vector<Tensor> InputsOf(const ZooReference& reference);
// `count` values of y, evenly spread like those of references.
std::vector<double> Spread(const Tensor& y, size_t count);
// The loss of a result.
Tensor ZooLoss(const Tensor& y);

}  // namespace firn::testing

#endif  // FIRN_TESTS_NN_ZOO_REFERENCE_H_
