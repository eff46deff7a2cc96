#ifndef FIRN_IO_NNABLA_NETWORK_INTERNAL_NNABLA_OPS_H_
#define FIRN_IO_NNABLA_NETWORK_INTERNAL_NNABLA_OPS_H_

// The functions of NNabla that Firn computes, each registered on a page of io/nnabla_network/ops:
//
//   const NnablaOps kElu("ELU", 1, 1, [](const NnablaArguments& a, In in) -> TensorList {
//     return {Elu(in[0], a.Number("alpha"))};
//   });
//
// All numbers are f32 between functions, as NNabla's are: Firn's integers and bools are converted
// to numbers on the way out, and back on the way in.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "firn/autograd/network/definition.h"
#include "firn/io/nnabla_model/nnabla_model.h"
#include "firn/tensor/tensor.h"

namespace firn::io::internal {

using In = absl::Span<const Tensor>;

// A function's arguments. Each getter throws, naming the argument, if it does not exist or has
// another type.
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
  // The argument that stands in the file, for another function.
  nnabla::Argument As(std::string_view name) const;

 private:
  template <class T>
  const T& Get(std::string_view name, std::string_view type) const;

  std::vector<nnabla::Argument> arguments_;
};

// The function's outputs; trailing ones that the file does not ask for may be among them.
using NnablaRun = TensorList (*)(const NnablaArguments& arguments, In in);
// The same for a function whose inputs' elements decide what is computed: it looks at them while
// the network is bound (NodeCall::Known) and gives at least the outputs that the file asks for to
// call.Return.
using NnablaLower = void (*)(const NnablaArguments& arguments, autograd::NodeCall& call);

struct NnablaOpOptions {
  bool draws = false;  // random numbers
  // How many inputs it writes, and the first of them; below 0 from behind.
  int writes = 0, first_written = 0;
  // Counts its runs, in an i64 [1] that `in` has behind the inputs and that begins at 0.
  bool counts = false;
};

struct NnablaOp {
  std::string_view type;
  size_t min_inputs, max_inputs;
  NnablaRun run;
  NnablaOpOptions options;
  NnablaLower lower = nullptr;  // instead of `run`
};

inline constexpr size_t kAnyInputs = static_cast<size_t>(-1);

// Registers a function, before main().
class NnablaOps {
 public:
  NnablaOps(std::string_view type, size_t min_inputs, size_t max_inputs, NnablaRun run,
            NnablaOpOptions options = {});
  NnablaOps(std::string_view type, size_t min_inputs, size_t max_inputs, NnablaLower lower);
};

// Null for a function that no page has.
const NnablaOp* FindNnablaOp(std::string_view type);
// The first result of another function, which has a page and runs.
Tensor RunNnabla(std::string_view type, std::vector<nnabla::Argument> arguments, In in);

// --- What several pages need --------------------------------------------------------------------

// Throws InvalidArgument: "<what> is expected to be <expected>, it is <found>".
[[noreturn]] void RefuseNnabla(std::string_view what, std::string_view expected,
                               const std::string& found);

// A dimension counted from the front. Throws when x does not have it.
int64_t AxisOf(const Tensor& x, int64_t axis);
// `none` if the list is empty.
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
// A bool or an integer as NNabla's f32.
Tensor NumbersOf(const Tensor& x);

// The images of x [..., c, spatial...] with all dimensions before `base_axis` as one, channels
// first; `channel_last` says that x is [..., spatial..., c].
Tensor ImagesOf(const Tensor& x, int64_t base_axis, bool channel_last);
// The result back: as x was, with the channels and sizes of y.
Tensor FromImages(const Tensor& y, const Tensor& x, int64_t base_axis, bool channel_last);

}  // namespace firn::io::internal

#endif  // FIRN_IO_NNABLA_NETWORK_INTERNAL_NNABLA_OPS_H_
