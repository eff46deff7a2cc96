// Compares functions of whole tensors with SLEEF's and glibc's vector functions on a processor with
// AVX-512: CPU time an element, and the largest error in units of the last place. Debian:
// libsleef-dev.
//
//   bazel run //benchmarks:vector_math_peers
#include <immintrin.h>
#include <sleef.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <random>
#include <vector>

#include "benchmarks/call_times.h"
#include "firn/firn.h"

// libmvec, by the names of the vector ABI.
extern "C" {
__m512 _ZGVeN16v_expf(__m512);
__m512 _ZGVeN16v_logf(__m512);
__m512 _ZGVeN16v_sinf(__m512);
__m512 _ZGVeN16v_tanhf(__m512);
__m512 _ZGVeN16v_erff(__m512);
__m512d _ZGVeN8v_exp(__m512d);
__m512d _ZGVeN8v_log(__m512d);
__m512d _ZGVeN8v_sin(__m512d);
__m512d _ZGVeN8v_tanh(__m512d);
__m512d _ZGVeN8v_erf(__m512d);
}

namespace firn {
namespace {

constexpr int64_t kElements = 8192;

// From one array of kElements to another.
template <class T>
using Loop = std::function<void(const T*, T*)>;

// SLEEF declares its functions as constant ones, which makes other types of them.
template <class F>
Loop<float> Floats(F* f) {
  return [f](const float* x, float* y) {
    for (int64_t i = 0; i < kElements; i += 16) _mm512_storeu_ps(y + i, f(_mm512_loadu_ps(x + i)));
  };
}
template <class F>
Loop<double> Doubles(F* f) {
  return [f](const double* x, double* y) {
    for (int64_t i = 0; i < kElements; i += 8) _mm512_storeu_pd(y + i, f(_mm512_loadu_pd(x + i)));
  };
}

template <class T>
double Ulps(const std::vector<T>& x, const T* y, long double (*exact)(long double)) {
  double worst = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const long double want = exact(x[i]);
    const T near = std::abs(static_cast<T>(want));
    const long double ulp = std::nextafter(near, static_cast<T>(INFINITY)) - near;
    worst = std::max(worst, static_cast<double>(std::abs(y[i] - want) / ulp));
  }
  return worst;
}

template <class T>
void Row(const char* name, T least, T most, Tensor (*ours)(const Tensor&), const Loop<T>& sleef,
         const Loop<T>& libmvec, long double (*exact)(long double)) {
  std::mt19937_64 bits(1);
  std::vector<T> x(kElements), y(kElements);
  for (T& v : x) v = std::uniform_real_distribution<T>(least, most)(bits);
  const Tensor in = FromVector(x);
  Tensor out;
  const Loop<T> loops[] = {[&](const T*, T*) { out = ours(in); }, sleef, libmvec};
  constexpr int kRounds = 15, kRuns = 100;
  std::vector<double> times[3];
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < 3; ++i) {
      const double begin = benchmarks::ProcessorSeconds();
      for (int run = 0; run < kRuns && loops[i]; ++run) loops[i](x.data(), y.data());
      times[i].push_back((benchmarks::ProcessorSeconds() - begin) / kRuns / kElements * 1e9);
    }
  }
  const char* const who[] = {"firn", "sleef", "libmvec"};
  std::printf("%-6s f%zu:", name, sizeof(T) * 8);
  for (int i = 0; i < 3; ++i) {
    if (!loops[i]) continue;
    loops[i](x.data(), y.data());
    std::nth_element(times[i].begin(), times[i].begin() + kRounds / 2, times[i].end());
    std::printf("  %s %.2f ns (%.2f ulp)", who[i], times[i][kRounds / 2],
                Ulps(x, i == 0 ? out.host_view<T>().data() : y.data(), exact));
  }
  std::printf("\n");
}

void Rows() {
  const auto exp = [](const Tensor& x) { return Exp(x); };
  const auto log = [](const Tensor& x) { return Log(x); };
  const auto sin = [](const Tensor& x) { return Sin(x); };
  const auto tanh = [](const Tensor& x) { return Tanh(x); };
  const auto erf = [](const Tensor& x) { return Erf(x); };
  const auto lgamma = [](const Tensor& x) { return Lgamma(x); };
  Row<float>("exp", -80, 80, exp, Floats(Sleef_expf16_u10avx512f), Floats(_ZGVeN16v_expf),
             std::exp);
  Row<double>("exp", -700, 700, exp, Doubles(Sleef_expd8_u10avx512f), Doubles(_ZGVeN8v_exp),
              std::exp);
  Row<float>("log", 1e-3f, 1e3f, log, Floats(Sleef_logf16_u10avx512f), Floats(_ZGVeN16v_logf),
             std::log);
  Row<double>("log", 1e-3, 1e3, log, Doubles(Sleef_logd8_u10avx512f), Doubles(_ZGVeN8v_log),
              std::log);
  Row<float>("sin", -100, 100, sin, Floats(Sleef_sinf16_u10avx512f), Floats(_ZGVeN16v_sinf),
             std::sin);
  Row<double>("sin", -100, 100, sin, Doubles(Sleef_sind8_u10avx512f), Doubles(_ZGVeN8v_sin),
              std::sin);
  Row<float>("tanh", -5, 5, tanh, Floats(Sleef_tanhf16_u10avx512f), Floats(_ZGVeN16v_tanhf),
             std::tanh);
  Row<double>("tanh", -5, 5, tanh, Doubles(Sleef_tanhd8_u10avx512f), Doubles(_ZGVeN8v_tanh),
              std::tanh);
  Row<float>("erf", -4, 4, erf, Floats(Sleef_erff16_u10avx512f), Floats(_ZGVeN16v_erff), std::erf);
  Row<double>("erf", -4, 4, erf, Doubles(Sleef_erfd8_u10avx512f), Doubles(_ZGVeN8v_erf), std::erf);
  Row<float>("lgamma", 0.5f, 20, lgamma, Floats(Sleef_lgammaf16_u10avx512f), nullptr, std::lgamma);
  Row<double>("lgamma", 0.5, 20, lgamma, Doubles(Sleef_lgammad8_u10avx512f), nullptr, std::lgamma);
}

}  // namespace
}  // namespace firn

int main() {
  firn::SetNumThreads(1);
  const firn::NoGradScope no_grad;
  firn::Rows();
}
