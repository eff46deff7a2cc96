#ifndef FIRN_BENCHMARKS_JSON_LINE_H_
#define FIRN_BENCHMARKS_JSON_LINE_H_

#include <map>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace firn::benchmarks {

// One flat JSON object: what a worker of compare.py is told in a line. A plain value.
class JsonLine {
 public:
  // Reads {"key": value, ...} whose values are strings, numbers, true, false or null.
  // InvalidArgument, with the place, for anything else.
  static absl::StatusOr<JsonLine> Parse(std::string_view line);

  // InvalidArgument when the key is missing or has a value of another kind.
  absl::StatusOr<std::string> Text(const std::string& key) const;
  absl::StatusOr<int64_t> Integer(const std::string& key) const;
  // `otherwise` when the key is missing.
  absl::StatusOr<std::string> TextOr(const std::string& key, const std::string& otherwise) const;
  absl::StatusOr<int64_t> IntegerOr(const std::string& key, int64_t otherwise) const;

 private:
  struct Value {
    bool is_text;
    std::string text;  // without quotes and escapes
  };
  std::map<std::string, Value> values_;
};

}  // namespace firn::benchmarks

#endif  // FIRN_BENCHMARKS_JSON_LINE_H_
