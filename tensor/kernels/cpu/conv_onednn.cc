// Convolution primitives of oneDNN, made once per problem and thread count and kept in a
// thread-local table and by frozen graphs: making one costs far more than running a small one, and
// a table per thread needs no lock. Each run packs weights into the primitive's layout in
// workspace, unless they come packed (OneDnnConvOfPacked). It also packs x and y where AMX
// multiplies and they are not channels-last, the only order in which oneDNN 2.6.3 uses AMX;
// oneDNN's own scratchpad lies behind them. GFLOP/s of one Sapphire Rapids core, 128 channels 3x3
// on 8x8, batch 64: 2280 forward, 1680 and 540 backward; by blocks of channels 137, 139 and 119;
// bringing x or y there and back takes a tenth of the former.

#include "firn/tensor/kernels/cpu/conv_onednn.h"

#include <array>
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "firn/device/internal/openmp.h"
#include "firn/device/parallel.h"
#include "firn/device/simd.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/kernels/cpu/onednn_describe.h"
#include "firn/tensor/kernels/cpu/onednn_gemm.h"
#include "firn/tensor/kernels/cpu/onednn_thread.h"

namespace firn::cpu {
namespace {

using dnnl::memory;

// Everything a primitive depends on.
using Key = std::array<int64_t, 11 + 6 * Sizes::kMost>;

// A pass over tensors of one type.
struct Pass {
  ConvPass pass;
  DType dtype;
  bool bias;
  ConvLayouts given;  // where primitives of AMX find x and y

  memory::data_type type() const {
    return dtype == DType::kBF16 ? memory::data_type::bf16 : memory::data_type::f32;
  }
};

}  // namespace

// A tensor as it is given and as the primitive takes it.
struct OneDnnTensor {
  memory::desc given, packed;
  bool pack = false;      // packed != given
  dnnl::reorder reorder;  // from given to packed, or back for the result
  size_t packed_bytes = 0;
};

struct OneDnnConv {
  ConvProblem problem;
  Pass of;
  absl::Status status;  // not OK: oneDNN cannot do it, or only slowly
  dnnl::primitive primitive;
  ConvLayouts layouts;
  OneDnnTensor x, weight, y;
  memory::desc bias;
  size_t scratch = 0;  // bytes, for so many threads
  int threads = 1;
  bool with_tiles = false;  // multiplies by AMX

