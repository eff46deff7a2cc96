#ifndef FIRN_TESTS_DOCS_ROWS_H_
#define FIRN_TESTS_DOCS_ROWS_H_

// Rows of tables in the documentation that are code, as tools/scripts/doc_blocks.py --rows writes
// them.

#include <cstdint>
#include <type_traits>
#include <vector>

#include "absl/functional/function_ref.h"
#include "firn/tensor/from.h"
#include "firn/tensor/tensor.h"

namespace firn::testing {

// Adds the tensors of which a result consists; a result of any other type has none.
template <class T>
void AddTensors(const T& result, std::vector<Tensor>& to) {
  if constexpr (std::is_convertible_v<const T&, Tensor>) {
    to.push_back(result);
  } else if constexpr (std::is_same_v<T, std::vector<Tensor>>) {
    to.insert(to.end(), result.begin(), result.end());
  } else if constexpr (std::is_same_v<T, std::vector<int64_t>>) {
    to.push_back(FromVector(result));
  } else if constexpr (requires { result.data, result.batch_sizes; }) {
    to.insert(to.end(), {result.data, FromVector(result.batch_sizes)});
  } else if constexpr (requires { result.values, result.indices; }) {
    to.insert(to.end(), {result.values, result.indices});
  } else if constexpr (requires { result.h, result.c; }) {
    to.insert(to.end(), {result.h, result.c});
  }
}

template <class... T>
std::vector<Tensor> Results(const T&... results) {
  std::vector<Tensor> tensors;
  (AddTensors(results, tensors), ...);
  return tensors;
}

// Runs the code of a row and compares its result with the numbers of `call` in
// tests/docs/nnabla_values.txt, unless the call is empty or one of PF, the parametric functions,
// and I, the initializers. `line` is the row's line in the page.
void RunRow(int line, const char* call, absl::FunctionRef<std::vector<Tensor>()> code);

template <class F>
void Row(int line, const char* call, const F& code) {
  RunRow(line, call, [&code] {
    if constexpr (std::is_void_v<decltype(code())>) {
      code();
      return std::vector<Tensor>();
    } else {
      return Results(code());
    }
  });
}

}  // namespace firn::testing

#endif  // FIRN_TESTS_DOCS_ROWS_H_
