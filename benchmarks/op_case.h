#ifndef FIRN_BENCHMARKS_OP_CASE_H_
#define FIRN_BENCHMARKS_OP_CASE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "firn/tensor/tensor.h"
#include "firn/tensor/testing/samples.h"

namespace firn::benchmarks {

// A large sample of an operation or of a function made of operations, as users call it. Not
// thread-safe.
class OpCase {
 public:
  // The operations and composites that have large samples, sorted.
  static std::vector<std::string> Operations();
  // NotFound, with the names that there are, for another operation or sample.
  static absl::StatusOr<OpCase> Find(const std::string& operation, const std::string& name);

  // The dtypes that the floating inputs may have. Where none is floating: the one of the attribute
  // `dtype` or, where there is none, of the first input.
  std::vector<DType> DTypes() const;
  // "contiguous" and, if an input has two dimensions, "transposed".
  std::vector<std::string> Layouts() const;
  // A JSON object with all that another framework needs for the same call. The numbers of the
  // inputs are written to files in `folder`, as many as there are before they repeat, in the byte
  // order of this machine, so the other framework need not draw them again. Unavailable when a file
  // cannot be written.
  absl::StatusOr<std::string> Describe(const std::string& folder) const;

  // The sample's inputs on the device, floating ones in that dtype; each has its own memory. In
  // layout "transposed" the last two dimensions of those that are only read are swapped in memory.
  // InvalidArgument for a dtype or a layout that the case does not have.
  absl::StatusOr<std::vector<Tensor>> Inputs(DType dtype, const std::string& layout,
                                             Device device = Device::Cpu()) const;
  // Positions of the inputs that get a gradient.
  std::vector<size_t> Wanted() const;
  // Positions of the inputs that the call writes.
  std::vector<size_t> Written() const;
  // The function that users call, or the operation where they call none. Passes its exceptions on.
  std::vector<Tensor> Call(const std::vector<Tensor>& inputs) const;

 private:
  OpCase() = default;
  const testing::Sample& sample() const { return samples_->large[index_]; }
  const ArgDecl& DeclOf(size_t i) const;
  std::string NameOf(size_t i) const;

  const OpDef* op_ = nullptr;  // null for a composite
  std::unique_ptr<testing::Samples> samples_;
  size_t index_ = 0;
};

}  // namespace firn::benchmarks

#endif  // FIRN_BENCHMARKS_OP_CASE_H_
