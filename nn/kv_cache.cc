// KvCache: rows [0, position) of the buffers are the sequence. Rows behind them are zeros: captured
// steps with more than a few new rows multiply them by 0, which hides numbers, but neither NaN nor
// infinity; with few new rows the CPU does not read them.

#include "firn/nn/kv_cache.h"

#include <algorithm>

#include "firn/device/status_macros.h"
#include "firn/nn/sizes.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/index.h"
#include "firn/tensor/ops/compare/compare.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/create/range.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/optimizer/update.h"
#include "firn/tensor/ops/shape/slices.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn::nn {
namespace {

constexpr char kName[] = "nn::KvCache";

KvCacheOptions Checked(KvCacheOptions o) {
  if (o.value_width == 0) o.value_width = o.width;
  if (o.max_length == 0) o.max_length = o.capacity;
  CheckSizes(kName, {{"batch", o.batch},
                     {"heads", o.heads},
                     {"width", o.width},
                     {"value_width", o.value_width},
                     {"capacity", o.capacity}});
  if (o.max_length < o.capacity) {
    RaiseStatus(InvalidArgument("max_length ", o.max_length, " is less than capacity ", o.capacity),
                kName);
  }
  return o;
}

Tensor Room(const KvCacheOptions& o, int64_t rows, int64_t width) {
  return Zeros({o.batch, o.heads, rows, width}, o.dtype, o.device);
}

// 0, 1, ... on the device.
Tensor Count(int64_t n, Device device) {
  return Arange(int64_t{0}, n, int64_t{1}, {.device = device});
}

void CheckRows(const Tensor& t, const char* name, const KvCacheOptions& o, int64_t width) {
  const bool fits = t.defined() && t.rank() == 4 && t.size(0) == o.batch && t.size(1) == o.heads &&
                    t.size(3) == width;
  if (fits) return;
  RaiseStatus(InvalidArgument(name, " must be [", o.batch, ", ", o.heads, ", rows, ", width,
                              "], got ", t.defined() ? t.spec().ToString() : "an undefined tensor"),
              kName);
}

}  // namespace

KvCache::KvCache(const KvCacheOptions& options)
    : options_(Checked(options)),
      keys_(Room(options_, options_.capacity, options_.width)),
      values_(Room(options_, options_.capacity, options_.value_width)),
      position_(Zeros({}, DType::kI64, options_.device)) {}

int64_t KvCache::capacity() const { return keys_.size(2); }
int64_t KvCache::length() const { return position_.Item<int64_t>(); }

void KvCache::MakeRoom(int64_t rows) {
  if (rows <= capacity()) return;
  if (rows > options_.max_length) {
    RaiseStatus(InvalidArgument("has room for ", options_.max_length, " rows, ", rows,
                                " are wanted (KvCacheOptions::max_length)"),
                kName);
  }
  const int64_t more = std::min(options_.max_length, std::max(rows, 2 * capacity()));
  const auto grown = [&](const Tensor& old) {
    const Tensor all = Room(options_, more, old.size(3));
    inner::Assign(Slice(all, 2, 0, old.size(2)), old);
    return all;
  };
  const Tensor keys = grown(keys_);
  values_ = grown(values_);
  keys_ = keys;
}

KvCache::View KvCache::Append(const Tensor& k, const Tensor& v) {
  const NoGradScope no_grad;
  CheckRows(k, "k", options_, options_.width);
  CheckRows(v, "v", options_, options_.value_width);
  const int64_t n = k.size(2);
  if (v.size(2) != n) {
    RaiseStatus(InvalidArgument("k has ", n, " rows and v ", v.size(2)), kName);
  }
  // A captured step cannot look at the length: the index is checked when it runs.
  const bool captured = inner::ThisThread().capture != nullptr;
  const int64_t end = captured ? capacity() : length() + n;
  if (!captured) MakeRoom(end);
  const Tensor rows = Add(Count(n, options_.device), position_);
  keys_[{kAll, kAll, rows}] = k;
  values_[{kAll, kAll, rows}] = v;
  inner::Assign(position_, Add(position_, n));
  if (!captured && n == 1) return {Slice(keys_, 2, 0, end), Slice(values_, 2, 0, end), {}};
  const Tensor mask = Ge(Unsqueeze(rows, 1), Count(end, options_.device));
  if (captured) return {keys_, values_, mask};
  return {Slice(keys_, 2, 0, end), Slice(values_, 2, 0, end), mask};
}

void KvCache::Truncate(inner::Integer rows) {
  const NoGradScope no_grad;
  const int64_t before = length();
  if (rows < 0 || rows > before) {
    RaiseStatus(InvalidArgument("length ", rows, " is outside [0, ", before, "]"), kName);
  }
  for (const Tensor* const buffer : {&keys_, &values_}) {
    const Tensor forgotten = Slice(*buffer, 2, rows, before);
    inner::Assign(forgotten, ZerosLike(forgotten));
  }
  inner::Assign(position_, Full({}, rows, DType::kI64, options_.device));
}

}  // namespace firn::nn
