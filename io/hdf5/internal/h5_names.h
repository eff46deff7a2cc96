#ifndef FIRN_IO_HDF5_INTERNAL_H5_NAMES_H_
#define FIRN_IO_HDF5_INTERNAL_H5_NAMES_H_

#include <string>
#include <string_view>

#include "firn/tensor/state_dict.h"

namespace firn::io::internal {

// Where a state dict's entry `name` lies in an HDF5 file: "layer1.conv1.weight" at
// "layer1/conv1/weight". Every name has a path of its own, and H5Name gives the name back.
// Requires: state.Contains(name).
std::string H5Path(const StateDict& state, std::string_view name);

// The name of the dataset at a path without a leading slash.
std::string H5Name(std::string_view path);

}  // namespace firn::io::internal

#endif  // FIRN_IO_HDF5_INTERNAL_H5_NAMES_H_
