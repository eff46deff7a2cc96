// The HDF5 library builds the file in memory (its "core" driver), and we write that to the disk: so
// a full disk never meets the library, which cannot close a file that it could not write. The image
// is read where the driver keeps it, by way of the driver's allocation callbacks, without a copy.
//
// What is written is NNabla's layout, as its Python side writes it: one contiguous dataset an
// entry, with attributes need_grad (h5py's bool) and index (i64), in files of the oldest format and
// without times; and Firn's checksums (h5_checksum.h).
#include "io/internal/h5_writer.h"

#include <hdf5.h>

#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "device/atomic_file.h"
#include "device/status_macros.h"
#include "io/internal/h5_checksum.h"
#include "io/internal/h5_names.h"
#include "io/load_limits.h"
#include "tensor/error.h"
#include "tensor/pending.h"

namespace firn::io::internal {
namespace {

constexpr size_t kImageIncrement = 1 << 20;  // by which the image grows
constexpr size_t kPieceBytes = 2 << 20;      // that are written at once

// The library may have been built without thread safety.
std::mutex& LibraryMutex() {
  static std::mutex* mutex = new std::mutex;
  return *mutex;
}

// Keeps the library from printing its errors, for as long as one exists.
class SilentErrors {
 public:
  SilentErrors() {
    H5Eget_auto2(H5E_DEFAULT, &function_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~SilentErrors() { H5Eset_auto2(H5E_DEFAULT, function_, data_); }
  SilentErrors(const SilentErrors&) = delete;
  SilentErrors& operator=(const SilentErrors&) = delete;

 private:
  H5E_auto2_t function_ = nullptr;
  void* data_ = nullptr;
};

// What the library says about the call that has just failed.
absl::Status LibraryError(const std::string& what) {
  std::string reason;
  const auto keep_last = [](unsigned, const H5E_error2_t* e, void* out) -> herr_t {
    if (e->desc != nullptr) *static_cast<std::string*>(out) = e->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, keep_last, &reason);
  return Internal("HDF5 cannot ", what, ": ", reason);
}

// One of the library's identifiers; invalid ones are negative.
class Id {
 public:
  Id() = default;
  Id(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  Id(Id&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)), close_(other.close_) {}
  Id& operator=(Id&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Id() {
    if (ok()) close_(id_);
  }
  bool ok() const { return id_ >= 0; }
  hid_t get() const { return id_; }

 private:
  hid_t id_ = H5I_INVALID_HID;
  herr_t (*close_)(hid_t) = nullptr;
};

// Where the core driver keeps the file.
struct Image {
  void* data = nullptr;
};
void* AllocateImage(size_t size, H5FD_file_image_op_t, void* image) {
  return static_cast<Image*>(image)->data = std::malloc(size);
}
void* CopyImage(void* to, const void*, size_t, H5FD_file_image_op_t, void*) { return to; }
void* ResizeImage(void* old, size_t size, H5FD_file_image_op_t, void* image) {
  void* moved = std::realloc(old, size);
  if (moved != nullptr) static_cast<Image*>(image)->data = moved;
  return moved;
}
herr_t FreeImage(void* data, H5FD_file_image_op_t, void* image) {
  std::free(data);
  static_cast<Image*>(image)->data = nullptr;
  return 0;
}
// The library copies and frees the pointer to the image with its property lists; ours is not owned.
void* CopyPointer(void* image) { return image; }
herr_t FreePointer(void*) { return 0; }

Id CreateFile(Image* image) {
  Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  Id creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
  H5FD_file_image_callbacks_t callbacks = {AllocateImage, CopyImage,   ResizeImage, FreeImage,
                                           CopyPointer,   FreePointer, image};
  if (!access.ok() || !creation.ok() ||
      H5Pset_fapl_core(access.get(), kImageIncrement, false) < 0 ||
      H5Pset_file_image_callbacks(access.get(), &callbacks) < 0 ||
      H5Pset_libver_bounds(access.get(), H5F_LIBVER_EARLIEST, H5F_LIBVER_V18) < 0 ||
      H5Pset_obj_track_times(creation.get(), false) < 0) {
    return {};
  }
  return Id(H5Fcreate("image", H5F_ACC_TRUNC, creation.get(), access.get()), H5Fclose);
}

Id Float(size_t bytes, size_t exponent_at, size_t exponent_bits, size_t bias) {
  Id type(H5Tcopy(H5T_IEEE_F32LE), H5Tclose);
  const size_t bits = bytes * 8;
  if (H5Tset_fields(type.get(), bits - 1, exponent_at, exponent_bits, 0, exponent_at) < 0 ||
      H5Tset_ebias(type.get(), bias) < 0 || H5Tset_size(type.get(), bytes) < 0) {
    return {};
  }
  return type;
}

Id Bool() {
  Id type(H5Tenum_create(H5T_STD_I8LE), H5Tclose);
  const int8_t no = 0, yes = 1;
  if (H5Tenum_insert(type.get(), "FALSE", &no) < 0 ||
      H5Tenum_insert(type.get(), "TRUE", &yes) < 0) {
    return {};
  }
  return type;
}

Id TypeOf(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return Id(H5Tcopy(H5T_IEEE_F32LE), H5Tclose);
    case DType::kF64:
      return Id(H5Tcopy(H5T_IEEE_F64LE), H5Tclose);
    case DType::kF16:
      return Float(2, 10, 5, 15);
    case DType::kBF16:
      return Float(2, 7, 8, 127);
    case DType::kI8:
      return Id(H5Tcopy(H5T_STD_I8LE), H5Tclose);
    case DType::kI32:
      return Id(H5Tcopy(H5T_STD_I32LE), H5Tclose);
    case DType::kI64:
      return Id(H5Tcopy(H5T_STD_I64LE), H5Tclose);
    case DType::kU8:
      return Id(H5Tcopy(H5T_STD_U8LE), H5Tclose);
    case DType::kBool:
      break;
  }
  return Bool();
}

Id SpaceOf(const Shape& shape) {
  if (shape.rank() == 0) return Id(H5Screate(H5S_SCALAR), H5Sclose);
  std::vector<hsize_t> sizes(shape.begin(), shape.end());
  return Id(H5Screate_simple(shape.rank(), sizes.data(), nullptr), H5Sclose);
}

bool WriteAttribute(hid_t object, const char* name, const Id& type, const void* value) {
  const Id scalar(H5Screate(H5S_SCALAR), H5Sclose);
  const Id attribute(H5Acreate2(object, name, type.get(), scalar.get(), H5P_DEFAULT, H5P_DEFAULT),
                     H5Aclose);
  return attribute.ok() && H5Awrite(attribute.get(), type.get(), value) >= 0;
}

bool WriteChecksum(hid_t object, uint32_t checksum) {
  return WriteAttribute(object, kChecksumAttribute, Id(H5Tcopy(H5T_STD_U32LE), H5Tclose),
                        &checksum);
}

// The tensor as it can be written: on the CPU, row-major, without history.
absl::StatusOr<Tensor> Prepare(const std::string& name, const Tensor& tensor) {
  FIRN_RETURN_IF(!tensor.defined(), InvalidArgument(name, " is an undefined tensor"));
  if (IsPending(tensor)) {
    const absl::Status status = PendingError(tensor);
    return absl::Status(status.code(), absl::StrCat(name, ": ", std::string(status.message())));
  }
  try {  // eager functions throw
    return tensor.Detach().To(Device::Cpu()).Contiguous();
  } catch (const Error& e) {
    return absl::Status(e.code(), absl::StrCat(name, ": ", e.what()));
  }
}

// Appends one entry; `checksum` is what is written with it.
absl::Status WriteEntry(hid_t file, const StateDict& state, const std::string& name, int64_t index,
                        uint32_t* checksum) {
  const std::string path = H5Path(state, name);
  const int64_t most = LoadLimits().max_name_bytes;
  FIRN_RETURN_IF(static_cast<int64_t>(path.size()) > most,
                 InvalidArgument("the name ", name.substr(0, 40), "... takes ", path.size(),
                                 " bytes (want at most ", most, ")"));
  const bool need_grad = state[name].requires_grad();
  FIRN_ASSIGN_OR_RETURN(const Tensor tensor, Prepare(name, state[name]));
  const Id type = TypeOf(tensor.dtype()), space = SpaceOf(tensor.shape());
  const Id links(H5Pcreate(H5P_LINK_CREATE), H5Pclose),
      creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  if (!type.ok() || !space.ok() || H5Pset_create_intermediate_group(links.get(), 1) < 0 ||
      H5Pset_obj_track_times(creation.get(), false) < 0 ||
      H5Pset_fill_time(creation.get(), H5D_FILL_TIME_NEVER) < 0) {
    return LibraryError("describe " + name);
  }
  const Id dataset(H5Dcreate2(file, path.c_str(), type.get(), space.get(), links.get(),
                              creation.get(), H5P_DEFAULT),
                   H5Dclose);
  if (!dataset.ok()) return LibraryError("create " + name);
  if (tensor.num_elements() > 0 &&
      H5Dwrite(dataset.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, tensor.impl()->data) < 0) {
    return LibraryError("write " + name);
  }
  *checksum = EntryChecksum(name, index, need_grad, tensor);
  const int8_t flag = need_grad ? 1 : 0;
  if (!WriteAttribute(dataset.get(), "need_grad", Bool(), &flag) ||
      !WriteAttribute(dataset.get(), "index", TypeOf(DType::kI64), &index) ||
      !WriteChecksum(dataset.get(), *checksum)) {
    return LibraryError("describe " + name);
  }
  return absl::OkStatus();
}

absl::Status NumberGroups(hid_t file, absl::Span<const std::string> groups) {
  for (size_t i = 0; i < groups.size(); ++i) {
    const Id group(H5Gopen2(file, groups[i].c_str(), H5P_DEFAULT), H5Gclose);
    const auto index = static_cast<int64_t>(i);
    if (!group.ok() || !WriteAttribute(group.get(), "index", TypeOf(DType::kI64), &index)) {
      return LibraryError("number the group " + groups[i]);
    }
  }
  return absl::OkStatus();
}

absl::Status PutInPlace(const std::string& path, std::string_view bytes,
                        absl::FunctionRef<void()> pace) {
  using firn::inner::internal::AtomicFile;
  FIRN_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  for (size_t at = 0; at < bytes.size(); at += kPieceBytes) {
    const std::string_view piece = bytes.substr(at, kPieceBytes);
    FIRN_RETURN_IF_ERROR(file.Write(piece.data(), piece.size()));
    pace();
  }
  return file.Commit();
}

absl::Status Write(const std::string& path, const StateDict& state,
                   absl::Span<const std::string> groups, absl::FunctionRef<void()> pace) {
  const std::lock_guard<std::mutex> lock(LibraryMutex());
  const SilentErrors silent;
  Image image;
  const Id file = CreateFile(&image);
  if (!file.ok()) return LibraryError("create a file");
  std::vector<uint32_t> checksums;
  for (const auto& [name, tensor] : state) {
    uint32_t checksum = 0;
    FIRN_RETURN_IF_ERROR(
        WriteEntry(file.get(), state, name, static_cast<int64_t>(checksums.size()), &checksum));
    checksums.push_back(checksum);
    pace();
  }
  FIRN_RETURN_IF_ERROR(NumberGroups(file.get(), groups));
  const Id root(H5Gopen2(file.get(), "/", H5P_DEFAULT), H5Gclose);
  if (!root.ok() || !WriteChecksum(root.get(), FileChecksum(checksums)) ||
      H5Fflush(file.get(), H5F_SCOPE_LOCAL) < 0) {
    return LibraryError("finish the file");
  }
  const ssize_t bytes = H5Fget_file_image(file.get(), nullptr, 0);
  if (bytes < 0 || image.data == nullptr) return LibraryError("give the file out");
  return PutInPlace(path, {static_cast<const char*>(image.data), static_cast<size_t>(bytes)}, pace);
}

}  // namespace

absl::Status WriteH5(const std::string& path, const StateDict& state,
                     absl::Span<const std::string> groups, absl::FunctionRef<void()> pace) {
  const absl::Status status = Write(path, state, groups, pace);
  if (status.ok()) return status;
  return absl::Status(status.code(),
                      absl::StrCat("save ", path, ": ", std::string(status.message())));
}

}  // namespace firn::io::internal
