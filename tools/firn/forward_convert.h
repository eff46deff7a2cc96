#ifndef FIRN_TOOLS_FIRN_FORWARD_CONVERT_H_
#define FIRN_TOOLS_FIRN_FORWARD_CONVERT_H_

#include <cstdint>
#include <functional>
#include <string>

#include "firn/io/graph/graph_info.h"
#include "firn/tensor/tensor.h"

namespace firn::cli {

struct ConversionOptions {
  bool resize = false;  // pictures to the size that the graph takes
  // The same as PictureFit::shorter and bicubic instead of stretching them; 0: no.
  int64_t crop = 0;
  bool bicubic = false;
  // The command line says how these very numbers are normalised: any type is taken, even if the
  // graph was made for pixels.
  bool any_type = false;
};

// Returns a function that converts a stored sample for the graph, whose input is `batch` and whose
// numbers have the meaning in `info`: to its dtype, normalised, and to its shape without the batch;
// pictures of other sizes are an error unless they are to be resized. The function throws
// firn::Error for a sample that does not fit, and if nobody says how it is normalised; the error
// does not name the sample.
std::function<Tensor(const Tensor& stored)> MakeConversion(const io::GraphInfo& info,
                                                           const TensorSpec& batch,
                                                           const ConversionOptions& options);

// A text for people that says how numbers and pixels are converted.
std::string NormalizationText(const io::GraphInfo& info);

}  // namespace firn::cli

#endif  // FIRN_TOOLS_FIRN_FORWARD_CONVERT_H_
