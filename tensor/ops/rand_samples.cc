#include "device/philox.h"
#include "tensor/ops/rand.h"
#include "tensor/samples.h"

namespace firn::testing::rand {
namespace {

// Word w of the stream, from the scalar generator.
uint32_t Word(const RefTensor& state, int64_t w) {
  const PhiloxState at{static_cast<uint64_t>(static_cast<int64_t>(state[0])),
                       static_cast<uint64_t>(static_cast<int64_t>(state[1]))};
  return PhiloxAt(at, static_cast<uint64_t>(w / 4)).v[w % 4];
}

std::vector<RefTensor> Reference(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const RandAttrs& a = attrs.get<RandAttrs>();
  RefTensor state = in[0];
  RefTensor y{Shape(a.shape.span())};
  const int per_number = a.dtype == DType::kF64 ? 2 : 1;
  for (int64_t i = 0; i < y.size(); ++i) {
    double u;
    if (a.dtype == DType::kF64) {
      u = UniformDouble(Word(state, 2 * i), Word(state, 2 * i + 1));
    } else {
      const int bits = a.dtype == DType::kF32 ? 24 : a.dtype == DType::kF16 ? 11 : 8;
      u = static_cast<double>(Word(state, i) >> (32 - bits)) / static_cast<double>(1 << bits);
    }
    y[i] = a.low + (a.high - a.low) * u;
  }
  state[1] += static_cast<double>((y.size() * per_number + 3) / 4);
  return {state, y};
}

}  // namespace

FIRN_REGISTER_SAMPLES(rand) {
  s.Reference(Reference);
  const Tensor state = Indices({7, 100});
  for (DType d : {DType::kF32, DType::kF64, DType::kF16, DType::kBF16}) {
    s.Add(DTypeName(d), {state}, RandAttrs{Shape({3, 7}).dims(), 0, 1, d});
    s.Add(std::string("an interval, ") + DTypeName(d), {state},
          RandAttrs{Shape({101}).dims(), -2.5, 4, d});
  }
  s.Add("a number", {state}, RandAttrs{});
  s.Add("nothing", {state}, RandAttrs{Shape({0, 3}).dims()});
  s.Add("far along", {Indices({-3, int64_t{1} << 40})}, RandAttrs{Shape({70}).dims()});
  s.AddLarge("4M", {state}, RandAttrs{Shape({2048, 2048}).dims()}, 0, 16.8e6);
  s.AddError("interval", {state}, RandAttrs{Shape({2}).dims(), 1, 1}, "[1, 1) is no interval");
  s.AddError("dtype", {state}, RandAttrs{Shape({2}).dims(), 0, 1, DType::kI64},
             "dtype must be f32, f64, f16 or bf16, got i64");
  s.AddError("state", {Indices({1})}, RandAttrs{}, "state [1] is not a generator's");
}

}  // namespace firn::testing::rand
