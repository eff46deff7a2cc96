// A chain is followed from the sums on while its end has one reader, and through reorders, which
// captures have where a value had another layout. It runs where its last operation but
// quantize_linear stood, because what is added may be computed in between; so its arguments must
// not change until then.

#include "firn/autograd/graph/finish_sums.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "firn/autograd/graph/analysis.h"
#include "firn/autograd/graph/kernel_call.h"
#include "firn/autograd/graph/passes/channel_source.h"
#include "firn/autograd/graph/passes/dead_code.h"
#include "firn/autograd/graph/passes/rewrite.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/graph_traits.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/quantize/affine.h"
#include "firn/tensor/problems/norm_options.h"

namespace firn {
namespace {

bool IsZero(const Tensor& t) {
  const std::vector<int64_t> values = t.ToVector<int64_t>();
  return std::all_of(values.begin(), values.end(), [](int64_t v) { return v == 0; });
}

struct Chain {
  std::vector<size_t> members;  // from the sums on, without quantize_linear
  ValueId scale = kNoValue, bias = kNoValue, other = kNoValue;
  size_t other_at = 0;  // what reads `other`
  bool relu = false;
  ValueId numbers = kNoValue;
  size_t quantize = Uses::kNone, reorder = Uses::kNone;  // before quantize
  bool keeps = false;                                    // something else reads the numbers
};

class Finisher {
 public:
  explicit Finisher(Graph& graph) : g_(graph), uses_(graph), gone_(graph.instrs.size(), false) {}

  absl::StatusOr<PassReport> Run() {
    PassReport report{.pass = "finish_sums"};
    for (size_t at = 0; at < g_.instrs.size(); ++at) {
      if (gone_[at]) continue;
      const std::optional<Chain> chain = ChainFrom(at);
      if (!chain) continue;
      FIRN_ASSIGN_OR_RETURN(std::optional<Instr> finished, Finished(*chain));
      if (!finished) continue;
      report.Add(absl::StrCat(Describe(g_.instrs[at]), ": ", chain->members.size(),
                              chain->quantize == Uses::kNone ? " operations" : " and quantize"));
      for (const size_t member : chain->members) gone_[member] = true;
      for (const size_t after : {chain->reorder, chain->quantize}) {
        if (after != Uses::kNone) gone_[after] = true;
      }
      const size_t last = chain->members.back();
      g_.instrs[last] = *std::move(finished);
      gone_[last] = false;
      made_.push_back(last);
    }
    if (report.changes == 0) return report;
    QuantizeAsItLies();
    Rearrange(g_, gone_);
    DropUnusedValues(g_);
    return report;
  }

 private:
  const Instr& instr(size_t at) const { return g_.instrs[at]; }
  const TensorSpec& spec(ValueId id) const { return g_.value(id).spec; }
  bool IsConstant(ValueId id) const {
    return id != kNoValue && g_.buffer_of(id).kind == Buffer::Kind::kConstant &&
           g_.value(id).bound.defined();
  }
  // Whether this is a temporary that one operation writes.
  bool IsPlain(ValueId id) const {
    const Value& v = g_.value(id);
    return g_.buffer_of(id).kind == Buffer::Kind::kTemp && !v.bound.defined() &&
           uses_.maker(id) != Uses::kNone && uses_.writers(v.buffer).size() == 1;
  }
  // Whether a finished operation has come in its place.
  bool IsTaken(size_t at) const {
    return gone_[at] || std::find(made_.begin(), made_.end(), at) != made_.end();
  }
  // The operation that alone reads the value, if its result can take the value's place.
  size_t OnlyReader(ValueId id) const {
    if (uses_.leaves(id) || uses_.readers(id).size() != 1 || !IsPlain(id)) return Uses::kNone;
    const size_t at = uses_.readers(id)[0];
    const bool fits = !IsTaken(at) && instr(at).out.size() == 1 && IsPlain(instr(at).out[0]);
    return fits ? at : Uses::kNone;
  }

  std::optional<Chain> ChainFrom(size_t at) const {
    const Instr& sums = instr(at);
    if (TraitsOf(*sums.op).finish == nullptr) return {};
    for (const size_t i : {1u, 2u, 3u}) {
      if (!IsConstant(sums.in[i])) return {};
    }
    if (!IsZero(g_.value(sums.in[3]).bound)) return {};
    Chain chain{.members = {at}};
    if (!Dequantize(sums.out[0], chain)) return {};
    do {
      SkipReorders(chain);
    } while (Addition(chain));
    const size_t reader = OnlyReader(chain.numbers);
    if (reader != Uses::kNone && TraitsOf(*instr(reader).op).activation == FusedActivation::kRelu) {
      chain.relu = true;
      Take(reader, chain);
      SkipReorders(chain);
    }
    Quantize(chain);
    return Unchanged(chain) ? std::optional(chain) : std::nullopt;
  }

  void Take(size_t at, Chain& chain) const {
    chain.members.push_back(at);
    chain.numbers = instr(at).out[0];
  }

  void SkipReorders(Chain& chain) const {
    for (size_t at = OnlyReader(chain.numbers);
         at != Uses::kNone && TraitsOf(*instr(at).op).reorders; at = OnlyReader(chain.numbers)) {
      Take(at, chain);
    }
  }

  bool Dequantize(ValueId sums, Chain& chain) const {
    const size_t at = OnlyReader(sums);
    if (at == Uses::kNone || instr(at).op != &TheOp<"dequantize_linear">()) return false;
    const auto& in = instr(at).in;
    const bool fits = in[0] == sums && IsConstant(in[1]) && IsConstant(in[2]) &&
                      spec(in[1]).dtype == DType::kF32 && spec(in[1]).shape.rank() == 1 &&
                      instr(at).attrs.ref().get<DequantizeAttrs>().dim == 1;
    if (!fits || !IsZero(g_.value(in[2]).bound)) return false;
    chain.scale = in[1];
    Take(at, chain);
    return true;
  }

