// Padded tensors are taken out of the samples, and the rest is stacked as usual.
#include "firn/io/data/collate.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/io/data/dataset.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/recurrent/sequence.h"
#include "firn/tensor/ops/shape/join.h"

namespace firn::io {
namespace {

constexpr char kWho[] = "pad_to";

std::string Describe(const Tensor& t) { return t.defined() ? t.spec().ToString() : "undefined"; }

void CheckAlike(const PadToOptions& options, const std::vector<Tensor>& all, size_t i) {
  const Tensor& t = all[i];
  const Tensor& first = all[0];
  const auto refuse = [&](const auto&... why) {
    RaiseStatus(InvalidArgument(options.name, ": sample ", i, i == 0 ? "" : " of the batch", " is ",
                                Describe(t), why...),
                kWho);
  };
  if (!t.defined() || t.rank() == 0) refuse(" (want a tensor of rank 1 or more)");
  if (t.dtype() != first.dtype() ||
      t.shape().span().subspan(1) != first.shape().span().subspan(1)) {
    refuse(", sample 0 is ", Describe(first), ": only first dimensions may differ");
  }
  if (options.size > 0 && t.size(0) > options.size) {
    refuse(", longer than the ", options.size, " asked for (PadToOptions::size)");
  }
}

// [N, size or the longest, ...]
Tensor Padded(const PadToOptions& options, const std::vector<Tensor>& all) {
  for (size_t i = 0; i < all.size(); ++i) CheckAlike(options, all, i);
  if (!IsFloating(all[0].dtype()) && options.value != std::trunc(options.value)) {
    RaiseStatus(InvalidArgument(options.name, ": value is ", options.value, ", which ",
                                Describe(all[0]), " does not hold (PadToOptions::value)"),
                kWho);
  }
  Tensor out = PadSequence(all, {.batch_first = true, .padding_value = options.value});
  if (options.size <= out.size(1)) return out;
  std::vector<int64_t> rest(out.shape().begin(), out.shape().end());
  rest[1] = options.size - out.size(1);
  return firn::Concat({out, Full(Shape(rest), options.value, out.dtype())}, 1);
}

Sample PadAndStack(const std::vector<PadToOptions>& options, absl::Span<const Sample> samples) {
  const NoGradScope no_grad;
  std::vector<Sample> others(samples.begin(), samples.end());
  std::vector<std::pair<int64_t, Tensor>> padded;
  NamedTensors lengths;
  const std::vector<std::string> variables = samples[0].variables();
  for (const PadToOptions& option : options) {
    static_cast<void>(samples[0][option.name]);  // throws where there is none
    const int64_t at =
        std::find(variables.begin(), variables.end(), option.name) - variables.begin();
    std::vector<Tensor> all;
    std::vector<int64_t> sizes;
    for (Sample& s : others) {
      Tensor& t = s[option.name];
      all.push_back(t);
      t = Tensor();
    }
    padded.emplace_back(at, Padded(option, all));
    for (const Tensor& t : all) sizes.push_back(t.size(0));
    if (!option.lengths) continue;
    const std::string name = option.name + "_length";
    if (std::find(variables.begin(), variables.end(), name) != variables.end()) {
      RaiseStatus(InvalidArgument(option.name, ": its lengths would be called ", name,
                                  ", as a tensor is already (PadToOptions::lengths = false adds "
                                  "none)"),
                  kWho);
    }
    lengths.emplace_back(name, FromVector(sizes));
  }
  Sample batch = Stack(others);
  for (auto& [at, t] : padded) batch.At(at) = std::move(t);
  if (lengths.empty()) return batch;
  NamedTensors tensors;
  for (size_t i = 0; i < variables.size(); ++i) {
    tensors.emplace_back(variables[i], batch.At(static_cast<int64_t>(i)));
  }
  tensors.insert(tensors.end(), lengths.begin(), lengths.end());
  return Sample::Named(std::move(tensors));
}

}  // namespace

Collate PadTo(const PadToOptions& options) { return PadTo(std::vector<PadToOptions>{options}); }

Collate PadTo(const std::vector<PadToOptions>& options) {
  std::set<std::string> names;
  for (const PadToOptions& option : options) {
    if (option.size < 0) {
      RaiseStatus(InvalidArgument("size is ", option.size, " (want >= 0)"), kWho);
    }
    if (!names.insert(option.name).second) {
      RaiseStatus(InvalidArgument(option.name, " is to be padded twice (want each tensor once)"),
                  kWho);
    }
  }
  return [options](absl::Span<const Sample> samples) {
    if (samples.empty()) RaiseStatus(InvalidArgument("there is no sample"), kWho);
    return PadAndStack(options, samples);
  };
}

}  // namespace firn::io
