// The CSV writer fills the temporary file of an AtomicFile.
#include "tools/firn/forward_output.h"

#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "firn/device/status_macros.h"
#include "firn/device/text_table.h"
#include "firn/tensor/error.h"

namespace firn::cli {
namespace {

using Kind = io::RecordValue::Kind;

std::string TextOf(const io::RecordValue& cell) {
  // A name with line ends must not look like lines of its own.
  if (cell.kind() == Kind::kText) return absl::StrReplaceAll(cell.text(), {{"\n", "\\x0a"}});
  return cell.kind() == Kind::kInteger ? absl::StrCat(cell.integer()) : absl::StrCat(cell.number());
}

nlohmann::json JsonOf(const io::RecordValue& cell) {
  if (cell.kind() == Kind::kText) return cell.text();
  if (cell.kind() == Kind::kInteger) return cell.integer();
  return std::isfinite(cell.number()) ? nlohmann::json(cell.number()) : nlohmann::json();
}

}  // namespace

ForwardTable::ForwardTable(const std::string& path, std::vector<std::string> columns)
    : columns_(std::move(columns)) {
  if (path.empty()) {
    lines_.push_back(columns_);
    return;
  }
  auto file = firn::inner::internal::AtomicFile::Create(path);
  RaiseIfError(file.status(), "forward");
  file_.emplace(*std::move(file));
  csv_.emplace(file_->temporary_path(), columns_);
}

void ForwardTable::Add(const std::vector<io::RecordValue>& cells) {
  if (csv_.has_value()) return csv_->Write(cells);
  std::vector<std::string> line;
  nlohmann::json row = nlohmann::json::object();
  for (size_t i = 0; i < cells.size(); ++i) {
    line.push_back(TextOf(cells[i]));
    row[columns_[i]] = JsonOf(cells[i]);
  }
  lines_.push_back(std::move(line));
  rows_.push_back(std::move(row));
}

std::string ForwardTable::Finish(size_t left, nlohmann::json* value) {
  if (file_.has_value()) {
    csv_.reset();
    RaiseIfError(file_->Commit(), "forward");
    return "";
  }
  (*value)["rows"] = std::move(rows_);
  return firn::inner::internal::AlignedText(lines_, left);
}

BestClass BestOf(const double* scores, size_t classes, bool probabilities) {
  BestClass best;
  for (size_t k = 0; k < classes; ++k) {
    if (std::isnan(scores[k])) return {0, std::nan("")};
    if (scores[k] > scores[best.number]) best.number = k;
  }
  double sum = 0;  // of exp(score - largest): that of the largest is 1
  for (size_t k = 0; k < classes; ++k) sum += std::exp(scores[k] - scores[best.number]);
  best.probability = probabilities ? scores[best.number] : 1 / sum;
  return best;
}

}  // namespace firn::cli
