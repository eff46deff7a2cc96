// Many tensors into one and out of one: rows are copied byte by byte.
#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "firn/device/status_macros.h"
#include "firn/io/data/dataset.h"
#include "firn/io/data/internal/name_errors.h"
#include "firn/tensor/allocate.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/pending.h"

namespace firn::io {
namespace {

void CheckRows(const std::string& name, const Tensor& t) {
  if (IsPending(t)) RaiseStatus(PendingError(t), "dataset");
  if (t.defined() && t.rank() > 0) return;
  RaiseStatus(InvalidArgument("wants tensors of rank 1 or more, got ",
                              t.defined() ? t.spec().ToString() : "undefined", " as ", name),
              "dataset");
}

// On the CPU, row-major, without history: ready for memcpy.
Tensor Dense(const Tensor& t) { return t.Detach().To(Device::Cpu()).Contiguous(); }

// Whether `t` is in that form already. In a capture it must go through Detach.
bool IsDense(const Tensor& t) {
  return t.is_contiguous() && t.device().is_cpu() && ThisThread().capture == nullptr;
}

const char* BytesOf(const Tensor& t) { return t.impl()->data; }

Tensor NewTensor(DType dtype, const Shape& shape, const char* who) {
  absl::StatusOr<Tensor> made =
      AllocateTensor(TensorSpec::Contiguous(dtype, shape, Device::Cpu()), AllocTag::kOther);
  RaiseIfError(made.status(), who);
  return *std::move(made);
}

// `first`, then the sizes of `shape` from dimension `from` on.
Shape WithFirst(int64_t first, const Shape& shape, int from) {
  std::vector<int64_t> sizes = {first};
  sizes.insert(sizes.end(), shape.begin() + from, shape.end());
  return Shape(sizes);
}

using NameOfSample = absl::FunctionRef<std::string(size_t)>;

// Their tensors of place `at`.
Tensor StackField(absl::Span<const Sample> samples, int64_t at, NameOfSample name) {
  const Tensor& first = samples[0].At(at);
  for (size_t i = 0; i < samples.size(); ++i) {
    const Tensor& t = samples[i].At(at);
    if (IsPending(t)) RaiseStatus(PendingError(t), "stack");
    if (t.defined() == first.defined() &&
        (!t.defined() || (t.shape() == first.shape() && t.dtype() == first.dtype()))) {
      continue;
    }
    const auto describe = [](const Tensor& x) {
      return x.defined() ? x.spec().ToString() : std::string("undefined");
    };
    const SampleNames& names = samples[0].names;
    RaiseStatus(InvalidArgument(names ? (*names)[static_cast<size_t>(at)] + ": " : "", name(i),
                                " is ", describe(t), ", ", name(0), " is ", describe(first)),
                "stack");
  }
  if (!first.defined()) return {};
  Tensor out = NewTensor(
      first.dtype(), WithFirst(static_cast<int64_t>(samples.size()), first.shape(), 0), "stack");
  const size_t bytes = first.spec().bytes();
  for (size_t i = 0; i < samples.size() && bytes != 0; ++i) {
    const Tensor& t = samples[i].At(at);
    char* const to = out.impl()->data + i * bytes;
    std::memcpy(to, IsDense(t) ? BytesOf(t) : BytesOf(Dense(t)), bytes);
  }
  return out;
}

// Samples of one dataset share their names, so comparing pointers is mostly enough.
void CheckNames(absl::Span<const Sample> samples, NameOfSample name) {
  const Sample& first = samples[0];
  static_cast<void>(first.size());  // throws unless it has as many names as tensors
  for (size_t i = 1; i < samples.size(); ++i) {
    const Sample& s = samples[i];
    const bool alike =
        s.names == first.names || (s.names && first.names && *s.names == *first.names);
    if (alike && s.more.size() == first.more.size()) continue;
    RaiseStatus(InvalidArgument(name(i), " has the tensors ", absl::StrJoin(s.variables(), ", "),
                                "; ", name(0), " has ", absl::StrJoin(first.variables(), ", ")),
                "stack");
  }
}

Sample StackBy(absl::Span<const Sample> samples, NameOfSample name) {
  if (samples.empty()) RaiseStatus(InvalidArgument("there is no sample"), "stack");
  CheckNames(samples, name);
  Sample batch{StackField(samples, 0, name), StackField(samples, 1, name), {}, samples[0].names};
  const auto more = static_cast<int64_t>(samples[0].more.size());
  for (int64_t at = 2; at < 2 + more; ++at) batch.more.push_back(StackField(samples, at, name));
  return batch;
}

class TensorDataset final : public Dataset {
 public:
  // Requires: dense tensors of `size` rows.
  TensorDataset(Sample rows, int64_t size) : rows_(std::move(rows)), size_(size) {}
  int64_t size() const override { return size_; }
  std::vector<std::string> variables() const override { return rows_.variables(); }
  Sample Get(int64_t i) const override {
    internal::CheckIndex(i, size_);
    return rows_.EachBy([i](const Tensor& t) { return Gather(t, {i}, false); });
  }
  Sample GetBatch(absl::Span<const int64_t> indices) const override {
    for (const int64_t i : indices) internal::CheckIndex(i, size_);
    return rows_.EachBy([indices](const Tensor& t) { return Gather(t, indices, true); });
  }

 private:
  static Tensor Gather(const Tensor& rows, absl::Span<const int64_t> indices, bool keep_dim) {
    if (!rows.defined()) return {};
    const auto n = static_cast<int64_t>(indices.size());
    const Shape batch = WithFirst(n, rows.shape(), 1);
    Tensor out =
        NewTensor(rows.dtype(), keep_dim ? batch : Shape(batch.span().subspan(1)), "gather");
    const size_t bytes = out.spec().bytes() / std::max<size_t>(indices.size(), 1);
    if (bytes == 0) return out;
    for (size_t k = 0; k < indices.size(); ++k) {
      std::memcpy(out.impl()->data + k * bytes,
                  BytesOf(rows) + static_cast<size_t>(indices[k]) * bytes, bytes);
    }
    return out;
  }

  const Sample rows_;
  const int64_t size_;
};

// Makes one of a sample whose tensors are defined, but for the target of two without names.
DatasetPtr FromRows(const Sample& rows) {
  const std::vector<std::string> names = rows.variables();
  int64_t at = 0;
  for (const Tensor& t : rows) {
    const std::string& name = names[static_cast<size_t>(at++)];
    CheckRows(name, t);
    if (t.size(0) == rows.input.size(0)) continue;
    RaiseStatus(
        InvalidArgument(names[0], " has ", rows.input.size(0), " rows, ", name, " ", t.size(0)),
        "dataset");
  }
  return std::make_shared<TensorDataset>(
      rows.EachBy([](const Tensor& t) { return t.defined() ? Dense(t) : Tensor(); }),
      rows.input.size(0));
}

}  // namespace

Sample Stack(absl::Span<const Sample> samples) {
  return StackBy(samples, [](size_t i) {
    return i == 0 ? std::string("sample 0") : absl::StrCat("sample ", i, " of the batch");
  });
}

Sample internal::StackOf(const Dataset& dataset, absl::Span<const int64_t> indices,
                         absl::Span<const Sample> samples) {
  return StackBy(samples, [&](size_t i) { return dataset.NameOf(indices[i]); });
}

DatasetPtr FromTensors(const Tensor& input, const Tensor& target) {
  return FromRows({input, target});
}

DatasetPtr FromTensors(const NamedTensors& tensors) { return FromRows(Sample::Named(tensors)); }

}  // namespace firn::io
