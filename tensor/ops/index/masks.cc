// nonzero: counted once by the front function, because a result's shape must be known before the
// operation runs; the kernel counts again, chunk by chunk, to know where each chunk writes.
//
// masked_select: composed of nonzero and index_select on the flattened tensors.
//
// masked_unpack, which is masked_scatter without broadcasting, and masked_pack, its adjoint: places
// are counted chunk by chunk, so that each chunk knows its start in the source, and walked without
// jumps, which would be mispredicted.

#include "firn/tensor/ops/index/masks.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/kernels/cpu/parts.h"
#include "firn/tensor/kernels/width.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/choose.h"
#include "firn/tensor/ops/index/select.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/scan/cumulative.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/expand.h"
#include "firn/tensor/ops/shape/slices.h"
#include "firn/tensor/ops/shape/view.h"
#include "firn/tensor/ops/shape/views.h"
#include "firn/tensor/reorder.h"

namespace firn {
namespace {

constexpr int64_t kGrain = 1 << 15;

absl::Status Infer(InferContext& c) {
  const int64_t count = c.attrs<NonzeroAttrs>().count;
  FIRN_RETURN_IF(count < 0 || count > c.shape(0).num_elements(),
                 InvalidArgument("x ", c.shape(0).ToString(), " cannot have ", count,
                                 " elements that are not zero"));
  const int64_t sizes[] = {count, c.shape(0).rank()};
  FIRN_ASSIGN_OR_RETURN(const Shape shape, Shape::Make(sizes));
  c.set_out(0, DType::kI64, shape);
  return absl::OkStatus();
}

// Half types are tested by their bits, because elements are converted only by rows.
template <class T>
FIRN_ALWAYS_INLINE int IsNonzero(T v) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return (v.bits & 0x7fff) != 0 ? 1 : 0;
  } else {
    return v == T(0) ? 0 : 1;
  }
}

template <class T>
int64_t CountNonzero(const T* x, int64_t begin, int64_t end) {
  constexpr int64_t kPiece =
      8192;  // their number fits 32 bits, of which vectors count more at once
  int64_t count = 0;
  for (int64_t i = begin; i < end; i += kPiece) {
    int32_t some = 0;
    for (int64_t j = i; j < std::min(i + kPiece, end); ++j) some += IsNonzero(x[j]);
    count += some;
  }
  return count;
}

// The places of elements of x[0, n) that are not zero, n <= 256, and their number; found without
// jumps, which would be mispredicted.
template <class T>
int64_t FindNonzero(const T* x, int64_t n, uint8_t* places) {
  int64_t found = 0;
  for (int64_t i = 0; i < n; ++i) {
    places[found] = static_cast<uint8_t>(i);
    found += IsNonzero(x[i]);
  }
  return found;
}

template <class T>
void WriteIndices(const T* x, int64_t begin, int64_t end, const Shape& shape, int64_t* out) {
  constexpr int64_t kPiece = 256;
  const int rank = shape.rank();
  const int64_t columns = rank == 0 ? 1 : shape[rank - 1];
  Dims at(rank);
  int64_t rest = begin;
  for (int d = rank - 1; d >= 0; --d) {
    at[d] = rest % shape[d];
    rest /= shape[d];
  }
  for (int64_t i = begin; i < end;) {
    const int64_t first = rank == 0 ? 0 : at[rank - 1];
    const int64_t n = std::min({kPiece, end - i, columns - first});
    uint8_t places[kPiece];
    const int64_t found = FindNonzero(x + i, n, places);
    for (int64_t j = 0; j < found; ++j) {
      for (int d = 0; d + 1 < rank; ++d) *out++ = at[d];
      if (rank > 0) *out++ = first + places[j];
    }
    i += n;
    if (rank == 0) return;
    at[rank - 1] += n;
    for (int d = rank - 1; d > 0 && at[d] == shape[d]; --d) at[d] = 0, ++at[d - 1];
  }
}

size_t Workspace(const KernelQuery& q) {
  return static_cast<size_t>(cpu::NumParts(q.in(0).num_elements(), kGrain)) * sizeof(int64_t);
}

absl::Status Run(KernelContext& k) {
  const Shape& shape = k.in_spec(0).shape;
  const int64_t n = shape.num_elements();
  int64_t* counts = k.workspace<int64_t>();
  return VisitDType(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) -> absl::Status {
    const T* x = k.in<T>(0);
    cpu::ForEachPart(n, kGrain, [&](int64_t part, int64_t begin, int64_t end) {
      counts[part] = CountNonzero(x, begin, end);
    });
    int64_t total = 0;
    for (int64_t c = 0; c < cpu::NumParts(n, kGrain); ++c) total += std::exchange(counts[c], total);
    FIRN_RETURN_IF(total != k.attrs<NonzeroAttrs>().count,
                   InvalidArgument("x has ", total, " elements that are not zero, not ",
                                   k.attrs<NonzeroAttrs>().count));
    cpu::ForEachPart(n, kGrain, [&](int64_t part, int64_t begin, int64_t end) {
      WriteIndices(x, begin, end, shape, k.out<int64_t>() + counts[part] * shape.rank());
    });
    return absl::OkStatus();
  });
}

