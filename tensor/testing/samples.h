#ifndef FIRN_TENSOR_TESTING_SAMPLES_H_
#define FIRN_TENSOR_TESTING_SAMPLES_H_

// Samples of an operation: the calls on which the conformance suite (tests/ops) checks it and the
// benchmarks time it. Test code only. A samples file is
//
//   FIRN_REGISTER_SAMPLES(exp) {
//     s.Function<Exp>();                                  // what users call
//     s.Reference([](double x) { return std::exp(x); });  // independent of the kernel, in f64
//     s.Add("matrix", {Normal({3, 5})});
//     s.AddError("int input", {Integers({3}, 0, 5)}, {}, "x must be f32, f64, f16 or bf16");
//   }
//
// A function that is made of operations has samples too. There is no OpDef, so they declare what it
// takes; its options are a struct with Visit, as an operation's attributes:
//
//   FIRN_REGISTER_COMPOSITE(huber_loss) {
//     s.Declare({{.name = "x", .dtypes = kFloating}, {.name = "y", .same_dtype_as = "x"}});
//     s.Function([](In in, const HuberAttrs& a) {
//       return HuberLoss(in[0], in[1], {.reduction = a.reduction, .delta = a.delta});
//     });
//     ...
//   }
//
// golden_samples.h has the other half: results of another framework.

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "firn/device/inner.h"
#include "firn/tensor/attrs.h"
#include "firn/tensor/op.h"
#include "firn/tensor/tensor.h"
#include "firn/tensor/testing/function_samples.h"

namespace firn::testing {

// A tensor of the reference computation: row-major doubles, whatever the dtype stands for.
struct RefTensor {
  Shape shape;
  std::vector<double> values;
  DType dtype = DType::kF64;

  RefTensor() = default;
  explicit RefTensor(const Shape& s, double fill = 0)
      : shape(s), values(static_cast<size_t>(s.num_elements()), fill) {}
  bool defined() const { return defined_; }
  bool defined_ = true;  // false for an absent optional input

  double& operator[](int64_t i) { return values[static_cast<size_t>(i)]; }
  double operator[](int64_t i) const { return values[static_cast<size_t>(i)]; }
  int64_t size() const { return static_cast<int64_t>(values.size()); }
  // The element at a full index.
  double& at(absl::Span<const int64_t> index);
  double at(absl::Span<const int64_t> index) const;
};
// Calls f(index) for every index of `shape` in row-major order.
void ForEachIndex(const Shape& shape, const std::function<void(absl::Span<const int64_t>)>& f);

// The expected outputs (for inout operations: the expected new values of the inout inputs, in
// order, then the outputs) of a call, computed the slow and obvious way.
using ReferenceFn =
    std::function<std::vector<RefTensor>(absl::Span<const RefTensor> in, AttrsRef attrs)>;

struct Sample {
  std::string name;
  std::vector<Tensor> inputs;  // floating ones in f64; the suite converts them to other dtypes
  Attrs attrs;
  bool check_gradient = true;  // false where the function has a kink or the gradient is not wanted
  bool check_values = true;    // false where several answers are right (order of equal elements)
  bool check_function = true;  // false where the functions have no words for the attributes
  std::vector<int> constant_inputs = {};  // floating inputs that get no gradient by definition
  double flops = 0, bytes = 0;            // of one call, for benchmarks; 0: not counted
};

struct ErrorSample {
  std::string name;
  std::vector<Tensor> inputs;
  Attrs attrs;
  std::string message;  // a part of what() that must appear
};

// Everything the suite knows about one operation, or about a function made of operations.
class Samples {
 public:
  // The function that users call, or, of an operation that they do not call, the one that stands
  // before it in the library. Those that have several, for several calls, name them all. It takes
  // (In in) or (In in, const FooAttrs& a); one of tensors alone is named as Function<Foo>().
  template <class F>
  void Function(F f) {
    functions.push_back(TestedFunctionOf(std::move(f)));
    declaration.attrs = AttrsTypeTakenBy<F>();
  }
  template <Tensor (*kFunction)(const Tensor&)>
  void Function() {
    Function([](In in) { return kFunction(in[0]); });
  }
  template <Tensor (*kFunction)(const Tensor&, const Tensor&)>
  void Function() {
    Function([](In in) { return kFunction(in[0], in[1]); });
  }
  template <Tensor (*kFunction)(const Tensor&, const Tensor&, const Tensor&)>
  void Function() {
    Function([](In in) { return kFunction(in[0], in[1], in[2]); });
  }
  // States that no function calls the operation, and what it is: "the gradient of relu".
  void Internal(std::string what) { internal = std::move(what); }
  // States that there are no results of another framework to compare with, and why.
  void WithoutVectors(std::string why) { without_vectors = std::move(why); }
  // For a composite: names, dtypes and more of what it takes and gives. A variadic input is a list,
  // and so is a variadic result. A result has the dtype of the input that it names, or one of those
  // given; one that is `constant` has no gradient.
  void Declare(std::vector<ArgDecl> inputs,
               std::vector<ArgDecl> outputs = {{.name = "y", .same_dtype_as = "x"}});

