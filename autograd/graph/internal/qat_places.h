#ifndef FIRN_AUTOGRAD_GRAPH_INTERNAL_QAT_PLACES_H_
#define FIRN_AUTOGRAD_GRAPH_INTERNAL_QAT_PLACES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "firn/autograd/graph/graph.h"
#include "firn/autograd/graph/qat.h"
#include "firn/tensor/tensor.h"

namespace firn::inner::internal {

// An argument of an operation, or its result.
struct QatPlace {
  size_t at = 0;
  std::optional<size_t> input = {};  // nothing: result 0
  bool weight = false;
  int64_t channels = 0;  // of ranges; 0: one for all
  std::string name;      // "net.conv1.input"
};

// The places that options name, in the order of operations. The same graph always gives the same
// places and names. Errors: those of RecordRanges (qat.h).
absl::StatusOr<std::vector<QatPlace>> QatPlacesOf(const Graph& graph, const QatOptions& options);

using PlaceChange = absl::FunctionRef<Tensor(const QatPlace& place, const Tensor& x)>;

// Makes operations read (or give) the value that `change` returns for the place. Errors: those of
// ReplaceOperation.
absl::Status ChangeAtPlaces(Graph& graph, absl::Span<const QatPlace> places, PlaceChange change);

}  // namespace firn::inner::internal

#endif  // FIRN_AUTOGRAD_GRAPH_INTERNAL_QAT_PLACES_H_
