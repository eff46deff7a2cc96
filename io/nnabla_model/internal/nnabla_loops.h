#ifndef FIRN_IO_NNABLA_MODEL_INTERNAL_NNABLA_LOOPS_H_
#define FIRN_IO_NNABLA_MODEL_INTERNAL_NNABLA_LOOPS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "firn/io/nnabla_model/nnabla_expand.h"

namespace firn::io::internal {

// Where something stands, in messages.
std::string NnablaPlace(const nnabla::Network& network);
std::string NnablaPlace(const nnabla::Network& network, const nnabla::Variable& variable);
std::string NnablaPlace(const nnabla::Network& network, size_t function);

// The loops of a network.
class NnablaLoops {
 public:
  using Index = std::vector<int64_t>;  // of a copy, for each loop of its list

  explicit NnablaLoops(const nnabla::Network& network) : network_(network) {}

  // Checks that every named loop is described, that its functions and variables fit it, and that
  // copies stay within the limits. To be called first.
  absl::Status Check(const nnabla::ExpandOptions& options);

  int64_t Times(const std::string& loop) const { return times_.at(loop); }
  // The next index, the last loop's counting fastest; false after the last.
  bool Advance(const std::vector<std::string>& loops, Index* index) const;
  // The suffix of names for a step of a loop: "_loop[2]".
  static std::string Step(std::string_view loop, int64_t i);

 private:
  absl::Status CheckLoops(const nnabla::ExpandOptions& options);
  absl::Status CheckId(const std::string& id, const std::string& at, const char* field) const;
  absl::Status CountCopies(const nnabla::ExpandOptions& options,
                           const std::vector<std::string>& loops, size_t bytes,
                           const std::string& at);
  absl::Status CheckFunction(size_t i) const;
  absl::Status CheckSteps(size_t i) const;

  const nnabla::Network& network_;
  absl::flat_hash_map<std::string, int64_t> times_;
  absl::flat_hash_map<std::string, const nnabla::Variable*> variables_;
  int64_t copies_ = 0, bytes_ = 0;
};

}  // namespace firn::io::internal

#endif  // FIRN_IO_NNABLA_MODEL_INTERNAL_NNABLA_LOOPS_H_
