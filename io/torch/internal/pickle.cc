// Python's pickle (docs.python.org/3/library/pickletools.html) is a program for a stack machine.
// Here the machine makes records in one array instead of objects, so that none is owned by another.
// An operation adds at most one value, and containers take over values that leave the stack. So
// memory is in proportion to the bytes, and an upper bound of it is counted on the way.
#include "firn/io/torch/internal/pickle.h"

#include <bit>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "firn/device/escape.h"
#include "firn/device/status_macros.h"
#include "firn/io/internal/little_endian.h"

namespace firn::io::internal {
namespace {

using Kind = PickleValue::Kind;

class Machine {
 public:
  Machine(std::string_view bytes, const LoadLimits& limits)
      : bytes_(bytes), limits_(limits), left_(limits.max_metadata_bytes) {}

  absl::StatusOr<Pickle> Run() {
    while (!done_) {
      FIRN_RETURN_IF_ERROR(Spend(8));  // a mark, a place on the stack
      operation_at_ = at_;
      FIRN_ASSIGN_OR_RETURN(const uint64_t code, Number(1));
      FIRN_RETURN_IF_ERROR(Step(static_cast<unsigned char>(code)));
    }
    pickle_.end = at_;
    return std::move(pickle_);
  }

 private:
  template <class... Args>
  absl::Status Wrong(const Args&... args) const {
    return DataLoss("offset ", operation_at_, ": ", args...);
  }

  absl::StatusOr<std::string_view> Take(uint64_t n) {
    FIRN_RETURN_IF(n > bytes_.size() - at_,
                   Wrong("expected ", n, " bytes, got ", bytes_.size() - at_, ": cut short"));
    const std::string_view taken = bytes_.substr(at_, static_cast<size_t>(n));
    at_ += static_cast<size_t>(n);
    return taken;
  }
  absl::StatusOr<uint64_t> Number(size_t n) {
    FIRN_ASSIGN_OR_RETURN(const std::string_view taken, Take(n));
    return LittleEndian(taken.data(), n);
  }
  absl::StatusOr<std::string_view> Line() {
    const size_t end = bytes_.find('\n', at_);
    FIRN_RETURN_IF(end == bytes_.npos, Wrong("expected a line that ends"));
    FIRN_ASSIGN_OR_RETURN(const std::string_view line, Take(end - at_));
    ++at_;
    return line;
  }

  absl::Status Spend(size_t bytes) {
    left_ -= static_cast<int64_t>(bytes);
    FIRN_RETURN_IF(left_ < 0,
                   ResourceExhausted("values of more than the ", limits_.max_metadata_bytes,
                                     " bytes allowed (limits.max_metadata_bytes)"));
    return absl::OkStatus();
  }

  absl::Status Push(PickleValue value) {
    constexpr size_t kItems = 32;  // a small block of the heap
    FIRN_RETURN_IF_ERROR(Spend(sizeof(PickleValue) + kItems + value.text.size()));
    stack_.push_back(static_cast<uint32_t>(pickle_.values.size()));
    pickle_.values.push_back(std::move(value));
    return absl::OkStatus();
  }
  absl::Status PushInteger(Kind kind, int64_t integer) {
    return Push({.kind = kind, .integer = integer});
  }
  absl::Status PushText(uint64_t bytes) {
    FIRN_ASSIGN_OR_RETURN(const std::string_view text, Take(bytes));
    FIRN_RETURN_IF(!firn::inner::internal::IsUtf8(text), Wrong("expected a string of UTF-8"));
    return Push({.kind = Kind::kString, .text = std::string(text)});
  }

  // How many values lie above the last mark, or on the stack.
  size_t Above() const { return stack_.size() - (marks_.empty() ? 0 : marks_.back()); }

  absl::StatusOr<uint32_t> Pop() {
    FIRN_RETURN_IF(Above() == 0, Wrong("expected a value on the stack, got none"));
    const uint32_t top = stack_.back();
    stack_.pop_back();
    return top;
  }
  absl::StatusOr<std::vector<uint32_t>> PopSeveral(size_t n) {
    FIRN_RETURN_IF(Above() < n, Wrong("expected ", n, " values on the stack, got ", Above()));
    std::vector<uint32_t> popped(stack_.end() - static_cast<std::ptrdiff_t>(n), stack_.end());
    stack_.resize(stack_.size() - n);
    return popped;
  }
  absl::StatusOr<std::vector<uint32_t>> PopMark() {
    FIRN_RETURN_IF(marks_.empty(), Wrong("expected a mark on the stack, got none"));
    std::vector<uint32_t> popped(stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back()),
                                 stack_.end());
    stack_.resize(marks_.back());
    marks_.pop_back();
    return popped;
  }
  // The value that stays on the stack and is added to.
  absl::StatusOr<PickleValue*> Target(Kind kind, const char* what) {
    FIRN_RETURN_IF(Above() == 0, Wrong("expected ", what, " on the stack, got none"));
    PickleValue& value = pickle_.values[stack_.back()];
    FIRN_RETURN_IF(value.kind != kind && value.kind != Kind::kObject,
                   Wrong("expected ", what, " to add to, got another value"));
    return &value;
  }
  absl::Status Add(Kind kind, const char* what, const std::vector<uint32_t>& items) {
    FIRN_ASSIGN_OR_RETURN(PickleValue* const target, Target(kind, what));
    target->items.insert(target->items.end(), items.begin(), items.end());
    return absl::OkStatus();
  }
  absl::Status AddPairs(const std::vector<uint32_t>& items) {
    FIRN_RETURN_IF(items.size() % 2 != 0,
                   Wrong("expected keys with values, got ", items.size(), " of both"));
    return Add(Kind::kDict, "a dict", items);
  }

