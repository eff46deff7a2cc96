#ifndef FIRN_TOOLS_FIRN_FORWARD_CONVERT_H_
#define FIRN_TOOLS_FIRN_FORWARD_CONVERT_H_

#include <functional>
#include <string>

#include "firn/io/graph/graph_info.h"
#include "firn/tensor/tensor.h"

namespace firn::cli {

struct ConversionOptions {
  bool resize = false;  // pictures to the size that the graph takes
  // Somebody said how these very numbers are normalised: those of any type are taken, also where
  // the graph was made for pixels.
  bool any_type = false;
};

// Makes of a sample as it is stored what the graph takes, whose input is `batch` and whose numbers
// mean what `info` says: its dtype, normalised, and its shape but for the batch; pictures of other
// sizes are an error unless they are to be resized. The function throws firn::Error for a sample
// that does not fit, and for one of which nobody says how it is normalised; it does not name it.
std::function<Tensor(const Tensor& stored)> MakeConversion(const io::GraphInfo& info,
                                                           const TensorSpec& batch,
                                                           const ConversionOptions& options);

// What becomes of numbers and pixels, for people.
std::string NormalizationText(const io::GraphInfo& info);

}  // namespace firn::cli

#endif  // FIRN_TOOLS_FIRN_FORWARD_CONVERT_H_
