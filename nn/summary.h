#ifndef FIRN_NN_SUMMARY_H_
#define FIRN_NN_SUMMARY_H_

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "firn/nn/module.h"
#include "firn/tensor/ops/create/constant.h"

namespace firn::nn {

// The result of nn::Summary. A plain value.
struct SummaryTable {
  // A layer without children, or any module with parameters or products of its own.
  struct Row {
    std::string path;  // from the network: "res.conv1"
    std::string type;
    int64_t calls = 0;  // 0: not reached by this input
    Shape output;       // of the last call
    int64_t parameters = 0;
    int64_t multiply_adds = 0;  // of all calls: of products and convolutions (autograd/flops.h)
    int64_t output_bytes = 0;   // of all calls
  };
  std::string network, input;
  std::vector<Row> rows;
  int64_t parameters = 0;  // distinct ones
  int64_t parameter_bytes = 0;
  int64_t multiply_adds = 0;
  int64_t output_bytes = 0;

  // A table with a line for each row and one of totals.
  std::string ToString() const;
  friend std::ostream& operator<<(std::ostream& os, const SummaryTable& t) {
    return os << t.ToString();
  }
};

// Runs `forward` once, in eval mode and without recording, and notes what every layer makes of it.
// Modes and hooks are as before afterwards, also when it throws.
SummaryTable Summarise(Module& network, const std::string& input,
                       const std::function<void()>& forward);

// The table of a network called with one tensor of zeros. Deferred sizes become known by it.
template <class M>
SummaryTable Summary(M& network, const Shape& input, DType dtype = kDefaultFloat) {
  return Summarise(network, input.ToString(), [&] {
    const Tensor x = Zeros(input, dtype);
    if constexpr (requires { network(x); }) {
      network(x);
    } else {
      network.Forward(x);
    }
  });
}

}  // namespace firn::nn

#endif  // FIRN_NN_SUMMARY_H_
