// A tensor is a call of one of a few functions of torch._utils, with a storage and the tensor's
// part of it. Every other value is a container, or is ignored unless it hides a tensor.
#include "firn/io/torch/internal/torch_tensors.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "firn/device/escape.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops/create/constant.h"

namespace firn::io::internal {
namespace {

using firn::inner::internal::JsonString;
using Kind = PickleValue::Kind;

// "torch FloatStorage" -> "FloatStorage" of the module.
std::string_view NameIn(std::string_view module, std::string_view global) {
  if (global.size() <= module.size() || !global.starts_with(module) ||
      global[module.size()] != ' ') {
    return {};
  }
  return global.substr(module.size() + 1);
}

// Reads the arguments of one tensor.
class TensorReader {
 public:
  TensorReader(const Pickle& pickle, TorchStorages* storages)
      : pickle_(pickle), storages_(storages) {}

  // Requires an object. NotFound if it is no tensor.
  absl::StatusOr<Tensor> Read(const PickleValue& object) const {
    FIRN_RETURN_IF(object.items.empty() || pickle_[object.items[0]].kind != Kind::kTuple,
                   DataLoss("expected arguments, got none"));
    const std::vector<uint32_t>& args = pickle_[object.items[0]].items;
    const std::string_view function = NameIn("torch._utils", object.text);
    const bool third = function == "_rebuild_tensor_v3", first = function == "_rebuild_tensor";
    const size_t least = first ? 4 : third ? 7 : 6, most = first ? 4 : least + 1;
    FIRN_RETURN_IF(args.size() < least || args.size() > most,
                   DataLoss("expected ", least, " arguments, got ", args.size()));
    FIRN_RETURN_IF(!first && pickle_[args[4]].kind != Kind::kBool,
                   DataLoss("requires_grad: expected a bool"));
    const PickleValue& hooks = pickle_[args[first ? 0 : 5]];
    FIRN_RETURN_IF(
        !first && hooks.kind != Kind::kNone && (hooks.kind != Kind::kDict || !hooks.items.empty()),
        DataLoss("hooks: expected an empty dict"));
    const TorchType* type = nullptr;
    if (third) {
      FIRN_RETURN_IF(pickle_[args[6]].kind != Kind::kGlobal, DataLoss("expected a dtype"));
      const std::string_view name = NameIn("torch", pickle_[args[6]].text);
      type = FindTorchDType(name);
      FIRN_RETURN_IF(type == nullptr,
                     Unimplemented("elements of type ", JsonString(name), " are not read"));
    }
    const size_t metadata = third ? 7 : 6;
    FIRN_RETURN_IF(args.size() > metadata && IsLazy(pickle_[args[metadata]]),
                   Unimplemented("a tensor that is still to be negated or conjugated is not read"));
    int64_t begin = 0;
    FIRN_ASSIGN_OR_RETURN(const Tensor storage, Storage(pickle_[args[0]], type, &begin));
    FIRN_ASSIGN_OR_RETURN(const int64_t offset, Integer(pickle_[args[1]], "offset"));
    FIRN_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, Sizes(pickle_[args[2]], "sizes"));
    FIRN_ASSIGN_OR_RETURN(const std::vector<int64_t> strides, Sizes(pickle_[args[3]], "strides"));
    return Part(storage, begin, offset, sizes, strides);
  }

 private:
  // Attributes (conjugate, negative) that change the stored elements.
  bool IsLazy(const PickleValue& metadata) const {
    for (size_t i = 1; i < metadata.items.size(); i += 2) {
      if (metadata.kind == Kind::kDict && pickle_[metadata.items[i]].integer != 0) return true;
    }
    return false;
  }

  absl::StatusOr<int64_t> Integer(const PickleValue& value, const char* what) const {
    FIRN_RETURN_IF(value.kind != Kind::kInt || value.integer < 0,
                   DataLoss(what, ": expected an integer from 0 on"));
    return value.integer;
  }

  absl::StatusOr<std::vector<int64_t>> Sizes(const PickleValue& value, const char* what) const {
    const PickleValue* tuple = &value;
    if (value.kind == Kind::kObject && value.text == "torch Size" && value.items.size() == 1) {
      const PickleValue& args = pickle_[value.items[0]];
      if (args.items.size() == 1) tuple = &pickle_[args.items[0]];
    }
    FIRN_RETURN_IF(tuple->kind != Kind::kTuple, DataLoss(what, ": expected a tuple"));
    FIRN_RETURN_IF(tuple->items.size() > static_cast<size_t>(kMaxRank),
                   Unimplemented(what, ": expected at most ", kMaxRank, " dimensions, got ",
                                 tuple->items.size()));
    std::vector<int64_t> sizes;
    for (const uint32_t item : tuple->items) {
      FIRN_ASSIGN_OR_RETURN(const int64_t size, Integer(pickle_[item], what));
      sizes.push_back(size);
    }
    return sizes;
  }

