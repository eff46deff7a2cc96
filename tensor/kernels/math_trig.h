#ifndef FIRN_TENSOR_KERNELS_MATH_TRIG_H_
#define FIRN_TENSOR_KERNELS_MATH_TRIG_H_

// Sine, cosine and tangent for kernels: straight-line code as in math.h, right to 1.6 units of the
// last place for every float, however large.
//
// A large argument is m 2^k with |m| < 2^25, so x mod 2 pi = m (2^k mod 2 pi) mod 2 pi: a table of
// 2^k mod 2 pi makes the reduction the same few operations for all arguments. Its entries are cut
// in two doubles such that m times the first is exact; the result is off by less than 2^-51.

#include "firn/tensor/kernels/math.h"
#include "firn/tensor/kernels/math_trig_f64.h"

namespace firn::math {
namespace internal {

inline constexpr int kTrigEntries = 105;
// 2^k mod 2 pi, to 24 binary places. The first entry is 1 for all |x| < 2^25. The table is in a
// function because nvcc brings none from outside to the device.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE double TrigHigh(uint64_t k) {
  static constexpr double kTable[kTrigEntries] = {
      0x1p+0,         0x1p+1,         0x1p+2,         0x1.b7812ap+0,  0x1.b7812a8p+1,
      0x1.2b0bacp-1,  0x1.2b0badp+0,  0x1.2b0badp+1,  0x1.2b0bad4p+2, 0x1.87ef4a8p+1,
      0x1.87ef4acp+2, 0x1.7dbee04p+2, 0x1.695e0b4p+2, 0x1.409c618p+2, 0x1.de321b8p+1,
      0x1.304999p+0,  0x1.3049998p+1, 0x1.304999cp+2, 0x1.9ce6fc8p+1, 0x1.58e8e8p-3,
      0x1.58e8ecp-2,  0x1.58e8ecp-1,  0x1.58e8ecp+0,  0x1.58e8ecp+1,  0x1.58e8ecp+2,
      0x1.1fb222cp+2, 0x1.5a89208p+1, 0x1.5a8920cp+2, 0x1.22f28c8p+2, 0x1.678ac8p+1,
      0x1.678ac84p+2, 0x1.3cf5db4p+2, 0x1.cf98028p+1, 0x1.ebc26ap-1,  0x1.ebc26bp+0,
      0x1.ebc26b8p+1, 0x1.668ad9p+0,  0x1.668ad9p+1,  0x1.668ad94p+2, 0x1.3af5fd4p+2,
      0x1.c7988a8p+1, 0x1.abc6aap-1,  0x1.abc6aap+0,  0x1.abc6aa8p+1, 0x1.9a6f58p-2,
      0x1.9a6f58p-1,  0x1.9a6f58p+0,  0x1.9a6f588p+1, 0x1.09f468p-3,  0x1.09f468p-2,
      0x1.09f468p-1,  0x1.09f468p+0,  0x1.09f468p+1,  0x1.09f468p+2,  0x1.039236p+1,
      0x1.0392364p+2, 0x1.d412dep+0,  0x1.d412dep+1,  0x1.07cca4p+0,  0x1.07cca4p+1,
      0x1.07cca4p+2,  0x1.f5e64cp+0,  0x1.f5e64cp+1,  0x1.8f1a5cp+0,  0x1.8f1a5cp+1,
      0x1.8f1a5cp+2,  0x1.8c1503p+2,  0x1.860a51p+2,  0x1.79f4edp+2,  0x1.61ca24cp+2,
      0x1.3174944p+2, 0x1.a192e7p+1,  0x1.ee6638p-3,  0x1.ee6638p-2,  0x1.ee6638p-1,
      0x1.ee6639p+0,  0x1.ee66398p+1, 0x1.711a11p+0,  0x1.711a11p+1,  0x1.711a11p+2,
      0x1.50146ccp+2, 0x1.0e09244p+2, 0x1.13e527p+1,  0x1.13e5274p+2, 0x1.2b55328p+1,
      0x1.2b55328p+2, 0x1.89156p+1,   0x1.8915604p+2, 0x1.800b0b8p+2, 0x1.6df661cp+2,
      0x1.49cd0e4p+2, 0x1.017a674p+2, 0x1.c35466p+0,  0x1.c354668p+1, 0x1.89a58cp-1,
      0x1.89a58cp+0,  0x1.89a58cp+1,  0x1.89a58c4p+2, 0x1.812b63p+2,  0x1.703711p+2,
      0x1.4e4e6dp+2,  0x1.0a7d25p+2,  0x1.05b5298p+1, 0x1.05b529cp+2, 0x1.e52a7ap+0};
  return kTable[k];
}
// The rest of it.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE double TrigLow(uint64_t k) {
  static constexpr double kTable[kTrigEntries] = {0,
                                                  0,
                                                  0,
                                                  0x1.dde973dcb3b3ap-25,
                                                  0x1.bbd2e7b967673p-25,
                                                  0x1.558f434f8282p-25,
                                                  0x1.563d0d3e0a08p-26,
                                                  0x1.563d0d3e0a08p-25,
                                                  0x1.58f434f828201p-26,
                                                  0x1.36dda8d4dbd3bp-25,
                                                  0x1.b6ed46a6de9d7p-27,
                                                  0x1.72c02e604604ap-26,
                                                  0x1.50a9a23cf9b83p-25,
                                                  0x1.fcf2e15a9c902p-27,
                                                  0x1.b8c5c91403f75p-26,
                                                  0x1.96af3cf0b7aafp-25,
                                                  0x1.2d5e79e16f55dp-25,
                                                  0x1.6af3cf0b7aae9p-27,
                                                  0x1.26c6b6c4e215cp-26,
                                                  0x1.04b02aa195c95p-25,
                                                  0x1.2c0aa86572557p-30,
                                                  0x1.2c0aa86572557p-29,
                                                  0x1.2c0aa86572557p-28,
                                                  0x1.2c0aa86572557p-27,
                                                  0x1.2c0aa86572557p-26,
                                                  0x1.09f41c422609p-25,
                                                  0x1.f1d1ac60ffc5ap-25,
                                                  0x1.e3a358c1ff8b5p-25,
                                                  0x1.a5302560b2ca3p-25,
                                                  0x1.2849be9e1948p-25,
                                                  0x1.424df4f0ca3fdp-27,
                                                  0x1.fc41b954634dfp-27,
                                                  0x1.b814a10dcab53p-26,
                                                  0x1.95fe14ea7e68cp-25,
                                                  0x1.2bfc29d4fcd19p-25,
                                                  0x1.5fe14ea7e68c5p-27,
                                                  0x1.1bb436614df38p-26,
                                                  0x1.1bb436614df38p-25,
                                                  0x1.bb436614df386p-28,
                                                  0x1.32e93587ae06dp-27,
                                                  0x1.dd783a822adcp-27,
                                                  0x1.994b223b92433p-26,
                                                  0x1.994b223b92433p-25,
                                                  0x1.3296447724866p-25,
                                                  0x1.0c57f32bf3013p-27,
                                                  0x1.0c57f32bf3013p-26,
                                                  0x1.0c57f32bf3013p-25,
                                                  0x1.8afe657e60255p-29,
                                                  0x1.e928118ff7087p-30,
                                                  0x1.e928118ff7087p-29,
                                                  0x1.e928118ff7087p-28,
                                                  0x1.e928118ff7087p-27,
                                                  0x1.e928118ff7087p-26,
                                                  0x1.e928118ff7087p-25,
                                                  0x1.b03996fca1c48p-25,
                                                  0x1.60732df943891p-25,
                                                  0x1.3d9f9f9e758b7p-26,
                                                  0x1.3d9f9f9e758b7p-25,
                                                  0x1.64a2cc667b29cp-27,
                                                  0x1.64a2cc667b29cp-26,
                                                  0x1.64a2cc667b29cp-25,
                                                  0x1.4e5e1953540e1p-26,
                                                  0x1.4e5e1953540e1p-25,
                                                  0x1.ea969a0d6f3f1p-27,
                                                  0x1.ea969a0d6f3f1p-26,
                                                  0x1.ea969a0d6f3f1p-25,
                                                  0x1.b316a7f79231cp-25,
                                                  0x1.4416c3cbd8171p-25,
                                                  0x1.985bedd18f86fp-27,
                                                  0x1.542ed58af6ee2p-26,
                                                  0x1.32184967aaa1cp-25,
                                                  0x1.08681ab023dc4p-27,
                                                  0x1.887604d31686fp-27,
                                                  0x1.887604d31686fp-26,
                                                  0x1.887604d31686fp-25,
                                                  0x1.10ec09a62d0dfp-25,
                                                  0x1.0ec09a62d0debp-28,
                                                  0x1.0cccd3ab3f5a4p-28,
                                                  0x1.0cccd3ab3f5a4p-27,
                                                  0x1.0cccd3ab3f5a4p-26,
                                                  0x1.d56c8f0fe61bap-26,
                                                  0x1.b35602ec99cf4p-25,
                                                  0x1.449579b5e7521p-25,
                                                  0x1.1255e6d79d486p-26,
                                                  0x1.e07eb568a1f7fp-26,
                                                  0x1.e07eb568a1f7fp-25,
                                                  0x1.9ee6deadf7a38p-25,
                                                  0x1.3dcdbd5bef47p-25,
                                                  0x1.6613ba5249063p-27,
                                                  0x1.21e6a20bb06d6p-26,
                                                  0x1.ffa02bd0c842p-26,
                                                  0x1.dd899fad7bf59p-25,
                                                  0x1.98fcb337ab9edp-25,
                                                  0x1.31f9666f573d9p-25,
                                                  0x1.077102ed88bafp-27,
                                                  0x1.077102ed88bafp-26,
                                                  0x1.077102ed88bafp-25,
                                                  0x1.dc40bb622ebdap-30,
                                                  0x1.fbad7f92d69f7p-25,
                                                  0x1.d544730260f28p-25,
                                                  0x1.887259e17598ap-25,
                                                  0x1.dd9c4f3f3dc9bp-26,
                                                  0x1.bb85c31bf17d4p-25,
                                                  0x1.770b8637e2fa9p-25,
                                                  0x1.98010098f3516p-26};
  return kTable[k];
}

