#ifndef FIRN_IO_GRAPH_GRAPH_INFO_H_
#define FIRN_IO_GRAPH_GRAPH_INFO_H_

// The meaning of a graph's numbers, kept in its file for programs that have nothing else:
//
//   io::SaveGraph("net.firn", graph, {.names = net.state_dict(),
//                                     .info = {.pixel_scale = 1.0 / 255,
//                                              .mean = {0.485, 0.456, 0.406},
//                                              .stddev = {0.229, 0.224, 0.225},
//                                              .classes = {"cat", "dog"}}});
//   const io::GraphInfo info = io::LoadGraphInfo("net.firn");   // elsewhere
//
// `firn train` writes it and `firn forward` uses it; running a graph ignores it.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace firn::io {

// A column of a table. A plain value.
struct GraphColumn {
  std::string name = {};  // in the table's heading; "": `place` says which one it is, from 0
  int64_t place = 0;
  // The words that may stand in it. The column becomes a feature for each: 1 for the cell's word, 0
  // for the others. Empty: the column holds numbers and is one feature.
  std::vector<std::string> words = {};
  friend bool operator==(const GraphColumn&, const GraphColumn&) = default;
};

// The meaning of the graph's first input, [batch, channels or features, ...], and of its first
// result, [batch, ...]. A plain value.
struct GraphInfo {
  // The graph takes (x * scale - mean) / stddev of stored numbers x. `pixel_scale` takes the place
  // of `scale` if these are u8 pixels of 0 to 255 (1.0 / 255 if the graph takes 0 to 1). Unset: the
  // graph is not known to be for pixels.
  std::optional<double> pixel_scale = {};
  double scale = 1;
  // One for each channel, or one for all; empty: mean 0 and stddev 1.
  std::vector<double> mean = {}, stddev = {};

  // For tables: the columns that make the features, in this order, and the one that the results are
  // of. Empty: the input is no table.
  std::vector<GraphColumn> columns = {};
  std::optional<GraphColumn> target = {};
  // The number for missing cells, NaN if the graph handles it; unset: they are errors.
  // `missing_words` is as in CsvOptions; unset: its default there.
  std::optional<double> missing = {};
  std::vector<std::string> missing_words = {};

  // Names for dimension 1 of the first result, all different; empty: the result is not scores of
  // classes.
  std::vector<std::string> classes = {};
  // The result has the classes' probabilities; otherwise their scores, of which Softmax makes
  // these.
  bool probabilities = false;

  friend bool operator==(const GraphInfo&, const GraphInfo&) = default;
};

}  // namespace firn::io

#endif  // FIRN_IO_GRAPH_GRAPH_INFO_H_
