// Convolution primitives of oneDNN, made once per problem and thread count and kept in a
// thread-local table and by frozen graphs: making one costs far more than running a small one, and
// a table per thread needs no lock. Weights are packed into the primitive's layout in workspace at
// each run; oneDNN's own scratchpad lies behind them.

#include "tensor/kernels/cpu/conv_onednn.h"

#include <array>
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "device/parallel.h"
#include "device/simd.h"
#include "device/status_macros.h"
#include "tensor/kernels/cpu/onednn_gemm.h"

namespace firn::cpu {
namespace {

using dnnl::memory;

dnnl::engine& Engine() {
  static auto* engine = new dnnl::engine(dnnl::engine::kind::cpu, 0);
  return *engine;
}

// Everything a primitive depends on.
using Key = std::array<int64_t, 9 + 6 * Sizes::kMost>;

}  // namespace

struct OneDnnConv {
  ConvPass pass = ConvPass::kForward;
  absl::Status status;  // not OK: oneDNN cannot do it, or only slowly
  dnnl::primitive primitive;
  ConvLayouts layouts;
  memory::desc x, y, bias, packed, plain;
  bool pack = false;      // packed != plain
  dnnl::reorder reorder;  // plain to packed, or back for the weight gradient
  size_t scratch = 0, packed_bytes = 0;
};

namespace {

// A pass over tensors of one type.
struct Pass {
  ConvPass pass;
  DType dtype;
  bool bias;