// x = quadrant * pi / 2 + r with |r| <= pi / 4. The quadrant counts modulo 4 in its low bits.
template <class T>
struct TrigReduction {
  T r;
  uint32_t quadrant;
};
template <class T = float>
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE TrigReduction<T> ReduceTrig(float x) {
  const int32_t exponent = static_cast<int32_t>((std::bit_cast<uint32_t>(x) >> 23) & 255u) - 151;
  const int32_t k = exponent < 0 ? 0 : exponent;
  const auto entry = static_cast<uint64_t>(k);  // of a double's width, or g++ will not vectorise
  const double m = static_cast<double>(x * PowerOf2(-k));
  const double high = m * TrigHigh(entry);
  const double low = m * TrigLow(entry);
  // Adding 1.5 * 2^52 rounds to an integer that stands in the low bits.
  const double shifted = (high + low) * 0.63661977236758134 + 0x1.8p52;
  const double n = shifted - 0x1.8p52;
  const double r = (high - n * 0x1.921fb5p+0) + (low - n * 0x1.110b4611a6263p-26);
  return {static_cast<T>(r), static_cast<uint32_t>(std::bit_cast<uint64_t>(shifted))};
}

// The same without the table, for the arguments of its first entry.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE bool HasManyTurns(float x) { return Abs(x) >= 0x1p25f; }
template <class T = float>
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE TrigReduction<T> ReduceFewTurns(float x) {
  const auto wide = static_cast<double>(x);
  const double shifted = wide * 0.63661977236758134 + 0x1.8p52, n = shifted - 0x1.8p52;
  const double r = (wide - n * 0x1.921fb5p+0) - n * 0x1.110b4611a6263p-26;
  return {static_cast<T>(r), static_cast<uint32_t>(std::bit_cast<uint64_t>(shifted))};
}

