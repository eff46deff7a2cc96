#include "firn/io/torch/internal/torch_pickler.h"

#include <algorithm>
#include <bit>
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
#include "firn/io/zip/internal/zip.h"
#include "firn/tensor/dispatch.h"

namespace firn::io::internal {
namespace {

using firn::inner::internal::JsonString;

// Strides of elements that lie row-major.
std::vector<int64_t> StridesOf(const Shape& shape) {
  std::vector<int64_t> strides(static_cast<size_t>(shape.rank()), 1);
  for (int d = shape.rank() - 2; d >= 0; --d) {
    const auto i = static_cast<size_t>(d);
    strides[i] = strides[i + 1] * std::max<int64_t>(shape[d + 1], 1);
  }
  return strides;
}

}  // namespace

void TorchPickler::Text(std::string_view text) {
  bytes_ += 'X';
  AppendLittleEndian(&bytes_, text.size(), 4);
  bytes_ += text;
}

void TorchPickler::Integer(int64_t value) {
  if (value >= 0 && value < 256) {
    bytes_ += 'K';
    AppendLittleEndian(&bytes_, static_cast<uint64_t>(value), 1);
  } else if (value >= 0 && value < (int64_t{1} << 31)) {
    bytes_ += 'J';
    AppendLittleEndian(&bytes_, static_cast<uint64_t>(value), 4);
  } else {
    bytes_ += "\x8a\x08";
    AppendLittleEndian(&bytes_, static_cast<uint64_t>(value), 8);
  }
}

// The highest byte first.
void TorchPickler::Number(double value) {
  bytes_ += 'G';
  std::string bytes;
  AppendLittleEndian(&bytes, std::bit_cast<uint64_t>(value), 8);
  bytes_.append(bytes.rbegin(), bytes.rend());
}

void TorchPickler::Sizes(const std::vector<int64_t>& sizes) {
  BeginTuple();
  for (const int64_t size : sizes) Integer(size);
  EndTuple();
}

// torch._utils._rebuild_tensor_v2(('storage', class, key, 'cpu', n), 0, sizes, strides, False,
// OrderedDict())
void TorchPickler::Add(const Tensor& tensor) {
  bytes_ += "ctorch._utils\n_rebuild_tensor_v2\n((";
  Text("storage");
  absl::StrAppend(&bytes_, "ctorch\n", std::string(TorchTypeOf(tensor.dtype()).storage), "\n");
  Text(absl::StrCat(tensors_.size()));
  Text("cpu");
  Integer(tensor.num_elements());
  bytes_ += "tQ";
  Integer(0);
  const auto sizes = tensor.shape().span();
  Sizes({sizes.begin(), sizes.end()});
  Sizes(StridesOf(tensor.shape()));
  Flag(false);
  bytes_ += "ccollections\nOrderedDict\n)RtR";
  tensors_.push_back(tensor);
}

absl::Status TorchPickler::CheckEntry(const std::string& name, const Tensor& tensor) {
  const std::string entry = absl::StrCat("entry ", JsonString(name), ": ");
  FIRN_RETURN_IF(!tensor.defined(),
                 InvalidArgument(entry, "expected a tensor, got an undefined one"));
  FIRN_RETURN_IF(!firn::inner::internal::IsUtf8(name), InvalidArgument(entry, "expected UTF-8"));
  const absl::Status readable = firn::inner::CheckHostRead(tensor);
  return readable.ok() ? readable
                       : absl::Status(readable.code(), absl::StrCat(entry, readable.message()));
}

absl::Status TorchPickler::WriteTo(const std::string& path) const {
  const std::string pickle = bytes_ + ".";
  FIRN_ASSIGN_OR_RETURN(firn::inner::internal::AtomicFile out,
                        firn::inner::internal::AtomicFile::Create(path));
  ZipWriter zip(&out);
  FIRN_RETURN_IF_ERROR(zip.Add("archive/data.pkl", pickle, false));
  FIRN_RETURN_IF_ERROR(zip.Add("archive/byteorder", "little", false));
  for (size_t i = 0; i < tensors_.size(); ++i) {
    const Tensor host = tensors_[i].Detach().To(Device::Cpu()).Contiguous();
    const std::string_view data(host.impl()->data,
                                static_cast<size_t>(host.num_elements() * SizeOf(host.dtype())));
    FIRN_RETURN_IF_ERROR(zip.Add(absl::StrCat("archive/data/", i), data, false));
  }
  FIRN_RETURN_IF_ERROR(zip.Add("archive/version", "3\n", false));
  FIRN_RETURN_IF_ERROR(zip.Finish());
  return out.Commit();
}

}  // namespace firn::io::internal