  memory::data_type type() const {
    return dtype == DType::kBF16 ? memory::data_type::bf16 : memory::data_type::f32;
  }
};

size_t AlignUp(size_t bytes) { return (bytes + 63) & ~size_t{63}; }

Key KeyOf(const ConvProblem& p, const Pass& pass) {
  const ConvAttrs& a = p.attrs;
  Key key = {static_cast<int64_t>(pass.pass),
             static_cast<int64_t>(pass.dtype),
             pass.bias,
             NumThreads(),
             p.dims(),
             p.batch,
             p.in,
             p.out,
             a.groups};
  size_t at = 9;
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
  constexpr Tag kOf8[] = {Tag::nCw8c, Tag::nChw8c, Tag::nCdhw8c};
  constexpr Tag kOf16[] = {Tag::nCw16c, Tag::nChw16c, Tag::nCdhw16c};
  const auto& tags = block == 0 ? kPlain : block == 16 ? kOf16 : kOf8;
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

Descs Describe(const ConvProblem& p, const Pass& pass, const ConvLayouts& layouts) {
  const memory::data_type type = pass.type();
  const ConvAttrs& a = p.attrs;
  memory::dims w = DimsOf(p.kernel);
  w.insert(w.begin(), {p.out_per_group(), p.in_per_group()});
  if (a.groups > 1) w.insert(w.begin(), a.groups);
  Descs d;
  d.x = ImageDesc(p.batch, p.in, p.in_size, layouts.x, type);
  d.y = ImageDesc(p.batch, p.out, p.out_size, layouts.y, type);
  d.any_weight = {w, type, Tag::any};
  d.plain_weight = {w, type, PlainWeightTag(p.dims(), a.groups > 1)};
  if (pass.bias) d.bias = {{p.out}, type, Tag::x};
  d.stride = DimsOf(a.stride);
  d.low = DimsOf(a.padding);
  for (int i = 0; i < p.dims(); ++i) {
    d.dilation.push_back(a.dilation[i] - 1);
    // What the last window needs, maybe less than nothing.
    d.high.push_back((p.out_size[i] - 1) * a.stride[i] + a.dilation[i] * (p.kernel[i] - 1) + 1 -
                     p.in_size[i] - a.padding[i]);
  }
  return d;
}

template <class PrimitiveDesc, class Prim>
void Finish(const PrimitiveDesc& pd, const memory::desc& packed, const Descs& d, bool from_packed,
            OneDnnConv* out) {
  const std::string name = pd.impl_info_str();
  if (name.rfind("ref", 0) == 0) {
    out->status = Unimplemented("oneDNN has only its reference kernel");
    return;
  }
  out->primitive = Prim(pd);
  out->packed = packed;
  out->pack = packed != d.plain_weight;
  out->packed_bytes = out->pack ? packed.get_size() : 0;
  out->scratch = pd.scratchpad_desc().get_size();
  if (!out->pack) return;
  const memory::desc &from = from_packed ? packed : d.plain_weight,
                     &to = from_packed ? d.plain_weight : packed;
  out->reorder = dnnl::reorder(dnnl::reorder::primitive_desc(Engine(), from, Engine(), to));
}

void Make(const ConvProblem& p, const Pass& of, const ConvLayouts& layouts, OneDnnConv* out) {
  const Descs d = Describe(p, of, layouts);
  const ConvPass pass = of.pass;
  out->pass = pass;
  out->layouts = layouts;
  out->x = d.x;
  out->y = d.y;
  out->bias = d.bias;
  out->plain = d.plain_weight;
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  constexpr auto kDirect = dnnl::algorithm::convolution_direct;
  const auto forward = [&] {
    using F = dnnl::convolution_forward;
    const F::desc desc =
        of.bias ? F::desc(dnnl::prop_kind::forward_training, kDirect, d.x, d.any_weight, d.bias,
                          d.y, d.stride, d.dilation, d.low, d.high)
                : F::desc(dnnl::prop_kind::forward_training, kDirect, d.x, d.any_weight, d.y,
                          d.stride, d.dilation, d.low, d.high);
    return F::primitive_desc(desc, attr, Engine());
  };
  if (pass == ConvPass::kForward) {
    const auto pd = forward();
    Finish<decltype(pd), dnnl::convolution_forward>(pd, pd.weights_desc(), d, false, out);
  } else if (pass == ConvPass::kBackwardData) {
    using B = dnnl::convolution_backward_data;
    const B::primitive_desc pd(
        B::desc(kDirect, d.x, d.any_weight, d.y, d.stride, d.dilation, d.low, d.high), attr,
        Engine(), forward());
    Finish<decltype(pd), B>(pd, pd.weights_desc(), d, false, out);
  } else {
    using B = dnnl::convolution_backward_weights;
    const B::primitive_desc pd(
        B::desc(kDirect, d.x, d.any_weight, d.y, d.stride, d.dilation, d.low, d.high), attr,
        Engine(), forward());
    Finish<decltype(pd), B>(pd, pd.diff_weights_desc(), d, true, out);
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
                                          const ConvLayouts& layouts) {
  auto made = std::make_shared<OneDnnConv>();
  try {
    Make(p, pass, layouts, made.get());
  } catch (const dnnl::error& e) {
    made->status = Unimplemented("oneDNN: ", std::string(e.what()));
  }
  return made;
}

// What a thread keeps between calls. It goes when the thread ends; destructors of other
// thread-local objects may still compute after that, and get a new one.
struct ThreadState {
  absl::flat_hash_map<Key, std::shared_ptr<const OneDnnConv>> primitives;
  dnnl::stream stream{Engine()};
};

ThreadState& StateOfThread() {
  static thread_local constinit ThreadState* state = nullptr;
  struct Closer {
    ~Closer() {
      delete state;
      state = nullptr;
    }
  };
  if (state == nullptr) {
    static thread_local Closer closer;
    state = new ThreadState;
  }
  return *state;
}

std::shared_ptr<const OneDnnConv> Make(const ConvProblem& p, const Pass& pass) {
  SyncOpenMpThreads();  // the library fixes its number of threads now
  const ConvLayouts preferred = PreferredLayouts(p, pass);
  std::shared_ptr<const OneDnnConv> made = TryMake(p, pass, preferred);
  // Its blocked kernels have limits (images smaller than the kernel) that its gemm has not.
  if (!made->status.ok() && preferred.y != 0) made = TryMake(p, pass, {0, 0});
  return made;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const OneDnnConv>> OneDnnConvFor(const ConvProblem& p, ConvPass pass,
                                                                DType dtype, bool bias) {
  // oneDNN's blocked kernels for bf16 want blocks of 16.
  const bool bf16 = dtype == DType::kBF16 && kChannelBlock == 16 && MultipliesBf16();
  FIRN_RETURN_IF(dtype != DType::kF32 && !bf16,
                 Unimplemented("takes f32", bf16 ? " and bf16" : "", " only"));
  FIRN_RETURN_IF(p.batch == 0 || p.in == 0 || p.out == 0, Unimplemented("empty tensors"));
  auto& table = StateOfThread().primitives;
  if (table.size() > 4096) table.clear();  // a program that never repeats a shape
  std::shared_ptr<const OneDnnConv>& slot = table[KeyOf(p, {pass, dtype, bias})];
  if (slot == nullptr) slot = Make(p, {pass, dtype, bias});
  FIRN_RETURN_IF_ERROR(slot->status);
  return slot;
}

ConvLayouts OneDnnConvLayouts(const OneDnnConv& conv) { return conv.layouts; }

size_t OneDnnConvWorkspace(const OneDnnConv& conv) {
  return AlignUp(conv.packed_bytes) + AlignUp(conv.scratch);
}

absl::Status OneDnnConvRun(const OneDnnConv& conv, void* x, void* weight, void* bias, void* y,
                           void* workspace) {
  const ConvPass pass = conv.pass;
  SyncOpenMpThreads();
  try {
    dnnl::stream& stream = StateOfThread().stream;
    char* scratch = static_cast<char*>(workspace) + AlignUp(conv.packed_bytes);
    memory mx(conv.x, Engine(), x), my(conv.y, Engine(), y), plain(conv.plain, Engine(), weight);
    memory packed = conv.pack ? memory(conv.packed, Engine(), workspace) : plain;
    memory pad({{static_cast<int64_t>(conv.scratch)}, memory::data_type::u8, memory::format_tag::x},
               Engine(), scratch);
    if (pass == ConvPass::kBackwardWeight) {
      conv.primitive.execute(stream, {{DNNL_ARG_SRC, mx},
                                      {DNNL_ARG_DIFF_DST, my},
                                      {DNNL_ARG_DIFF_WEIGHTS, packed},
                                      {DNNL_ARG_SCRATCHPAD, pad}});
      if (conv.pack) conv.reorder.execute(stream, packed, plain);
      return absl::OkStatus();
    }
    if (conv.pack) conv.reorder.execute(stream, plain, packed);
    if (pass == ConvPass::kBackwardData) {
      conv.primitive.execute(stream, {{DNNL_ARG_DIFF_SRC, mx},
                                      {DNNL_ARG_DIFF_DST, my},
                                      {DNNL_ARG_WEIGHTS, packed},
                                      {DNNL_ARG_SCRATCHPAD, pad}});
      return absl::OkStatus();
    }
    std::unordered_map<int, memory> args = {{DNNL_ARG_SRC, mx},
                                            {DNNL_ARG_DST, my},
                                            {DNNL_ARG_WEIGHTS, packed},
                                            {DNNL_ARG_SCRATCHPAD, pad}};
    if (bias != nullptr) args.emplace(DNNL_ARG_BIAS, memory(conv.bias, Engine(), bias));
    conv.primitive.execute(stream, args);
  } catch (const dnnl::error& e) {
    return Internal("oneDNN: ", std::string(e.what()));
  }
  return absl::OkStatus();
}

}  // namespace firn::cpu
