#include <algorithm>
#include <map>
#include <sstream>
#include <string>

#include "firn/tensor/ops/linear/einsum.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

struct EinsumAttrs {
  std::string equation;
  template <class V>
  void Visit(V& v) {
    v.Field("equation", equation);
  }
};

// The sum over every assignment of the labels, for equations of letters with a result.
std::vector<RefTensor> Reference(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const std::string& equation = attrs.get<EinsumAttrs>().equation;
  const size_t arrow = equation.find("->");
  const std::string result = equation.substr(arrow + 2);
  std::vector<std::string> terms;
  std::istringstream list(equation.substr(0, arrow));
  for (std::string term; std::getline(list, term, ',');) terms.push_back(term);
  terms.resize(in.size());  // a last term without letters
  std::map<char, int64_t> size_of;
  for (size_t i = 0; i < terms.size(); ++i) {
    for (size_t d = 0; d < terms[i].size(); ++d) {
      int64_t& size = size_of[terms[i][d]];
      const int64_t own = in[i].shape[static_cast<int>(d)];
      size = size == 0 || own != 1 ? own : size;
    }
  }
  std::string labels;
  std::vector<int64_t> sizes, result_sizes;
  for (auto [label, size] : size_of) {
    labels += label;
    sizes.push_back(size);
  }
  for (char label : result) result_sizes.push_back(size_of[label]);
  RefTensor y{Shape(result_sizes)};
  ForEachIndex(Shape(sizes), [&](absl::Span<const int64_t> assigned) {
    const auto index = [&](const std::string& term, const Shape& shape) {
      std::vector<int64_t> at;
      for (size_t d = 0; d < term.size(); ++d) {
        at.push_back(shape[static_cast<int>(d)] == 1 ? 0 : assigned[labels.find(term[d])]);
      }
      return at;
    };
    double product = 1;
    for (size_t i = 0; i < terms.size(); ++i) product *= in[i].at(index(terms[i], in[i].shape));
    y.at(index(result, y.shape)) += product;
  });
  return {y};
}

FIRN_REGISTER_COMPOSITE(einsum) {
  s.Declare({{.name = "tensors", .dtypes = kFloating | kIntegral, .variadic = true}},
            {{.name = "y", .same_dtype_as = "tensors"}});
  s.Function([](In in, const EinsumAttrs& a) { return Einsum(a.equation, in.all()); });
  s.Reference(Reference);
  s.atol_f32 = 1e-5;  // sums of products that cancel
  const auto add = [&](const char* equation, std::vector<Tensor> in) {
    s.Add(equation, std::move(in), EinsumAttrs{equation});
  };
  add("ij,jk->ik", {Normal({3, 4}), Normal({4, 2}, 2)});
  add("bij,bjk->bik", {Normal({2, 3, 4}), Normal({2, 4, 2}, 2)});
  add("i,j->ij", {Normal({3}), Normal({4}, 2)});
  add("ij->ji", {Normal({3, 4})});
  add("ij->", {Normal({3, 4})});
  add("ii->i", {Normal({3, 3})});
  add("ii->", {Normal({3, 3})});
  add("ij,ij->ij", {Normal({3, 1}), Normal({3, 4}, 2)});
  add("ij,jk,kl->il", {Normal({2, 3}), Normal({3, 2}, 2), Normal({2, 3}, 3)});
  add("bchw,c->bhw", {Normal({2, 8, 2, 3}), Normal({8}, 2)});
  add("ij,jk->ki", {Integers({3, 4}, 0, 5), Integers({4, 2}, 0, 5, 2)});
  s.AddLarge("16 products of 256x256", {Normal({16, 256, 256}), Normal({16, 256, 256}, 2)},
             EinsumAttrs{"bij,bjk->bik"}, 16 * 2.0 * 256 * 256 * 256, 0);
  s.AddLarge("heads", {Normal({8, 128, 12, 64}), Normal({8, 128, 12, 64}, 2)},
             EinsumAttrs{"bqhd,bkhd->bhqk"}, 2.0 * 8 * 12 * 128 * 128 * 64, 0);
  s.AddError("sizes", {Normal({3, 4}), Normal({3, 2}, 2)}, EinsumAttrs{"ij,jk->ik"}, "j");
  s.AddError("terms", {Normal({3, 4})}, EinsumAttrs{"ij,jk->ik"}, "");
}

}  // namespace
}  // namespace firn::testing
