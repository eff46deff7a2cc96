#include "firn/io/nnabla_network/nnabla_export.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/io/nnabla_model/nnabla_file_status.h"
#include "firn/io/nnabla_network/internal/nnabla_export_graph.h"
#include "firn/io/nnabla_network/nnabla_export_status.h"
#include "firn/io/value_or_raise.h"

namespace firn::io {
namespace {

absl::StatusOr<NnablaExportReport> Export(const std::string& path, const Graph& graph,
                                          const NnablaExportOptions& options) {
  FIRN_ASSIGN_OR_RETURN(internal::ExportedNnabla exported, internal::NnablaModelOf(graph, options));
  FIRN_RETURN_IF_ERROR(absl::EndsWithIgnoreCase(path, ".nnb")
                           ? TrySaveNnb(path, exported.model)
                           : TrySaveNnabla(path, exported.model));
  return std::move(exported.report);
}

}  // namespace

absl::StatusOr<NnablaExportReport> TryExportNnabla(const std::string& path,
                                                   const inner::Graph& graph,
                                                   const NnablaExportOptions& options) {
  absl::StatusOr<NnablaExportReport> report = Export(path, graph, options);
  if (report.ok()) return report;
  return absl::Status(report.status().code(),
                      absl::StrCat("export ", path, ": ", std::string(report.status().message())));
}

absl::StatusOr<NnablaExportReport> TryExportNnabla(const std::string& path,
                                                   const StaticGraph& graph,
                                                   const NnablaExportOptions& options) {
  return TryExportNnabla(path, graph.captured(), options);
}

NnablaExportReport ExportNnabla(const std::string& path, const inner::Graph& graph,
                                const NnablaExportOptions& options) {
  return ValueOrRaise(TryExportNnabla(path, graph, options), "");
}

NnablaExportReport ExportNnabla(const std::string& path, const StaticGraph& graph,
                                const NnablaExportOptions& options) {
  return ValueOrRaise(TryExportNnabla(path, graph, options), "");
}

}  // namespace firn::io
