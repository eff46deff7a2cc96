#ifndef FIRN_TESTS_TENSOR_RECURRENT_KINDS_H_
#define FIRN_TESTS_TENSOR_RECURRENT_KINDS_H_

// Functions that call rnn, gru and lstm by their number of gates, for tests of recurrent layers.

#include <cstdint>
#include <vector>

#include "firn/device/parallel.h"
#include "firn/tensor/ops.h"
#include "gtest/gtest.h"

namespace firn::testing {

inline constexpr int64_t kGates[] = {1, 3, 4};  // rnn, gru, lstm

inline Tensor Draw(const Shape& shape) { return Mul(Randn(shape), Full({}, 0.3)); }

inline std::vector<RecurrentWeights> DrawWeights(int64_t gates, int64_t in, int64_t hidden,
                                                 int64_t directions = 1) {
  std::vector<RecurrentWeights> all;
  for (int64_t i = 0; i < directions; ++i) {
    all.push_back({Draw({gates * hidden, in}), Draw({gates * hidden, hidden}),
                   Draw({gates * hidden}), Draw({gates * hidden})});
  }
  return all;
}

// y and the states of the layer with this number of gates.
template <class X>
std::vector<Tensor> RunKind(int64_t gates, const X& x, const std::vector<RecurrentWeights>& weights,
                            const std::vector<Tensor>& initial = {{}, {}},
                            const RecurrentOptions& o = {}) {
  const auto data = [](const auto& y) -> Tensor {
    if constexpr (requires { y.data; }) {
      return y.data;
    } else {
      return y;
    }
  };
  if (gates == 4) {
    const auto r = Lstm(x, {initial[0], initial[1]}, weights, o);
    return {data(r.y), r.state.h, r.state.c};
  }
  if (gates == 3) {
    const auto r = Gru(x, initial[0], weights, o);
    return {data(r.y), r.h_n};
  }
  const auto r = Rnn(x, initial[0], weights, o);
  return {data(r.y), r.h_n};
}

inline void ExpectSame(const std::vector<Tensor>& got, const std::vector<Tensor>& want,
                       double atol) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(got[i].shape(), want[i].shape()) << i;
    if (got[i].num_elements() == 0) continue;
    const Tensor difference = Max(Flatten(Abs(Sub(got[i], want[i]))));
    EXPECT_LE(difference.Item<double>(), atol) << "result " << i;
  }
}

class Threads {
 public:
  explicit Threads(int n) : before_(NumThreads()) { SetNumThreads(n); }
  ~Threads() { SetNumThreads(before_); }

 private:
  const int before_;
};

}  // namespace firn::testing

#endif  // FIRN_TESTS_TENSOR_RECURRENT_KINDS_H_
