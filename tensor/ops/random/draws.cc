// rand: uniform numbers, multiples of 2^-24 (f32), 2^-53 (f64), 2^-11 (f16) or 2^-8 (bf16) scaled
// to [low, high). Where rounding would give `high`, the result is `low`.
//
// randn: normal numbers by Box and Muller's method (kernels/random_normal.h), two from each pair of
// uniform ones. A counter gives four f32 or two f64.
//
// randint: 64 random bits a number, scaled to the range by a 128-bit product.
//
// bernoulli: 1 where a random word lies below p * 2^32.

#include "firn/tensor/ops/random/draws.h"

#include <algorithm>
#include <cmath>

#include "firn/device/macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/kernels/convert.h"
#include "firn/tensor/kernels/cpu/half.h"
#include "firn/tensor/kernels/cpu/probabilities.h"
#include "firn/tensor/kernels/cpu/random.h"
#include "firn/tensor/kernels/random_normal.h"
#include "firn/tensor/ops/random/draws_fn.h"
#include "firn/tensor/ops/random/random_rules.h"

namespace firn {
namespace {

absl::Status InferRand(InferContext& c) {
  const RandAttrs& a = c.attrs<RandAttrs>();
  FIRN_RETURN_IF(!(a.low < a.high) || !std::isfinite(a.high - a.low),
                 InvalidArgument("[", a.low, ", ", a.high, ") is no interval"));
  return InferRandom(c, a.shape, a.dtype, kFloating);
}

absl::Status RunRand(KernelContext& k) {
  const RandAttrs& a = k.attrs<RandAttrs>();
  const int64_t n = k.out_spec().num_elements();
  VisitFloat(a.dtype, [&]<class T>(TypeTag<T>) {
    T* out = k.out<T>();
    const RandFn<T> f(a);
    if constexpr (std::is_same_v<T, double>) {
      const PhiloxState at = cpu::TakeCounters(k, 0, CeilDiv(n, 2));
      cpu::ForEachWordPair(at, n,
                           [&](int64_t e, uint32_t high, uint32_t low) { out[e] = f(high, low); });
    } else {
      const PhiloxState at = cpu::TakeCounters(k, 0, CeilDiv(n, 4));
      cpu::ForEachWord(at, n, [&](int64_t e, uint32_t word) { out[e] = f(word); });
    }
  });
  return absl::OkStatus();
}

FIRN_REGISTER_OP(rand) {
  return {
      .doc = "Numbers uniform on [low, high). Not differentiable.",
      .inputs = {GeneratorState()},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<RandAttrs>(),
      .infer = InferRand,
      .random = true,
      .kernels = {{.name = "loop", .run = RunRand}},
  };
}

absl::Status InferRandn(InferContext& c) {
  const RandnAttrs& a = c.attrs<RandnAttrs>();
  FIRN_RETURN_IF(!(a.std >= 0), InvalidArgument("std ", a.std, " is negative"));
  return InferRandom(c, a.shape, a.dtype, kFloating);
}

constexpr int kLanes = cpu::kPhiloxLanes;

// Standard normal numbers of kLanes counters, in the elements' order: four of each, two of f64. In
// two loops, so that both become vectors.
void NormalRow(const cpu::PhiloxLanes& words, float* row) {
  alignas(64) float parts[4][kLanes];
  FIRN_INDEPENDENT_STEPS
  for (int i = 0; i < kLanes; ++i) {
    const auto [u, v] = NormalFloatsFrom(words.v[0][i], words.v[1][i]);
    const auto [x, y] = NormalFloatsFrom(words.v[2][i], words.v[3][i]);
    parts[0][i] = u;
    parts[1][i] = v;
    parts[2][i] = x;
    parts[3][i] = y;
  }
  for (int i = 0; i < kLanes; ++i) {
    for (int j = 0; j < 4; ++j) row[4 * i + j] = parts[j][i];
  }
}
void NormalRow(const cpu::PhiloxLanes& words, double* row) {
  alignas(64) double parts[2][kLanes];
  FIRN_INDEPENDENT_STEPS
  for (int i = 0; i < kLanes; ++i) {
    const auto [u, v] =
        NormalDoublesFrom(words.v[0][i], words.v[1][i], words.v[2][i], words.v[3][i]);
    parts[0][i] = u;
    parts[1][i] = v;
  }
  for (int i = 0; i < kLanes; ++i) {
    for (int j = 0; j < 2; ++j) row[2 * i + j] = parts[j][i];
  }
}

absl::Status RunRandn(KernelContext& k) {
  const RandnAttrs& a = k.attrs<RandnAttrs>();
  const int64_t n = k.out_spec().num_elements();
  VisitFloat(a.dtype, [&]<class T>(TypeTag<T>) {
    using Acc = AccumulatorOf<T>;
    constexpr int64_t kEach = std::is_same_v<T, double> ? 2 : 4;
    T* out = k.out<T>();
    const Acc mean = static_cast<Acc>(a.mean), std = static_cast<Acc>(a.std);
    const int64_t counters = CeilDiv(n, kEach);
    const PhiloxState at = cpu::TakeCounters(k, 0, counters);
    ParallelFor(counters, cpu::kCounterGrain / 4, [&](int64_t begin, int64_t end) {
      cpu::PhiloxLanes words;
      alignas(64) Acc row[kEach * kLanes];
      for (int64_t c = begin; c < end; c += kLanes) {
        cpu::PhiloxBlock(at, static_cast<uint64_t>(c), &words);
        NormalRow(words, row);
        for (Acc& v : row) v = mean + std * v;
        const int64_t first = kEach * c;
        const int64_t count = std::min({kEach * kLanes, n - first, kEach * end - first});
        if constexpr (std::is_same_v<T, Acc>) {
          std::copy_n(row, count, out + first);
        } else {
          cpu::FromFloats(row, count, out + first);
        }
      }
    });
  });
  return absl::OkStatus();
}

FIRN_REGISTER_OP(randn) {
  return {
      .doc = "Normally distributed numbers. Not differentiable.",
      .inputs = {GeneratorState()},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<RandnAttrs>(),
      .infer = InferRandn,
      .random = true,
      .kernels = {{.name = "loop", .run = RunRandn}},
  };
}

absl::Status InferRandint(InferContext& c) {
  const RandintAttrs& a = c.attrs<RandintAttrs>();
  FIRN_RETURN_IF(a.low >= a.high, InvalidArgument("[", a.low, ", ", a.high, ") is no interval"));
  FIRN_RETURN_IF_ERROR(InferRandom(c, a.shape, a.dtype, kNumeric));
  const bool holds = VisitNumeric(a.dtype, [&]<class T>(TypeTag<T>) {
    const auto same = [](int64_t v) { return ConvertTo<int64_t>(ConvertTo<T>(v)) == v; };
    return same(a.low) && same(a.high - 1);
  });
  FIRN_RETURN_IF(!holds, InvalidArgument(DTypeName(a.dtype), " cannot hold the numbers of [", a.low,
                                         ", ", a.high, ")"));
  return absl::OkStatus();
}

absl::Status RunRandint(KernelContext& k) {
  const RandintAttrs& a = k.attrs<RandintAttrs>();
  const int64_t n = k.out_spec().num_elements();
  const PhiloxState at = cpu::TakeCounters(k, 0, CeilDiv(n, 2));
  const uint64_t low = static_cast<uint64_t>(a.low);
  const uint64_t range = static_cast<uint64_t>(a.high) - low;
  VisitNumeric(a.dtype, [&]<class T>(TypeTag<T>) {
    T* out = k.out<T>();
    cpu::ForEachWordPair(at, n, [&](int64_t e, uint32_t high_word, uint32_t low_word) {
      const uint64_t v = low + BelowFrom(range, high_word, low_word);
      out[e] = ConvertTo<T>(static_cast<int64_t>(v));
    });
  });
  return absl::OkStatus();
}

FIRN_REGISTER_OP(randint) {
  return {
      .doc = "Integers uniform on [low, high). Not differentiable.",
      .inputs = {GeneratorState()},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<RandintAttrs>(),
      .infer = InferRandint,
      .random = true,
      .kernels = {{.name = "loop", .run = RunRandint}},
  };
}

absl::Status InferBernoulli(InferContext& c) {
  FIRN_RETURN_IF_ERROR(CheckState(c, 0));
  c.set_out_like(0, 1);
  return absl::OkStatus();
}

absl::Status RunBernoulli(KernelContext& k) {
  const int64_t n = k.out_spec().num_elements();
  return VisitFloat(k.in_spec(1).dtype, [&]<class T>(TypeTag<T>) -> absl::Status {
    const T* p = k.in<T>(1);
    T* out = k.out<T>();
    FIRN_RETURN_IF_ERROR(cpu::CheckProbabilities<T>(k, 1));
    const PhiloxState at = cpu::TakeCounters(k, 0, CeilDiv(n, 4));
    cpu::ForEachWordRow(at, n, [&](int64_t first, const uint32_t* words, int64_t count) {
      cpu::Piece<T, cpu::kWordRow> in, drawn;
      const auto* const chance = in.Read(p + first, count);
      auto* const y = drawn.Room(out + first);
      for (int64_t i = 0; i < count; ++i) {
        y[i] = words[i] < static_cast<double>(chance[i]) * 0x1p32 ? 1.0f : 0.0f;
      }
      drawn.Write(out + first, count);
    });
    return absl::OkStatus();
  });
}

FIRN_REGISTER_OP(bernoulli) {
  return {
      .doc = "1 with probability p, else 0. Not differentiable.",
      .inputs = {GeneratorState(), {.name = "p", .dtypes = kFloating}},
      .outputs = {{.name = "y"}},
      .infer = InferBernoulli,
      .random = true,
      .kernels = {{.name = "loop", .run = RunBernoulli}},
  };
}

}  // namespace

Tensor Rand(const Shape& shape, Real low, Real high, DType dtype, const RandomOptions& options) {
  return Apply1(TheOp<"rand">(), {GeneratorOf(options).state()},
                RandAttrs{shape.dims(), low, high, dtype});
}

Tensor RandLike(const Tensor& x, Real low, Real high) {
  CheckDefined(x, "rand_like");
  return Rand(x.shape(), low, high, x.dtype(), {.device = x.device()});
}

double Uniform() {
  const PhiloxResult r = PhiloxAt(DefaultGenerator().Reserve(1), 0);
  return UniformDouble(r.v[0], r.v[1]);
}

Tensor Randn(const Shape& shape, Real mean, Real std, DType dtype, const RandomOptions& options) {
  return Apply1(TheOp<"randn">(), {GeneratorOf(options).state()},
                RandnAttrs{shape.dims(), mean, std, dtype});
}

Tensor RandnLike(const Tensor& x, Real mean, Real std) {
  CheckDefined(x, "randn_like");
  return Randn(x.shape(), mean, std, x.dtype(), {.device = x.device()});
}

Tensor Randint(Integer low, Integer high, const Shape& shape, DType dtype,
               const RandomOptions& options) {
  return Apply1(TheOp<"randint">(), {GeneratorOf(options).state()},
                RandintAttrs{shape.dims(), low, high, dtype});
}

Tensor Bernoulli(const Tensor& p, RandomGenerator* generator) {
  const OpDef& op = TheOp<"bernoulli">();
  CheckDefined(p, op.name, "p");
  return Apply1(op, {GeneratorOf({.device = p.device(), .generator = generator}).state(), p});
}

}  // namespace firn
