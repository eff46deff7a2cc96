// The errors of the templates, so that their header needs none of what makes a message.

#include "firn/nn/module_list.h"

#include <string>
#include <vector>

#include "firn/device/edit_distance.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"

namespace firn::nn::internal {

void RaiseNoElement(const Module& list, size_t i) {
  RaiseStatus(OutOfRange(list.path(), " has no element ", i, ", only ", list.num_children()),
              "ModuleList");
}

void RaiseNoElement(const Module& dict, const std::string& key) {
  std::vector<std::string> names;
  for (size_t i = 0; i < dict.num_children(); ++i) names.push_back(dict.child(i).name());
  RaiseStatus(
      NotFound(dict.path(), " has no element ", key, inner::internal::InsteadOf(key, names)),
      "ModuleDict");
}

}  // namespace firn::nn::internal
