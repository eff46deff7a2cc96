#include <cmath>
#include <string>

#include "firn/tensor/ops/elementwise/bits.h"
#include "firn/tensor/ops/elementwise/elementwise_samples.h"

namespace firn::testing {
namespace {

Tensor Whole(const Shape& shape, uint64_t seed) { return Integers(shape, -100, 100, seed); }
Tensor Counts(const Shape& shape, uint64_t seed) { return Integers(shape, 0, 100, seed); }

// Two integers of a draw; bool too where `with_bool`.
void AddIntegers(Samples& s, Draw x, Draw y, bool with_bool) {
  s.Add("vectors", {x({7}, 1), y({7}, 11)});
  s.Add("a scalar", {x({3, 5}, 2), y({}, 12)});
  s.Add("rows and columns", {x({4, 1, 3}, 4), y({2, 1}, 14)});
  s.Add("channels", {x({2, 8, 3, 3}, 5), y({2, 8, 3, 3}, 15)});
  s.Add("nothing", {x({0, 3}, 7), y({3}, 17)});
  s.AddLarge("4M", {x({2048, 2048}, 8), y({2048, 2048}, 18)}, {}, 4.2e6, 100.6e6);
  if (with_bool) s.Add("bool", {Booleans({9}), Booleans({9}, 2)});
  const std::string dtypes = with_bool ? "x must be i8, i32, i64, u8 or bool" : "x must be i8, ";
  s.AddError("floats", {Normal({3}), Normal({3})}, {}, dtypes);
  s.AddError("shapes", {x({3}, 1), y({4}, 2)}, {}, "shapes [3] and [4] do not broadcast");
  s.AddError("undefined", {x({3}, 1), Tensor()}, {}, "y is an undefined tensor");
}

// Bit by bit, of numbers in two's complement with 64 bits.
double BitByBit(double x, double y, bool (*f)(bool, bool)) {
  const auto bit = [](double v, int i) { return std::fmod(std::floor(std::ldexp(v, -i)), 2) != 0; };
  double sum = f(x < 0, y < 0) ? -std::ldexp(1.0, 40) : 0;
  for (int i = 0; i < 40; ++i) sum += f(bit(x, i), bit(y, i)) ? std::ldexp(1.0, i) : 0;
  return sum;
}

FIRN_REGISTER_SAMPLES(bitwise_not) {
  s.Function<BitwiseNot>();
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef) {
    RefTensor y = in[0];
    const double top = y.dtype == DType::kBool ? 1 : y.dtype == DType::kU8 ? 255 : -1;
    for (double& v : y.values) v = top - v;
    return std::vector<RefTensor>{y};
  });
  AddUnary(s, Counts);
  s.Add("negative", {Whole({9}, 1)});
  s.Add("bool", {Booleans({9})});
  s.AddError("floats", {Normal({3})}, {}, "x must be i8, i32, i64, u8 or bool");
}

FIRN_REGISTER_SAMPLES(bitwise_and) {
  s.Function<BitwiseAnd>();
  s.Reference(
      [](double x, double y) { return BitByBit(x, y, [](bool a, bool b) { return a && b; }); });
  AddIntegers(s, Whole, Whole, true);
  s.Add("not negative", {Counts({9}, 1), Counts({9}, 2)});
}

FIRN_REGISTER_SAMPLES(bitwise_or) {
  s.Function<BitwiseOr>();
  s.Reference(
      [](double x, double y) { return BitByBit(x, y, [](bool a, bool b) { return a || b; }); });
  AddIntegers(s, Whole, Whole, true);
  s.Add("not negative", {Counts({9}, 1), Counts({9}, 2)});
}

FIRN_REGISTER_SAMPLES(bitwise_xor) {
  s.Function<BitwiseXor>();
  s.Reference(
      [](double x, double y) { return BitByBit(x, y, [](bool a, bool b) { return a != b; }); });
  AddIntegers(s, Whole, Whole, true);
  s.Add("not negative", {Counts({9}, 1), Counts({9}, 2)});
}

// Few enough that no shift leaves a byte.
Tensor Few(const Shape& shape, uint64_t seed) { return Integers(shape, -3, 4, seed); }
Tensor Places(const Shape& shape, uint64_t seed) { return Integers(shape, 0, 5, seed); }

FIRN_REGISTER_SAMPLES(bitwise_left_shift) {
  s.Function<BitwiseLeftShift>();
  s.Reference(
      [](double x, double y) { return y >= 0 && y < 64 ? std::ldexp(x, static_cast<int>(y)) : 0; });
  AddIntegers(s, Few, Places, false);
  s.Add("not negative", {Integers({9}, 0, 4), Places({9}, 2)});
  s.Add("too far", {Indices({1, 2, 3, 100}), Indices({64, 65, 127, 100})});
  s.Add("backwards", {Indices({1, -2, 3}), Indices({-1, -2, -64})});
  s.AddError("bool", {Booleans({3}), Booleans({3})}, {}, "x must be i8, i32, i64 or u8");
}

FIRN_REGISTER_SAMPLES(bitwise_right_shift) {
  s.Function<BitwiseRightShift>();
  s.Reference([](double x, double y) {
    return y >= 0 && y < 64 ? std::floor(std::ldexp(x, -static_cast<int>(y))) : x < 0 ? -1 : 0;
  });
  AddIntegers(s, Whole, Places, false);
  s.Add("not negative", {Counts({9}, 1), Places({9}, 2)});
  s.Add("too far", {Indices({1, 2, 3, 100}), Indices({64, 65, 127, 100})});
  s.Add("too far for a byte", {Indices({-1, -128, 3}), Indices({8, 9, 63})});
  s.Add("backwards", {Indices({1, -2, 3}), Indices({-1, -2, -64})});
  s.AddError("bool", {Booleans({3}), Booleans({3})}, {}, "x must be i8, i32, i64 or u8");
}

}  // namespace
}  // namespace firn::testing
