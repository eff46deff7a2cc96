#ifndef FIRN_IO_NNABLA_NETWORK_INTERNAL_NNABLA_EXPORT_GRAPH_H_
#define FIRN_IO_NNABLA_NETWORK_INTERNAL_NNABLA_EXPORT_GRAPH_H_

#include "absl/status/statusor.h"
#include "firn/autograd/graph/graph.h"
#include "firn/io/nnabla_model/nnabla_model.h"
#include "firn/io/nnabla_network/nnabla_export.h"

namespace firn::io::internal {

struct ExportedNnabla {
  nnabla::Model model;
  NnablaExportReport report;
};

// The model that TryExportNnabla writes.
absl::StatusOr<ExportedNnabla> NnablaModelOf(const Graph& graph,
                                             const NnablaExportOptions& options);

}  // namespace firn::io::internal

#endif  // FIRN_IO_NNABLA_NETWORK_INTERNAL_NNABLA_EXPORT_GRAPH_H_
