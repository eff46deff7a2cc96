// Smooth functions of one number at the edges of their range: 0, subnormal numbers, the largest,
// beside their poles. Values and the first three derivatives, in f32 and f64, against numbers of
// many digits (tests/golden/make_edges.py). If a finite answer exists, an infinity, NaN or a wrong
// digit is a failure; exceptions are listed below, each with the reason.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "firn/autograd/backward.h"
#include "firn/device/inner.h"
#include "firn/tensor/from.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops.h"
#include "tests/ops/edges_not_swept.h"

namespace firn {
namespace {

using Function = std::function<Tensor(const Tensor&)>;
const std::map<std::string, Function>& Functions() {
  static const std::map<std::string, Function> kFunctions = {
      {"exp", Exp},
      {"exp2", Exp2},
      {"expm1", Expm1},
      {"log", Log},
      {"log2", Log2},
      {"log10", Log10},
      {"log1p", Log1p},
      {"sqrt", Sqrt},
      {"rsqrt", Rsqrt},
      {"reciprocal", Reciprocal},
      {"square", Square},
      {"sin", Sin},
      {"cos", Cos},
      {"tan", Tan},
      {"asin", Asin},
      {"acos", Acos},
      {"atan", Atan},
      {"sinh", Sinh},
      {"cosh", Cosh},
      {"tanh", Tanh},
      {"asinh", Asinh},
      {"acosh", Acosh},
      {"atanh", Atanh},
      {"erf", Erf},
      {"sinc", Sinc},
      {"lgamma", Lgamma},
      {"digamma", Digamma},
      {"sigmoid", Sigmoid},
      {"logit", [](const Tensor& x) { return Logit(x); }},
      {"log_sigmoid", LogSigmoid},
      {"softplus", [](const Tensor& x) { return Softplus(x); }},
      {"silu", Silu},
      {"gelu", [](const Tensor& x) { return Gelu(x); }},
      {"gelu_tanh", [](const Tensor& x) { return Gelu(x, GeluApproximate::kTanh); }},
      {"mish", Mish},
      {"softsign", Softsign},
      {"elu", [](const Tensor& x) { return Elu(x); }},
      {"pow_1.5", [](const Tensor& x) { return Pow(x, 1.5); }},
      {"pow_3", [](const Tensor& x) { return Pow(x, 3); }},
      {"pow_-2", [](const Tensor& x) { return Pow(x, -2); }},
  };
  return kFunctions;
}

constexpr int kOrders = 4;  // the value and three derivatives
struct Points {
  std::vector<double> x, want[kOrders];  // NaN: no value to compare with
};

std::map<std::string, Points> Read() {
  std::map<std::string, Points> all;
  std::ifstream file("tests/golden/edges/unary.txt");
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string name, word;
    words >> name >> word;
    Points& p = all[name];
    p.x.push_back(std::stod(word));
    for (std::vector<double>& want : p.want) {
      words >> word;
      want.push_back(word == "-" ? std::nan("") : std::stod(word));
    }
  }
  return all;
}

// The value and derivatives of f at all points.
std::vector<std::vector<double>> Derivatives(const Function& f, const std::vector<double>& points,
                                             DType dtype) {
  Tensor x = FromVector(points).To(dtype);
  x.SetRequiresGrad();
  std::vector<std::vector<double>> all;
  Tensor y = f(x);
  for (int order = 0; order < kOrders; ++order) {
    all.push_back(y.ToVector<double>());
    if (order + 1 == kOrders) break;
    if (!y.requires_grad()) {  // a constant
      y = ZerosLike(x);
      continue;
    }
    const GradOptions options{.seeds = {OnesLike(y)}, .create_graph = true, .allow_unused = true};
    const Tensor dy = Grad(y, x, options);
    y = dy.defined() ? dy : ZerosLike(x);
  }
  return all;
}

// Absolute errors, in units of the dtype's epsilon, that are let pass beside a relative one.
struct Limit {
  const char* name;
  int from_order;
  double size;
  const char* why;
};
constexpr Limit kLimits[] = {
    {"sigmoid", 1, 2, "derivatives are made of the result, which has rounded to 1"},
    {"tanh", 1, 16, "derivatives are made of the result, which has rounded to 1"},
    {"asin", 2, 4, "(1 - x) (1 + x) is right near 1, its slope near 0 is a difference"},
    {"acos", 2, 4, "as asin"},
    {"atanh", 2, 8, "as asin"},
    {"silu", 2, 4, "x s(x) has a sum for a slope: where its terms cancel, their digits are lost"},
    {"log_sigmoid", 3, 2, "odd around 0, where terms of its slope cancel"},
    {"softplus", 3, 2, "odd around 0, where terms of its slope cancel"},
    {"gelu", 1, 4, "the slope has a 0 at -0.75, where its terms cancel"},
    {"gelu_tanh", 1, 32, "the same; later ones are sums of products of polynomials"},
    {"mish", 2, 64, "1 - tanh(softplus(x))^2 is a difference where the tangent is near 1"},
    {"sinc", 1, 16, "cos(pi x) - sinc(x) is a difference, and pi x is rounded"},
    {"digamma", 0, 4, "promised to 1e-15 of the value or of 1"},
};
// Relative ones, in the same units.
constexpr Limit kSteep[] = {
    {"gelu_tanh", 0, 512, "of -e^-u it is u, a polynomial, whose rounding counts u times"},
};
double LimitOf(absl::Span<const Limit> limits, const std::string& name, int order) {
  for (const Limit& l : limits) {
    if (name == l.name && order >= l.from_order) return l.size;
  }
  return 0;
}

// From the second derivative on, parts of them are squared: below this number some or all digits
// may be lost.
template <class T>
constexpr double kLeast = std::is_same_v<T, float> ? 0x1p-96 : 0x1p-900;

template <class T>
void Check(DType dtype) {
  using Limits = std::numeric_limits<T>;
  for (const auto& [name, points] : Read()) {
    const auto found = Functions().find(name);
    ASSERT_NE(found, Functions().end()) << name;
    const auto got = Derivatives(found->second, points.x, dtype);
    for (int order = 0; order < kOrders; ++order) {
      for (size_t i = 0; i < points.x.size(); ++i) {
        const double want = points.want[order][i], is = got[order][i];
        const double largest = static_cast<double>(Limits::max());
        if (std::isnan(want) || std::abs(want) > largest / 2) continue;
        // There 2 x, the slope of x^2, is infinite.
        if (order == 3 && std::abs(points.x[i]) > largest / 2) continue;
        const double eps = static_cast<double>(Limits::epsilon());
        const double steep = std::max(order == 0 ? 4.0 : 16 << order, LimitOf(kSteep, name, order));
        const double least = order < 2 ? static_cast<double>(Limits::min()) : kLeast<T>;
        const double most = eps * (steep * std::abs(want) + LimitOf(kLimits, name, order)) + least;
        if (!(std::abs(is - want) <= most)) {
          ADD_FAILURE() << DTypeName(dtype) << " " << name << " order " << order << " at "
                        << points.x[i] << ": " << is << ", want " << want;
        }
      }
    }
  }
}

TEST(EdgesTest, FunctionsAndTheirDerivativesInF32) { Check<float>(DType::kF32); }
TEST(EdgesTest, FunctionsAndTheirDerivativesInF64) { Check<double>(DType::kF64); }

// f and its gradients at one point.
struct Slopes {
  double value, dx, dy, dxdx, dxdy, dydy;
};
Slopes At(Tensor (*f)(const Tensor&, const Tensor&), double at_x, double at_y, DType dtype) {
  Tensor x = FromValues({at_x}).To(dtype), y = FromValues({at_y}).To(dtype);
  x.SetRequiresGrad();
  y.SetRequiresGrad();
  const Tensor z = f(x, y);
  const GradOptions recorded{.create_graph = true, .allow_unused = true};
  const std::vector<Tensor> first = Grad({z}, {x, y}, recorded);
  const auto number = [](const Tensor& t) { return t.defined() ? t.Item() : 0; };
  const auto of = [&](const Tensor& t) {
    return t.requires_grad() ? Grad({t}, {x, y}, recorded) : std::vector<Tensor>(2);
  };
  const std::vector<Tensor> from_x = of(first[0]), from_y = of(first[1]);
  return {number(z),         number(first[0]),  number(first[1]),
          number(from_x[0]), number(from_x[1]), number(from_y[1])};
}

constexpr DType kTypes[] = {DType::kF32, DType::kF64};

TEST(EdgesTest, TheAngleOfAPointOfAnySize) {
  for (const DType dtype : kTypes) {
    for (const double size : {1e-200, 1e-30, 1e-25, 1e-10, 1.0, 1e10, 1e20, 1e30, 1e200}) {
      if (dtype == DType::kF32 && (size < 1e-40 || size > 1e40)) continue;
      for (const auto& [y, x] : {std::pair{1.0, 1.0}, {0.0, 1.0}, {1.0, 0.0}, {0.0, -1.0}}) {
        const Slopes s = At(Atan2, y * size, x * size, dtype);
        const double r2 = (x * x + y * y) * size;
        EXPECT_NEAR(s.value, std::atan2(y, x), 1e-6);
        EXPECT_NEAR(s.dx * size, x / (x * x + y * y), 1e-6) << size;
        EXPECT_NEAR(s.dy * size, -y / (x * x + y * y), 1e-6) << size;
        if (size < 1e-18 || size > 1e18) continue;
        EXPECT_NEAR(s.dxdx * size * r2, -2 * x * y / (x * x + y * y), 1e-5) << size;
      }
    }
  }
}

// Squares of these leave the range of an f16, the slopes do not.
TEST(EdgesTest, HalvesOfAnySize) {
  for (const DType dtype : {DType::kF16, DType::kBF16}) {
    for (const double size : {0x1p-12, 1.0, 0x1p9}) {
      const Slopes s = At(Atan2, size, -size, dtype);
      EXPECT_NEAR(s.dx * size, -0.5, 1e-2) << size;
      EXPECT_NEAR(s.dy * size, -0.5, 1e-2) << size;
    }
    const auto asinh = [](const Tensor& x, const Tensor&) { return Asinh(x); };
    EXPECT_NEAR(At(asinh, 0x1p9, 0, dtype).dx * 0x1p9, 1, 1e-2);
    EXPECT_NEAR(At(asinh, 2, 0, dtype).dx, 1 / std::sqrt(5), 1e-2);
    for (const double x : {0.0, 0x1p-20, std::nan("")}) EXPECT_EQ(At(Pow, x, 0, dtype).dx, 0) << x;
  }
}

TEST(EdgesTest, PowersAreFlatAtZero) {
  for (const DType dtype : kTypes) {
    const Slopes square = At(Pow, 0, 2, dtype), cube = At(Pow, 0, 3, dtype),
                 one = At(Pow, 0, 0, dtype), flat = At(Pow, 2, 0, dtype),
                 far = At(Pow, 1e30, 1, dtype);
    for (const Slopes& s : {square, cube}) {
      EXPECT_EQ(s.value, 0);
      EXPECT_EQ(s.dx, 0);
      EXPECT_EQ(s.dy, 0);
      EXPECT_EQ(s.dydy, 0);
    }
    EXPECT_EQ(square.dxdx, 2);
    EXPECT_EQ(cube.dxdx, 0);
    EXPECT_EQ(one.value, 1);
    EXPECT_EQ(one.dx, 0);
    EXPECT_EQ(one.dy, 0);
    EXPECT_TRUE(std::isfinite(one.dxdx) && std::isfinite(one.dydy));
    EXPECT_EQ(flat.dx, 0);
    EXPECT_NEAR(flat.dy, std::log(2), 1e-6);
    EXPECT_NEAR(flat.dxdy, 0.5, 1e-6);
    EXPECT_NEAR(flat.dydy, std::log(2) * std::log(2), 1e-6);
    EXPECT_EQ(far.dx, 1);
  }
  // A factor that is multiplied by 0 must not be infinite, either.
  for (const auto& [dtype, x] : {std::pair{DType::kF16, 0x1p-10},
                                 {DType::kBF16, 0x1p-70},
                                 {DType::kF32, 0x1p-70},
                                 {DType::kF64, 0x1p-600}}) {
    const Slopes s = At(Pow, x, 0, dtype);
    EXPECT_EQ(s.dx, 0) << x;
    EXPECT_EQ(s.dxdx, 0) << x;
    EXPECT_EQ(s.dxdy * x, 1) << x;
  }
}

TEST(EdgesTest, QuotientsOfNumbersFarFromOne) {
  for (const DType dtype : kTypes) {
    for (const double size : {1e-30, 1e-18, 1e18, 1e30}) {
      const auto div = [](const Tensor& x, const Tensor& y) { return Div(x, y); };
      const auto add = [](const Tensor& x, const Tensor& y) { return Addcdiv(ZerosLike(x), x, y); };
      for (const Slopes& s :
           {At(div, 3 * size, 2 * size, dtype), At(add, 3 * size, 2 * size, dtype)}) {
        EXPECT_NEAR(s.value, 1.5, 1e-6);
        EXPECT_NEAR(s.dx * size, 0.5, 1e-6) << size;
        EXPECT_NEAR(s.dy * size, -0.75, 1e-6) << size;
      }
    }
  }
}

TEST(EdgesTest, SumsOfExponentials) {
  const double inf = std::numeric_limits<double>::infinity();
  for (const DType dtype : kTypes) {
    for (const auto& [x, y] : {std::pair{-inf, -inf}, {-inf, 1.0}, {1e30, 0.0}, {-1e30, 1e30}}) {
      const Slopes s = At(Logaddexp, x, y, dtype);
      EXPECT_EQ(s.dx, x > y ? 1 : 0);
      EXPECT_EQ(s.dy, y > x ? 1 : 0);
      for (const double second : {s.dxdx, s.dxdy, s.dydy}) EXPECT_EQ(second, 0);
    }
    EXPECT_EQ(At(Logaddexp, 1, 1, dtype).dxdx, 0.25);
  }
}

TEST(EdgesTest, EveryDifferentiableOperationIsSweptOrSaysWhyNot) {
  std::map<std::string, std::string> reasons;
  for (const Others& others : NotSwept()) {
    for (const std::string& name : others.names) {
      EXPECT_TRUE(reasons.emplace(name, others.why).second) << name << " is there twice";
    }
  }
  for (const OpDef* op : AllOps()) {
    const std::string name(op->name);
    const bool swept = Functions().contains(name), excused = reasons.contains(name);
    if (op->grad != nullptr) {
      EXPECT_TRUE(swept != excused) << name << (swept ? " is swept" : " is not swept");
    }
  }
}

}  // namespace
}  // namespace firn
