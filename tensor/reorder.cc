// Moving elements between layouts. An NHWC tensor is a strided one, and one in other blocks the
// strided view [n, c / b, b, h, w] of its memory, so every reorder is one strided copy of at most
// kMaxRank + 1 dimensions: those that can be walked as one are merged, and strided_copy.cc
// walks the rest, the destination's fastest dimension innermost.

#include "firn/tensor/reorder.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "absl/container/inlined_vector.h"
#include "firn/device/parallel.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/allocate.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/internal/kernel_functions.h"
#include "firn/tensor/strided_copy.h"

namespace firn {
namespace {

using internal::CopyDim;
using CopyDims = absl::InlinedVector<CopyDim, kMaxRank + 1>;

struct Strides {
  absl::InlinedVector<int64_t, kMaxRank + 1> sizes, steps;
};

// The blocks of a tensor in whose memory dimension 1 is cut, 0 of one that has strides.
int CutOf(const TensorSpec& spec) {
  const Layout& layout = spec.layout;
  return layout.blocked() && layout.channel_block != spec.shape[1] ? layout.channel_block : 0;
}
// By what it must be cut to copy between the two. Requires: they are not cut differently.
int CutOf(const TensorSpec& src, const TensorSpec& dst) { return std::max(CutOf(src), CutOf(dst)); }
bool CutDifferently(const TensorSpec& src, const TensorSpec& dst) {
  return CutOf(src) != CutOf(dst) && CutOf(src) != 0 && CutOf(dst) != 0;
}

// The strided view of a tensor's memory with dimension 1 cut by `split` (0: not cut).
Strides ViewOf(const TensorSpec& spec, int split) {
  Strides v;
  const Shape& shape = spec.shape;
  if (CutOf(spec) != 0) {
    const int64_t b = spec.layout.channel_block;
    int64_t spatial = 1;
    for (int i = 2; i < shape.rank(); ++i) spatial *= shape[i];
    const int64_t groups = shape[1] / b;
    v.sizes = {shape[0], groups, b};
    v.steps = {groups * spatial * b, spatial * b, 1};
    int64_t step = spatial * b;
    for (int i = 2; i < shape.rank(); ++i) {
      step /= shape[i];
      v.sizes.push_back(shape[i]);
      v.steps.push_back(step);
    }
    return v;
  }
  const Dims strides = StridesOf(spec);
  for (int i = 0; i < shape.rank(); ++i) {
    const int64_t step = strides[i];
    if (i == 1 && split != 0) {
      v.sizes.push_back(shape[i] / split);
      v.steps.push_back(step * split);
      v.sizes.push_back(split);
    } else {
      v.sizes.push_back(shape[i]);
    }
    v.steps.push_back(step);
  }
  return v;
}

// Sorted by destination stride, the smallest last; neighbours that continue each other merged.
CopyDims Plan(const Strides& src, const Strides& dst) {
  CopyDims dims;  // sorted as they come: std::stable_sort would ask for memory
  for (size_t i = 0; i < src.sizes.size(); ++i) {
    if (src.sizes[i] == 1) continue;
    const CopyDim d{src.sizes[i], src.steps[i], dst.steps[i]};
    const auto larger = [](const CopyDim& a, const CopyDim& b) { return a.dst > b.dst; };
    dims.insert(std::upper_bound(dims.begin(), dims.end(), d, larger), d);
  }
  CopyDims merged;
  for (const CopyDim& d : dims) {
    if (!merged.empty() && merged.back().src == d.src * d.size &&
        merged.back().dst == d.dst * d.size) {
      merged.back() = {merged.back().size * d.size, d.src, d.dst};
    } else {
      merged.push_back(d);
    }
  }
  if (merged.empty()) merged.push_back({1, 1, 1});
  return merged;
}

// From one size of blocks to another: channel by channel, since the two need not divide.
void CopyChannels(const TensorSpec& spec, int64_t src_block, const char* src, int64_t dst_block,
                  char* dst) {
  const int64_t channels = spec.shape[1], planes = spec.shape[0] * channels;
  const int64_t spatial = spec.num_elements() / planes, width = SizeOf(spec.dtype);
  const auto start = [&](int64_t plane, int64_t block) {
    const int64_t channel = plane % channels;
    return ((plane - channel % block) * spatial + channel % block) * width;
  };
  ParallelFor(planes, std::max<int64_t>(1, 16384 / spatial), [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      internal::kernel_functions.copy_strided({{spatial, src_block, dst_block}}, width,
                                              src + start(p, src_block), dst + start(p, dst_block));
    }
  });
}

}  // namespace