  // A call that must work. Returns the sample for further settings.
  Sample& Add(std::string name, std::vector<Tensor> inputs, AttrsRef attrs = {});
  // A large call for benchmarks only.
  Sample& AddLarge(std::string name, std::vector<Tensor> inputs, AttrsRef attrs, double flops,
                   double bytes);
  // A call that must throw, leave its inputs as they were, and say `message`.
  void AddError(std::string name, std::vector<Tensor> inputs, AttrsRef attrs, std::string message);

  void Reference(ReferenceFn f) { reference = std::move(f); }
  // For elementwise operations; inputs broadcast.
  void Reference(double (*f)(double));
  void Reference(double (*f)(double, double));

  std::vector<TestedFunction> functions;
  std::string internal, without_vectors;
  OpDef declaration;  // of a composite: name, inputs, outputs and attributes; never run
  std::vector<Sample> samples, large;
  std::vector<ErrorSample> errors;
  ReferenceFn reference;
  // Allowed |result - reference| <= atol + rtol * |reference|; 0: the suite's default for the
  // dtype.
  double rtol_f32 = 0, atol_f32 = 0;
  // Results are random: of values, only that a position of the generator gives the same again.
  bool random = false;
  bool second_gradient = true;  // gradients of gradients are checked too
  bool captured = true;         // false: reads values on the host, which a capture refuses
  // false: the gradient is another than the function's, on purpose (straight through); a test of
  // its own says which.
  bool gradient_is_derivative = true;
};

using SamplesFn = void (*)(Samples&);
struct SamplesRegistration {
  SamplesRegistration(std::string_view name, SamplesFn fn, bool composite = false);
};
// The samples of the operation or composite, or null. Built anew at each call. `large` is filled
// only when asked for.
std::unique_ptr<Samples> SamplesOf(std::string_view op, bool with_large = false);
bool HasSamples(std::string_view op);
// The names of the composites that have samples, sorted.
std::vector<std::string> Composites();
// Names of the large samples, which this does not make.
std::vector<std::string> LargeSampleNames(std::string_view op);

// Reproducible inputs (the same at every call with the same arguments). Beyond 65521 elements
// values repeat, and beyond 262144 they are made only while large samples are (one value stands for
// all otherwise), so that large samples cost nothing to those who do not want them.
Tensor Normal(const Shape& shape, uint64_t seed = 1);                            // f64
Tensor Uniform(const Shape& shape, double low, double high, uint64_t seed = 1);  // f64
// Distinct values at least `gap` apart, shuffled: no ties and no kink at 0 within gap / 2.
Tensor Distinct(const Shape& shape, double gap = 0.1, uint64_t seed = 1);  // f64
Tensor Integers(const Shape& shape, int64_t low, int64_t high,
                uint64_t seed = 1);                      // i64, [low, high)
Tensor Booleans(const Shape& shape, uint64_t seed = 1);  // bool
Tensor Values(std::vector<double> values);               // f64, 1-D
Tensor Values(std::vector<double> values, const Shape& shape);
Tensor Indices(std::vector<int64_t> values);  // i64, 1-D
Tensor Indices(std::vector<int64_t> values, const Shape& shape);

#define FIRN_REGISTER_SAMPLES(stem) FIRN_SAMPLES_OF(stem, false)
#define FIRN_REGISTER_COMPOSITE(stem) FIRN_SAMPLES_OF(stem, true)
#define FIRN_SAMPLES_OF(stem, composite)                                                           \
  static void FirnSamples_##stem(::firn::testing::Samples& s);                                     \
  static const ::firn::testing::SamplesRegistration firn_samples_##stem(#stem, FirnSamples_##stem, \
                                                                        composite);                \
  static void FirnSamples_##stem(::firn::testing::Samples& s)

}  // namespace firn::testing

#endif  // FIRN_TENSOR_TESTING_SAMPLES_H_
