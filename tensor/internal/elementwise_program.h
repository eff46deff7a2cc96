#ifndef FIRN_TENSOR_INTERNAL_ELEMENTWISE_PROGRAM_H_
#define FIRN_TENSOR_INTERNAL_ELEMENTWISE_PROGRAM_H_

// Elementwise operations that run as one. On the CPU, each tile goes through all operations, so
// that values that pass between them stay in cache. On CUDA, a kernel is made for the program
// (tensor/kernels/cuda/chain_kernel.h), which keeps these values in registers.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "firn/tensor/op.h"

namespace firn::inner::internal {

struct ElementwiseProgram;

// How a device runs a whole program as one kernel.
class ElementwiseProgramKernel {
 public:
  virtual ~ElementwiseProgramKernel() = default;
  virtual size_t workspace_bytes() const = 0;
  virtual absl::Status Run(const ElementwiseProgram& program, KernelContext& call) const = 0;
};

// Operands are numbered: the inputs of the call, then its results, then the values that only pass
// between steps. All have one shape and one dense layout, except for inputs of a single element.
struct ElementwiseProgram {
  static constexpr size_t kMaxSteps = 12, kMaxStepInputs = 4;

  struct Operand {
    DType dtype = DType::kF32;
    bool single = false;
    int slot = -1;  // of the workspace: a tile for each value that only passes between steps
  };
  struct Step {
    const OpDef* op = nullptr;
    const Kernel* kernel = nullptr;  // one that takes any elements: Takes::kElementwise
    Attrs attrs;
    absl::InlinedVector<int, kMaxStepInputs> in;  // operands; -1: not given
    int out = 0;
    bool alike = false;  // all operands have one dtype and the full size
  };

  Shape shape;
  int channel_block = 0;
  size_t num_inputs = 0, num_results = 0, num_slots = 0;
  std::vector<Operand> operands;
  std::vector<Step> steps;
  std::vector<TensorSpec> tile, last_tile;  // by operand, made by Finish
  // Made for the device of the operands; not needed on the CPU, which runs tiles.
  std::shared_ptr<const ElementwiseProgramKernel> kernel;

  // Fills in the members that follow from the others. Call it when those are set.
  void Finish();
  // "mul(0, 1) -> 3; tanh(3) -> 2": the same for the same program.
  std::string ToString() const;
};

struct ElementwiseProgramAttrs {
  std::shared_ptr<const ElementwiseProgram> program;
  template <class V>
  void Visit(V& v) {
    std::string text = program == nullptr ? "" : program->ToString();
    v.Field("program", text);  // for people only: a program cannot be read back from its text
  }
};

// The operation that runs a program of so many results. It is not registered: only compiled graphs
// call it. Requires: 1 <= num_results <= kMaxSteps.
const OpDef& ElementwiseProgramOp(size_t num_results);

}  // namespace firn::inner::internal

#endif  // FIRN_TENSOR_INTERNAL_ELEMENTWISE_PROGRAM_H_
