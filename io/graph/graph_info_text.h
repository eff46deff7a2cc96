#ifndef FIRN_IO_GRAPH_GRAPH_INFO_TEXT_H_
#define FIRN_IO_GRAPH_GRAPH_INFO_TEXT_H_

// GraphInfo as text, for files of other formats that can keep a program's own texts: ONNX's
// metadata_props have it under kGraphInfoKey. The text is an object of JSON with the fields of
// GraphInfo under their names, without those that are not set; the NaN of `missing` is "nan".

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "firn/autograd/graph/graph.h"
#include "firn/io/graph/graph_info.h"
#include "firn/io/load_limits.h"

namespace firn::io {

inline constexpr char kGraphInfoKey[] = "firn.graph_info";

// Throws firn::Error, InvalidArgument, for words that are no UTF-8, which JSON cannot hold.
std::string GraphInfoText(const GraphInfo& info);

// The info in such a text, which must fit `graph` as for SaveGraph. DataLoss for another text,
// naming the field, what was expected and what came; ResourceExhausted beyond the limits (names,
// max_tensors words, columns or numbers); InvalidArgument for what does not fit.
absl::StatusOr<GraphInfo> TryParseGraphInfo(std::string_view text, const inner::Graph& graph,
                                            const LoadLimits& limits = {});

// The names of the fields that are set: "mean", "classes".
std::vector<std::string> GraphInfoFields(const GraphInfo& info);

}  // namespace firn::io

#endif  // FIRN_IO_GRAPH_GRAPH_INFO_TEXT_H_
