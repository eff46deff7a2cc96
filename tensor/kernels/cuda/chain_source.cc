// Each thread loads a few neighbouring elements of all inputs, takes them through all steps in
// registers, and stores the results. A step computes as the kernel of the single operation does
// (ElementwiseBody in elementwise.cuh), and rounds its result to its dtype; nvrtc/chain.h keeps the
// compiler from treating two steps as one expression.

#include "firn/tensor/kernels/cuda/chain_source.h"

#include <cxxabi.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <set>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"
#include "firn/tensor/kernels/cuda/embedded_headers.h"

namespace firn::cuda {
namespace {

using Program = firn::inner::internal::ElementwiseProgram;
using Kind = Elementwise::Kind;

// A launch's argument may have 4096 bytes.
constexpr size_t kMaxArgumentBytes = 4096;

const char* CppName(DType dtype) {
  static constexpr const char* kNames[kNumDTypes] = {
      "float", "double", "Half", "BFloat16", "int8_t", "int32_t", "int64_t", "uint8_t", "bool"};
  return kNames[static_cast<int>(dtype)];
}

// The headers that declare a functor's type and its template arguments; none when no header
// declares one of these names.
std::vector<std::string_view> HeadersOf(std::string_view type) {
  std::vector<std::string_view> headers;
  const auto letter = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  for (auto at = type.begin(); at != type.end();) {
    const auto begin = std::find_if(at, type.end(), letter);
    at = std::find_if_not(begin, type.end(), letter);
    const std::string_view word(begin, at);
    if (word.empty() || word == "firn") continue;
    const EmbeddedHeader* const h = HeaderThatDeclares(word);
    if (h == nullptr) return {};
    headers.push_back(h->name);
  }
  return headers;
}

// "firn::EluFn".
std::string TypeName(const std::type_info& type) {
  int status = 0;
  char* const name = abi::__cxa_demangle(type.name(), nullptr, nullptr, &status);
  std::string text = status == 0 ? name : type.name();
  std::free(name);
  return text;
}

class Writer {
 public:
  explicit Writer(const Program& p) : p_(p), read_(p.operands.size()) {
    int64_t widest = 1;
    for (const Program::Operand& o : p.operands) widest = std::max(widest, SizeOf(o.dtype));
    chain_.pack = static_cast<int>(16 / widest);
    for (const Program::Step& s : p.steps) {
      for (int i : s.in) {
        if (i >= 0) read_[static_cast<size_t>(i)] = true;
      }
    }
  }

  absl::StatusOr<ChainSource> Write() {
    std::string functors, loads, steps, stores;
    for (size_t i = 0; i < p_.num_inputs; ++i) {
      absl::StrAppend(single(i) ? &functors : &loads, Load(i));
    }
    for (size_t s = 0; s < p_.steps.size(); ++s) {
      FIRN_ASSIGN_OR_RETURN(const std::string functor, Functor(s));
      absl::StrAppend(&functors, functor);
      absl::StrAppend(&steps, Step(s));
    }
    for (size_t i = 0; i < p_.num_results; ++i) {
      const size_t o = p_.num_inputs + i;
      absl::StrAppend(&stores, "    cuda::StoreElements(static_cast<", Type(o), "*>(a.p[", o,
                      "]), at, a.n, v", o, ");\n");
    }
    Finish(absl::StrCat(functors, kLoop, loads, steps, stores, "  }\n}\n"));
    if (chain_.argument_bytes() > kMaxArgumentBytes) {
      return Unimplemented("functors of ", chain_.functors.size(), " bytes in a chain");
    }
    return std::move(chain_);
  }

 private:
  static constexpr const char* kLoop =
      "  const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x * kPack;\n"
      "  for (int64_t at = (static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) * kPack;\n"
      "       at < a.n; at += step) {\n";

  bool single(size_t operand) const { return p_.operands[operand].single; }
  const char* Type(size_t operand) const { return CppName(p_.operands[operand].dtype); }

  std::string Load(size_t i) const {
    const std::string from = absl::StrCat("static_cast<const ", Type(i), "*>(a.p[", i, "])");
    if (single(i)) return absl::StrCat("  const ", Type(i), " v", i, " = *", from, ";\n");
    return absl::StrCat("    const auto v", i, " = cuda::LoadElements<kPack>(", from,
                        ", at, a.n);\n");
  }

