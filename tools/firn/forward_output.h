#ifndef FIRN_TOOLS_FIRN_FORWARD_OUTPUT_H_
#define FIRN_TOOLS_FIRN_FORWARD_OUTPUT_H_

// The output of `firn forward`.

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "firn/device/atomic_file.h"
#include "firn/io/monitors/record_writer.h"

namespace firn::cli {

// Writes a line for each sample: to a CSV file, which appears only when it is complete, or to the
// terminal, after the last sample.
class ForwardTable {
 public:
  // `path` is the file; "" writes to the terminal. Throws firn::Error, as Add and Finish do.
  ForwardTable(const std::string& path, std::vector<std::string> columns);

  // Adds a line: text and numbers, one for each column.
  void Add(const std::vector<io::RecordValue>& cells);

  // Puts the file in its place. Without one, gives the text, its first `left` columns flush left,
  // and adds "rows" to `value`.
  std::string Finish(size_t left, nlohmann::json* value);

 private:
  const std::vector<std::string> columns_;
  std::optional<firn::inner::internal::AtomicFile> file_;
  std::optional<io::CsvWriter> csv_;
  std::vector<std::vector<std::string>> lines_;
  nlohmann::json rows_ = nlohmann::json::array();
};

struct BestClass {
  size_t number = 0;
  double probability = 0;  // NaN if there is no class, since a score is NaN
};

// The class with the largest of `classes` scores, the first of several. Its probability is the
// score itself, or its Softmax.
BestClass BestOf(const double* scores, size_t classes, bool probabilities);

}  // namespace firn::cli

#endif  // FIRN_TOOLS_FIRN_FORWARD_OUTPUT_H_
