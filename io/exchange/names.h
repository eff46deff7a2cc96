#ifndef FIRN_IO_EXCHANGE_NAMES_H_
#define FIRN_IO_EXCHANGE_NAMES_H_

// The names of functions on tensors elsewhere. A line on a page of names/, one page for each family
// of operations, gives them for a function:
//
//   FIRN_NAMES(Eq, .nnabla = {"equal", "equal_scalar"}, .onnx = "Equal");
//
// A function without a line has no counterpart in either.

#include <initializer_list>
#include <string_view>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"

namespace firn::io::internal {

// No name, one or several, the usual one first. Implicit, as FIRN_NAMES has them.
class Names : public absl::InlinedVector<std::string_view, 3> {
 public:
  Names() = default;
  Names(const char* name) : Names({std::string_view(name)}) {}  // NOLINT
  Names(std::initializer_list<std::string_view> names)          // NOLINT
      : absl::InlinedVector<std::string_view, 3>(names) {}
};

struct NamesElsewhere {
  Names nnabla = {};  // functions of nnabla.functions
  Names onnx = {};    // operators of ONNX's default domain
};

struct FunctionNames {
  std::string_view function;  // as users call it: "Conv2d"
  NamesElsewhere elsewhere;
};

// The names on all pages, in no order. Read it only after main has begun: before, pages may be
// missing.
absl::Span<const FunctionNames> AllFunctionNames();

struct NamesRegistration {
  NamesRegistration(std::string_view function, NamesElsewhere elsewhere);
};

// A second line for a function on one page does not compile; on two pages, names_test finds it.
#define FIRN_NAMES(function, ...)                                                          \
  static const ::firn::io::internal::NamesRegistration firn_names_of_##function(#function, \
                                                                                {__VA_ARGS__})

}  // namespace firn::io::internal

#endif  // FIRN_IO_EXCHANGE_NAMES_H_