  // Adds a bias, which comes first, or a value of the same shape.
  bool Addition(Chain& chain) const {
    const size_t at = OnlyReader(chain.numbers);
    if (at == Uses::kNone || instr(at).op != &TheOp<"add">()) return false;
    if (instr(at).attrs.ref().get<AddAttrs>().alpha != 1) return false;
    const auto& in = instr(at).in;
    const ValueId y = instr(at).out[0], added = in[0] == chain.numbers ? in[1] : in[0];
    if (!SameKind(spec(y), spec(chain.numbers)) || chain.other != kNoValue) return false;
    if (SameKind(spec(added), spec(y))) {
      chain.other = added;
      chain.other_at = at;
    } else if (chain.bias == kNoValue && IsConstant(added) && IsOfChannels(added, spec(y).shape)) {
      chain.bias = added;
    } else {
      return false;
    }
    Take(at, chain);
    return true;
  }
  bool IsOfChannels(ValueId id, const Shape& y) const {
    return spec(id).dtype == DType::kF32 && spec(id).shape == Shape({1, y[1], 1, 1});
  }

  // To bytes, of one scale.
  bool IsQuantize(size_t at, ValueId numbers) const {
    if (at == Uses::kNone || IsTaken(at) || instr(at).op != &TheOp<"quantize_linear">()) {
      return false;
    }
    const Instr& q = instr(at);
    return q.in[0] == numbers && IsConstant(q.in[1]) && IsConstant(q.in[2]) &&
           spec(q.in[1]).shape.rank() == 0 && IsPlain(q.out[0]) &&
           q.attrs.ref().get<QuantizeAttrs>().dtype != DType::kI32;
  }
  void Quantize(Chain& chain) const {
    chain.keeps = uses_.leaves(chain.numbers) || uses_.readers(chain.numbers).empty();
    for (const size_t at : uses_.readers(chain.numbers)) {
      const bool reorders = TraitsOf(*instr(at).op).reorders;
      const ValueId numbers = reorders ? instr(at).out[0] : chain.numbers;
      const size_t quantize = reorders ? OnlyReader(numbers) : at;
      if (chain.quantize == Uses::kNone && IsPlain(chain.numbers) &&
          IsQuantize(quantize, numbers)) {
        chain.quantize = quantize;
        if (reorders) chain.reorder = at;
      } else {
        chain.keeps = true;
      }
    }
  }

  // One scale serves elements in any order: what is quantized for finished sums, whose kernels have
  // an order of their own, need not be brought into another one before.
  void QuantizeAsItLies() {
    for (size_t at = 0; at < g_.instrs.size(); ++at) {
      Instr& q = g_.instrs[at];
      if (gone_[at] || q.op != &TheOp<"quantize_linear">()) continue;
      const size_t from = uses_.maker(q.in[0]);
      const bool fits = from != Uses::kNone && TraitsOf(*instr(from).op).reorders &&
                        spec(q.in[1]).shape.rank() == 0 && OnlyReader(q.in[0]) == at &&
                        AreTaken(uses_.readers(q.out[0])) &&
                        UnchangedBetween(g_, uses_, instr(from).in[0], from, at);
      if (!fits) continue;
      q.in[0] = instr(from).in[0];
      gone_[from] = true;
    }
  }
  bool AreTaken(absl::Span<const size_t> readers) const {
    return std::all_of(readers.begin(), readers.end(), [&](size_t at) { return IsTaken(at); });
  }

  // Whether the arguments of the chain are still unchanged at its end.
  bool Unchanged(const Chain& chain) const {
    const size_t last = chain.members.back();
    const ValueId x = instr(chain.members[0]).in[0];
    return UnchangedBetween(g_, uses_, x, chain.members[0], last) &&
           (chain.other == kNoValue ||
            UnchangedBetween(g_, uses_, chain.other, chain.other_at, last));
  }

  // Nothing where there is no such kernel.
  absl::StatusOr<std::optional<Instr>> Finished(const Chain& chain) {
    const Instr& sums = instr(chain.members[0]);
    FinishedSums how{
        g_.value(sums.in[1]).bound, g_.value(sums.in[2]).bound, chain.relu, chain.keeps, {}};
    const bool bytes = chain.quantize != Uses::kNone;
    if (bytes) how.quantize = instr(chain.quantize).attrs.ref();
    FIRN_ASSIGN_OR_RETURN(std::optional<PackedCall> call,
                          TraitsOf(*sums.op).finish(KernelCall(g_, sums).query(), how));
    if (!call) return std::optional<Instr>();
    Instr made = sums;
    made.op = call->call.op;
    made.attrs = std::move(call->call.attrs);
    made.in = {
        sums.in[0], AddConstant(g_, call->packed), chain.scale, chain.bias, chain.other, kNoValue,
        kNoValue};
    made.out.clear();
    if (chain.keeps) made.out.push_back(chain.numbers);
    if (bytes) {
      const Instr& quantize = instr(chain.quantize);
      std::copy_n(quantize.in.begin() + 1, 2, made.in.end() - 2);
      made.out.push_back(quantize.out[0]);
    }
    return std::optional<Instr>(std::move(made));
  }

  Graph& g_;
  const Uses uses_;  // as the graph was
  std::vector<bool> gone_;
  std::vector<size_t> made_;
};

}  // namespace

absl::StatusOr<PassReport> FinishSums(Graph& graph) { return Finisher(graph).Run(); }

}  // namespace firn