  // ('storage', class, key, location, elements), and in old files also the part of it.
  absl::StatusOr<Tensor> Storage(const PickleValue& stored, const TorchType* type,
                                 int64_t* begin) const {
    const auto wrong = [] { return DataLoss("expected a storage, its class, key and size"); };
    FIRN_RETURN_IF(stored.kind != Kind::kStored || stored.items.size() != 1, wrong());
    const PickleValue& id = pickle_[stored.items[0]];
    FIRN_RETURN_IF(id.kind != Kind::kTuple || id.items.size() < 5 || id.items.size() > 6, wrong());
    const auto item = [&](size_t i) -> const PickleValue& { return pickle_[id.items[i]]; };
    FIRN_RETURN_IF(item(0).text != "storage" || item(1).kind != Kind::kGlobal ||
                       item(2).kind != Kind::kString || item(3).kind != Kind::kString ||
                       item(2).text.empty() ||
                       !std::all_of(item(2).text.begin(), item(2).text.end(),
                                    [](char c) { return c >= '0' && c <= '9'; }),
                   wrong());
    FIRN_ASSIGN_OR_RETURN(int64_t n, Integer(item(4), "elements of the storage"));
    const std::string& name = item(1).text;
    if (name == "torch.storage UntypedStorage" || name == "torch.storage _UntypedStorage") {
      FIRN_RETURN_IF(type == nullptr, DataLoss("expected a dtype for a storage of bytes"));
      FIRN_RETURN_IF(n % type->bytes != 0, DataLoss("expected whole elements in ", n, " bytes"));
      n /= type->bytes;
    } else {
      const TorchType* own = FindTorchStorage(NameIn("torch", name));
      FIRN_RETURN_IF(own == nullptr,
                     Unimplemented("a storage of class ", JsonString(name), " is not read"));
      FIRN_RETURN_IF(
          type != nullptr && type != own,
          DataLoss("expected a storage of ", std::string(type->dtype), ", got ", JsonString(name)));
      type = own;
    }
    if (id.items.size() == 6 && item(5).kind == Kind::kTuple) {
      FIRN_RETURN_IF(item(5).items.size() != 3, wrong());
      FIRN_ASSIGN_OR_RETURN(*begin, Integer(pickle_[item(5).items[1]], "offset of the view"));
    }
    return storages_->Get(item(2).text, *type, n);
  }

  absl::StatusOr<Tensor> Part(const Tensor& storage, int64_t begin, int64_t offset,
                              const std::vector<int64_t>& sizes,
                              const std::vector<int64_t>& strides) const {
    FIRN_RETURN_IF(
        sizes.size() != strides.size(),
        DataLoss("expected a stride for each of ", sizes.size(), " sizes, got ", strides.size()));
    absl::StatusOr<Shape> shape = Shape::Make(sizes);
    FIRN_RETURN_IF(!shape.ok(), DataLoss("sizes: ", std::string(shape.status().message())));
    const int64_t n = shape->num_elements(), all = storage.num_elements();
    // The last element's place, in numbers that no file can make overflow.
    bool inside = begin <= all && offset <= all - begin;
    int64_t left = inside ? all - begin - offset : 0;
    for (size_t i = 0; inside && n > 0 && i < sizes.size(); ++i) {
      if (sizes[i] == 1 || strides[i] == 0) continue;
      inside = strides[i] <= left / (sizes[i] - 1);
      if (inside) left -= strides[i] * (sizes[i] - 1);
    }
    FIRN_RETURN_IF(!inside || (n > 0 && left < 1),
                   DataLoss("expected elements inside the storage of ", all));
    // An expanded view of few elements would take terabytes when copied.
    FIRN_RETURN_IF(n > all, Unimplemented("a view of ", n, " elements that repeats the ", all,
                                          " of its storage is not read"));
    if (n == 0) return Zeros(*shape, storage.dtype());
    char* data = storage.impl()->data + (begin + offset) * SizeOf(storage.dtype());
    return FromBlob(data, *shape, strides, storage.dtype(), [storage](void*) {});
  }

  const Pickle& pickle_;
  TorchStorages* storages_;
};

bool IsTensor(const PickleValue& value) {
  return value.kind == Kind::kObject && (value.text == "torch._utils _rebuild_tensor" ||
                                         value.text == "torch._utils _rebuild_tensor_v2" ||
                                         value.text == "torch._utils _rebuild_tensor_v3");
}

// A value that is still to be looked at.
struct Waiting {
  uint32_t value;
  int depth;
  std::string path;
  const std::string* within;  // the class of the object around it; null: none
};

class Walk {
 public:
  Walk(const Pickle& pickle, const TorchFile& file, const TorchOptions& options)
      : pickle_(pickle),
        file_(file),
        options_(options),
        storages_(file, options.load.limits, options.widen),
        reader_(pickle, &storages_),
        left_(options.load.limits.max_metadata_bytes) {}

