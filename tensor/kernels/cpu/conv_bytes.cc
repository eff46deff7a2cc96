// A primitive takes as many images as leave their sums in the second-level cache; for all images of
// a batch at once the sums go to memory and back, which takes longer than the products do.
//
// Where oneDNN adds a zero point or a compensation, it rounds sums to f32. Sums are below 2^31
// here, so rounding them once more, where they are used, changes nothing.

#include "firn/tensor/kernels/cpu/conv_bytes.h"

#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "firn/device/internal/openmp.h"
#include "firn/device/parallel.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/kernels/cpu/onednn_describe.h"
#include "firn/tensor/kernels/cpu/onednn_gemm.h"
#include "firn/tensor/kernels/cpu/onednn_thread.h"

namespace firn::cpu {

using dnnl::memory;

struct ByteSums {
  ConvProblem problem;
  DType dtype = DType::kU8;
  int32_t zero = 0;
  int64_t together = 1;  // images of a call of the primitive
  int threads = 1;
  dnnl::primitive primitive;
  memory::desc x, weight, plain_weight, sums;
  size_t scratch = 0;
};

namespace {

using Tag = memory::format_tag;
using Type = memory::data_type;

struct Stream {
  dnnl::stream stream{OneDnnEngine()};
};

size_t AlignUp(size_t bytes) { return (bytes + 63) & ~size_t{63}; }

// The number of terms of a sum, and the largest product of a weight and the difference of a byte
// and its zero point.
int64_t Terms(const ConvProblem& p) { return p.in_per_group() * p.kernel.volume(); }
constexpr int64_t kMostProduct = 255 * 128;

int64_t SumsOfImage(const ConvProblem& p) { return p.out * p.out_size.volume(); }

int64_t ImagesTogether(const ConvProblem& p) {
  constexpr int64_t kSumsInCache = 1 << 18;  // 1 MiB
  for (int64_t n = p.batch; n > 1; --n) {
    if (p.batch % n == 0 && n * SumsOfImage(p) <= kSumsInCache) return n;
  }
  return 1;
}

// Whether the kernel of this name is a fast one that sums exactly. Products of matrices (gemm) take
// too long, and subtract some groups' zero points wrongly. Kernels of AVX2 and below (uni) saturate
// sums of pairs where only AVX512 has VNNI. The kernel for 1x1 windows rounds sums to f32 before it
// adds a compensation, and is exact only up to 2^24.
bool IsRight(std::string_view kernel, const ByteSums& c) {
  const auto has = [kernel](const char* part) { return kernel.find(part) != kernel.npos; };
  if (kernel.substr(0, 3) == "ref" || has("gemm_s8") || has("jit_uni")) return false;
  const bool compensates = c.zero != 0 || c.dtype == DType::kI8;
  return !has("int8_1x1") || !compensates || Terms(c.problem) <= (1 << 24) / kMostProduct;
}

// `weight`: the layout that weights have already; empty: the primitive chooses.
void Make(const memory::desc& weight, ByteSums* c) {
  const ConvProblem& p = c->problem;
  const ConvAttrs& a = p.attrs;
  const bool groups = a.groups > 1;
  memory::dims w = {p.out_per_group(), p.in_per_group(), p.kernel[0], p.kernel[1]};
  if (groups) w.insert(w.begin(), a.groups);
  const Type type = c->dtype == DType::kU8 ? Type::u8 : Type::s8;
  c->x = {{c->together, p.in, p.in_size[0], p.in_size[1]}, type, Tag::nhwc};
  c->sums = {{c->together, p.out, p.out_size[0], p.out_size[1]}, Type::s32, Tag::nhwc};
  c->plain_weight = {w, Type::s8, groups ? Tag::goihw : Tag::oihw};
  const memory::desc any = {w, Type::s8, Tag::any};
  memory::dims stride, dilation, low, high;
  for (int i = 0; i < 2; ++i) {
    stride.push_back(a.stride[i]);
    dilation.push_back(a.dilation[i] - 1);
    low.push_back(a.padding[i]);
    high.push_back((p.out_size[i] - 1) * a.stride[i] + a.dilation[i] * (p.kernel[i] - 1) + 1 -
                   p.in_size[i] - a.padding[i]);
  }
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (c->zero != 0) TakeSourceZeroPoint(attr);
  auto pd = DescribePrimitive<dnnl::convolution_forward>(
      attr, dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct, c->x,
      weight.is_zero() ? any : weight, c->sums, stride, dilation, low, high);
  while (!IsRight(pd.impl_info_str(), *c)) {
    if (!pd.next_impl()) throw dnnl::error(dnnl_unimplemented, "only slow or inexact kernels");
  }
  c->weight = pd.weights_desc();
  c->scratch = pd.scratchpad_desc().get_size();
  c->primitive = dnnl::convolution_forward(pd);
}

absl::StatusOr<std::shared_ptr<const ByteSums>> TryMake(ByteSums c, const memory::desc& weight) {
  SyncOpenMpThreads();
  c.threads = omp_get_max_threads();
  try {
    Make(weight, &c);
  } catch (const dnnl::error& e) {
    return Unimplemented("oneDNN: ", std::string(e.what()));
  }
  return std::make_shared<const ByteSums>(std::move(c));
}

}  // namespace

absl::StatusOr<std::shared_ptr<const ByteSums>> MakeByteSums(const ConvProblem& p, DType x,
                                                             int32_t zero) {
  FIRN_RETURN_IF(!MultipliesBytes(), Unimplemented("the processor has no VNNI"));
  FIRN_RETURN_IF(p.batch == 0 || p.in == 0 || p.out == 0, Unimplemented("empty tensors"));
  FIRN_RETURN_IF(Terms(p) > INT32_MAX / kMostProduct, Unimplemented("sums may leave i32"));
  ByteSums c;
  c.problem = p;
  c.dtype = x;
  c.zero = zero;
  c.together = ImagesTogether(p);
  return TryMake(std::move(c), {});
}

std::shared_ptr<const ByteSums> ForThreadsNow(std::shared_ptr<const ByteSums> conv) {
  SyncOpenMpThreads();
  if (conv->threads == omp_get_max_threads()) return conv;
  auto other = TryMake(*conv, conv->weight);
  return other.ok() ? *std::move(other) : conv;
}

const ConvProblem& ByteSumsProblem(const ByteSums& conv) { return conv.problem; }

size_t PackedWeightBytes(const ByteSums& conv) { return conv.weight.get_size(); }

absl::Status PackWeights(const ByteSums& conv, const int8_t* weight, void* packed) {
  try {
    dnnl::stream& stream = OfThread<Stream>().stream;
    memory from(conv.plain_weight, OneDnnEngine(), const_cast<int8_t*>(weight));
    memory to(conv.weight, OneDnnEngine(), packed);
    dnnl::reorder(from, to).execute(stream, from, to);
  } catch (const dnnl::error& e) {
    return Internal("oneDNN: ", std::string(e.what()));
  }
  return absl::OkStatus();
}

size_t ByteSumsWorkspace(const ByteSums& conv) {
  return AlignUp(conv.sums.get_size()) + AlignUp(conv.scratch);
}

absl::Status RunByteSums(const ByteSums& conv, const void* x, const void* packed_weight,
                         void* workspace,
                         absl::FunctionRef<void(int64_t, int64_t, const int32_t*)> take) {
  const ConvProblem& p = conv.problem;
  auto* const image = static_cast<char*>(const_cast<void*>(x));
  auto* const sums = static_cast<int32_t*>(workspace);
  const int64_t pixels = conv.together * p.out_size.volume();
  const int64_t bytes = conv.together * p.in * p.in_size.volume();
  try {
    dnnl::stream& stream = OfThread<Stream>().stream;
    memory images(conv.x, OneDnnEngine(), image);
    const memory results(conv.sums, OneDnnEngine(), sums);
    int32_t zero = conv.zero;
    std::unordered_map<int, memory> args = {
        {DNNL_ARG_SRC, images},
        {DNNL_ARG_WEIGHTS, memory(conv.weight, OneDnnEngine(), const_cast<void*>(packed_weight))},
        {DNNL_ARG_DST, results},
        {DNNL_ARG_SCRATCHPAD,
         memory({{static_cast<int64_t>(conv.scratch)}, Type::u8, Tag::x}, OneDnnEngine(),
                static_cast<char*>(workspace) + AlignUp(conv.sums.get_size()))}};
    if (zero != 0) {
      args.emplace(DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_SRC,
                   memory({{1}, Type::s32, Tag::x}, OneDnnEngine(), &zero));
    }
    for (int64_t i = 0; i < p.batch / conv.together; ++i) {
      images.set_data_handle(image + i * bytes);
      {
        const OmpThreads as_made(conv.threads);
        conv.primitive.execute(stream, args);
      }
      take(i * pixels, pixels, sums);
    }
  } catch (const dnnl::error& e) {
    return Internal("oneDNN: ", std::string(e.what()));
  }
  return absl::OkStatus();
}

}  // namespace firn::cpu
