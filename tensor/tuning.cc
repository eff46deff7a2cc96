// A flag of the thread.

#include "firn/tensor/tuning.h"

#include <utility>

namespace firn {
namespace {

thread_local bool tuning_wanted = false;

}  // namespace

TuningScope::TuningScope(inner::Flag wanted) : outer_(std::exchange(tuning_wanted, wanted)) {}
TuningScope::~TuningScope() { tuning_wanted = outer_; }
bool TuningScope::Wanted() { return tuning_wanted; }

}  // namespace firn
