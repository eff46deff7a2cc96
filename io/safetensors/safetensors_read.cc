// Header first, all of it checked, then the tensors that are wanted: if the file is mapped, aligned
// tensors use its memory and others are copied.
#include <filesystem>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/device/escape.h"
#include "firn/device/status_macros.h"
#include "firn/io/internal/read_pieces.h"
#include "firn/io/random_access.h"
#include "firn/io/safetensors/internal/safetensors_elements.h"
#include "firn/io/safetensors/internal/safetensors_header.h"
#include "firn/io/safetensors/internal/safetensors_index.h"
#include "firn/io/safetensors/safetensors_status.h"
#include "firn/io/value_or_raise.h"
#include "firn/tensor/allocate.h"
#include "firn/tensor/from.h"

namespace firn::io {
namespace {

using firn::inner::internal::JsonString;
using internal::SafetensorsEntry;
using internal::StoredType;

template <class... Args>
std::string In(const RandomAccess& file, const SafetensorsEntry& entry, const Args&... args) {
  return absl::StrCat(file.name(), ": header, entry ", JsonString(entry.name), ": ", args...);
}

absl::StatusOr<StoredType> TypeOf(const RandomAccess& file, const SafetensorsEntry& entry,
                                  bool widen) {
  const char* word = entry.type->word;
  if (const auto type = internal::StoredTypeOf(word, widen)) return *type;
  return Unimplemented(In(file, entry, "dtype ", word, " is not read"),
                       internal::StoredTypeOf(word, true) ? " unless widened (widen)" : "");
}

absl::StatusOr<Shape> ShapeOf(const RandomAccess& file, const SafetensorsEntry& entry) {
  FIRN_RETURN_IF(entry.shape.size() > static_cast<size_t>(kMaxRank),
                 Unimplemented(In(file, entry, "shape: expected at most ", kMaxRank,
                                  " dimensions, got ", entry.shape.size())));
  absl::StatusOr<Shape> shape = Shape::Make(entry.shape);
  // Sizes beside a zero, which the format does not multiply.
  FIRN_RETURN_IF(!shape.ok(), Unimplemented(In(file, entry, "shape: ", shape.status().message())));
  return shape;
}

// Whether every bit pattern is a valid element; false for types with invalid ones, such as bools
// other than 0 and 1 and unsigned integers beyond i64.
bool IsPlain(const StoredType& type) {
  const bool may_be_beyond = type.dtype == DType::kI64 && !type.is_signed;
  return type.bytes == SizeOf(type.dtype) && type.dtype != DType::kBool && !may_be_beyond;
}

// Elements are little-endian, like all processors that Firn supports.
absl::StatusOr<Tensor> ReadTensor(const RandomAccess& file, const SafetensorsEntry& entry,
                                  const std::shared_ptr<char>& map, bool widen) {
  FIRN_ASSIGN_OR_RETURN(const StoredType type, TypeOf(file, entry, widen));
  FIRN_ASSIGN_OR_RETURN(const Shape shape, ShapeOf(file, entry));
  if (map != nullptr && IsPlain(type) && entry.end > entry.begin && entry.begin % type.bytes == 0) {
    return FromBlob(map.get() + entry.begin, shape, type.dtype, [map](void*) {});
  }
  FIRN_ASSIGN_OR_RETURN(
      Tensor tensor,
      AllocateTensor(TensorSpec::Contiguous(type.dtype, shape, Device::Cpu()), AllocTag::kOther));
  char* data = tensor.impl()->data;
  const int64_t bytes = entry.end - entry.begin;
  FIRN_RETURN_IF_ERROR(internal::ReadPieces(file, entry.begin, data, bytes, entry.name));
  if (internal::IsFloat8(entry.type->word)) {
    internal::WidenFloat8(entry.type->word, shape.num_elements(), data);
    return tensor;
  }
  const absl::Status converted = internal::ConvertStored(type, shape.num_elements(), data);
  FIRN_RETURN_IF(absl::IsUnimplemented(converted),
                 Unimplemented(In(file, entry, converted.message())));
  FIRN_RETURN_IF(!converted.ok(), DataLoss(In(file, entry, converted.message())));
  return tensor;
}

// The rest of the limits after the tensors read so far.
absl::Status Take(const RandomAccess& file, const SafetensorsEntry& entry, bool widen,
                  const LoadLimits& limits, int64_t* left) {
  FIRN_ASSIGN_OR_RETURN(const StoredType type, TypeOf(file, entry, widen));
  const int64_t wider = SizeOf(type.dtype) / type.bytes;
  FIRN_RETURN_IF(entry.end - entry.begin > *left / wider,
                 ResourceExhausted(file.name(), ": more than the ", limits.max_total_bytes,
                                   " bytes allowed (limits.max_total_bytes)"));
  *left -= (entry.end - entry.begin) * wider;
  return absl::OkStatus();
}

absl::Status ReadInto(const RandomAccess& file, const SafetensorsOptions& options, bool map,
                      int64_t* left, StateDict* state) {
  FIRN_ASSIGN_OR_RETURN(const internal::SafetensorsHeader header,
                        internal::ReadSafetensorsHeader(file, options.load.limits));
  absl::StatusOr<std::shared_ptr<char>> mapped = nullptr;
  if (map) mapped = file.Map();
  FIRN_RETURN_IF_ERROR(mapped.status());
  for (const SafetensorsEntry& entry : header.entries) {
    if (options.load.want && !options.load.want(entry.name)) continue;
    FIRN_RETURN_IF_ERROR(Take(file, entry, options.widen, options.load.limits, left));
    FIRN_ASSIGN_OR_RETURN(Tensor tensor, ReadTensor(file, entry, *mapped, options.widen));
    FIRN_RETURN_IF(state->Contains(entry.name),
                   DataLoss(In(file, entry, "another file of the index has it, too")));
    state->Insert(entry.name, std::move(tensor));
  }
  return absl::OkStatus();
}

absl::StatusOr<StateDict> ReadIndexed(const std::string& path, const SafetensorsOptions& options) {
  FIRN_ASSIGN_OR_RETURN(const auto file, RandomAccess::Open(path));
  FIRN_ASSIGN_OR_RETURN(const internal::SafetensorsIndex index,
                        internal::ReadSafetensorsIndex(*file, options.load.limits));
  StateDict state;
  int64_t left = options.load.limits.max_total_bytes;
  for (const std::string& name : index.files) {
    const std::filesystem::path shard = std::filesystem::path(path).parent_path() / name;
    FIRN_ASSIGN_OR_RETURN(const auto piece, RandomAccess::Open(shard.string(), Links::kFollow));
    const size_t before = state.size();
    FIRN_RETURN_IF_ERROR(ReadInto(*piece, options, options.map, &left, &state));
    for (auto entry = state.begin() + static_cast<std::ptrdiff_t>(before); entry != state.end();
         ++entry) {
      const auto named = index.file_of.find(entry->first);
      FIRN_RETURN_IF(named != index.file_of.end() && named->second != name,
                     DataLoss(path, ": weight_map, ", JsonString(entry->first),
                              ": expected the file that has it, ", name, ", got ", named->second));
    }
  }
  for (const auto& [name, of] : index.file_of) {
    FIRN_RETURN_IF(
        !state.Contains(name) && (!options.load.want || options.load.want(name)),
        DataLoss(path, ": weight_map, ", JsonString(name), ": ", of, " has no such tensor"));
  }
  return state;
}

}  // namespace

absl::StatusOr<StateDict> TryLoadSafetensors(const std::string& path,
                                             const SafetensorsOptions& options) {
  if (path.ends_with(".json")) return ReadIndexed(path, options);
  FIRN_ASSIGN_OR_RETURN(const auto file, RandomAccess::Open(path));
  StateDict state;
  int64_t left = options.load.limits.max_total_bytes;
  FIRN_RETURN_IF_ERROR(ReadInto(*file, options, options.map, &left, &state));
  return state;
}

absl::StatusOr<StateDict> TryParseSafetensors(std::string_view bytes, const std::string& name,
                                              const SafetensorsOptions& options) {
  const auto file = RandomAccess::FromMemory(
      name, {reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()});
  StateDict state;
  int64_t left = options.load.limits.max_total_bytes;
  FIRN_RETURN_IF_ERROR(ReadInto(*file, options, false, &left, &state));
  return state;
}

StateDict LoadSafetensors(const std::string& path, const SafetensorsOptions& options) {
  return ValueOrRaise(TryLoadSafetensors(path, options), "load_safetensors");
}

OrderedMap<std::string> LoadSafetensorsMetadata(const std::string& path, const LoadLimits& limits) {
  const auto file = ValueOrRaise(RandomAccess::Open(path), "load_safetensors_metadata");
  return ValueOrRaise(internal::ReadSafetensorsHeader(*file, limits), "load_safetensors_metadata")
      .metadata;
}

}  // namespace firn::io