// sin(r) for an even quadrant, cos(r) for an odd one, negated in the upper two.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float SineOf(float r, uint32_t quadrant) {
  const float z = r * r;
  const float curve = r + r * z * Polynomial(z, -0.166666549f, 0.00833217611f, -0.000195170065f);
  const float sine = z == 0.0f ? r : curve;  // keeps -0
  const float cosine =
      1.0f + z * (z * Polynomial(z, 0.0416666468f, -0.00138873657f, 2.44382119e-05f) - 0.5f);
  const float y = (quadrant & 1u) != 0 ? cosine : sine;
  return std::bit_cast<float>(std::bit_cast<uint32_t>(y) ^ ((quadrant & 2u) << 30));
}

// Computed in float, except for the rounding error of r and, for a quotient, that of the tangent.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float TangentOf(const TrigReduction<double>& t) {
  const auto r = static_cast<float>(t.r);
  const auto low = static_cast<float>(t.r - static_cast<double>(r));
  const float z = r * r;
  const float curve =
      (low + low * z) + r * z *
                            Polynomial(z, 0.333331568f, 0.133388003f, 0.0534112079f, 0.0244303951f,
                                       0.00311950818f, 0.00938564409f);
  const float tangent = z == 0.0f ? r : r + curve;  // keeps -0
  const float quotient = -1.0f / tangent;
  const float rest = curve - (tangent - r);
  return (t.quadrant & 1u) != 0 ? quotient + quotient * quotient * rest : tangent;
}