  absl::Status Keep(uint64_t place) {
    FIRN_RETURN_IF(Above() == 0, Wrong("expected a value to keep, got none"));
    constexpr size_t kPlace = 56;  // of a table that is half full, while it grows
    const auto [kept, is_new] = memo_.insert_or_assign(place, stack_.back());
    return is_new ? Spend(kPlace) : absl::OkStatus();
  }
  absl::Status Recall(uint64_t place) {
    const auto found = memo_.find(place);
    FIRN_RETURN_IF(found == memo_.end(), Wrong("expected a value kept as ", place, ", got none"));
    stack_.push_back(found->second);
    return absl::OkStatus();
  }

  absl::Status PushLong() {
    FIRN_ASSIGN_OR_RETURN(const uint64_t n, Number(1));
    FIRN_RETURN_IF(n > 8, Unimplemented("offset ", operation_at_,
                                        ": an integer of more than 8 bytes is not read"));
    FIRN_ASSIGN_OR_RETURN(uint64_t value, Number(static_cast<size_t>(n)));
    if (n > 0 && n < 8 && (value >> (8 * n - 1)) != 0) value |= ~uint64_t{0} << (8 * n);
    return PushInteger(Kind::kInt, static_cast<int64_t>(value));
  }
  absl::Status PushFloat() {
    FIRN_ASSIGN_OR_RETURN(const std::string_view taken, Take(8));
    uint64_t bits = 0;
    for (const char c : taken) bits = bits << 8 | static_cast<unsigned char>(c);
    return Push({.kind = Kind::kFloat, .number = std::bit_cast<double>(bits)});
  }
  absl::Status PushGlobal() {
    FIRN_ASSIGN_OR_RETURN(const std::string_view module, Line());
    FIRN_ASSIGN_OR_RETURN(const std::string_view name, Line());
    FIRN_RETURN_IF(!firn::inner::internal::IsUtf8(module) || !firn::inner::internal::IsUtf8(name),
                   Wrong("expected a name of UTF-8"));
    return Push(
        {.kind = Kind::kGlobal, .text = absl::StrCat(std::string(module), " ", std::string(name))});
  }

  // The function that would be called. A dict class of `collections` gives a dict.
  absl::Status Reduce() {
    FIRN_ASSIGN_OR_RETURN(const std::vector<uint32_t> popped, PopSeveral(2));
    const PickleValue &callee = pickle_.values[popped[0]], &arguments = pickle_.values[popped[1]];
    FIRN_RETURN_IF(callee.kind != Kind::kGlobal || arguments.kind != Kind::kTuple,
                   Wrong("expected a function and a tuple of arguments, got other values"));
    if (callee.text == "collections OrderedDict" && arguments.items.empty()) {
      return Push({.kind = Kind::kDict});
    }
    return Push({.kind = Kind::kObject, .text = callee.text, .items = {popped[1]}});
  }
  absl::Status Build() {
    FIRN_ASSIGN_OR_RETURN(const uint32_t state, Pop());
    FIRN_RETURN_IF(Above() == 0, Wrong("expected an object to build, got none"));
    PickleValue& object = pickle_.values[stack_.back()];
    // Attributes of a dict, such as PyTorch's _metadata, are not entries of it.
    if (object.kind == Kind::kObject) object.items.push_back(state);
    FIRN_RETURN_IF(object.kind != Kind::kObject && object.kind != Kind::kDict,
                   Wrong("expected an object to build, got another value"));
    return absl::OkStatus();
  }

  absl::Status Stop() {
    FIRN_RETURN_IF(stack_.size() != 1 || !marks_.empty(),
                   Wrong("expected one value at the end, got ", stack_.size()));
    pickle_.root = stack_.back();
    done_ = true;
    return absl::OkStatus();
  }

