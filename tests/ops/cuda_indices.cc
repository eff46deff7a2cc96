#include "tests/ops/cuda_indices.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/device/cuda.h"
#include "firn/device/internal/cuda_context.h"
#include "firn/tensor/op.h"
#include "tests/error_of.h"
#include "tests/ops/on_device.h"

namespace firn::testing {
namespace {

// The CPU's message for the call, without the place, which a device does not tell.
std::string IndexErrorOnCpu(const OpDef& op, const Call& call) {
  const Outcome outcome = Run(op, call);
  EXPECT_EQ(outcome.status.code(), absl::StatusCode::kOutOfRange);
  return std::regex_replace(outcome.error, std::regex(" at index [0-9]+ is"), " is");
}

// The call's first index is `bad`: there is no error before a read, one at the read, and none after
// it.
void CheckBadIndex(const OpDef& op, Call call, size_t input, int64_t bad) {
  SCOPED_TRACE(absl::StrCat(call.name, ", input ", input, ", index ", bad));
  Tensor& indices = call.inputs[input];
  indices = CopyOf(indices);
  if (indices.dtype() == DType::kI64) {
    *static_cast<int64_t*>(static_cast<void*>(indices.impl()->data)) = bad;
  } else {
    *static_cast<int32_t*>(static_cast<void*>(indices.impl()->data)) = static_cast<int32_t>(bad);
  }
  const std::string want = IndexErrorOnCpu(op, call);
  const Call there = OnDevice(call, Device::Cuda(0));
  const int64_t waited = CudaSynchronizations();
  const Outcome got = Run(op, there);
  EXPECT_EQ(CudaSynchronizations(), waited);
  ASSERT_TRUE(got.status.ok()) << got.error;
  const Tensor& result = got.results.at(0);
  const std::string error = ErrorOf([&] { result.To(Device::Cpu()); });
  EXPECT_NE(error.find(want), std::string::npos) << error << "\nnot: " << want;
  EXPECT_EQ(ErrorOf([&] { result.To(Device::Cpu()); }), "");
}

}  // namespace

void CheckIndicesOnCuda(const Subject& subject, const Samples& samples) {
  const OpDef& op = subject;
  int calls = 0;
  for (const Sample& sample : samples.samples) {
    for (const Call& call : DTypeVariants(op, sample)) {
      const Outcome good = Run(op, call);
      if (!good.status.ok() || good.outputs().empty() != op.outputs.empty()) continue;
      std::vector<const TensorSpec*> in;
      for (const Tensor& t : call.inputs) in.push_back(t.defined() ? &t.spec() : nullptr);
      std::vector<TensorSpec> out;
      for (const Tensor& t : good.outputs()) out.push_back(t.spec());
      const KernelQuery query(in, out, call.attrs.ref());
      for (size_t i = 0; i < call.inputs.size(); ++i) {
        const bool holds =
            std::any_of(op.index_inputs.begin(), op.index_inputs.end(), [&](int declared) {
              return &op.input(i) == &op.inputs[static_cast<size_t>(declared)];
            });
        if (!holds || !call.inputs[i].defined() || call.inputs[i].num_elements() == 0 ||
            good.results[0].num_elements() == 0) {
          continue;
        }
        const IndexBounds bounds = *op.index_bounds(query, static_cast<int>(i));
        for (const int64_t bad : {bounds.high, bounds.low - 1}) {
          if (bad == bounds.ignored) continue;
          CheckBadIndex(op, call, i, bad);
          ++calls;
        }
      }
    }
  }
  EXPECT_GT(calls, 0);
}

}  // namespace firn::testing
