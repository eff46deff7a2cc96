// Functions that keep a state between runs: an input that they write, or the number of runs. They
// write it in every run, for training or not, as NNabla does.
#include "absl/strings/str_cat.h"
#include "firn/io/nnabla_network/internal/nnabla_ops.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/ops.h"

namespace firn::io::internal {
namespace {

using Args = NnablaArguments;

void Write(const Tensor& to, const Tensor& from) {
  const NoGradScope no_grad;
  Tensor(to).CopyFrom(Reshape(from, to.shape()));
}

// The result is the source; gradients go to the destination, in[0].
const NnablaOps kAssign("Assign", 2, 2,
                        [](const Args&, In in) -> TensorList {
                          if (in[0].shape() != in[1].shape()) {
                            RefuseNnabla("the source", in[0].shape().ToString(),
                                         in[1].shape().ToString());
                          }
                          const Tensor y = StraightThrough(in[1].Detach(), in[0]);
                          Write(in[0], in[1]);
                          return {y};
                        },
                        {.writes = 1});

// w / (u^T W v) with W [d, rest], after `itr` steps of the power method from u on, whose vectors
// are divided by sqrt(sum + eps). The second output is u before them.
Tensor Unit(const Tensor& x, double eps) { return Div(x, Sqrt(Add(Sum(Mul(x, x)), Tensor(eps)))); }
const NnablaOps kSpectral("SpectralNorm", 2, 2,
                          [](const Args& a, In in) -> TensorList {
                            const int64_t dim = AxisOf(in[0], a.Int("dim"));
                            const int64_t steps = a.Int("itr");
                            if (steps < 1 || steps > 1000) {
                              RefuseNnabla("itr", "1 to 1000", absl::StrCat(steps));
                            }
                            const Tensor w = RowsOf(Movedim(in[0], dim, 0), 1);
                            const Tensor fixed = w.Detach(), before = Clone(in[1].Detach());
                            Tensor u = Flatten(before), v;
                            for (int64_t i = 0; i < steps; ++i) {
                              v = Unit(Matmul(u, fixed), a.Number("eps"));
                              u = Unit(Matmul(fixed, v), a.Number("eps"));
                            }
                            const Tensor sigma = Sum(Mul(u, Matmul(w, v)));
                            if (!a.Flag("test")) Write(in[1], u);
                            return {Div(in[0], sigma), before};
                          },
                          {.writes = 1, .first_written = 1});

// The weights, of which the file and the number of runs decide how many are powers of two. The
// stored weights stay as they are; NNabla overwrites them with the powers.
Tensor InqWeight(const Args& a, In in) {
  const Tensor& count = in.back();
  const bool random = a.Text("selection_algorithm") == "random";
  const InqOptions options = {
      .num_bits = a.Int("num_bits"),
      .iterations = a.Ints("inq_iterations"),
      .selection = random ? InqSelection::kRandom : InqSelection::kLargestAbs};
  const Tensor fixed = Ne(in[2], ZerosLike(in[2]));
  const Tensor w = InqQuantize(in[1], fixed, count, options);
  Write(in[2], Cast(fixed, in[2].dtype()));
  return w;
}

// The function on x, these weights and the bias, if there is one.
TensorList WithWeight(const char* type, std::vector<nnabla::Argument> arguments, const Tensor& w,
                      In in) {
  std::vector<Tensor> inputs = {in[0], w};
  if (in.size() > 4) inputs.push_back(in[3]);
  return {RunNnabla(type, std::move(arguments), inputs)};
}

constexpr NnablaOpOptions kInq = {.draws = true, .writes = 1, .first_written = 2, .counts = true};
const NnablaOps kInqAffine(
    "INQAffine", 3, 4,
    [](const Args& a, In in) {
      return WithWeight("Affine", {a.As("base_axis")}, InqWeight(a, in), in);
    },
    kInq);
const NnablaOps kInqConvolution(
    "INQConvolution", 3, 4,
    [](const Args& a, In in) {
      return WithWeight("Convolution",
                        {a.As("base_axis"),
                         a.As("pad"),
                         a.As("stride"),
                         a.As("dilation"),
                         a.As("group"),
                         {"channel_last", false}},
                        InqWeight(a, in), in);
    },
    kInq);

}  // namespace
}  // namespace firn::io::internal
