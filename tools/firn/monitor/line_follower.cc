// Text, record by record: series, timers, CSV and JSON lines. A record that is not closed yet waits
// for the next call.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/io/monitors/line_file.h"
#include "firn/io/monitors/record_parsers.h"
#include "firn/io/monitors/record_pieces.h"
#include "firn/io/monitors/series_names.h"
#include "firn/io/monitors/series_status.h"
#include "tools/firn/monitor/follower.h"

namespace firn::cli {
namespace {

using io::RecordValue;

class LineFollower : public Follower {
 public:
  using Follower::Follower;

  absl::Status Read(const io::RandomAccess& file) override {
    return io::ForEachRecord(
        file, rooms_->limits.max_record_bytes,
        [this](std::string_view text) { return Split(text); },
        [this](std::string_view record) { return Take(record); }, &offset_);
  }

 protected:
  // The length of the first whole record of a text, 0 when there is none.
  virtual size_t Split(std::string_view text) const { return io::SplitLine(text); }
  virtual absl::Status Take(std::string_view record) = 0;
};

// The first two numbers of each line are a point.
class SeriesFollower final : public LineFollower {
 public:
  SeriesFollower(Rooms* rooms, std::string name) : LineFollower(rooms), name_(std::move(name)) {}

 protected:
  absl::Status Take(std::string_view record) override {
    FIRN_ASSIGN_OR_RETURN(const io::Series line, io::TryParseSeries(record, "line"));
    AddPoint(name_, line.x[0], line.y[0]);
    return absl::OkStatus();
  }

 private:
  const std::string name_;
};

class TimerFollower final : public LineFollower {
 public:
  TimerFollower(Rooms* rooms, std::string name) : LineFollower(rooms), name_(std::move(name)) {}

 protected:
  absl::Status Take(std::string_view record) override {
    for (const auto& [column, what] : {std::pair{io::TimerColumn::kTotal, ": seconds in total"},
                                       std::pair{io::TimerColumn::kPerStep, ": seconds a step"}}) {
      FIRN_ASSIGN_OR_RETURN(const io::Series line, io::TryParseTimer(record, "line", column));
      AddPoint(absl::StrCat(name_, what), line.x[0], line.y[0]);
    }
    return absl::OkStatus();
  }

 private:
  const std::string name_;
};

bool IsNumber(const RecordValue& value) {
  return value.kind() != RecordValue::Kind::kNone && value.kind() != RecordValue::Kind::kText;
}

constexpr size_t kMostFields = 1000;

// In CSV and JSON lines a number makes a point where the x of the record is one, too. The x is the
// first number, or a better one that XColumnOf finds; the first one is then no curve.
class CsvFollower final : public LineFollower {
 public:
  using LineFollower::LineFollower;

 protected:
  size_t Split(std::string_view text) const override { return io::SplitCsvRecord(text); }

  absl::Status Take(std::string_view record) override {
    FIRN_ASSIGN_OR_RETURN(const std::vector<RecordValue> values,
                          io::ParseCsvRecord(record, kMostFields));
    if (columns_.empty()) {
      const bool heading = io::IsCsvHeading(values);
      for (size_t i = 0; i < values.size(); ++i) {
        columns_.push_back(heading ? Name(values[i].text()) : absl::StrCat(i));
      }
      const size_t bytes = columns_.size() * static_cast<size_t>(rooms_->limits.max_name_bytes);
      share_ = rooms_->other.Take(static_cast<int64_t>(bytes));
      if (!share_) columns_.clear();
      FIRN_RETURN_IF(!share_, ResourceExhausted("no room for ", values.size(), " more columns"));
      x_ = io::XColumnOf(columns_);
      found_.by_epoch = io::CountsEpochs(columns_[x_]);
      if (heading) return absl::OkStatus();
    }
    FIRN_RETURN_IF(values.size() != columns_.size(),
                   DataLoss("expected ", columns_.size(), " fields, got ", values.size()));
    const RecordValue& x = values[x_];
    for (size_t i = 1; i < values.size() && IsNumber(x); ++i) {
      if (i != x_ && IsNumber(values[i])) AddPoint(columns_[i], x.number(), values[i].number());
    }
    return absl::OkStatus();
  }

 private:
  std::vector<std::string> columns_;
  size_t x_ = 0;
  Room::Share share_;
};

class JsonFollower final : public LineFollower {
 public:
  using LineFollower::LineFollower;

 protected:
  absl::Status Take(std::string_view record) override {
    record.remove_suffix(1);
    FIRN_ASSIGN_OR_RETURN(const io::JsonLinesWriter::Fields fields,
                          io::ParseJsonRecord(record, kMostFields));
    if (!x_.has_value() && !fields.empty()) {
      // Names are not cut here, and a file may be a single name, which takes no room.
      const auto most = static_cast<size_t>(rooms_->limits.max_name_bytes);
      FIRN_RETURN_IF(fields[0].first.size() > most,
                     ResourceExhausted("the first name, that of x, has ", fields[0].first.size(),
                                       " bytes (want at most ", most, ")"));
      std::vector<std::string> names;
      for (const auto& [name, value] : fields) names.push_back(Name(name));
      first_ = names[0];
      x_ = names[io::XColumnOf(names)];
      found_.by_epoch = io::CountsEpochs(*x_);
    }
    const RecordValue* x = nullptr;
    for (const auto& [name, value] : fields) {
      if (name == x_) x = &value;
    }
    for (const auto& [name, value] : fields) {
      if (x == nullptr || !IsNumber(*x) || !IsNumber(value)) continue;
      if (name == x_ || name == first_) continue;
      AddPoint(name, x->number(), value.number());
    }
    return absl::OkStatus();
  }

 private:
  // The first name of the first record that has one, and which of that one's names x has.
  std::string first_;
  std::optional<std::string> x_;
};

// The name of a file without this end, if it has it.
std::optional<std::string> Before(const std::string& name, std::string_view end) {
  if (!name.ends_with(end)) return std::nullopt;
  return name.substr(0, name.size() - end.size());
}

}  // namespace

std::unique_ptr<Follower> FollowLines(const std::string& file_name, Rooms* rooms) {
  if (const auto name = Before(file_name, ".series.txt")) {
    return std::make_unique<SeriesFollower>(rooms, *name);
  }
  if (const auto name = Before(file_name, ".timer.txt")) {
    return std::make_unique<TimerFollower>(rooms, *name);
  }
  if (file_name.ends_with(".csv")) return std::make_unique<CsvFollower>(rooms);
  if (file_name.ends_with(".jsonl")) return std::make_unique<JsonFollower>(rooms);
  return nullptr;
}

}  // namespace firn::cli
