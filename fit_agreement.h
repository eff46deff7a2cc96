#ifndef FIRN_FIT_AGREEMENT_H_
#define FIRN_FIT_AGREEMENT_H_

// What several ranks compare before they train or evaluate together. Ranks that differ would wait
// for each other until a timeout, or train different networks without a word.

#include <string>

#include "absl/status/status.h"
#include "firn/fit.h"

namespace firn::inner::internal {

// A line for all that decides which samples a loader gives and in how many batches, but the rank.
std::string DescribeLoader(const std::string& what, const io::DataLoader& loader);

// CheckedOptions of fit.h which, with `ranks`, also throws on all of them, so that they can go on:
// FailedPrecondition where options, optimizers or loaders differ, naming both sides; Unimplemented
// for a frozen step whose last batch ranks do not share evenly, since the mean over ranks would not
// be that over samples, and a captured step cannot weigh them (DataParallel::SetWeight). What
// functions do is not compared: losses, schedules, orders.
FitOptions CheckedOptions(FitOptions options, nn::Module& net, const io::DataLoader& train,
                          const optim::Optimizer& optimizer);

// Throws an error that all these ranks throw, so that TellRanks leaves the communicator as it is.
[[noreturn]] void RaiseOnAll(const absl::Status& status, const comm::Communicator* ranks);

}  // namespace firn::inner::internal

#endif  // FIRN_FIT_AGREEMENT_H_
