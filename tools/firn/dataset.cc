// The group of commands for data sets; dataset_*.cc are the commands.
#include "tools/firn/command.h"

namespace firn::cli {

FIRN_COMMAND_GROUP(dataset, "Makes, converts, inspects and splits data sets");

}  // namespace firn::cli
