#include "firn/nn/zoo/option_rows.h"

#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"

namespace firn::zoo {

void ExpectWholeRows(const char* name, size_t numbers, size_t columns) {
  if (numbers % columns == 0) return;
  RaiseStatus(InvalidArgument("expected rows of ", columns, " numbers, got ", numbers, " numbers"),
              name);
}

void ExpectNumbers(const char* name, size_t numbers, size_t wanted) {
  if (numbers == wanted) return;
  RaiseStatus(InvalidArgument("expected ", wanted, " numbers, got ", numbers), name);
}

}  // namespace firn::zoo
