// Gamma numbers are those of G. Marsaglia and W. W. Tsang, "A simple method for generating gamma
// variables", 2000; for a shape below 1 by the note at the paper's end, in logarithms, because its
// factor underflows for small shapes. Two of one shape make a beta number.
#include "firn/io/data/transforms/internal/draw.h"

#include <cmath>

#include "firn/device/inner.h"
#include "firn/device/philox.h"

namespace firn::io::internal {
namespace {

PhiloxResult Next(RandomGenerator& random) { return PhiloxAt(random.Reserve(1), 0); }

double UniformOf(const PhiloxResult& r) { return UniformDouble(r.v[0], r.v[1]); }

// The logarithm of a gamma number of this shape and scale 1.
double LogGamma(RandomGenerator& random, double shape) {
  if (shape < 1) {
    const double u = 1 - UniformOf(Next(random));  // in (0, 1]
    return LogGamma(random, shape + 1) + std::log(u) / shape;
  }
  const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = NormalDoubles(Next(random)).first;
    const double v = (1 + c * x) * (1 + c * x) * (1 + c * x);
    if (v <= 0) continue;
    const double u = 1 - UniformOf(Next(random));
    if (std::log(u) < 0.5 * x * x + d - d * v + d * std::log(v)) return std::log(d * v);
  }
}

}  // namespace

double Uniform(RandomGenerator& random, const Interval& interval) {
  if (interval.low == interval.high) return interval.low;
  return interval.low + (interval.high - interval.low) * UniformOf(Next(random));
}

int64_t Below(RandomGenerator& random, int64_t n) {
  if (n == 1) return 0;
  const PhiloxResult r = Next(random);
  const uint64_t word = uint64_t{r.v[0]} << 32 | r.v[1];
  return static_cast<int64_t>(static_cast<unsigned __int128>(word) * static_cast<uint64_t>(n) >>
                              64);
}

bool Chance(RandomGenerator& random, double p) {
  if (p <= 0 || p >= 1) return p >= 1;
  return UniformOf(Next(random)) < p;
}

void Normals(RandomGenerator& random, int64_t n, float* out) {
  const PhiloxState state = random.Reserve(static_cast<uint64_t>((n + 1) / 2));
  for (int64_t i = 0; i < n; i += 2) {
    const NormalPair<double> pair = NormalDoubles(PhiloxAt(state, static_cast<uint64_t>(i / 2)));
    out[i] = static_cast<float>(pair.first);
    if (i + 1 < n) out[i + 1] = static_cast<float>(pair.second);
  }
}

double SymmetricBeta(RandomGenerator& random, double alpha) {
  const double a = LogGamma(random, alpha), b = LogGamma(random, alpha);
  return 1 / (1 + std::exp(b - a));
}

}  // namespace firn::io::internal
