#ifndef FIRN_IO_MONITORS_SERIES_NAMES_H_
#define FIRN_IO_MONITORS_SERIES_NAMES_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace firn::io {

// The part of the data that a series belongs to, by its name.
enum class DataPart { kNone, kTraining, kValidation, kTest };

struct NameParts {
  // The words of the name without the one for the part, in small letters and with a blank between
  // them. Series with equal words belong together in a chart.
  std::string base;
  DataPart part = DataPart::kNone;
};

// "validation loss", "val_loss", "valLoss", "loss/val" and "Loss-Validation" are {"loss",
// kValidation}, "a/train/loss" is {"a loss", kTraining}. A name that consists of the word for a
// part alone has no part.
NameParts PartsOf(std::string_view name);

// How the line of a series looks.
struct LineStyle {
  size_t color = 0;   // counted from 0, without end: a palette begins again
  size_t dashes = 0;  // a place in draw::kDashes
};

// Styles that tell series apart. Series whose names differ only in the part share a colour and
// differ in dashes; all others have colours of their own, of which there are `colors`.
std::vector<LineStyle> StylesOf(const std::vector<std::string>& names, size_t colors);

// The column of a table that is the x of the others: the first one; but "step" if the first is
// "epoch", since series and events count steps, too.
size_t XColumnOf(const std::vector<std::string>& columns);
// Whether a column of this name counts epochs.
bool CountsEpochs(std::string_view column);

}  // namespace firn::io

#endif  // FIRN_IO_MONITORS_SERIES_NAMES_H_
