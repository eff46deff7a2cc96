// Written and read field by field. The text is hostile until checked: it is read as events, each of
// which goes to the place that the fields before it opened; an event that no field expects is
// refused.
#include "firn/io/graph/graph_info_text.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "firn/device/escape.h"
#include "firn/device/status_macros.h"
#include "firn/io/graph/graph_file_status.h"
#include "firn/io/graph/internal/graph_file_format.h"
#include "firn/io/json/internal/json_events.h"
#include "firn/io/number_text.h"
#include "firn/tensor/error.h"

namespace firn::io {
namespace {

using firn::inner::internal::IsUtf8;
using firn::inner::internal::JsonString;

std::string Word(const std::string& word) {
  if (!IsUtf8(word)) {
    RaiseStatus(InvalidArgument("GraphInfo: expected names in UTF-8, got ", JsonString(word)),
                "graph_info_text");
  }
  return JsonString(word);
}
std::string Number(double x) { return std::isnan(x) ? "\"nan\"" : FormatNumber(x, 17); }

template <class T, class Text>
std::string List(const std::vector<T>& list, const Text& text) {
  return absl::StrCat(
      "[", absl::StrJoin(list, ",", [&](std::string* to, const T& x) { to->append(text(x)); }),
      "]");
}

std::string ColumnText(const GraphColumn& column) {
  std::string text = absl::StrCat("{\"place\":", column.place);
  if (!column.name.empty()) absl::StrAppend(&text, ",\"name\":", Word(column.name));
  if (!column.words.empty()) absl::StrAppend(&text, ",\"words\":", List(column.words, Word));
  return text + "}";
}

// The fields that are set and, with `texts`, the text of each.
std::vector<std::pair<std::string, std::string>> FieldsOf(const GraphInfo& info, bool texts) {
  std::vector<std::pair<std::string, std::string>> fields;
  const auto add = [&](bool says, const char* name, const auto& text) {
    if (says) fields.emplace_back(name, texts ? text() : std::string());
  };
  add(info.pixel_scale.has_value(), "pixel_scale", [&] { return Number(*info.pixel_scale); });
  add(info.scale != 1, "scale", [&] { return Number(info.scale); });
  add(!info.mean.empty(), "mean", [&] { return List(info.mean, Number); });
  add(!info.stddev.empty(), "stddev", [&] { return List(info.stddev, Number); });
  add(!info.columns.empty(), "columns", [&] { return List(info.columns, ColumnText); });
  add(info.target.has_value(), "target", [&] { return ColumnText(*info.target); });
  add(info.missing.has_value(), "missing", [&] { return Number(*info.missing); });
  add(!info.missing_words.empty(), "missing_words", [&] { return List(info.missing_words, Word); });
  add(!info.classes.empty(), "classes", [&] { return List(info.classes, Word); });
  add(info.probabilities, "probabilities", [] { return std::string("true"); });
  return fields;
}

class Reader final : public internal::JsonEvents {
 public:
  Reader(const LoadLimits& limits, GraphInfo* info) : limits_(limits), info_(info) {}

  absl::Status BeginObject() override {
    if (place_ == Place::kStart) {
      place_ = Place::kTop;
      return absl::OkStatus();
    }
    if (place_ == Place::kColumns) {
      FIRN_RETURN_IF_ERROR(Count());
      column_ = &info_->columns.emplace_back();
    } else if (place_ == Place::kTop && field_ == "target") {
      column_ = &info_->target.emplace();
    } else {
      return Wrong("an object");
    }
    column_fields_.clear();
    return Go(Place::kColumn);
  }

  absl::Status Key(std::string name) override {
    absl::flat_hash_set<std::string>& seen = column_ != nullptr ? column_fields_ : fields_;
    field_ = std::move(name);
    FIRN_RETURN_IF(!seen.insert(field_).second, DataLoss(At(), ": expected one, got two"));
    return absl::OkStatus();
  }

  absl::Status EndObject() override {
    if (column_ == nullptr) return Go(Place::kEnd);
    const bool target = info_->target.has_value() && column_ == &*info_->target;
    column_ = nullptr;
    return Go(target ? Place::kTop : Place::kColumns);
  }

  absl::Status BeginArray() override {
    if (place_ == Place::kColumn && field_ == "words") {
      words_ = &column_->words;
    } else if (place_ == Place::kTop && (field_ == "mean" || field_ == "stddev")) {
      numbers_ = field_ == "mean" ? &info_->mean : &info_->stddev;
    } else if (place_ == Place::kTop && (field_ == "classes" || field_ == "missing_words")) {
      words_ = field_ == "classes" ? &info_->classes : &info_->missing_words;
    } else {
      return place_ == Place::kTop && field_ == "columns" ? Go(Place::kColumns) : Wrong("a list");
    }
    return Go(Place::kList);
  }