  const OneDnnTensor& result() const {
    return of.pass == ConvPass::kForward ? y : of.pass == ConvPass::kBackwardData ? x : weight;
  }
};

namespace {

size_t AlignUp(size_t bytes) { return (bytes + 63) & ~size_t{63}; }

Key KeyOf(const ConvProblem& p, const Pass& pass) {
  const ConvAttrs& a = p.attrs;
  Key key = {static_cast<int64_t>(pass.pass),
             static_cast<int64_t>(pass.dtype),
             pass.bias,
             omp_get_max_threads(),
             p.dims(),
             p.batch,
             p.in,
             p.out,
             a.groups,
             pass.given.x,
             pass.given.y};
  size_t at = 11;
  for (const Sizes* s : {&p.in_size, &p.out_size, &p.kernel, &a.stride, &a.padding, &a.dilation}) {
    for (const int64_t size : s->span()) key[at++] = size;
  }
  return key;
}

using Tag = memory::format_tag;

memory::dims DimsOf(const Sizes& s) { return {s.span().begin(), s.span().end()}; }

memory::desc ImageDesc(int64_t n, int64_t c, const Sizes& s, int32_t block,
                       memory::data_type type) {
  constexpr Tag kPlain[] = {Tag::ncw, Tag::nchw, Tag::ncdhw};
  constexpr Tag kLast[] = {Tag::nwc, Tag::nhwc, Tag::ndhwc};
  constexpr Tag kOf8[] = {Tag::nCw8c, Tag::nChw8c, Tag::nCdhw8c};
  constexpr Tag kOf16[] = {Tag::nCw16c, Tag::nChw16c, Tag::nCdhw16c};
  const auto& tags = block == 0               ? kPlain
                     : block == kChannelsLast ? kLast
                     : block == 16            ? kOf16
                                              : kOf8;
  memory::dims dims = DimsOf(s);
  dims.insert(dims.begin(), {n, c});
  return {dims, type, tags[s.count() - 1]};
}

Tag PlainWeightTag(int dims, bool groups) {
  constexpr Tag kAlone[] = {Tag::oiw, Tag::oihw, Tag::oidhw};
  constexpr Tag kGrouped[] = {Tag::goiw, Tag::goihw, Tag::goidhw};
  return (groups ? kGrouped : kAlone)[dims - 1];
}

// Descriptions of one problem's tensors and options, as oneDNN wants them.
struct Descs {
  memory::desc x, y, any_weight, plain_weight, bias;
  memory::dims stride, dilation, low, high;
};

Descs Describe(const ConvProblem& p, const Pass& pass, const ConvLayouts& inside) {
  const memory::data_type type = pass.type();
  const ConvAttrs& a = p.attrs;
  memory::dims w = DimsOf(p.kernel);
  w.insert(w.begin(), {p.out_per_group(), p.in_per_group()});
  if (a.groups > 1) w.insert(w.begin(), a.groups);
  Descs d;
  d.x = ImageDesc(p.batch, p.in, p.in_size, inside.x, type);
  d.y = ImageDesc(p.batch, p.out, p.out_size, inside.y, type);
  d.any_weight = {w, type, Tag::any};
  d.plain_weight = {w, type, PlainWeightTag(p.dims(), a.groups > 1)};
  if (pass.bias) d.bias = {{p.out}, type, Tag::x};
  d.stride = DimsOf(a.stride);
  d.low = DimsOf(a.padding);
  for (int i = 0; i < p.dims(); ++i) {
    d.dilation.push_back(a.dilation[i] - 1);
    // The padding that the last window needs, which may be negative.
    d.high.push_back((p.out_size[i] - 1) * a.stride[i] + a.dilation[i] * (p.kernel[i] - 1) + 1 -
                     p.in_size[i] - a.padding[i]);
  }
  return d;
}

OneDnnTensor Packing(const memory::desc& given, const memory::desc& packed, bool is_result) {
  OneDnnTensor t;
  t.given = given;
  t.packed = packed;
  t.pack = packed != given;
  if (!t.pack) return t;
  t.packed_bytes = packed.get_size();
  const memory::desc &from = is_result ? packed : given, &to = is_result ? given : packed;
  t.reorder =
      dnnl::reorder(dnnl::reorder::primitive_desc(OneDnnEngine(), from, OneDnnEngine(), to));
  return t;
}

// The layouts of x and y: as they are given and as the primitive takes them.
struct LayoutPair {
  ConvLayouts given, inside;
};

template <class Prim, class PrimitiveDesc>
void Finish(const PrimitiveDesc& pd, const memory::desc& weight, const ConvProblem& p,
            const Pass& of, const LayoutPair& layouts, const Descs& d, OneDnnConv* out) {
  const std::string name = pd.impl_info_str();
  if (name.rfind("ref", 0) == 0) {
    out->status = Unimplemented("oneDNN has only its reference kernel");
    return;
  }
  out->with_tiles = name.find("amx") != std::string::npos;
  out->primitive = Prim(pd);
  out->scratch = pd.scratchpad_desc().get_size();
  const ConvLayouts& given = layouts.given;
  out->layouts = given;
  out->bias = d.bias;
  out->x = Packing(ImageDesc(p.batch, p.in, p.in_size, given.x, of.type()), d.x,
                   of.pass == ConvPass::kBackwardData);
  out->weight = Packing(d.plain_weight, weight, of.pass == ConvPass::kBackwardWeight);
  out->y = Packing(ImageDesc(p.batch, p.out, p.out_size, given.y, of.type()), d.y,
                   of.pass == ConvPass::kForward);
}

void Make(const ConvProblem& p, const Pass& of, const LayoutPair& layouts, OneDnnConv* out) {
  const Descs d = Describe(p, of, layouts.inside);
  const ConvPass pass = of.pass;
  out->threads = omp_get_max_threads();
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  constexpr auto kDirect = dnnl::algorithm::convolution_direct;
  const auto forward = [&] {
    using F = dnnl::convolution_forward;
    constexpr auto kTraining = dnnl::prop_kind::forward_training;
    return of.bias ? DescribePrimitive<F>(attr, kTraining, kDirect, d.x, d.any_weight, d.bias, d.y,
                                          d.stride, d.dilation, d.low, d.high)
                   : DescribePrimitive<F>(attr, kTraining, kDirect, d.x, d.any_weight, d.y,
                                          d.stride, d.dilation, d.low, d.high);
  };
  if (pass == ConvPass::kForward) {
    const auto pd = forward();
    Finish<dnnl::convolution_forward>(pd, pd.weights_desc(), p, of, layouts, d, out);
  } else if (pass == ConvPass::kBackwardData) {
    using B = dnnl::convolution_backward_data;
    const auto pd = DescribeGradient<B>(attr, forward(), kDirect, d.x, d.any_weight, d.y, d.stride,
                                        d.dilation, d.low, d.high);
    Finish<B>(pd, pd.weights_desc(), p, of, layouts, d, out);
  } else {
    using B = dnnl::convolution_backward_weights;
    const auto pd = DescribeGradient<B>(attr, forward(), kDirect, d.x, d.any_weight, d.y, d.stride,
                                        d.dilation, d.low, d.high);
    Finish<B>(pd, pd.diff_weights_desc(), p, of, layouts, d, out);
  }
}

// Channel blocks where the channels come in whole ones.
ConvLayouts PreferredLayouts(const ConvProblem& p, const Pass& pass) {
  constexpr auto kB = static_cast<int32_t>(kChannelBlock);
  const bool depthwise = p.attrs.groups == p.in && p.in == p.out;
  const bool x_fits = p.in % kB == 0 && (depthwise || p.in_per_group() % kB == 0);
  const bool y_fits = p.out % kB == 0 && (depthwise || p.out_per_group() % kB == 0);
  if (!y_fits) return {0, 0};
  if (x_fits) return {kB, kB};
  // The first layer of a network: a few row-major channels in, blocked channels out.
  // For the weights of f32 its AVX2 kernels want blocks, and Firn has a loop.
  const bool has_first = pass.pass == ConvPass::kForward ||
                         (pass.pass == ConvPass::kBackwardWeight && pass.dtype == DType::kBF16);
  const bool first = has_first && p.attrs.groups == 1 && p.in < kB;
  return first ? ConvLayouts{0, kB} : ConvLayouts{0, 0};
}

// A primitive on these layouts, or the reason why there is none.
std::shared_ptr<const OneDnnConv> TryMake(const ConvProblem& p, const Pass& pass,
                                          const LayoutPair& layouts) {
  auto made = std::make_shared<OneDnnConv>();
  made->problem = p;
  made->of = pass;
  try {
    Make(p, pass, layouts, made.get());
  } catch (const dnnl::error& e) {
    made->status = Unimplemented("oneDNN: ", std::string(e.what()));
  }
  return made;
}

struct Primitives {
  absl::flat_hash_map<Key, std::shared_ptr<const OneDnnConv>> made;
  dnnl::stream stream{OneDnnEngine()};
};

std::shared_ptr<const OneDnnConv> Make(const ConvProblem& p, const Pass& pass) {
  if (pass.dtype == DType::kBF16 && MultipliesTiles()) {
    auto made = TryMake(p, pass, {pass.given, {kChannelsLast, kChannelsLast}});
    if (made->status.ok() && made->with_tiles) return made;
  }
  const ConvLayouts preferred = PreferredLayouts(p, pass);
  std::shared_ptr<const OneDnnConv> made = TryMake(p, pass, {preferred, preferred});
  // oneDNN's blocked kernels have limits (images smaller than the kernel) that its gemm does not
  // have.
  if (!made->status.ok() && preferred.y != 0) made = TryMake(p, pass, {});
  return made;
}

// The convolution from the thread's table, for as many threads as OpenMP has now.
absl::StatusOr<std::shared_ptr<const OneDnnConv>> Find(const ConvProblem& p, const Pass& pass) {
  auto& table = OfThread<Primitives>().made;
  if (table.size() > 4096) table.clear();  // a program that never repeats a shape
  std::shared_ptr<const OneDnnConv>& slot = table[KeyOf(p, pass)];
  if (slot == nullptr) slot = Make(p, pass);
  FIRN_RETURN_IF_ERROR(slot->status);
  return slot;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const OneDnnConv>> OneDnnConvFor(const ConvProblem& p, ConvPass pass,
                                                                DType dtype, bool bias,
                                                                const ConvLayouts& given) {
  // oneDNN's blocked kernels for bf16 want blocks of 16.
  const bool bf16 = dtype == DType::kBF16 && kChannelBlock == 16 && MultipliesBf16();
  FIRN_RETURN_IF(dtype != DType::kF32 && !bf16,
                 Unimplemented("takes f32", bf16 ? " and bf16" : "", " only"));
  FIRN_RETURN_IF(p.batch == 0 || p.in == 0 || p.out == 0, Unimplemented("empty tensors"));
  SyncOpenMpThreads();  // the library fixes its number of threads when it makes a primitive
  return Find(p, {pass, dtype, bias, bf16 && MultipliesTiles() ? given : ConvLayouts{}});
}

ConvLayouts OneDnnConvLayouts(const OneDnnConv& conv) { return conv.layouts; }

bool OneDnnConvWithTiles(const OneDnnConv& conv) { return conv.with_tiles; }

size_t OneDnnConvWorkspace(const OneDnnConv& conv) {
  size_t bytes = AlignUp(conv.scratch);
  for (const auto* t : {&conv.x, &conv.weight, &conv.y}) bytes += AlignUp(t->packed_bytes);
  return bytes;
}

bool OneDnnConvPacksWeight(const OneDnnConv& conv) { return conv.weight.pack; }

size_t OneDnnConvWeightBytes(const OneDnnConv& conv) { return conv.weight.packed.get_size(); }

int OneDnnConvThreads(const OneDnnConv& conv) { return conv.threads; }

ConvPass OneDnnConvPass(const OneDnnConv& conv) { return conv.of.pass; }

absl::Status OneDnnConvPackWeight(const OneDnnConv& conv, const void* weight, void* packed) {
  const OmpThreads as_made(conv.threads);
  try {
    memory from(conv.weight.given, OneDnnEngine(), const_cast<void*>(weight));
    memory to(conv.weight.packed, OneDnnEngine(), packed);
    conv.weight.reorder.execute(OfThread<Primitives>().stream, from, to);
  } catch (const dnnl::error& e) {
    return Internal("oneDNN: ", std::string(e.what()));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<const OneDnnConv>> OneDnnConvOfPacked(
    const std::shared_ptr<const OneDnnConv>& conv, int threads) {
  std::shared_ptr<const OneDnnConv> found = conv;
  if (conv->threads != threads) {
    const OmpThreads as_packed(threads);
    FIRN_ASSIGN_OR_RETURN(std::shared_ptr<const OneDnnConv> first, Find(conv->problem, conv->of));
    // The caller has asked for x and y in the layouts that `conv` takes.
    FIRN_RETURN_IF(first->layouts != conv->layouts,
                   Unimplemented("with ", conv->threads, " threads x and y lie differently than ",
                                 "with the ", threads, " that the weight was packed for"));
    if (first->weight.packed != conv->weight.packed) found = std::move(first);
  }
  auto packed = std::make_shared<OneDnnConv>(*found);
  packed->weight.given = packed->weight.packed;
  packed->weight.pack = false;
  packed->weight.packed_bytes = 0;
  return packed;
}

absl::Status OneDnnConvRun(const OneDnnConv& conv, void* x, void* weight, void* bias, void* y,
                           void* workspace) {
  const ConvPass pass = conv.of.pass;
  const OneDnnTensor& result = conv.result();
  const OmpThreads as_made(conv.threads);
  try {
    dnnl::stream& stream = OfThread<Primitives>().stream;
    char* scratch = static_cast<char*>(workspace);
    memory pad({{static_cast<int64_t>(conv.scratch)}, memory::data_type::u8, memory::format_tag::x},
               OneDnnEngine(), scratch);
    scratch += AlignUp(conv.scratch);
    const auto bring = [&](const OneDnnTensor& t, void* data) {
      memory given(t.given, OneDnnEngine(), data);
      if (!t.pack) return given;
      memory packed(t.packed, OneDnnEngine(), scratch);
      scratch += AlignUp(t.packed_bytes);
      if (&t != &result) t.reorder.execute(stream, given, packed);
      return packed;
    };
    const memory mx = bring(conv.x, x), mw = bring(conv.weight, weight), my = bring(conv.y, y);
    std::unordered_map<int, memory> args = {{DNNL_ARG_SCRATCHPAD, pad}};
    args.emplace(pass == ConvPass::kBackwardData ? DNNL_ARG_DIFF_SRC : DNNL_ARG_SRC, mx);
    args.emplace(pass == ConvPass::kBackwardWeight ? DNNL_ARG_DIFF_WEIGHTS : DNNL_ARG_WEIGHTS, mw);
    args.emplace(pass == ConvPass::kForward ? DNNL_ARG_DST : DNNL_ARG_DIFF_DST, my);
    if (bias != nullptr) args.emplace(DNNL_ARG_BIAS, memory(conv.bias, OneDnnEngine(), bias));
    conv.primitive.execute(stream, args);
    if (result.pack) {
      memory packed = &result == &conv.x ? mx : &result == &conv.y ? my : mw;
      memory given(result.given, OneDnnEngine(),
                   &result == &conv.x   ? x
                   : &result == &conv.y ? y
                                        : weight);
      result.reorder.execute(stream, packed, given);
    }
  } catch (const dnnl::error& e) {
    return Internal("oneDNN: ", std::string(e.what()));
  }
  return absl::OkStatus();
}

}  // namespace firn::cpu