  // Declares the functor of step s, and keeps its bytes.
  absl::StatusOr<std::string> Functor(size_t s) {
    const Program::Step& step = p_.steps[s];
    const Elementwise& code = step.op->elementwise;
    if (!HasSource(*step.op)) return Unimplemented("no source for ", step.op->name);
    if (code.kind == Kind::kConverted) return "";
    const std::string functor = TypeName(*code.functor);
    for (std::string_view header : HeadersOf(functor)) headers_.emplace(header);
    if (code.bytes == 0) return absl::StrCat("  const ", functor, " f", s, "{};\n");
    const size_t at = Keep(code, step);
    return absl::StrCat("  const auto& f", s, " = chain::FunctorAt<", functor, ">(a.functors + ",
                        at, ");\n");
  }

  // The place of the functor's bytes. They are made like a kernel's functor, from a call without
  // memory.
  size_t Keep(const Elementwise& code, const Program::Step& step) {
    absl::InlinedVector<Operand, Program::kMaxStepInputs> in;
    for (int i : step.in) in.push_back({nullptr, i < 0 ? nullptr : &SpecOf(i)});
    const Operand out = {nullptr, &SpecOf(step.out)};
    const size_t at = chain_.functors.size(), padded = (code.bytes + 15) / 16 * 16;
    // Bytes between members are 0, and a vector's are aligned as doubles are: enough to copy from.
    std::vector<Bytes16> made(padded / 16);
    code.make(KernelContext(in, {&out, 1}, step.attrs.ref(), nullptr), made.data());
    const auto* const bytes = reinterpret_cast<const unsigned char*>(made.data());
    chain_.functors.insert(chain_.functors.end(), bytes, bytes + padded);
    return at;
  }
  struct alignas(16) Bytes16 {
    unsigned char v[16] = {};
  };
  const TensorSpec& SpecOf(int operand) const { return p_.tile[static_cast<size_t>(operand)]; }

  std::string Step(size_t s) const {
    const Program::Step& step = p_.steps[s];
    const Elementwise& code = step.op->elementwise;
    const auto out = static_cast<size_t>(step.out);
    std::vector<std::string> in;
    for (int i : step.in) in.push_back(Input(code, i >= 0 ? i : step.in[Absent(code)]));
    const std::string arguments = absl::StrJoin(in, ", ");
    std::string value =
        code.kind == Kind::kConverted
            ? absl::StrCat("ConvertTo<", Type(out), ">(", arguments, ")")
            : absl::StrCat("static_cast<", Type(out), ">(f", s, "(", arguments, "))");
    if (read_[out]) value = absl::StrCat("chain::Rounded(", value, ", a.zero)");
    return absl::StrCat("    cuda::Elements<", Type(out), ", kPack> v", out, ";  // ",
                        std::string(step.op->name), "\n#pragma unroll\n",
                        "    for (int j = 0; j < kPack; ++j) v", out, ".v[j] = ", value, ";\n");
  }
  static size_t Absent(const Elementwise& code) { return static_cast<size_t>(code.absent); }
  std::string Input(const Elementwise& code, int operand) const {
    const auto at = static_cast<size_t>(operand);
    const std::string x = absl::StrCat("v", at, single(at) ? "" : ".v[j]");
    return code.kind == Kind::kMoved ? x : absl::StrCat("chain::Input(", x, ")");
  }

  void Finish(const std::string& body) {
    if (chain_.functors.empty()) chain_.functors.resize(16);
    const size_t pointers = p_.num_inputs + p_.num_results;
    chain_.functors_at =
        (pointers * sizeof(void*) + sizeof(int64_t) + sizeof(uint32_t) + 15) / 16 * 16;
    std::string text = "#include \"firn/tensor/kernels/cuda/nvrtc/chain.h\"\n";
    for (const std::string& h : headers_) absl::StrAppend(&text, "#include \"", h, "\"\n");
    absl::StrAppend(&text, "using namespace firn;\nconstexpr int kPack = ", chain_.pack,
                    ";\nstruct Arguments {\n  void* p[", pointers,
                    "];\n  int64_t n;\n  uint32_t zero;\n  alignas(16) unsigned char functors[",
                    chain_.functors.size(),
                    "];\n};\nextern \"C\" __global__ void __launch_bounds__(256) ",
                    ChainSource::kKernel, "(const __grid_constant__ Arguments a) {\n", body);
    chain_.source = {text, HeadersFor(text)};
  }

  const Program& p_;
  std::vector<bool> read_;  // by operand: by a step
  std::set<std::string> headers_;
  ChainSource chain_;
};

}  // namespace

bool HasSource(const OpDef& op) {
  const Elementwise& code = op.elementwise;
  return code.kind == Kind::kConverted ||
         (code.functor != nullptr && !HeadersOf(TypeName(*code.functor)).empty());
}

absl::StatusOr<ChainSource> MakeChainSource(const Program& program) {
  return Writer(program).Write();
}

}  // namespace firn::cuda
