#ifndef FIRN_IO_NNABLA_NETWORK_NNABLA_EXPORT_STATUS_H_
#define FIRN_IO_NNABLA_NETWORK_NNABLA_EXPORT_STATUS_H_

#include <string>

#include "absl/status/statusor.h"
#include "firn/io/nnabla_network/nnabla_export.h"

namespace firn::io {

// ExportNnabla with a status.
absl::StatusOr<NnablaExportReport> TryExportNnabla(const std::string& path,
                                                   const inner::Graph& graph,
                                                   const NnablaExportOptions& options = {});
absl::StatusOr<NnablaExportReport> TryExportNnabla(const std::string& path,
                                                   const StaticGraph& graph,
                                                   const NnablaExportOptions& options = {});

}  // namespace firn::io

#endif  // FIRN_IO_NNABLA_NETWORK_NNABLA_EXPORT_STATUS_H_