// --- Elements of a mask's places, in order
// --------------------------------------------------------

absl::Status RefuseMask(const Shape& x, const Shape& mask) {
  FIRN_RETURN_IF(mask != x, InvalidArgument("mask ", mask.ToString(), " must have the shape of x ",
                                            x.ToString()));
  return absl::OkStatus();
}

// The number of the mask's places before each part of x. Fails if there are more than `most`
// places.
absl::Status CountPlaces(KernelContext& k, int64_t most, int64_t* total) {
  const int64_t n = k.in_spec(0).num_elements();
  int64_t* const before = k.workspace<int64_t>();
  cpu::ForEachPart(n, kGrain, [&](int64_t part, int64_t begin, int64_t end) {
    before[part] = CountNonzero(k.in<uint8_t>(1), begin, end);
  });
  *total = 0;
  for (int64_t p = 0; p < cpu::NumParts(n, kGrain); ++p) {
    *total += std::exchange(before[p], *total);
  }
  FIRN_RETURN_IF(*total > most, InvalidArgument("mask has ", *total, " places, but there are ",
                                                most, " elements for them"));
  return absl::OkStatus();
}

absl::Status InferMaskedUnpack(InferContext& c) {
  FIRN_RETURN_IF_ERROR(RefuseMask(c.shape(0), c.shape(1)));
  c.set_out_like(0, 0);
  return absl::OkStatus();
}

absl::Status RunMaskedUnpack(KernelContext& k) {
  const int64_t n = k.in_spec(0).num_elements(), last = k.in_spec(2).num_elements() - 1;
  int64_t total;
  FIRN_RETURN_IF_ERROR(CountPlaces(k, last + 1, &total));
  VisitWidth(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    const T *const x = k.in<T>(0), *const source = k.in<T>(2);
    const uint8_t* const mask = k.in<uint8_t>(1);
    T* const y = k.out<T>();
    if (total == 0) {
      std::copy_n(x, n, y);
      return;
    }
    cpu::ForEachPart(n, kGrain, [&](int64_t part, int64_t begin, int64_t end) {
      int64_t next = k.workspace<int64_t>()[part];
      for (int64_t i = begin; i < end; ++i) {
        const T taken = source[std::min(next, last)];  // read even if it is not used
        const T all = static_cast<T>(T{0} - static_cast<T>(mask[i] != 0));  // bits, or none
        y[i] = static_cast<T>((taken & all) | (x[i] & ~all));
        next += mask[i] != 0 ? 1 : 0;
      }
    });
  });
  return absl::OkStatus();
}

void GradMaskedUnpack(GradContext& g) {
  const Tensor& dy = g.grad_output();
  if (g.needs(0)) g.set_grad_input(0, Where(g.input(1), 0, dy));
  if (!g.needs(2)) return;
  const NonzeroAttrs count{g.input_spec(2).num_elements()};
  g.set_grad_input(2, Apply1(TheOp<"masked_pack">(), {dy, g.input(1)}, count));
}

FIRN_REGISTER_OP(masked_unpack) {
  return {
      .doc = "A copy of x with elements of source where the mask is true, in order.",
      .inputs = {{.name = "x"},
                 {.name = "mask", .dtypes = kBoolean},
                 {.name = "source", .same_dtype_as = "x", .min_rank = 1, .max_rank = 1}},
      .outputs = {{.name = "y"}},
      .infer = InferMaskedUnpack,
      .grad = GradMaskedUnpack,
      .saves = {Saved::Input(1)},
      .kernels = {{.name = "loop", .workspace = Workspace, .run = RunMaskedUnpack}},
  };
}

absl::Status InferMaskedPack(InferContext& c) {
  const int64_t count = c.attrs<NonzeroAttrs>().count;
  FIRN_RETURN_IF_ERROR(RefuseMask(c.shape(0), c.shape(1)));
  FIRN_ASSIGN_OR_RETURN(const Shape shape, Shape::Make({&count, 1}));
  c.set_out(0, c.dtype(0), shape);
  return absl::OkStatus();
}

absl::Status RunMaskedPack(KernelContext& k) {
  constexpr int64_t kPiece = 256;
  const int64_t n = k.in_spec(0).num_elements(), count = k.attrs<NonzeroAttrs>().count;
  int64_t total;
  FIRN_RETURN_IF_ERROR(CountPlaces(k, count, &total));
  VisitWidth(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    const T* const x = k.in<T>(0);
    const uint8_t* const mask = k.in<uint8_t>(1);
    cpu::ForEachPart(n, kGrain, [&](int64_t part, int64_t begin, int64_t end) {
      T* to = k.out<T>() + k.workspace<int64_t>()[part];
      for (int64_t first = begin; first < end; first += kPiece) {
        T found[kPiece];
        int64_t size = 0;
        for (int64_t i = first; i < std::min(end, first + kPiece); ++i) {
          found[size] = x[i];
          size += mask[i] != 0 ? 1 : 0;
        }
        to = std::copy_n(found, size, to);
      }
    });
    std::fill(k.out<T>() + total, k.out<T>() + count, T{0});
  });
  return absl::OkStatus();
}