  absl::StatusOr<StateDict> Run() {
    waiting_.push_back({pickle_.root, 0, "", nullptr});
    while (!waiting_.empty()) {
      Waiting next = std::move(waiting_.back());
      waiting_.pop_back();
      const absl::Status status = Visit(next);
      if (status.ok()) continue;
      const std::string words(status.message());  // these name the file in their errors
      const std::string file = words.starts_with(file_.name()) ? "" : file_.name() + ": ";
      const std::string entry =
          next.path.empty() ? "" : absl::StrCat("entry ", JsonString(next.path), ": ");
      return absl::Status(status.code(), absl::StrCat(file, entry, words));
    }
    FIRN_RETURN_IF(state_.empty() && pickle_.top().kind != Kind::kDict,
                   Unimplemented(file_.name(), ": expected a dict of tensors, got ", Shown()));
    return std::move(state_);
  }

 private:
  std::string Shown() const {
    const PickleValue& top = pickle_.top();
    if (top.kind != Kind::kObject) return "another value";
    return absl::StrCat("an object of ", JsonString(top.text), "; save its state dict");
  }

  // Values may share others, so that a few look like millions. So each visit, and the memory for
  // it, is counted every time.
  absl::Status Spend(size_t bytes) {
    left_ -= static_cast<int64_t>(bytes);
    FIRN_RETURN_IF(left_ < 0, ResourceExhausted("values and paths to them of more than the ",
                                                options_.load.limits.max_metadata_bytes,
                                                " bytes allowed (limits.max_metadata_bytes)"));
    return absl::OkStatus();
  }

  absl::Status Visit(const Waiting& next) {
    const PickleValue& value = pickle_[next.value];
    switch (value.kind) {
      case Kind::kDict:
        return VisitPairs(next, value.items);
      case Kind::kList:
      case Kind::kTuple:
        return VisitItems(next, value.items, next.within);
      case Kind::kStored:
        return options_.load.want && !options_.load.want(next.path) ? absl::OkStatus()
                                                                    : InObject(next.within);
      case Kind::kObject:
        break;
      case Kind::kBool:
      case Kind::kInt:
      case Kind::kFloat:
        return KeepNumber(next, value);
      default:
        return absl::OkStatus();
    }
    if (IsTensor(value)) return Keep(next, value);
    if (value.text.starts_with("torch._utils _rebuild_parameter") && !value.items.empty() &&
        !pickle_[value.items[0]].items.empty()) {
      return Wait(next, pickle_[value.items[0]].items[0], next.path, next.within);
    }
    // A tensor of another kind is reported by its own name, not by the names of its parts.
    if (NameIn("torch._utils", value.text).starts_with("_rebuild_")) {
      return options_.load.want && !options_.load.want(next.path)
                 ? absl::OkStatus()
                 : InObject(next.within != nullptr ? next.within : &value.text);
    }
    return VisitItems(next, value.items, &value.text);
  }

  absl::Status InObject(const std::string* within) const {
    FIRN_RETURN_IF(within == nullptr, Unimplemented("a storage that is no tensor's is not read"));
    const std::string_view function = NameIn("torch._utils", *within);
    FIRN_RETURN_IF(function.starts_with("_rebuild_"),
                   Unimplemented("a tensor of the kind of ", std::string(function),
                                 " (sparse, quantized or wrapped) is not read"));
    return Unimplemented("tensors inside an object of ", JsonString(*within),
                         " are not read; save its state dict");
  }

  absl::Status Keep(const Waiting& next, const PickleValue& value) {
    const LoadOptions& load = options_.load;
    if (load.want && !load.want(next.path)) return absl::OkStatus();
    if (next.within != nullptr) return InObject(next.within);
    FIRN_RETURN_IF_ERROR(CheckCount());
    FIRN_ASSIGN_OR_RETURN(Tensor tensor, reader_.Read(value));
    return Insert(next, std::move(tensor));
  }

  absl::Status KeepNumber(const Waiting& next, const PickleValue& value) {
    const LoadOptions& load = options_.load;
    const bool wanted = options_.numbers && next.within == nullptr && !next.path.empty();
    if (!wanted || (load.want && !load.want(next.path))) return absl::OkStatus();
    FIRN_RETURN_IF_ERROR(CheckCount());
    const double number =
        value.kind == Kind::kFloat ? value.number : static_cast<double>(value.integer);
    return Insert(next, Full({}, number, DType::kF64));
  }

