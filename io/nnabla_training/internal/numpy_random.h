#ifndef FIRN_IO_NNABLA_TRAINING_INTERNAL_NUMPY_RANDOM_H_
#define FIRN_IO_NNABLA_TRAINING_INTERNAL_NUMPY_RANDOM_H_

#include <cstdint>
#include <random>

namespace firn::io::internal {

// The numbers of numpy.random.RandomState(seed), bit by bit, from which NNabla's initial parameters
// are made. The generator is MT19937 (Matsumoto & Nishimura, 1998), which std::mt19937 is, too.
class NumpyRandom {
 public:
  explicit NumpyRandom(uint32_t seed) : words_(seed) {}

  // From [0, 1), with 53 bits of two words, as random_sample().
  double Uniform();
  // Like randn(): Marsaglia's polar method, which makes two numbers at once.
  double Normal();

 private:
  std::mt19937 words_;
  bool has_next_ = false;
  double next_ = 0;
};

}  // namespace firn::io::internal

#endif  // FIRN_IO_NNABLA_TRAINING_INTERNAL_NUMPY_RANDOM_H_
