#ifndef FIRN_IO_NNABLA_NETWORK_INTERNAL_NNABLA_EXPORT_CALL_H_
#define FIRN_IO_NNABLA_NETWORK_INTERNAL_NNABLA_EXPORT_CALL_H_

// The forms of operations in NNabla. A page of io/nnabla_network/export, one for each family of
// operations, defines them for its family:
//
//   FIRN_NNABLA_EXPORT(square) { n.Out(0, n.in(0) * n.in(0)); }
//   FIRN_NNABLA_SAME(exp, Exp);           // the function of that type
//   FIRN_NNABLA_NO_EXPORT(svd, "NNabla has no singular values");
//
// An operation without a line cannot be exported either, "nothing says what it is in NNabla".

#include <string_view>
#include <vector>

#include "firn/io/nnabla_network/internal/nnabla_nodes.h"

namespace firn::io::internal {

// The call that is written. Thread-compatible.
class NnablaExportCall : public NnablaNodes {
 public:
  // `other` is the graph as it were with another batch, or the graph itself. Both stay alive.
  NnablaExportCall(const Graph& graph, const Graph& other);

  NnablaValue in(size_t i);  // Absent() if it is not given

  // Set a result of the call, and the new value of input i, in the captured run's form.
  void Out(size_t i, NnablaValue value);
  void Write(size_t i, NnablaValue value);

  // For the code that walks the graph.
  void Take(const Instr& instr);  // the call is this one
  NnablaValue Current(ValueId id) const { return now_[static_cast<size_t>(id)]; }
  bool bound(ValueId id) const { return Current(id).nodes != nullptr; }
  void Bind(ValueId id, NnablaValue value) { now_[static_cast<size_t>(id)] = std::move(value); }

 private:
  void Refresh(ValueId id, ValueId written);

  std::vector<NnablaValue> now_;  // by value
};

// How an operation is exported, or why not.
struct NnablaExportRule {
  void (*write)(NnablaExportCall& n) = nullptr;
  const char* same_as = nullptr;  // the type of the function that takes the same inputs
  std::string_view why_not = {};
};
// Null where no page has it.
const NnablaExportRule* FindNnablaExport(std::string_view op);

struct NnablaExportRegistration {
  NnablaExportRegistration(std::string_view op, NnablaExportRule rule);
};
#define FIRN_NNABLA_EXPORT(op)                                                  \
  static void FirnNnabla_##op(::firn::io::internal::NnablaExportCall& n);       \
  static const ::firn::io::internal::NnablaExportRegistration firn_nnabla_##op( \
      #op, {.write = FirnNnabla_##op});                                         \
  static void FirnNnabla_##op(::firn::io::internal::NnablaExportCall& n)
#define FIRN_NNABLA_SAME(op, type)                                                  \
  static const ::firn::io::internal::NnablaExportRegistration firn_nnabla_##op(#op, \
                                                                               {.same_as = #type})
#define FIRN_NNABLA_NO_EXPORT(op, why)                                              \
  static const ::firn::io::internal::NnablaExportRegistration firn_nnabla_##op(#op, \
                                                                               {.why_not = why})

}  // namespace firn::io::internal

#endif  // FIRN_IO_NNABLA_NETWORK_INTERNAL_NNABLA_EXPORT_CALL_H_
