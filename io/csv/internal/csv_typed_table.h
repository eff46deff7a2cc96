#ifndef FIRN_IO_CSV_INTERNAL_CSV_TYPED_TABLE_H_
#define FIRN_IO_CSV_INTERNAL_CSV_TYPED_TABLE_H_

// Columns of several types: a table for each type, which all get each row. io/csv/csv.cc alone
// includes it.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "firn/device/status_macros.h"
#include "firn/io/csv/internal/csv_plan.h"
#include "firn/io/csv/internal/csv_table.h"
#include "firn/io/csv/internal/csv_words.h"
#include "firn/tensor/dtype.h"
#include "firn/tensor/tensor.h"

namespace firn::io::internal {

// Begin once, Add for each row, Finish, then Take. Thread-compatible.
class TypedTable {
 public:
  TypedTable(const CsvPlan& plan, const MissingWords& missing) : plan_(plan), missing_(missing) {}

  // Requires: the plan has begun.
  void Begin() {
    std::map<DType, size_t> places;
    for (const CsvSource& source : plan_.sources()) {
      const auto [at, is_new] = places.try_emplace(source.dtype, tables_.size());
      if (is_new) {
        WithElementOf(source.dtype, [&](auto zero) {
          tables_.push_back({std::make_unique<Table<decltype(zero)>>(plan_, missing_)});
        });
      }
      Part& part = tables_[at->second];
      part.table->AddColumn(source);
      columns_.push_back({at->second, part.columns++});
    }
  }

  absl::Status Add(const std::vector<Field>& fields) {
    bool dropped = false;
    for (const Part& part : tables_) {
      FIRN_RETURN_IF_ERROR(part.table->Add(fields));
      dropped = dropped || part.table->rows() == rows_;
    }
    for (const Part& part : tables_) {
      if (dropped && part.table->rows() > rows_) part.table->DropLast();
    }
    rows_ += dropped ? 0 : 1;
    return absl::OkStatus();
  }

  absl::Status Finish() {
    for (const Part& part : tables_) FIRN_RETURN_IF_ERROR(part.table->FillMeans());
    return absl::OkStatus();
  }

  // Requires: there is one type.
  Tensor TakeAll() { return tables_[0].table->TakeAll(); }
  // What column `i` of the plan became; once each.
  Tensor TakeColumn(size_t i) {
    return tables_[columns_[i].part].table->TakeColumn(columns_[i].column);
  }

 private:
  struct Part {
    std::unique_ptr<AnyTable> table;
    size_t columns = 0;
  };
  struct Column {
    size_t part, column;
  };

  const CsvPlan& plan_;
  const MissingWords& missing_;
  std::vector<Part> tables_ = {};
  std::vector<Column> columns_ = {};
  int64_t rows_ = 0;
};

}  // namespace firn::io::internal

#endif  // FIRN_IO_CSV_INTERNAL_CSV_TYPED_TABLE_H_
