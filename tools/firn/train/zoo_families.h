#ifndef FIRN_TOOLS_FIRN_TRAIN_ZOO_FAMILIES_H_
#define FIRN_TOOLS_FIRN_TRAIN_ZOO_FAMILIES_H_

// What firn train knows of the families of nn/zoo that do not classify images: how their options
// follow from the configuration and the data, or why it cannot train them.

#include <string>

#include "tools/firn/train/config.h"
#include "tools/firn/train/models.h"

namespace firn::cli {

struct ZooFamily {
  const char* name;  // zoo::Network::family
  // The model of a network of the family by its name. The family's own options are keys of the
  // configuration, apart from those that the data decide. It is null if firn train cannot train it.
  Model (*read)(const Config& config, const std::string& name);
  const char* why_not;  // and what to do instead
};

// The row of a family, or null if it has none.
const ZooFamily* FindZooFamily(const std::string& family);

}  // namespace firn::cli

#endif  // FIRN_TOOLS_FIRN_TRAIN_ZOO_FAMILIES_H_
