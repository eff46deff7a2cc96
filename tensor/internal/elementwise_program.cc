// The kernels of the single operations run on contiguous tiles, which are too short for a kernel to
// use several threads; the parallel loop is over tiles.

#include "firn/tensor/internal/elementwise_program.h"

#include <algorithm>
#include <mutex>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "firn/device/check.h"
#include "firn/device/parallel.h"
#include "firn/device/status_macros.h"

namespace firn::inner::internal {
namespace {

using Program = ElementwiseProgram;

// 8 KB of f32: four operands fit into the first level of cache.
constexpr int64_t kTile = 2048;
constexpr int64_t kTilesPerChunk = 8;
constexpr size_t kSlotBytes = static_cast<size_t>(kTile) * sizeof(double);
constexpr size_t kMaxOperands = Program::kMaxSteps * (Program::kMaxStepInputs + 1);

const Program& ProgramOf(AttrsRef attrs) { return *attrs.get<ElementwiseProgramAttrs>().program; }

int64_t TilesOf(const Program& p) { return (p.shape.num_elements() + kTile - 1) / kTile; }

absl::Status Infer(InferContext& c) {
  const Program& p = ProgramOf(c.attrs_ref());
  for (size_t i = 0; i < p.num_results; ++i) {
    c.set_out_blocked(static_cast<int>(i), p.operands[p.num_inputs + i].dtype, p.shape,
                      p.channel_block);
  }
  return absl::OkStatus();
}

size_t Workspace(const KernelQuery& q) {
  const Program& p = ProgramOf(q.attrs_ref());
  return static_cast<size_t>(NumChunks(TilesOf(p), kTilesPerChunk)) * p.num_slots * kSlotBytes;
}

// One thread's view of a call.
class Tiles {
 public:
  Tiles(const Program& p, const KernelContext& k, int chunk) : p_(p) {
    for (size_t i = 0; i < p.operands.size(); ++i) {
      const Program::Operand& o = p.operands[i];
      base_[i] = Base(k, i, chunk);
      step_[i] = o.single || o.slot >= 0 ? 0 : static_cast<int64_t>(SizeOf(o.dtype)) * kTile;
    }
  }

  absl::Status Run(int64_t tile, bool last) {
    const std::vector<TensorSpec>& specs = last ? p_.last_tile : p_.tile;
    const auto operand = [&](int i) {
      const auto at = static_cast<size_t>(i);
      return i < 0 ? Operand{} : Operand{base_[at] + tile * step_[at], &specs[at]};
    };
    for (const Program::Step& s : p_.steps) {
      Operand in[Program::kMaxStepInputs];
      for (size_t i = 0; i < s.in.size(); ++i) in[i] = operand(s.in[i]);
      const Operand out = operand(s.out);
      KernelContext context({in, s.in.size()}, {&out, 1}, s.attrs.ref(), nullptr, s.alike);
      FIRN_RETURN_IF_ERROR(s.kernel->run(context));
    }
    return absl::OkStatus();
  }

 private:
  char* Base(const KernelContext& k, size_t i, int chunk) const {
    if (i < p_.num_inputs) return static_cast<char*>(k.operands_in()[i].data);
    if (i < p_.num_inputs + p_.num_results) {
      return static_cast<char*>(k.operands_out()[i - p_.num_inputs].data);
    }
    const size_t slot =
        static_cast<size_t>(chunk) * p_.num_slots + static_cast<size_t>(p_.operands[i].slot);
    return k.workspace<char>() + slot * kSlotBytes;
  }

  const Program& p_;
  char* base_[kMaxOperands];
  int64_t step_[kMaxOperands];  // bytes from tile to tile
};

absl::Status Run(KernelContext& k) {
  const Program& p = ProgramOf(k.attrs_ref());
  const int64_t tiles = TilesOf(p);
  std::mutex mutex;
  absl::Status failure;
  ParallelForChunks(tiles, kTilesPerChunk, [&](int chunk, int64_t begin, int64_t end) {
    Tiles run(p, k, chunk);
    for (int64_t tile = begin; tile < end; ++tile) {
      absl::Status status = run.Run(tile, tile == tiles - 1);
      if (status.ok()) [[likely]]
        continue;
      const std::lock_guard<std::mutex> lock(mutex);
      failure = std::move(status);
      return;
    }
  });
  return failure;
}

size_t KernelWorkspace(const KernelQuery& q) {
  return ProgramOf(q.attrs_ref()).kernel->workspace_bytes();
}

absl::Status RunKernel(KernelContext& k) {
  const Program& p = ProgramOf(k.attrs_ref());
  return p.kernel->Run(p, k);
}

}  // namespace

void ElementwiseProgram::Finish() {
  FIRN_CHECK(operands.size() <= kMaxOperands, "a program of ", operands.size(), " operands");
  const int64_t rest = shape.num_elements() - (TilesOf(*this) - 1) * kTile;
  for (const Operand& o : operands) {
    const auto spec = [&](int64_t n) {
      return TensorSpec::Contiguous(o.dtype, o.single ? Shape() : Shape({n}), Device());
    };
    tile.push_back(spec(kTile));
    last_tile.push_back(spec(rest));
  }
  for (Step& s : steps) {
    const auto like_result = [&](int i) {
      return i >= 0 && !operands[static_cast<size_t>(i)].single &&
             operands[static_cast<size_t>(i)].dtype == operands[static_cast<size_t>(s.out)].dtype;
    };
    s.alike = std::all_of(s.in.begin(), s.in.end(), like_result);
  }
}

std::string ElementwiseProgram::ToString() const {
  return absl::StrJoin(steps, "; ", [](std::string* text, const Step& s) {
    absl::StrAppend(text, std::string(s.op->name), "(", absl::StrJoin(s.in, ", "), ")",
                    firn::ToString(s.attrs.ref()), " -> ", s.out);
  });
}

const OpDef& ElementwiseProgramOp(size_t num_results) {
  static const auto* const ops = [] {
    auto* made = new std::vector<OpDef>;
    for (size_t n = 0; n <= Program::kMaxSteps; ++n) {
      OpDef op = {
          .name = "elementwise_program",
          .doc = "A chain of elementwise operations, run as one.",
          .inputs = {{.name = "x", .optional = true, .variadic = true}},
          .attrs = AttrsOf<ElementwiseProgramAttrs>(),
          .infer = Infer,
          .kernels = {{.name = "tiles", .workspace = Workspace, .run = Run, .takes = Takes::kAny},
                      {.name = "chain",
                       .device = DeviceType::kCuda,
                       .workspace = KernelWorkspace,
                       .run = RunKernel,
                       .takes = Takes::kAny}}};
      op.outputs.assign(n, {.name = "y"});
      op.cycle = 1;
      made->push_back(std::move(op));
    }
    return made;
  }();
  FIRN_CHECK(num_results >= 1 && num_results < ops->size(), "a program of ", num_results,
             " results");
  return (*ops)[num_results];
}

}  // namespace firn::inner::internal
