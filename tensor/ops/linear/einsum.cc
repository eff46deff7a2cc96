// einsum: composed of permutations, sums and matrix products.
//
// Every dimension of every operand gets a label: letters as they are, the dimensions of an ellipsis
// '0', '1', ... counted from the last one. Operands are contracted in pairs, in the
// cheapest order (einsum_order.h). With two,
//   labels that only one of them has and that are not needed later are summed over first,
//   labels that both have are a batch when they are needed later, else contracted,
// and with [batch, left, contracted] x [batch, contracted, right] the rest is one matmul; without
// contracted labels it is a broadcast product.

#include "firn/tensor/ops/linear/einsum.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <utility>

#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/linear/einsum_order.h"
#include "firn/tensor/ops/linear/matmul.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/shape/expand.h"
#include "firn/tensor/ops/shape/permute.h"
#include "firn/tensor/ops/shape/slices.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn {
namespace {

template <class... Parts>
[[noreturn]] void Fail(const Parts&... parts) {
  RaiseStatus(InvalidArgument(parts...), "einsum");
}

bool Has(const std::string& labels, char label) { return labels.find(label) != std::string::npos; }

// The labels of `a` that keep(label) holds for.
template <class F>
std::string Filter(const std::string& a, F keep) {
  std::string out;
  for (char c : a) {
    if (keep(c)) out.push_back(c);
  }
  return out;
}

// --- Parsing -------------------------------------------------------------------------------------

constexpr char kEllipsis = '.';

// One side's terms with "..." as one '.'.
std::vector<std::string> ParseTerms(const std::string& text, const std::string& equation) {
  std::vector<std::string> terms(1);
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ',') {
      terms.emplace_back();
    } else if (text.compare(i, 3, "...") == 0 && !Has(terms.back(), kEllipsis)) {
      terms.back().push_back(kEllipsis);
      i += 2;
    } else if (std::isalpha(static_cast<unsigned char>(c)) != 0) {
      terms.back().push_back(c);
    } else {
      Fail("unexpected '", std::string(1, c), "' in \"", equation, "\"");
    }
  }
  return terms;
}

// The labels of `count` dimensions of an ellipsis, the last one '0'.
std::string EllipsisLabels(int count) {
  std::string labels;
  for (int i = count - 1; i >= 0; --i) labels.push_back(static_cast<char>('0' + i));
  return labels;
}

// `term` with its ellipsis, if any, replaced.
std::string Expanded(const std::string& term, const std::string& ellipsis) {
  const size_t at = term.find(kEllipsis);
  return at == std::string::npos ? term : term.substr(0, at) + ellipsis + term.substr(at + 1);
}

struct Equation {
  std::vector<std::string> inputs;
  std::string output;
};

// Labels that occur once, in order.
std::string ImplicitOutput(const std::vector<std::string>& inputs, const std::string& ellipsis) {
  std::string all;
  for (const std::string& term : inputs) all += term;
  std::sort(all.begin(), all.end());
  return ellipsis + Filter(all, [&](char c) {
           return std::isalpha(static_cast<unsigned char>(c)) != 0 &&
                  std::count(all.begin(), all.end(), c) == 1;
         });
}

void CheckOutput(const Equation& e, const std::string& equation) {
  for (char c : e.output) {
    if (std::count(e.output.begin(), e.output.end(), c) > 1) {
      Fail("'", std::string(1, c), "' is twice in the result of \"", equation, "\"");
    }
    const bool known = std::any_of(e.inputs.begin(), e.inputs.end(),
                                   [c](const std::string& term) { return Has(term, c); });
    if (!known) Fail("'", std::string(1, c), "' is in the result of \"", equation, "\" only");
  }
}