void CopyElementsOnCpu(const TensorSpec& src_spec, const void* src, const TensorSpec& dst_spec,
                       void* dst) {
  if (SameDenseLayout(src_spec, dst_spec)) {
    const int64_t bytes = static_cast<int64_t>(src_spec.bytes());
    ParallelFor(bytes, 1 << 18, [&](int64_t begin, int64_t end) {
      std::memcpy(static_cast<char*>(dst) + begin, static_cast<const char*>(src) + begin,
                  static_cast<size_t>(end - begin));
    });
    return;
  }
  if (CutDifferently(src_spec, dst_spec)) {
    return CopyChannels(src_spec, CutOf(src_spec), static_cast<const char*>(src), CutOf(dst_spec),
                        static_cast<char*>(dst));
  }
  const int split = CutOf(src_spec, dst_spec);
  internal::kernel_functions.copy_strided(Plan(ViewOf(src_spec, split), ViewOf(dst_spec, split)),
                                          SizeOf(src_spec.dtype), src, dst);
}

constinit internal::CudaCopyFn internal::copy_on_cuda = nullptr;

absl::Status CopyElements(const TensorSpec& src_spec, const void* src, const TensorSpec& dst_spec,
                          void* dst, Stream* stream) {
  if (src_spec.num_elements() == 0) return absl::OkStatus();
  if (dst_spec.device.is_cuda()) {
    FIRN_RETURN_IF(internal::copy_on_cuda == nullptr,
                   Unavailable("no device ", dst_spec.device.ToString(), " in this build"));
    FIRN_RETURN_IF(CutDifferently(src_spec, dst_spec),
                   Unimplemented("no copy on ", dst_spec.device.ToString(), " from blocks of ",
                                 CutOf(src_spec), " channels to blocks of ", CutOf(dst_spec)));
    const int split = CutOf(src_spec, dst_spec);
    return internal::copy_on_cuda(dst_spec.device, stream,
                                  Plan(ViewOf(src_spec, split), ViewOf(dst_spec, split)),
                                  SizeOf(src_spec.dtype), src, dst);
  }
  CopyElementsOnCpu(src_spec, src, dst_spec, dst);
  return absl::OkStatus();
}

absl::StatusOr<Tensor> Reordered(const Tensor& t, int channel_block) {
  if (ThisThread().capture != nullptr) [[unlikely]]
    ThisThread().capture->BeforeRead(t);
  const TensorSpec& spec = t.spec();
  if (channel_block == spec.layout.channel_block && spec.dense()) return t;
  const TensorSpec want = TensorSpec::Blocked(spec.dtype, spec.shape, spec.device, channel_block);
  FIRN_ASSIGN_OR_RETURN(Tensor copy, AllocateTensor(want));
  FIRN_RETURN_IF_ERROR(CopyElements(spec, t.impl()->data, want, copy.impl()->data));
  return copy;
}

absl::Status LayOutRowMajor(const Tensor& t) {
  if (!t.spec().layout.blocked()) return absl::OkStatus();
  FIRN_ASSIGN_OR_RETURN(const Tensor plain, Reordered(t, 0));
  if (t.impl()->storage->use_count() > 1) t.impl()->storage->NoteParted();
  t.impl()->storage = plain.impl()->storage;
  t.impl()->data = plain.impl()->data;
  t.impl()->spec = plain.spec();
  return absl::OkStatus();
}

absl::Status LayOutRowMajorIfAlone(const Tensor& t) {
  const bool alone = t.spec().layout.blocked() && t.impl()->storage->use_count() == 1;
  return alone ? LayOutRowMajor(t) : absl::OkStatus();
}

}  // namespace firn