void GradMaskedPack(GradContext& g) {
  const TensorSpec& x = g.input_spec(0);
  g.set_grad_input(0, Apply1(TheOp<"masked_unpack">(), {ExpandedZeros(x.shape, x.dtype, x.device),
                                                        g.input(1), g.grad_output()}));
}

FIRN_REGISTER_OP(masked_pack) {
  return {
      .doc = "The elements of x where the mask is true, in order, and zeros behind them.",
      .inputs = {{.name = "x"}, {.name = "mask", .dtypes = kBoolean}},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<NonzeroAttrs>(),
      .infer = InferMaskedPack,
      .grad = GradMaskedPack,
      .saves = {Saved::Input(1)},
      .kernels = {{.name = "loop", .workspace = Workspace, .run = RunMaskedPack}},
  };
}

FIRN_REGISTER_OP(nonzero) {
  return {
      .doc = "The indices of the elements that are not zero. Not differentiable.",
      .inputs = {{.name = "x"}},
      .outputs = {{.name = "indices"}},
      .attrs = AttrsOf<NonzeroAttrs>(),
      .infer = Infer,
      .kernels = {{.name = "loop", .workspace = Workspace, .run = Run}},
  };
}

int64_t CountOnHost(const Tensor& x) {
  const absl::StatusOr<Tensor> plain = Reordered(x, 0);
  RaiseIfError(plain.status(), "nonzero");
  return VisitDType(x.dtype(), [&]<class T>(TypeTag<T>) {
    return CountNonzero(reinterpret_cast<const T*>(plain->impl()->data), 0, x.num_elements());
  });
}

// Waits for one number instead of all elements.
int64_t CountOnDevice(const Tensor& x) {
  const NoGradScope no_grad;
  const NoCaptureScope no_capture;
  const Tensor count = Sum(Cast(x, DType::kBool)).To(Device::Cpu());
  return *reinterpret_cast<const int64_t*>(count.impl()->data);
}

}  // namespace

Tensor Nonzero(const Tensor& x) {
  const OpDef& op = TheOp<"nonzero">();
  CheckDefined(x, op.name);
  RaiseIfError(CheckHostRead(x), op.name);
  const int64_t count = x.device().is_cpu() ? CountOnHost(x) : CountOnDevice(x);
  return Apply1(op, {x}, NonzeroAttrs{count});
}

Tensor MaskedSelect(const Tensor& x, const Tensor& mask) {
  CheckDefined(x, "masked_select");
  CheckDefined(mask, "masked_select", "mask");
  if (mask.dtype() != DType::kBool) {
    RaiseStatus(InvalidArgument("mask must be bool, got ", mask.spec().ToString()),
                "masked_select");
  }
  const absl::StatusOr<Shape> shape = BroadcastShapes(x.shape(), mask.shape());
  RaiseIfError(shape.status(), "masked_select");
  const Tensor where = Select(Nonzero(Flatten(Expand(mask, *shape))), 1, 0);
  return IndexSelect(Flatten(Expand(x, *shape)), 0, where);
}

Tensor MaskedScatter(const Tensor& x, const Tensor& mask, const Tensor& source) {
  constexpr const char* kName = "masked_scatter";
  CheckDefined(x, kName);
  CheckDefined(mask, kName, "mask");
  CheckDefined(source, kName, "source");
  if (mask.dtype() != DType::kBool || !BroadcastsTo(mask.shape(), x.shape())) {
    RaiseStatus(InvalidArgument("mask must be bool and broadcast to x ", x.shape().ToString(),
                                ", got ", mask.spec().ToString()),
                kName);
  }
  if (source.dtype() != x.dtype()) {
    RaiseStatus(InvalidArgument("x is ", DTypeName(x.dtype()), " but source is ",
                                DTypeName(source.dtype()), ": convert one with To(...)"),
                kName);
  }
  const Tensor where = Expand(mask, x.shape());
  if (x.device().is_cpu()) {
    return inner::InNameOf(kName, [&] {
      return Apply1(TheOp<"masked_unpack">(), {x, where, Flatten(source)});
    });
  }
  // The number of each place among those that are filled is a running sum of the mask, so that
  // nothing is read on the host.
  constexpr int64_t kNone = -1;
  const Tensor flat = Flatten(where);
  const Tensor number = Sub(Cumsum(Cast(flat, DType::kI64), 0), 1);
  const auto take = [&] {
    return Apply1(TheOp<"index_select">(), {Flatten(source), Where(flat, number, kNone)},
                  IndexSelectAttrs{.ignored = kNone});
  };
  try {
    return Where(where, Reshape(take(), x.shape()), x);
  } catch (const Error& error) {
    if (error.code() != absl::StatusCode::kOutOfRange) throw;
    RaiseStatus(OutOfRange("mask has more places than there are elements for them, ",
                           source.num_elements()),
                kName);
  }
}

}  // namespace firn
