// Error samples, and samples with one input made wrong: another rank, another size, empty, another
// dtype, undefined, integers at the extremes.

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "firn/tensor/allocate.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/shape/convert.h"
#include "tests/ops/calls.h"
#include "tests/ops/checks.h"
#include "tests/ops/compare.h"
#include "tests/ops/mutants.h"

namespace firn::testing {
namespace {

// Large inputs would make thousands of mutants slow and test nothing more.
constexpr int64_t kMaxElements = 20000;

// A tensor of `shape` with t's elements, repeated as often as needed.
Tensor Resized(const Tensor& t, const Shape& shape) {
  const Tensor plain = CopyOf(t);
  const Tensor out = *AllocateTensor(TensorSpec::Contiguous(t.dtype(), shape, t.device()));
  const int64_t size = SizeOf(t.dtype()), n = t.num_elements();
  std::fill_n(out.impl()->data, out.spec().bytes(), char{0});
  for (int64_t i = 0; n > 0 && i < out.num_elements(); ++i) {
    std::copy_n(plain.impl()->data + i % n * size, size, out.impl()->data + i * size);
  }
  return out;
}

// Shapes near `shape`: sizes off by one, 0, 1; a dimension more and less; none; the most.
std::vector<Shape> Near(const Shape& shape) {
  std::vector<Dims> all;
  for (int d = 0; d < shape.rank(); ++d) {
    for (int64_t size : {shape[d] + 1, shape[d] - 1, int64_t{0}, int64_t{1}}) {
      if (size < 0 || size == shape[d]) continue;
      all.push_back(shape.dims());
      all.back()[d] = size;
    }
  }
  if (shape.rank() < kMaxRank) {
    Dims more(kMaxRank, 1);
    for (int d = 0; d < shape.rank(); ++d) more[kMaxRank - shape.rank() + d] = shape[d];
    all.push_back(more);
    Dims leading(1, 1), trailing = shape.dims();
    for (int64_t s : shape) leading.push_back(s);
    trailing.push_back(1);
    all.push_back(leading);
    all.push_back(trailing);
  }
  if (shape.rank() > 0) {
    all.push_back(Dims());
    Dims less;
    for (int d = 1; d < shape.rank(); ++d) less.push_back(shape[d]);
    all.push_back(less);
  }
  std::vector<Shape> shapes;
  for (const Dims& d : all) shapes.push_back(Shape::Trusted(d));
  return shapes;
}

Call With(const Call& call, size_t i, Tensor t, const std::string& what) {
  Call c{absl::StrCat(call.name, ", input ", i, " ", what), call.inputs, call.attrs};
  c.inputs[i] = std::move(t);
  return c;
}

void MutateShapes(const Subject& subject, const Call& call, size_t i) {
  for (const Shape& shape : Near(call.inputs[i].shape())) {
    ExpectRefusedOrRight(subject, With(call, i, Resized(call.inputs[i], shape),
                                       absl::StrCat("as ", shape.ToString())));
  }
}

// Dimension d of every input that has input 0's size there becomes `size`: a legal call, often.
void ResizeTogether(const Subject& subject, const Call& call, int d, int64_t size) {
  Call c{absl::StrCat(call.name, ", dimension ", d, " everywhere of size ", size), call.inputs,
         call.attrs};
  const int64_t old = call.inputs[0].shape()[d];
  for (Tensor& t : c.inputs) {
    if (!t.defined() || d >= t.rank() || t.shape()[d] != old) continue;
    Dims dims = t.shape().dims();
    dims[d] = size;
    t = Resized(t, Shape::Trusted(dims));
  }
  ExpectRefusedOrRight(subject, c);
}

void MutateDTypes(const Subject& subject, const Call& call, size_t i) {
  for (int d = 0; d < kNumDTypes; ++d) {
    const auto dtype = static_cast<DType>(d);
    if (dtype == call.inputs[i].dtype()) continue;
    NoGradScope no_grad;
    ExpectRefusedOrRight(
        subject, With(call, i, Cast(call.inputs[i], dtype), absl::StrCat("as ", DTypeName(dtype))));
  }
}

void MutateIntegers(const Subject& subject, const Call& call, size_t i) {
  if (call.inputs[i].dtype() != DType::kI64 || call.inputs[i].num_elements() == 0) return;
  std::vector<int64_t> values = {std::numeric_limits<int64_t>::min(),
                                 std::numeric_limits<int64_t>::max(), -1, -2, 0};
  for (const Tensor& t : call.inputs) {
    if (!t.defined()) continue;
    for (int64_t s : t.shape()) values.insert(values.end(), {s, s - 1, -s, -s - 1});
  }
  for (int64_t v : values) {
    for (size_t at : {size_t{0}, static_cast<size_t>(call.inputs[i].num_elements()) - 1}) {
      Tensor t = CopyOf(call.inputs[i]);
      t.mutable_host_view<int64_t>()[at] = v;
      ExpectRefusedOrRight(subject, With(call, i, t, absl::StrCat("with ", v, " at ", at)));
    }
  }
}

void MutateValues(const Subject& subject, const Call& call, size_t i) {
  const double inf = std::numeric_limits<double>::infinity();
  if (call.inputs[i].dtype() != DType::kF64 || call.inputs[i].num_elements() == 0) return;
  for (double v : {std::nan(""), inf, -inf, 0.0, 1e308, -1e308}) {
    Tensor t = CopyOf(call.inputs[i]);
    t.mutable_host_view<double>()[0] = v;
    ExpectRefusedOrRight(subject, With(call, i, t, absl::StrCat("with ", v)));
  }
}

void MutateCount(const Subject& subject, const Call& call) {
  Call fewer{call.name + ", one input fewer", call.inputs, call.attrs};
  Call more{call.name + ", one input more", call.inputs, call.attrs};
  // A function of three tensors cannot be called with two.
  if (call.inputs.empty() || (subject.composite() && !subject->variadic())) return;
  fewer.inputs.pop_back();
  more.inputs.push_back(call.inputs.back());
  ExpectRefusedOrRight(subject, fewer);
  ExpectRefusedOrRight(subject, more);
}

}  // namespace

void CheckErrors(const Subject& subject, const Samples& samples) {
  for (const ErrorSample& e : samples.errors) {
    SCOPED_TRACE(e.name);
    std::vector<std::vector<unsigned char>> before;
    for (const Tensor& t : e.inputs) before.push_back(BytesOf(t));
    try {
      subject(e.inputs, e.attrs.ref());
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(e.message), std::string::npos)
          << "the message is: " << error.what() << "\nexpected in it: " << e.message;
    }
    for (size_t i = 0; i < before.size(); ++i) {
      EXPECT_EQ(BytesOf(e.inputs[i]), before[i]) << "input " << i << " was changed";
    }
  }
}

void CheckArguments(const Subject& subject, const Samples& samples) {
  MemoryLimit limit;
  for (const Sample& sample : samples.samples) {
    const Call call{sample.name, sample.inputs, sample.attrs};
    const bool small = std::all_of(call.inputs.begin(), call.inputs.end(), [](const Tensor& t) {
      return !t.defined() || t.num_elements() <= kMaxElements;
    });
    if (!small) continue;
    MutateCount(subject, call);
    for (size_t i = 0; i < call.inputs.size(); ++i) {
      if (!call.inputs[i].defined()) continue;
      ExpectRefusedOrRight(subject, With(call, i, Tensor(), "undefined"));
      MutateShapes(subject, call, i);
      MutateDTypes(subject, call, i);
      MutateIntegers(subject, call, i);
      MutateValues(subject, call, i);
    }
    if (call.inputs.empty() || !call.inputs[0].defined()) continue;
    for (int d = 0; d < call.inputs[0].rank(); ++d) {
      for (int64_t size : {0, 1, 2}) ResizeTogether(subject, call, d, size);
    }
  }
}

}  // namespace firn::testing
