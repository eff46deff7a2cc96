// A stand-in for cuFFT: transforms of one dimension. A complex-to-real one
// overwrites its input, as cuFFT may, and all of the work area is written to.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <vector>

#include "firn/tensor/kernels/cuda/fft_api.h"
#include "firn/tensor/kernels/cuda/library_api.h"
#include "tests/device/fake_library_work.h"

namespace firn::fake {
namespace {

struct Side {
  long long stride, distance;  // in elements of its own type
  bool complex;
};

struct Plan {
  bool auto_allocation = true, made = false, wide = false;
  long long n = 0, batch = 0;
  Side in{}, out{};
  size_t work_size = 0;
  void *work = nullptr, *stream = nullptr;
};

// Never destroyed: plans of the library outlive the device.
std::vector<Plan>& Plans() {
  static auto* const plans = new std::vector<Plan>;
  return *plans;
}

Plan* Find(cufftHandle handle) {
  const bool known = handle >= 0 && static_cast<size_t>(handle) < Plans().size();
  return known ? &Plans()[static_cast<size_t>(handle)] : nullptr;
}

cufftResult Create(cufftHandle* handle) {
  *handle = static_cast<cufftHandle>(Plans().size());
  Plans().emplace_back();
  return CUFFT_SUCCESS;
}

cufftResult Destroy(cufftHandle handle) {
  return Find(handle) == nullptr ? CUFFT_INVALID_PLAN : CUFFT_SUCCESS;
}

cufftResult SetAutoAllocation(cufftHandle handle, int automatic) {
  Plan* const plan = Find(handle);
  if (plan == nullptr || plan->made) return CUFFT_INVALID_PLAN;
  plan->auto_allocation = automatic != 0;
  return CUFFT_SUCCESS;
}

// Sets a side of the transform; false if `type` is not of this width.
bool SetSide(cudaDataType type, bool wide, long long stride, long long distance, Side* side) {
  side->complex = type == (wide ? CUDA_C_64F : CUDA_C_32F);
  side->stride = stride;
  side->distance = distance;
  return side->complex || type == (wide ? CUDA_R_64F : CUDA_R_32F);
}

cufftResult MakePlanMany(cufftHandle handle, int rank, long long* n, long long* in_embed,
                         long long in_stride, long long in_distance, cudaDataType in_type,
                         long long* out_embed, long long out_stride, long long out_distance,
                         cudaDataType out_type, long long batch, size_t* work_size,
                         cudaDataType execution) {
  Plan* const plan = Find(handle);
  if (plan == nullptr || plan->made || rank != 1) return CUFFT_INVALID_PLAN;
  if (in_embed == nullptr || out_embed == nullptr || *n < 1 || batch < 1) return CUFFT_INVALID_SIZE;
  plan->wide = execution == CUDA_C_64F;
  if (!plan->wide && execution != CUDA_C_32F) return CUFFT_INVALID_TYPE;
  if (!SetSide(in_type, plan->wide, in_stride, in_distance, &plan->in) ||
      !SetSide(out_type, plan->wide, out_stride, out_distance, &plan->out) ||
      (!plan->in.complex && !plan->out.complex)) {
    return CUFFT_INVALID_TYPE;
  }
  plan->n = *n;
  plan->batch = batch;
  plan->made = true;
  *work_size = plan->work_size = static_cast<size_t>(16 * *n + 8);
  return CUFFT_SUCCESS;
}

cufftResult SetStream(cufftHandle handle, cudaStream_t stream) {
  if (Find(handle) == nullptr) return CUFFT_INVALID_PLAN;
  Find(handle)->stream = stream;
  return CUFFT_SUCCESS;
}

cufftResult SetWorkArea(cufftHandle handle, void* work) {
  if (Find(handle) == nullptr) return CUFFT_INVALID_PLAN;
  Find(handle)->work = work;
  return CUFFT_SUCCESS;
}

struct Work {
  Plan plan;
  void *from, *to;
  int direction;
};

using Line = std::vector<std::complex<double>>;

// Reads all n numbers of a line; if only a half of the coefficients is stored, the others are
// conjugates.
template <class T>
Line LineOf(const Plan& p, const T* from, long long line) {
  Line x(static_cast<size_t>(p.n));
  const long long given = p.out.complex ? p.n : p.n / 2 + 1;
  for (long long t = 0; t < given; ++t) {
    const long long at = line * p.in.distance + t * p.in.stride;
    const auto i = static_cast<size_t>(t);
    x[i] = p.in.complex ? std::complex<double>(from[2 * at], from[2 * at + 1]) : from[at];
    if (!p.out.complex && t > 0) x[static_cast<size_t>(p.n - t)] = std::conj(x[i]);
  }
  return x;
}

// Splits even lengths into halves, and sums odd ones by the definition. Every `step`-th root is one
// of x's.
Line TransformOf(const Line& x, const Line& roots, size_t step) {
  const size_t n = x.size();
  Line y(n);
  if (n % 2 == 1) {
    for (size_t k = 0; k < n; ++k) {
      for (size_t t = 0; t < n; ++t) y[k] += x[t] * roots[k * t % n * step];
    }
    return y;
  }
  Line even, odd;
  for (size_t t = 0; t < n; ++t) (t % 2 == 0 ? even : odd).push_back(x[t]);
  even = TransformOf(even, roots, 2 * step);
  odd = TransformOf(odd, roots, 2 * step);
  for (size_t k = 0; k < n; ++k) y[k] = even[k % (n / 2)] + roots[k * step] * odd[k % (n / 2)];
  return y;
}

template <class T>
void Execute(const Work& w) {
  const Plan& p = w.plan;
  T *const from = static_cast<T*>(w.from), *const to = static_cast<T*>(w.to);
  std::fill_n(static_cast<unsigned char*>(p.work), p.work_size, 0xFF);
  Line roots;
  for (long long t = 0; t < p.n; ++t) {
    const double turn = static_cast<double>(t) / static_cast<double>(p.n);
    roots.push_back(std::polar(1.0, w.direction * 2 * M_PI * turn));
  }
  const long long wanted = p.in.complex ? p.n : p.n / 2 + 1;
  for (long long line = 0; line < p.batch; ++line) {
    const Line y = TransformOf(LineOf(p, from, line), roots, 1);
    for (long long k = 0; k < wanted; ++k) {
      const long long at = line * p.out.distance + k * p.out.stride;
      const std::complex<double> v = y[static_cast<size_t>(k)];
      to[p.out.complex ? 2 * at : at] = static_cast<T>(v.real());
      if (p.out.complex) to[2 * at + 1] = static_cast<T>(v.imag());
    }
  }
  if (p.out.complex) return;
  std::fill_n(from, 2 * p.batch * p.in.distance, std::numeric_limits<T>::quiet_NaN());
}

cufftResult Exec(cufftHandle handle, void* from, void* to, int direction) {
  const Plan* const plan = Find(handle);
  if (plan == nullptr || !plan->made) return CUFFT_INVALID_PLAN;
  if (plan->auto_allocation || plan->work == nullptr) return CUFFT_NO_WORKSPACE;
  const uintptr_t alignment = plan->wide ? 16 : 8;
  for (const void* const place : {from, to}) {
    if (reinterpret_cast<uintptr_t>(place) % alignment != 0) return CUFFT_UNALIGNED_DATA;
  }
  if (reinterpret_cast<uintptr_t>(plan->work) % 256 != 0) return CUFFT_UNALIGNED_DATA;
  if (from == to) return CUFFT_INVALID_VALUE;  // lines would overwrite each other
  const bool as_said = plan->in.complex && plan->out.complex;
  if (!as_said && direction != (plan->in.complex ? CUFFT_INVERSE : CUFFT_FORWARD)) {
    return CUFFT_INVALID_VALUE;
  }
  const Work work{*plan, from, to, direction};
  const bool queued = plan->wide ? Queue<Execute<double>>(plan->stream, work)
                                 : Queue<Execute<float>>(plan->stream, work);
  return queued ? CUFFT_SUCCESS : CUFFT_EXEC_FAILED;
}

constexpr cuda::FftApi kApi = {SetDevice,    Create,    Destroy,     SetAutoAllocation,
                               MakePlanMany, SetStream, SetWorkArea, Exec};

}  // namespace

void UseCufft(bool use) { cuda::LibraryApi<cuda::FftApi>::SetStandIn(use ? &kApi : nullptr); }

}  // namespace firn::fake
