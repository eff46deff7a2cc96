// For csv_python_test.py: csv_values FILE... prints a line for each file: the table as LoadCsv
// reads it in f64, the words of its first column, and the rows that CsvRows counts, each of them
// null if Firn refuses it.
#include <cmath>
#include <iostream>
#include <string>

#include "absl/strings/str_format.h"
#include "firn/device/escape.h"
#include "firn/io/csv/csv.h"
#include "firn/io/data/csv_rows.h"
#include "firn/tensor/error.h"

namespace {

std::string Table(const std::string& path) {
  try {
    const firn::Tensor t = firn::io::LoadCsv(path, {.dtype = firn::DType::kF64,
                                                    .missing = firn::io::CsvMissing::kValue,
                                                    .missing_words = {""}});
    std::string values;
    for (const double v : t.ToVector<double>()) {
      if (!values.empty()) values += ",";
      values += std::isnan(v) ? "null" : std::isinf(v) ? "1e999" : absl::StrFormat("%.17g", v);
    }
    return absl::StrFormat("{\"shape\":[%d,%d],\"values\":[%s]}", t.size(0), t.size(1), values);
  } catch (const firn::Error&) {
    return "null";
  }
}

std::string Words(const std::string& path) {
  try {
    std::string words;
    for (const std::string& word : firn::io::LoadCsvWords(path, 0, {.missing_words = {}})) {
      if (!words.empty()) words += ",";
      words += firn::inner::internal::JsonString(word);
    }
    return "[" + words + "]";
  } catch (const firn::Error&) {
    return "null";
  }
}

std::string Rows(const std::string& path) {
  try {
    return std::to_string(firn::io::CsvRows(path)->size());
  } catch (const firn::Error&) {
    return "null";
  }
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    std::cout << "{\"table\":" << Table(argv[i]) << ",\"words\":" << Words(argv[i])
              << ",\"rows\":" << Rows(argv[i]) << "}\n";
  }
  return 0;
}
