#ifndef FIRN_IO_GRAPH_GRAPH_INFO_H_
#define FIRN_IO_GRAPH_GRAPH_INFO_H_

// What a graph's numbers mean, kept in its file for whoever has nothing but that:
//
//   io::SaveGraph("net.firn", graph, {.names = net.state_dict(),
//                                     .info = {.pixel_scale = 1.0 / 255,
//                                              .mean = {0.485, 0.456, 0.406},
//                                              .stddev = {0.229, 0.224, 0.225},
//                                              .classes = {"cat", "dog"}}});
//   const io::GraphInfo info = io::LoadGraphInfo("net.firn");   // elsewhere
//
// `firn train` writes it and `firn forward` goes by it; running a graph does not look at it.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace firn::io {

// A column of a table. A plain value.
struct GraphColumn {
  std::string name = {};  // in the table's heading; "": `place` says which one it is, from 0
  int64_t place = 0;
  // What may stand in it: it becomes as many features, 1 for the word that does, 0 for the others.
  // None: numbers, a feature.
  std::vector<std::string> words = {};
  friend bool operator==(const GraphColumn&, const GraphColumn&) = default;
};

// What the graph's first input is, [batch, channels or features, ...], and its first result,
// [batch,
// ...]. A plain value.
struct GraphInfo {
  // The graph takes (x * scale - mean) / stddev of stored numbers x. `pixel_scale` is in the place
  // of `scale` where these are u8 pixels of 0 to 255 (1.0 / 255 where the graph takes 0 to 1);
  // none: it was not made for pixels, as far as anybody knows.
  std::optional<double> pixel_scale = {};
  double scale = 1;
  // One for each channel, one for all, or none: 0 and 1.
  std::vector<double> mean = {}, stddev = {};

  // For tables: the columns that make the features, in this order, and the one that the results are
  // of. None: the input is no table.
  std::vector<GraphColumn> columns = {};
  std::optional<GraphColumn> target = {};
  // What cells that hold nothing become, NaN where the graph knows what to do with it; none: they
  // are errors. `missing_words` is as in CsvOptions; none: as it is there.
  std::optional<double> missing = {};
  std::vector<std::string> missing_words = {};

  // Names of dimension 1 of the first result, which are different; none: it is no classes' scores.
  std::vector<std::string> classes = {};
  // The result has the classes' probabilities; otherwise their scores, of which Softmax makes
  // these.
  bool probabilities = false;

  friend bool operator==(const GraphInfo&, const GraphInfo&) = default;
};

}  // namespace firn::io

#endif  // FIRN_IO_GRAPH_GRAPH_INFO_H_
