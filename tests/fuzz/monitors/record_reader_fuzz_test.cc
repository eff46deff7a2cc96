// Damaged CSV files and JSON lines give a table, or an error that names the file.
#include <string>

#include "gtest/gtest.h"
#include "io/monitors/record_reader_status.h"
#include "tests/fuzz/mutations.h"

namespace firn::io {
namespace {

void Fuzz(const std::string& whole, const std::string& name) {
  ASSERT_TRUE(ParseRecords(whole, name).ok());
  int64_t errors = 0;
  testing::FuzzText(whole, 20000, [&](const std::string& damaged) {
    const absl::StatusOr<Records> records = ParseRecords(damaged, name);
    if (!records.ok()) {
      ++errors;
      EXPECT_TRUE(std::string(records.status().message()).starts_with(name));
      return;
    }
    for (const auto& row : records->rows) EXPECT_EQ(row.size(), records->columns.size());
    EXPECT_LE(SeriesOf(*records).size(), records->columns.size());
  });
  EXPECT_GT(errors, 1000);
}

TEST(RecordReaderFuzzTest, CsvNeverCrashes) {
  Fuzz("step,loss,\"a \"\"note\"\"\"\n1,0.5,\"x, y\"\n2,nan,\"two\nlines\"\n3,-inf,\n4,true,z\n",
       "f.csv");
}

TEST(RecordReaderFuzzTest, JsonLinesNeverCrash) {
  Fuzz(
      "{\"step\": 1, \"loss\": 0.5, \"note\": \"\\u00e4\\ud83d\\ude00\\n\"}\n"
      "{\"step\": 2, \"loss\": \"NaN\", \"ok\": true, \"none\": null}\n{}\n{\"step\": -3e5}\n",
      "f.jsonl");
}

}  // namespace
}  // namespace firn::io
