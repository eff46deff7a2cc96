// Keys and choices as texts, so that a cache can be read by people.

#include "firn/tensor/kernels/cuda/conv_plan_key.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace firn::cuda {
namespace {

constexpr size_t kMaxKnobs = 64;

// Reads only numbers as StrCat writes them: no sign before a positive number, no spaces.
bool Number(std::string_view text, int64_t* number) {
  const absl::string_view t(text.data(), text.size());
  return absl::SimpleAtoi(t, number) && absl::StrCat(*number) == t;
}

}  // namespace

DnnConvKey KeyOf(const DnnConvCall& c) {
  const ConvProblem& p = c.problem;
  const ConvAttrs& a = p.attrs;
  DnnConvKey key = {static_cast<int64_t>(c.pass),
                    static_cast<int64_t>(c.dtype),
                    c.alignment,
                    static_cast<int64_t>(c.max_workspace),
                    static_cast<int64_t>(c.f32),
                    c.nhwc,
                    c.bias,
                    static_cast<int64_t>(c.activation),
                    p.dims(),
                    p.batch,
                    p.in,
                    p.out,
                    a.groups};
  size_t at = 13;
  for (const Sizes* s : {&p.in_size, &p.kernel, &a.stride, &a.padding, &a.dilation}) {
    for (const int64_t size : s->span()) key[at++] = size;
  }
  return key;
}

std::string PlanCacheKey(const DnnMachine& machine, const DnnConvCall& call, bool timed) {
  return absl::StrCat(timed ? "timed conv|" : "conv|", machine.device, "|",
                      machine.compute_capability, "|", machine.driver, "|", machine.runtime, "|",
                      machine.cudnn, "|", absl::StrJoin(KeyOf(call), ","));
}

std::string ToText(const EngineChoice& choice) {
  std::string text = absl::StrCat("engine ", choice.engine, choice.fused ? " fused" : "");
  for (const auto& [type, value] : choice.knobs) absl::StrAppend(&text, " ", type, "=", value);
  return text;
}

std::optional<EngineChoice> EngineChoiceFrom(std::string_view text) {
  const std::vector<std::string> words =
      absl::StrSplit(absl::string_view(text.data(), text.size()), ' ');
  EngineChoice choice;
  if (words.size() < 2 || words[0] != "engine" || !Number(words[1], &choice.engine)) return {};
  size_t at = 2;
  choice.fused = at < words.size() && words[at] == "fused";
  at += choice.fused ? 1 : 0;
  if (words.size() - at > kMaxKnobs) return {};
  for (; at < words.size(); ++at) {
    const std::vector<std::string> knob = absl::StrSplit(words[at], '=');
    int64_t type = 0, value = 0;
    if (knob.size() != 2 || !Number(knob[0], &type) || !Number(knob[1], &value)) return {};
    choice.knobs.emplace_back(type, value);
  }
  return choice;
}

}  // namespace firn::cuda
