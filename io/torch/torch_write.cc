// The least that torch.load takes: operations without a memo, one storage a tensor.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/device/atomic_file.h"
#include "firn/device/escape.h"
#include "firn/device/status_macros.h"
#include "firn/io/internal/little_endian.h"
#include "firn/io/torch/internal/torch_types.h"
#include "firn/io/torch/torch_status.h"
#include "firn/io/zip/internal/zip.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"

namespace firn::io {
namespace {

using firn::inner::internal::JsonString;
using internal::AppendLittleEndian;

void Text(std::string_view text, std::string* out) {
  *out += 'X';
  AppendLittleEndian(out, text.size(), 4);
  *out += text;
}

void Integer(int64_t value, std::string* out) {
  if (value >= 0 && value < 256) {
    *out += 'K';
    AppendLittleEndian(out, static_cast<uint64_t>(value), 1);
  } else if (value >= 0 && value < (int64_t{1} << 31)) {
    *out += 'J';
    AppendLittleEndian(out, static_cast<uint64_t>(value), 4);
  } else {
    *out += "\x8a\x08";
    AppendLittleEndian(out, static_cast<uint64_t>(value), 8);
  }
}

void Tuple(const std::vector<int64_t>& sizes, std::string* out) {
  *out += '(';
  for (const int64_t size : sizes) Integer(size, out);
  *out += 't';
}

// Of elements that lie row-major.
std::vector<int64_t> StridesOf(const Shape& shape) {
  std::vector<int64_t> strides(static_cast<size_t>(shape.rank()), 1);
  for (int d = shape.rank() - 2; d >= 0; --d) {
    const auto i = static_cast<size_t>(d);
    strides[i] = strides[i + 1] * std::max<int64_t>(shape[d + 1], 1);
  }
  return strides;
}

// torch._utils._rebuild_tensor_v2(('storage', class, key, 'cpu', n), 0, sizes, strides, False,
// OrderedDict())
void TensorCall(const Tensor& tensor, const std::string& key, std::string* out) {
  *out += "ctorch._utils\n_rebuild_tensor_v2\n((";
  Text("storage", out);
  absl::StrAppend(out, "ctorch\n", std::string(internal::TorchTypeOf(tensor.dtype()).storage),
                  "\n");
  Text(key, out);
  Text("cpu", out);
  Integer(tensor.num_elements(), out);
  *out += "tQ";
  Integer(0, out);
  const auto sizes = tensor.shape().span();
  Tuple({sizes.begin(), sizes.end()}, out);
  Tuple(StridesOf(tensor.shape()), out);
  *out +=
      "\x89"
      "ccollections\nOrderedDict\n)RtR";
}

absl::Status CheckEntry(const std::string& name, const Tensor& tensor) {
  const std::string entry = absl::StrCat("entry ", JsonString(name), ": ");
  FIRN_RETURN_IF(!tensor.defined(),
                 InvalidArgument(entry, "expected a tensor, got an undefined one"));
  FIRN_RETURN_IF(!inner::internal::IsUtf8(name), InvalidArgument(entry, "expected UTF-8"));
  const absl::Status readable = firn::inner::CheckHostRead(tensor);
  return readable.ok() ? readable
                       : absl::Status(readable.code(), absl::StrCat(entry, readable.message()));
}

}  // namespace

absl::Status TrySaveTorch(const std::string& path, const StateDict& state) {
  for (const auto& [name, tensor] : state) FIRN_RETURN_IF_ERROR(CheckEntry(name, tensor));
  std::string pickle = "\x80\x02}(";
  int64_t key = 0;
  for (const auto& [name, tensor] : state) {
    Text(name, &pickle);
    TensorCall(tensor, absl::StrCat(key++), &pickle);
  }
  pickle += "u.";
  FIRN_ASSIGN_OR_RETURN(inner::internal::AtomicFile out, inner::internal::AtomicFile::Create(path));
  internal::ZipWriter zip(&out);
  FIRN_RETURN_IF_ERROR(zip.Add("archive/data.pkl", pickle, false));
  FIRN_RETURN_IF_ERROR(zip.Add("archive/byteorder", "little", false));
  key = 0;
  for (const auto& [name, tensor] : state) {
    const Tensor host = tensor.Detach().To(Device::Cpu()).Contiguous();
    const std::string_view bytes(host.impl()->data,
                                 static_cast<size_t>(host.num_elements() * SizeOf(host.dtype())));
    FIRN_RETURN_IF_ERROR(zip.Add(absl::StrCat("archive/data/", key++), bytes, false));
  }
  FIRN_RETURN_IF_ERROR(zip.Add("archive/version", "3\n", false));
  FIRN_RETURN_IF_ERROR(zip.Finish());
  return out.Commit();
}

void SaveTorch(const std::string& path, const StateDict& state) {
  RaiseIfError(TrySaveTorch(path, state), "save_torch");
}

}  // namespace firn::io
