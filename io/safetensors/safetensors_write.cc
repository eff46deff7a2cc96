// The header tells where each tensor will lie, so all sizes are known before a byte is written.
#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "firn/device/atomic_file.h"
#include "firn/device/escape.h"
#include "firn/device/status_macros.h"
#include "firn/io/safetensors/internal/safetensors_elements.h"
#include "firn/io/safetensors/safetensors_status.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"

namespace firn::io {
namespace {

using firn::inner::internal::AtomicFile;
using firn::inner::internal::JsonString;

// A string of JSON that reads back as the same bytes.
absl::StatusOr<std::string> Quoted(std::string_view text, const char* what) {
  FIRN_RETURN_IF(!firn::inner::internal::IsUtf8(text),
                 InvalidArgument(what, " ", JsonString(text), ": expected UTF-8"));
  return JsonString(text);
}

// The order of dtypes in a file: the reference's, the widest first.
int Rank(DType dtype) {
  constexpr DType kOrder[] = {DType::kI64, DType::kF64, DType::kF32, DType::kI32, DType::kBF16,
                              DType::kF16, DType::kI8,  DType::kU8,  DType::kBool};
  return static_cast<int>(std::find(std::begin(kOrder), std::end(kOrder), dtype) -
                          std::begin(kOrder));
}

using Entry = StateDict::Entry;

absl::StatusOr<std::vector<const Entry*>> InOrder(const StateDict& state) {
  std::vector<const Entry*> entries;
  for (const Entry& entry : state) {
    const auto& [name, tensor] = entry;
    FIRN_RETURN_IF(!tensor.defined(), InvalidArgument("entry ", JsonString(name),
                                                      ": expected a tensor, got an undefined one"));
    FIRN_RETURN_IF(name.empty() || name == "__metadata__" || name.find('\0') != std::string::npos,
                   InvalidArgument("entry ", JsonString(name), ": the format has no such name"));
    const absl::Status readable = firn::inner::CheckHostRead(tensor);
    FIRN_RETURN_IF(!readable.ok(),
                   absl::Status(readable.code(), absl::StrCat(name, ": ", readable.message())));
    entries.push_back(&entry);
  }
  std::sort(entries.begin(), entries.end(), [](const Entry* a, const Entry* b) {
    return std::pair(Rank(a->second.dtype()), std::string_view(a->first)) <
           std::pair(Rank(b->second.dtype()), std::string_view(b->first));
  });
  return entries;
}

int64_t BytesOf(const Tensor& tensor) {
  return tensor.shape().num_elements() * SizeOf(tensor.dtype());
}

absl::StatusOr<std::string> Header(const std::vector<const Entry*>& entries,
                                   const SaveSafetensorsOptions& options) {
  std::vector<std::string> fields;
  if (!options.metadata.empty()) {
    std::vector<std::string> words;
    for (const auto& [name, word] : options.metadata) {
      FIRN_ASSIGN_OR_RETURN(const std::string key, Quoted(name, "metadata"));
      FIRN_ASSIGN_OR_RETURN(const std::string value, Quoted(word, "metadata"));
      words.push_back(absl::StrCat(key, ":", value));
    }
    fields.push_back(absl::StrCat("\"__metadata__\":{", absl::StrJoin(words, ","), "}"));
  }
  int64_t at = 0;
  for (const Entry* entry : entries) {
    const Tensor& tensor = entry->second;
    FIRN_ASSIGN_OR_RETURN(const std::string name, Quoted(entry->first, "entry"));
    const int64_t end = at + BytesOf(tensor);
    fields.push_back(absl::StrCat(name, ":{\"dtype\":\"", internal::SafetensorsWord(tensor.dtype()),
                                  "\",\"shape\":[", absl::StrJoin(tensor.shape().span(), ","),
                                  "],\"data_offsets\":[", at, ",", end, "]}"));
    at = end;
  }
  std::string text = absl::StrCat("{", absl::StrJoin(fields, ","), "}");
  text.append((8 - text.size() % 8) % 8, ' ');
  return text;
}

}  // namespace

absl::Status TrySaveSafetensors(const std::string& path, const StateDict& state,
                                const SaveSafetensorsOptions& options) {
  FIRN_ASSIGN_OR_RETURN(const std::vector<const Entry*> entries, InOrder(state));
  FIRN_ASSIGN_OR_RETURN(const std::string header, Header(entries, options));
  FIRN_ASSIGN_OR_RETURN(AtomicFile out, AtomicFile::Create(path));
  unsigned char length[8];
  for (size_t i = 0; i < 8; ++i) length[i] = static_cast<unsigned char>(header.size() >> (8 * i));
  FIRN_RETURN_IF_ERROR(out.Write(length, sizeof(length)));
  FIRN_RETURN_IF_ERROR(out.Write(header.data(), header.size()));
  for (const Entry* entry : entries) {
    const Tensor host = entry->second.Detach().To(Device::Cpu()).Contiguous();
    FIRN_RETURN_IF_ERROR(out.Write(host.impl()->data, static_cast<size_t>(BytesOf(host))));
  }
  return out.Commit();
}

void SaveSafetensors(const std::string& path, const StateDict& state,
                     const SaveSafetensorsOptions& options) {
  RaiseIfError(TrySaveSafetensors(path, state, options), "save_safetensors");
}

}  // namespace firn::io
