// The errors of the template, so that its header needs none of what makes a message.

#include "tensor/state_dict.h"

#include "device/status_macros.h"
#include "tensor/error.h"

namespace firn::inner::internal {

void RaiseNoEntry(std::string_view name) {
  RaiseStatus(NotFound("no entry named ", name), "look-up");
}

void RaiseNameTaken(std::string_view name) {
  RaiseStatus(InvalidArgument("there is an entry named ", name, " already"), "insert");
}

}  // namespace firn::inner::internal