  absl::Status CheckCount() const {
    const int64_t most = options_.load.limits.max_tensors;
    FIRN_RETURN_IF(
        static_cast<int64_t>(state_.size()) == most,
        ResourceExhausted("more than the ", most, " tensors allowed (limits.max_tensors)"));
    return absl::OkStatus();
  }

  absl::Status Insert(const Waiting& next, Tensor tensor) {
    const std::string name = next.path.empty() ? "tensor" : next.path;
    FIRN_RETURN_IF(state_.Contains(name), DataLoss("the name occurs twice"));
    state_.Insert(name, std::move(tensor));
    return absl::OkStatus();
  }

  absl::Status Wait(const Waiting& above, uint32_t value, std::string path,
                    const std::string* within) {
    const LoadLimits& limits = options_.load.limits;
    FIRN_RETURN_IF(above.depth == limits.max_depth,
                   ResourceExhausted("values in more than the ", limits.max_depth,
                                     " others allowed (limits.max_depth)"));
    FIRN_RETURN_IF(static_cast<int64_t>(path.size()) > limits.max_name_bytes,
                   ResourceExhausted("a name of more than the ", limits.max_name_bytes,
                                     " bytes allowed (limits.max_name_bytes)"));
    FIRN_RETURN_IF_ERROR(Spend(sizeof(Waiting) + path.size()));
    waiting_.push_back({value, above.depth + 1, std::move(path), within});
    return absl::OkStatus();
  }

  // Whether a value is kept, or can contain kept values.
  bool Holds(uint32_t at) const {
    const Kind kind = pickle_[at].kind;
    const bool number = kind == Kind::kBool || kind == Kind::kInt || kind == Kind::kFloat;
    return (number && options_.numbers) || kind == Kind::kDict || kind == Kind::kList ||
           kind == Kind::kTuple || kind == Kind::kObject || kind == Kind::kStored;
  }

  static std::string Under(const std::string& path, const std::string& name) {
    return path.empty() ? name : absl::StrCat(path, ".", name);
  }

  absl::Status VisitItems(const Waiting& next, const std::vector<uint32_t>& items,
                          const std::string* within) {
    FIRN_RETURN_IF_ERROR(Spend(items.size() * sizeof(items[0])));
    for (size_t i = items.size(); i-- > 0;) {
      if (!Holds(items[i])) continue;
      FIRN_RETURN_IF_ERROR(Wait(next, items[i], Under(next.path, absl::StrCat(i)), within));
    }
    return absl::OkStatus();
  }

  absl::Status VisitPairs(const Waiting& next, const std::vector<uint32_t>& items) {
    absl::flat_hash_set<std::string> names;
    for (size_t i = 0; i < items.size(); i += 2) {
      FIRN_ASSIGN_OR_RETURN(const std::string name, KeyOf(items[i]));
      FIRN_RETURN_IF_ERROR(
          Spend(sizeof(name) + name.size() + pickle_[items[i]].items.size() * sizeof(items[0])));
      FIRN_RETURN_IF(!names.insert(name).second,
                     DataLoss("expected different keys, got ", JsonString(name), " twice"));
    }
    // Pushed from the last to the first, since they are taken from the end.
    for (size_t i = items.size(); i > 0; i -= 2) {
      if (!Holds(items[i - 1])) continue;
      FIRN_ASSIGN_OR_RETURN(const std::string name, KeyOf(items[i - 2]));
      FIRN_RETURN_IF_ERROR(Wait(next, items[i - 1], Under(next.path, name), next.within));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::string> KeyOf(uint32_t at) const {
    const PickleValue& key = pickle_[at];
    if (key.kind == Kind::kString) return key.text;
    if (key.kind == Kind::kInt) return absl::StrCat(key.integer);
    const auto is_plain = [&](uint32_t item) {
      const Kind kind = pickle_[item].kind;
      return kind <= Kind::kString || (kind == Kind::kTuple && pickle_[item].items.empty());
    };
    FIRN_RETURN_IF(
        !is_plain(at) && (key.kind != Kind::kTuple ||
                          !std::all_of(key.items.begin(), key.items.end(), is_plain)),
        Unimplemented("keys other than words, numbers and tuples of these are not read"));
    // For other keys any unique name will do, so that no value below them is lost.
    return absl::StrCat("(key ", at, ")");
  }

  const Pickle& pickle_;
  const TorchFile& file_;
  const TorchOptions& options_;
  TorchStorages storages_;
  TensorReader reader_;
  int64_t left_;
  std::vector<Waiting> waiting_;
  StateDict state_;
};

}  // namespace

absl::StatusOr<StateDict> TorchTensors(const Pickle& pickle, const TorchFile& file,
                                       const TorchOptions& options) {
  return Walk(pickle, file, options).Run();
}

}  // namespace firn::io::internal