  absl::Status EndArray() override {
    words_ = nullptr;
    numbers_ = nullptr;
    return Go(place_ == Place::kList && column_ != nullptr ? Place::kColumn : Place::kTop);
  }

  absl::Status String(std::string text) override {
    FIRN_RETURN_IF(text.size() > static_cast<size_t>(std::max<int64_t>(limits_.max_name_bytes, 0)),
                   ResourceExhausted(At(), ": ", text.size(), " bytes in a name, more than the ",
                                     limits_.max_name_bytes, " allowed (limits.max_name_bytes)"));
    if (words_ != nullptr) {
      FIRN_RETURN_IF_ERROR(Count());
      words_->push_back(std::move(text));
    } else if (place_ == Place::kColumn && field_ == "name") {
      column_->name = std::move(text);
    } else if (place_ == Place::kTop && field_ == "missing" && text == "nan") {
      info_->missing = std::numeric_limits<double>::quiet_NaN();
    } else {
      return Wrong(JsonString(text));
    }
    return absl::OkStatus();
  }

  absl::Status Whole(uint64_t value) override {
    if (place_ != Place::kColumn || field_ != "place") {
      return Number(static_cast<double>(value), absl::StrCat(value));
    }
    FIRN_RETURN_IF(value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()),
                   Wrong(absl::StrCat(value)));
    column_->place = static_cast<int64_t>(value);
    return absl::OkStatus();
  }

  absl::Status Number(double value, std::string_view text) override {
    if (numbers_ != nullptr) {
      FIRN_RETURN_IF_ERROR(Count());
      numbers_->push_back(value);
    } else if (place_ == Place::kTop && field_ == "pixel_scale") {
      info_->pixel_scale = value;
    } else if (place_ == Place::kTop && field_ == "scale") {
      info_->scale = value;
    } else if (place_ == Place::kTop && field_ == "missing") {
      info_->missing = value;
    } else {
      return Wrong(std::string(text));
    }
    return absl::OkStatus();
  }

  absl::Status Bool(bool value) override {
    FIRN_RETURN_IF(place_ != Place::kTop || field_ != "probabilities",
                   Wrong(value ? "true" : "false"));
    info_->probabilities = value;
    return absl::OkStatus();
  }

  absl::Status Null() override { return Wrong("null"); }

 private:
  enum class Place { kStart, kTop, kColumns, kColumn, kList, kEnd };

  absl::Status Go(Place place) {
    place_ = place;
    return absl::OkStatus();
  }
  std::string At() const { return field_.empty() ? "the text" : JsonString(field_); }
  // The place of the event tells what was expected.
  absl::Status Wrong(const std::string& found) const {
    const bool known = place_ != Place::kTop || Known();
    return DataLoss(At(), ": expected ",
                    known ? "what GraphInfo has there" : "a field of GraphInfo", ", got ", found);
  }
  bool Known() const {
    constexpr std::string_view kFields[] = {
        "pixel_scale", "scale",   "mean",          "stddev",  "columns",
        "target",      "missing", "missing_words", "classes", "probabilities"};
    return std::find(std::begin(kFields), std::end(kFields), field_) != std::end(kFields);
  }
  absl::Status Count() {
    FIRN_RETURN_IF(++count_ > limits_.max_tensors,
                   ResourceExhausted(At(), ": more than the ", limits_.max_tensors,
                                     " words, columns and numbers allowed (limits.max_tensors)"));
    return absl::OkStatus();
  }

  const LoadLimits& limits_;
  GraphInfo* const info_;
  Place place_ = Place::kStart;
  std::string field_;  // of the object, or of a column in it
  absl::flat_hash_set<std::string> fields_, column_fields_;
  GraphColumn* column_ = nullptr;  // at most one of the lists is open
  std::vector<std::string>* words_ = nullptr;
  std::vector<double>* numbers_ = nullptr;
  int64_t count_ = 0;
};

}  // namespace

std::string GraphInfoText(const GraphInfo& info) {
  return absl::StrCat("{",
                      absl::StrJoin(FieldsOf(info, true), ",",
                                    [](std::string* to, const auto& field) {
                                      absl::StrAppend(to, JsonString(field.first), ":",
                                                      field.second);
                                    }),
                      "}");
}

absl::StatusOr<GraphInfo> TryParseGraphInfo(std::string_view text, const inner::Graph& graph,
                                            const LoadLimits& limits) {
  GraphInfo info;
  Reader reader(limits, &info);
  FIRN_RETURN_IF_ERROR(internal::ReadJson(text, limits.max_depth, &reader));
  FIRN_RETURN_IF_ERROR(CheckInfo(info, graph));
  return info;
}

std::vector<std::string> GraphInfoFields(const GraphInfo& info) {
  std::vector<std::string> names;
  for (const auto& field : FieldsOf(info, false)) names.push_back(field.first);
  return names;
}

}  // namespace firn::io