// For |x| < 2^25: the results of Sin and its like, sometimes with another last bit, but faster.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float SinOfFewTurns(float x) {
  const TrigReduction<float> t = ReduceFewTurns(x);
  return SineOf(t.r, t.quadrant);
}
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float CosOfFewTurns(float x) {
  const TrigReduction<float> t = ReduceFewTurns(x);
  return SineOf(t.r, t.quadrant + 1u);
}
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float TanOfFewTurns(float x) {
  return TangentOf(ReduceFewTurns<double>(x));
}

}  // namespace internal

FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float Sin(float x) {
  const internal::TrigReduction<float> t = internal::ReduceTrig(x);
  return internal::SineOf(t.r, t.quadrant);
}

FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float Cos(float x) {
  const internal::TrigReduction<float> t = internal::ReduceTrig(x);
  return internal::SineOf(t.r, t.quadrant + 1u);
}

FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float Tan(float x) {
  return internal::TangentOf(internal::ReduceTrig<double>(x));
}

// sin(pi x) / (pi x), 1 at 0. With n the integer next to x and r = x - n, which is exact, it is
// sinc(r) times r / x, negated for an odd n; so it is 0 at every other integer.
template <class T>
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE T Sinc(T x) {
  const T n = std::nearbyint(x);
  const T r = x - n;
  T s;
  if constexpr (std::is_same_v<T, float>) {
    const float z = r * r;
    s = 1.0f +
        z * Polynomial(z, -1.64493406f, 0.811742008f, -0.190745384f, 0.0261047427f, -0.0022154809f);
  } else {
    const double angle = r * 3.14159265358979324;
    s = r == 0 ? 1 : internal::SinOfFewTurns(angle) / angle;
  }
  const T half = n * T(0.5);
  const T scaled = (std::nearbyint(half) != half ? -r : r) / x * s;
  return n == T(0) ? s : scaled;
}

// Its derivative (cos(pi x) - sinc(x)) / x. Near 0, where that loses all digits, the sum over k > 0
// of (-1)^k pi^(2k) 2k / (2k + 1)! x^(2k - 1), to 2^-53 for |x| <= 1/8.
template <class T>
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE T SincSlope(T x) {
  const T square = x * x;
  const T near = x * Polynomial(square, T(-3.28986813369645287), T(3.24696970113341457),
                                T(-1.14451094473250528), T(0.209182782541238404),
                                T(-0.0234608103545582364), T(0.00178114551637285204),
                                T(-9.76622312631893266e-5), T(4.04994784661924424e-6));
  const T n = std::nearbyint(x), half = n * T(0.5);
  const T cosine = internal::CosOfFewTurns((x - n) * T(3.14159265358979324));
  const T far = ((std::nearbyint(half) != half ? -cosine : cosine) - Sinc(x)) / x;
  return Abs(x) <= T(0.125) ? near : far;
}

}  // namespace firn::math

#endif  // FIRN_TENSOR_KERNELS_MATH_TRIG_H_
