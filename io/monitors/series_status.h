#ifndef FIRN_IO_MONITORS_SERIES_STATUS_H_
#define FIRN_IO_MONITORS_SERIES_STATUS_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "firn/io/monitors/series.h"

namespace firn::io {

// LoadSeries and LoadTimer with a status, for text in memory; `name` stands for the path.
absl::StatusOr<Series> TryParseSeries(std::string_view text, const std::string& name);
absl::StatusOr<Series> TryParseTimer(std::string_view text, const std::string& name,
                                     TimerColumn column = TimerColumn::kTotal);

}  // namespace firn::io

#endif  // FIRN_IO_MONITORS_SERIES_STATUS_H_
