#ifndef FIRN_NN_ZOO_ZOO_H_
#define FIRN_NN_ZOO_ZOO_H_

// Published networks by name. Parameters have the names and shapes of torchvision's or
// transformers' network of that name where these have it, so that a file of its weights loads
// without a map:
//
//   std::unique_ptr<nn::Layer> net = zoo::Make("resnet50");
//   std::cout << net->LoadStateDict(io::Load("resnet50.safetensors"));
//   Tensor scores = (*net)(images);   // [n, 1000]
//
// A program that uses this header links every network; one that includes a network's own
// (nn/zoo/resnet.h) links that one.

#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "firn/nn/layer.h"
#include "firn/nn/zoo/network.h"

namespace firn::zoo {

// A network that takes one tensor and returns one. Throws for an unknown name, with the nearest
// ones, and for a network with several inputs, which MakeModule makes.
std::unique_ptr<nn::Layer> Make(const std::string& name, const Options& options = {});
// Any network of the zoo.
std::unique_ptr<nn::Module> MakeModule(const std::string& name, const Options& options = {});

// All names, sorted.
std::vector<std::string> Names();
// Throws for a name that does not exist, with the nearest ones.
const Network& Find(const std::string& name);

// Calls a network of the zoo with a tensor for each of its inputs. Throws for another number.
Tensor Call(nn::Module& network, absl::Span<const Tensor> inputs);

// The names of a set's classes in the order of a network's scores: "imagenet" (1000), "coco" (80),
// "voc" (20); with the background as class 0 "coco_91", which has torchvision's "N/A" for numbers
// that COCO skips, and "voc_21". Throws for another set.
const std::vector<std::string>& ClassNames(const std::string& set);

}  // namespace firn::zoo

#endif  // FIRN_NN_ZOO_ZOO_H_
