#include "firn/device/comm/collective.h"

#include <limits>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"

namespace firn::comm {
namespace {

bool IsFloat(Element element) {
  return element == Element::kF32 || element == Element::kF64 || element == Element::kF16 ||
         element == Element::kBF16;
}

bool HasRoot(CollectiveKind kind) {
  return kind == CollectiveKind::kBroadcast || kind == CollectiveKind::kReduce ||
         kind == CollectiveKind::kSend || kind == CollectiveKind::kRecv;
}

// Also takes a number that another rank sent, which may not be an enumerator.
template <class E>
std::string Word(E enumerator) {
  const char* const word = inner::WordFor(enumerator);
  return word != nullptr ? word : absl::StrCat("unknown (", static_cast<int>(enumerator), ")");
}

absl::Status CheckMemory(const Collective& c, int rank) {
  if (c.count == 0 || c.kind == CollectiveKind::kBarrier) return absl::OkStatus();
  const bool is_root = rank == c.root;
  const bool reads =
      c.kind == CollectiveKind::kBroadcast ? is_root : c.kind != CollectiveKind::kRecv;
  const bool writes = c.kind == CollectiveKind::kReduce ? is_root : c.kind != CollectiveKind::kSend;
  FIRN_RETURN_IF(reads && c.in == nullptr,
                 InvalidArgument(c.ToString(), ": there is no memory to read from"));
  FIRN_RETURN_IF(writes && c.out == nullptr,
                 InvalidArgument(c.ToString(), ": there is no memory to write to"));
  return absl::OkStatus();
}

}  // namespace

int64_t BytesOf(Element element) {
  switch (element) {
    case Element::kF64:
    case Element::kI64:
      return 8;
    case Element::kF16:
    case Element::kBF16:
      return 2;
    case Element::kI8:
    case Element::kU8:
      return 1;
    case Element::kF32:
    case Element::kI32:
      break;
  }
  return 4;
}

std::string Collective::ToString() const {
  const std::string name = Word(kind);
  if (kind == CollectiveKind::kBarrier) return name;
  std::string text = absl::StrCat(name, " of ", count, " ", Word(element));
  if (reduces()) absl::StrAppend(&text, " (", Word(reduction), ")");
  if (kind == CollectiveKind::kSend) return absl::StrCat(text, " to rank ", root);
  if (HasRoot(kind)) absl::StrAppend(&text, " from rank ", root);
  return text;
}

absl::Status Check(const Collective& call, int rank, int size) {
  const std::string name = inner::WordFor(call.kind);
  FIRN_RETURN_IF(call.count < 0, InvalidArgument(name, ": count is ", call.count, " (want >= 0)"));
  FIRN_RETURN_IF(call.count > std::numeric_limits<int64_t>::max() / BytesOf(call.element) / size,
                 InvalidArgument(name, ": count is ", call.count, ", more than memory holds"));
  FIRN_RETURN_IF(call.root < 0 || call.root >= size,
                 InvalidArgument(name, ": root is ", call.root, " (want 0 to ", size - 1, ")"));
  const bool one_way = call.kind == CollectiveKind::kSend || call.kind == CollectiveKind::kRecv;
  FIRN_RETURN_IF(one_way && call.root == rank,
                 InvalidArgument(name, ": rank ", rank, " is this one itself"));
  FIRN_RETURN_IF(
      call.reduces() && call.reduction == Reduction::kMean && !IsFloat(call.element),
      InvalidArgument(name, ": the mean of ", inner::WordFor(call.element), " (want floats)"));
  return CheckMemory(call, rank);
}

bool Fit(const Collective& a, const Collective& b) {
  if (a.element != b.element || a.count != b.count) return false;
  if (a.kind == CollectiveKind::kSend) return b.kind == CollectiveKind::kRecv;
  if (a.kind == CollectiveKind::kRecv) return b.kind == CollectiveKind::kSend;
  return a.kind == b.kind && a.root == b.root && (!a.reduces() || a.reduction == b.reduction);
}

}  // namespace firn::comm