Equation Parse(const std::string& equation, const std::vector<Tensor>& tensors) {
  const std::string text = Filter(equation, [](char c) { return c != ' '; });
  const size_t arrow = text.find("->");
  Equation e;
  e.inputs = ParseTerms(text.substr(0, arrow), equation);
  if (e.inputs.size() != tensors.size()) {
    Fail("\"", equation, "\" names ", e.inputs.size(), " tensors, got ", tensors.size());
  }
  int widest = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (!tensors[i].defined()) Fail("tensor ", i, " is undefined");
    std::string& term = e.inputs[i];
    const int named = static_cast<int>(
        std::count_if(term.begin(), term.end(), [](char c) { return c != kEllipsis; }));
    const int rest = tensors[i].rank() - named;
    if (rest < 0 || (rest > 0 && !Has(term, kEllipsis))) {
      Fail("\"", equation, "\" names ", named, " dimensions of tensor ", i, ", which is ",
           tensors[i].shape().ToString());
    }
    widest = std::max(widest, rest);
    term = Expanded(term, EllipsisLabels(rest));
  }
  const std::string ellipsis = EllipsisLabels(widest);
  if (arrow == std::string::npos) {
    e.output = ImplicitOutput(e.inputs, ellipsis);
  } else {
    const std::vector<std::string> out = ParseTerms(text.substr(arrow + 2), equation);
    if (out.size() != 1) Fail("\"", equation, "\" has ", out.size(), " results");
    e.output = Expanded(out[0], ellipsis);
  }
  CheckOutput(e, equation);
  return e;
}

// --- Contraction ---------------------------------------------------------------------------------

struct Term {
  Tensor tensor;
  std::string labels;

  int64_t size(char label) const {
    const size_t at = labels.find(label);
    return at == std::string::npos ? 1 : tensor.shape()[static_cast<int>(at)];
  }
};

// Steps on the way may have more dimensions than the operands and the result.
void CheckRank(size_t rank) {
  if (rank > static_cast<size_t>(kMaxRank)) {
    Fail("a step would have ", rank, " dimensions (at most ", kMaxRank, ")");
  }
}

// With its labels in the order of `labels`. Requires: the same ones.
Term Arranged(const Term& x, const std::string& labels) {
  DimList dims;
  for (char c : labels) dims.push_back(static_cast<int64_t>(x.labels.find(c)));
  return {labels == x.labels ? x.tensor : Permute(x.tensor, dims), labels};
}

// Takes the diagonal of every label that occurs twice: its two dimensions become one of n * n
// elements, of which every (n + 1)-st is on the diagonal.
Term WithoutRepeats(Term x) {
  for (size_t i = 0; i < x.labels.size(); ++i) {
    const char c = x.labels[i];
    const size_t j = x.labels.find(c, i + 1);
    if (j == std::string::npos) continue;
    const int64_t n = x.tensor.shape()[static_cast<int>(i)];
    if (x.tensor.shape()[static_cast<int>(j)] != n) {
      Fail("'", std::string(1, c), "' names dimensions of sizes ", n, " and ",
           x.tensor.shape()[static_cast<int>(j)]);
    }
    DimList order;
    Dims square;
    std::string labels;
    for (size_t d = 0; d < x.labels.size(); ++d) {
      if (d == i || d == j) continue;
      order.push_back(static_cast<int64_t>(d));
      square.push_back(x.tensor.shape()[static_cast<int>(d)]);
      labels.push_back(x.labels[d]);
    }
    order.push_back(static_cast<int64_t>(i));
    order.push_back(static_cast<int64_t>(j));
    square.push_back(n * n);
    const Tensor flat = Reshape(Permute(x.tensor, order), square.span());
    x = {Slice(flat, flat.rank() - 1, 0, n * n, n + 1), labels + c};
    i = static_cast<size_t>(-1);  // from the start: labels have moved
  }
  return x;
}

// Sums over the labels that `keep` does not have.
Term SumTo(const Term& x, const std::string& keep) {
  DimList dims;
  for (size_t d = 0; d < x.labels.size(); ++d) {
    if (!Has(keep, x.labels[d])) dims.push_back(static_cast<int64_t>(d));
  }
  if (dims.empty()) return x;
  return {Sum(x.tensor, dims).To(x.tensor.dtype()),
          Filter(x.labels, [&](char c) { return Has(keep, c); })};
}

int64_t CommonSize(const Term& a, const Term& b, char label) {
  const int64_t m = a.size(label), n = b.size(label);
  if (m != n && m != 1 && n != 1) {
    Fail("'", std::string(1, label), "' names dimensions of sizes ", m, " and ", n);
  }
  return m == 1 ? n : m;
}

