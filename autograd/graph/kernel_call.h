#ifndef FIRN_AUTOGRAD_GRAPH_KERNEL_CALL_H_
#define FIRN_AUTOGRAD_GRAPH_KERNEL_CALL_H_

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "firn/autograd/graph/graph.h"
#include "firn/tensor/op.h"

namespace firn {

// An instruction in the form in which kernels are asked about it. Refers to the graph's specs, so
// use it only while those stay where they are.
class KernelCall {
 public:
  // With results as the graph has them.
  KernelCall(const Graph& graph, const Instr& instr);
  KernelCall(const Graph& graph, const Instr& instr, absl::Span<const TensorSpec> results);
  KernelCall(const KernelCall&) = delete;
  KernelCall& operator=(const KernelCall&) = delete;

  KernelQuery query() const { return {in_, out_, instr_.attrs.ref()}; }
  Device device() const;
  // The answer of the kernel that Apply would choose. Errors: none takes this call.
  absl::StatusOr<Prepared> Prepare() const;
  // What `kernel`, which was chosen for this call earlier, needs for it now.
  absl::StatusOr<Prepared> Ask(const Kernel& kernel) const;
  // Whether the arguments and results have the layouts that the kernel reads and writes. Errors:
  // Internal, naming the one that has another.
  absl::Status CheckLayouts(const Prepared& answer) const;

 private:
  const Instr& instr_;
  absl::InlinedVector<const TensorSpec*, 8> in_;  // null: not given
  absl::InlinedVector<TensorSpec, 2> out_;
};

}  // namespace firn

#endif  // FIRN_AUTOGRAD_GRAPH_KERNEL_CALL_H_