  absl::Status PushTuple(size_t n) {
    FIRN_ASSIGN_OR_RETURN(std::vector<uint32_t> items, PopSeveral(n));
    return Push({.kind = Kind::kTuple, .items = std::move(items)});
  }

  // The names are those of pickletools.
  absl::Status Step(unsigned char code) {
    switch (code) {
      case 0x80:
        return Number(1).status();  // PROTO
      case '.':
        return Stop();  // STOP
      case '(':
        marks_.push_back(stack_.size());
        return absl::OkStatus();  // MARK
      case '}':
        return Push({.kind = Kind::kDict});  // EMPTY_DICT
      case ']':
        return Push({.kind = Kind::kList});  // EMPTY_LIST
      case 0x8f:
        return Push({.kind = Kind::kList});  // EMPTY_SET
      case ')':
        return PushTuple(0);  // EMPTY_TUPLE
      case 0x85:
        return PushTuple(1);  // TUPLE1
      case 0x86:
        return PushTuple(2);  // TUPLE2
      case 0x87:
        return PushTuple(3);  // TUPLE3
      case 'N':
        return Push({});  // NONE
      case 0x88:
        return PushInteger(Kind::kBool, 1);  // NEWTRUE
      case 0x89:
        return PushInteger(Kind::kBool, 0);  // NEWFALSE
      case 0x8a:
        return PushLong();  // LONG1
      case 'G':
        return PushFloat();  // BINFLOAT
      case 'c':
        return PushGlobal();  // GLOBAL
      case 'R':
        return Reduce();  // REDUCE
      case 0x81:
        return Reduce();  // NEWOBJ
      case 'b':
        return Build();  // BUILD
      default:
        return StepWithOperand(code);
    }
  }

  absl::Status StepWithOperand(unsigned char code) {
    switch (code) {
      case 't': {  // TUPLE
        FIRN_ASSIGN_OR_RETURN(std::vector<uint32_t> items, PopMark());
        return Push({.kind = Kind::kTuple, .items = std::move(items)});
      }
      case 'J': {  // BININT
        FIRN_ASSIGN_OR_RETURN(const uint64_t n, Number(4));
        return PushInteger(Kind::kInt, static_cast<int32_t>(n));
      }
      case 'K':
      case 'M': {  // BININT1, BININT2
        FIRN_ASSIGN_OR_RETURN(const uint64_t n, Number(code == 'K' ? 1 : 2));
        return PushInteger(Kind::kInt, static_cast<int64_t>(n));
      }
      case 'X':
      case 'U': {  // BINUNICODE, SHORT_BINSTRING
        FIRN_ASSIGN_OR_RETURN(const uint64_t n, Number(code == 'X' ? 4 : 1));
        return PushText(n);
      }
      case 'Q': {  // BINPERSID
        FIRN_ASSIGN_OR_RETURN(const uint32_t id, Pop());
        return Push({.kind = Kind::kStored, .items = {id}});
      }
      case 'q':
      case 'r': {  // BINPUT, LONG_BINPUT
        FIRN_ASSIGN_OR_RETURN(const uint64_t place, Number(code == 'q' ? 1 : 4));
        return Keep(place);
      }
      case 'h':
      case 'j': {  // BINGET, LONG_BINGET
        FIRN_ASSIGN_OR_RETURN(const uint64_t place, Number(code == 'h' ? 1 : 4));
        return Recall(place);
      }
      case 'a': {  // APPEND
        FIRN_ASSIGN_OR_RETURN(const uint32_t item, Pop());
        return Add(Kind::kList, "a list", {item});
      }
      case 'e': {  // APPENDS
        FIRN_ASSIGN_OR_RETURN(const std::vector<uint32_t> items, PopMark());
        return Add(Kind::kList, "a list", items);
      }
      case 's': {  // SETITEM
        FIRN_ASSIGN_OR_RETURN(const std::vector<uint32_t> pair, PopSeveral(2));
        return AddPairs(pair);
      }
      case 'u': {  // SETITEMS
        FIRN_ASSIGN_OR_RETURN(const std::vector<uint32_t> items, PopMark());
        return AddPairs(items);
      }
      default:
        return Unimplemented("offset ", operation_at_,
                             ": expected an operation of PyTorch's weights", ", got ",
                             static_cast<int>(code), ", which is not read");
    }
  }

  const std::string_view bytes_;
  const LoadLimits& limits_;
  int64_t left_;
  Pickle pickle_;
  std::vector<uint32_t> stack_;
  std::vector<size_t> marks_;  // sizes of the stack
  absl::flat_hash_map<uint64_t, uint32_t> memo_;
  size_t at_ = 0, operation_at_ = 0;
  bool done_ = false;
};

}  // namespace

absl::StatusOr<Pickle> ReadPickle(std::string_view bytes, const LoadLimits& limits) {
  return Machine(bytes, limits).Run();
}

}  // namespace firn::io::internal
