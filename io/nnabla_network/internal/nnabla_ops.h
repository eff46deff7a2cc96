#ifndef FIRN_IO_NNABLA_NETWORK_INTERNAL_NNABLA_OPS_H_
#define FIRN_IO_NNABLA_NETWORK_INTERNAL_NNABLA_OPS_H_

// The functions of NNabla that Firn computes, each registered on a page of io/nnabla_network/ops:
//
//   const NnablaOps kElu("ELU", 1, 1, [](const NnablaArguments& a, In in) -> TensorList {
//     return {Elu(in[0], a.Number("alpha"))};
//   });
//
// All numbers are f32 between functions, as NNabla's are: what Firn has as integers or bools is
// turned into numbers on the way out and back on the way in.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "firn/io/nnabla_model/nnabla_model.h"
#include "firn/tensor/tensor.h"

namespace firn::io::internal {

using In = absl::Span<const Tensor>;

// What a function was given. Each throws, naming the argument, when it is not there or of another
// type.
class NnablaArguments {
 public:
  explicit NnablaArguments(std::vector<nnabla::Argument> arguments)
      : arguments_(std::move(arguments)) {}

  int64_t Int(std::string_view name) const;
  bool Flag(std::string_view name) const;
  double Number(std::string_view name) const;
  const std::string& Text(std::string_view name) const;
  const std::vector<int64_t>& Ints(std::string_view name) const;
  const std::vector<float>& Floats(std::string_view name) const;

 private:
  template <class T>
  const T& Get(std::string_view name, std::string_view type) const;

  std::vector<nnabla::Argument> arguments_;
};

// The function's outputs; trailing ones that the file does not ask for may be among them.
using NnablaRun = TensorList (*)(const NnablaArguments& arguments, In in);

struct NnablaOpOptions {
  bool draws = false;             // random numbers
  bool writes = false;            // its last two inputs, in training
  std::string_view refused = {};  // instead of `run`: why there is none
};

struct NnablaOp {
  std::string_view type;
  size_t min_inputs, max_inputs;
  NnablaRun run;
  NnablaOpOptions options;
};

inline constexpr size_t kAnyInputs = static_cast<size_t>(-1);

// Registers a function, before main().
class NnablaOps {
 public:
  NnablaOps(std::string_view type, size_t min_inputs, size_t max_inputs, NnablaRun run,
            NnablaOpOptions options = {});
};

// Null for one that no page has.
const NnablaOp* FindNnablaOp(std::string_view type);

// --- What several pages need --------------------------------------------------------------------

// Throws InvalidArgument: "<what> is expected to be <expected>, it is <found>".
[[noreturn]] void RefuseNnabla(std::string_view what, std::string_view expected,
                               const std::string& found);

// A dimension counted from the front. Throws when x does not have it.
int64_t AxisOf(const Tensor& x, int64_t axis);
// `none` where there are none.
std::vector<int64_t> AxesOf(const Tensor& x, absl::Span<const int64_t> axes);
// All dimensions that are not among these.
std::vector<int64_t> OtherAxes(const Tensor& x, absl::Span<const int64_t> axes);
// x as a matrix: dimensions before `base_axis` are rows, the others columns.
Tensor RowsOf(const Tensor& x, int64_t base_axis);
// The sizes of dimensions begin to end - 1.
std::vector<int64_t> SizesOf(const Tensor& x, int64_t begin, int64_t end);
std::vector<int64_t> Joined(std::vector<int64_t> front, absl::Span<const int64_t> back);
Tensor Reshaped(const Tensor& x, const std::vector<int64_t>& sizes);
// Classes or indices, which are numbers in NNabla.
Tensor IntegersOf(const Tensor& x);
// Classes without the dimension `axis`, of size 1, that NNabla's have.
Tensor LabelsOf(const Tensor& labels, int64_t axis);
// A bool or an integer as NNabla has it.
Tensor NumbersOf(const Tensor& x);

// The images of x [..., c, spatial...] with all dimensions before `base_axis` as one, channels
// first; `channel_last` says that x is [..., spatial..., c].
Tensor ImagesOf(const Tensor& x, int64_t base_axis, bool channel_last);
// The result back: as x was, with the channels and sizes of y.
Tensor FromImages(const Tensor& y, const Tensor& x, int64_t base_axis, bool channel_last);

}  // namespace firn::io::internal

#endif  // FIRN_IO_NNABLA_NETWORK_INTERNAL_NNABLA_OPS_H_
