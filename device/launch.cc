// Each launcher has a pair of variables; the first pair that is whole and makes sense counts.
#include "firn/device/launch.h"

#include <cstdlib>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "firn/device/environment.h"
#include "firn/device/status_macros.h"

namespace firn::env {
namespace {

struct Names {
  const char *rank, *size;
  bool both;  // whether the launcher sets the size wherever it sets the rank
};
constexpr Names kLaunchers[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", true},
                                {"PMI_RANK", "PMI_SIZE", true},
                                {"PMIX_RANK", "SLURM_NTASKS", false},
                                {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", false}};

// A variable's value; -1: it is no number from `least` on.
struct Value {
  Value(const char* name, int least) {
    const char* const value = std::getenv(name);
    is_set = value != nullptr && *value != '\0';
    if (!is_set) return;
    said = std::string(name) + " is \"" + absl::CHexEscape(value) + "\"";
    if (!absl::SimpleAtoi(value, &number) || number < least) number = -1;
  }
  bool is_set = false;
  int number = -1;
  std::string said = {};
};

}  // namespace

Launched LaunchedAs() {
  for (const Names& names : kLaunchers) {
    const Value rank(names.rank, 0), size(names.size, 1);
    if (rank.number < 0 || rank.number >= size.number) continue;
    return {.rank = rank.number,
            .size = size.number,
            .by_mpich = &names == &kLaunchers[1],
            .without_mpi = &names == &kLaunchers[3] && std::getenv("PMIX_RANK") == nullptr};
  }
  return {};
}

absl::Status CheckLaunch() {
  for (const Names& names : kLaunchers) {
    const Value rank(names.rank, 0), size(names.size, 1);
    FIRN_RETURN_IF(rank.is_set && rank.number < 0,
                   FailedPrecondition(rank.said, " (want the rank of this process, from 0 on)"));
    FIRN_RETURN_IF(size.is_set && size.number < 0,
                   FailedPrecondition(size.said, " (want the number of processes, from 1 on)"));
    FIRN_RETURN_IF(rank.is_set && size.is_set && rank.number >= size.number,
                   FailedPrecondition(rank.said, ", but ", size.said,
                                      " (want a rank below the number of processes)"));
    FIRN_RETURN_IF(names.both && rank.is_set && !size.is_set,
                   FailedPrecondition(rank.said, ", but ", names.size,
                                      " is not set (want the number of processes)"));
    if (rank.is_set && size.is_set) break;  // what LaunchedAs() takes
  }
  return absl::OkStatus();
}

}  // namespace firn::env
