#ifndef FIRN_NN_ZOO_LOAD_BY_ORDER_H_
#define FIRN_NN_ZOO_LOAD_BY_ORDER_H_

// Parameters from a file in which they have other names, such as NNabla's:
//
//   std::unique_ptr<nn::Layer> net = zoo::Make("resnet18");
//   io::NnablaImport file = io::ImportNnabla("resnet18.nnp", {.batch_size = 1});
//   zoo::LoadByOrder(*net, file.executors[0].network, Zeros({1, 3, 224, 224}));

#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "firn/autograd/network/network.h"
#include "firn/nn/layer.h"
#include "firn/tensor/tensor.h"

namespace firn::zoo {

// What was loaded: a parameter's name in the file, and in the module.
using LoadedByOrder = std::vector<std::pair<std::string, std::string>>;

// Copies the parameters and buffers of `file` into `net`, whatever their names: those are paired
// that the two networks use at the same step. Both run on `inputs`, as in evaluation mode; the
// first input is the module's, the others (labels, where the file's network has a loss) are the
// file's alone. Then the operations that have parameters are compared, in the order in which they
// run. These are compared:
// - the operation, and how its arguments are made of parameters;
// - the shapes of these, as the operation reads them, so affine weights [in, out] fit [out, in].
//   Where ranks differ, sizes of 1 are left out, so [1, c, 1, 1] fits [c];
// - its stride, padding, dilation, groups and eps, and constants of one element among its arguments
//   (a batch norm's eps is one), in f32;
// - the shape of the result;
// - what data it reads: results of which earlier ones, through which operations without parameters,
//   in which order of operands. The operands of one sum or product of data may be swapped. Those
//   that only move or convert elements (reshape, transpose, cast) are left out;
// - the networks' results, in the same way. The file's may be the softmax of the module's; where
//   there are further inputs, the module's result must be a value that the file computes.
// Networks that compute the same by other operations are refused.
//
// These are not compared: other attributes (such as dims), any of operations without parameters
// (such as the windows of a pooling), how elements are moved, larger constants. Where they matter,
// compare the results of both networks.
// Integer buffers, such as counts of batches, keep their values.
//
// Throws firn::Error; then nothing has changed, except that layers may have learned the sizes of
// their inputs. InvalidArgument: at the first difference, with what both have there and the names;
// parameters that one of both does not use, all of them; parameters of which it reads a part. What
// the two networks throw for inputs that do not fit, and what ToEvaluation says. ResourceExhausted:
// an argument that is made of parameters by a formula of more than 100,000 characters.
LoadedByOrder LoadByOrder(nn::Layer& net, const firn::Network& file,
                          absl::Span<const Tensor> inputs);
LoadedByOrder LoadByOrder(nn::Layer& net, const firn::Network& file, const Tensor& input);

}  // namespace firn::zoo

#endif  // FIRN_NN_ZOO_LOAD_BY_ORDER_H_