// x as [batch..., product of first, product of second], its sizes of 1 broadcast to the other's.
Tensor AsMatrices(const Term& x, const Term& other, const std::string& batch,
                  const std::string& first, const std::string& second) {
  CheckRank(batch.size() + 2);
  const Term ordered = Arranged(x, batch + first + second);
  Dims full, merged;
  for (char c : ordered.labels) full.push_back(CommonSize(x, other, c));
  int64_t rows = 1, cols = 1;
  for (char c : first) rows *= CommonSize(x, other, c);
  for (char c : second) cols *= CommonSize(x, other, c);
  for (int d = 0; d < static_cast<int>(batch.size()); ++d) merged.push_back(full[d]);
  merged.push_back(rows);
  merged.push_back(cols);
  return Reshape(Expand(ordered.tensor, Shape(full.span())), merged.span());
}

Term Multiply(const Term& a, const Term& b, const std::string& batch, const std::string& left,
              const std::string& contracted, const std::string& right) {
  for (char c : batch + contracted) CommonSize(a, b, c);  // in this order in errors
  const Tensor product =
      Matmul(AsMatrices(a, b, batch, left, contracted), AsMatrices(b, a, batch, contracted, right));
  const std::string labels = batch + left + right;
  CheckRank(labels.size());
  Dims sizes;
  for (char c : labels) sizes.push_back(CommonSize(a, b, c));
  return {Reshape(product, sizes.span()), labels};
}

// The product by elements: each operand with sizes of 1 for the labels it does not have.
Term MultiplyElements(const Term& a, const Term& b, const std::string& labels) {
  CheckRank(labels.size());
  const auto spread = [&](const Term& x) {
    const Term ordered = Arranged(x, Filter(labels, [&](char c) { return Has(x.labels, c); }));
    Dims sizes;
    for (char c : labels) sizes.push_back(x.size(c));
    return Reshape(ordered.tensor, sizes.span());
  };
  for (char c : labels) CommonSize(a, b, c);
  return {Mul(spread(a), spread(b)), labels};
}

Term Contract(const Term& given_a, const Term& given_b, const std::string& needed) {
  const Term a = SumTo(given_a, needed + given_b.labels);
  const Term b = SumTo(given_b, needed + given_a.labels);
  const auto shared = [&](char c) { return Has(b.labels, c); };
  const std::string batch = Filter(a.labels, [&](char c) { return shared(c) && Has(needed, c); });
  const std::string contracted =
      Filter(a.labels, [&](char c) { return shared(c) && !Has(needed, c); });
  const std::string left = Filter(a.labels, [&](char c) { return !shared(c); });
  const std::string right = Filter(b.labels, [&](char c) { return !Has(a.labels, c); });
  if (contracted.empty()) return MultiplyElements(a, b, batch + left + right);
  return Multiply(a, b, batch, left, contracted, right);
}

// The size of every label. Throws where two operands disagree.
std::map<char, int64_t> SizesOf(const std::vector<Term>& terms) {
  std::map<char, int64_t> sizes;
  for (const Term& x : terms) {
    for (char c : x.labels) {
      const int64_t own = x.size(c);
      const auto [at, added] = sizes.emplace(c, own);
      if (added || own == 1 || own == at->second) continue;
      if (at->second != 1) {
        Fail("'", std::string(1, c), "' names dimensions of sizes ", at->second, " and ", own);
      }
      at->second = own;
    }
  }
  return sizes;
}

}  // namespace

Tensor Einsum(const std::string& equation, const std::vector<Tensor>& tensors) {
  const Equation e = Parse(equation, tensors);
  std::vector<Term> terms;
  for (size_t i = 0; i < tensors.size(); ++i) {
    terms.push_back(WithoutRepeats({tensors[i], e.inputs[i]}));
  }
  const std::map<char, int64_t> sizes = SizesOf(terms);
  std::vector<std::string> labels;
  for (const Term& x : terms) labels.push_back(x.labels);
  for (const EinsumStep& step : CheapestSteps(labels, e.output, sizes)) {
    terms.push_back(Contract(terms[step.left], terms[step.right], step.kept));
    terms[step.left] = terms[step.right] = {};  // nothing else needs them
  }
  const Term& result = terms.back();
  return Arranged(SumTo(result, e.output), e.output).tensor;
}

}  // namespace firn
