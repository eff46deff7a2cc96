#ifndef FIRN_IO_GRAPH_GRAPH_INFO_TEXT_H_
#define FIRN_IO_GRAPH_GRAPH_INFO_TEXT_H_

// GraphInfo as text, for files of other formats that can keep a program's own texts: ONNX's
// metadata_props have it under kGraphInfoKey. The text is an object of JSON with the fields of
// GraphInfo under their names, without those that are not set; the NaN of `missing` is "nan".
// TryParseGraphInfo (graph_file_status.h) reads it.

#include <string>
#include <vector>

#include "firn/io/graph/graph_info.h"

namespace firn::io {

inline constexpr char kGraphInfoKey[] = "firn.graph_info";

// Throws firn::Error, InvalidArgument, for words that are no UTF-8, which JSON cannot hold.
std::string GraphInfoText(const GraphInfo& info);

// The names of the fields that are set: "mean", "classes".
std::vector<std::string> GraphInfoFields(const GraphInfo& info);

}  // namespace firn::io

#endif  // FIRN_IO_GRAPH_GRAPH_INFO_TEXT_H_
