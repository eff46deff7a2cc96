// The HDF5 library makes groups, datasets and attributes in memory (h5_metadata.h), and decides
// where elements belong. We write the elements there ourselves, from the tensors' own memory and
// while we compute their checksum; so no image of the file is made, and other threads may use the
// library meanwhile. The library's own bytes are written last, since they may change until then.
//
// The layout is NNabla's, as its Python side writes it: one contiguous dataset an entry, with
// attributes need_grad (h5py's bool) and index (i64), in files of the oldest format and without
// times; and Firn's checksums (h5_checksum.h).
#include "firn/io/hdf5/internal/h5_writer.h"

#include <hdf5.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/device/atomic_file.h"
#include "firn/device/status_macros.h"
#include "firn/io/hdf5/internal/h5_checksum.h"
#include "firn/io/hdf5/internal/h5_library.h"
#include "firn/io/hdf5/internal/h5_metadata.h"
#include "firn/io/hdf5/internal/h5_names.h"
#include "firn/io/internal/crc32.h"
#include "firn/io/load_limits.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/pending.h"

namespace firn::io::internal {
namespace {

constexpr int64_t kPieceBytes = 2 << 20;   // that are summed and written at once
constexpr int64_t kSmallBytes = 64 << 10;  // less goes with the library's own bytes

H5Id Float(size_t bytes, size_t exponent_at, size_t exponent_bits, size_t bias) {
  H5Id type(H5Tcopy(H5T_IEEE_F32LE), H5Tclose);
  const size_t bits = bytes * 8;
  if (H5Tset_fields(type.get(), bits - 1, exponent_at, exponent_bits, 0, exponent_at) < 0 ||
      H5Tset_ebias(type.get(), bias) < 0 || H5Tset_size(type.get(), bytes) < 0) {
    return {};
  }
  return type;
}

H5Id Bool() {
  H5Id type(H5Tenum_create(H5T_STD_I8LE), H5Tclose);
  const int8_t no = 0, yes = 1;
  if (H5Tenum_insert(type.get(), "FALSE", &no) < 0 ||
      H5Tenum_insert(type.get(), "TRUE", &yes) < 0) {
    return {};
  }
  return type;
}

H5Id TypeOf(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return H5Id(H5Tcopy(H5T_IEEE_F32LE), H5Tclose);
    case DType::kF64:
      return H5Id(H5Tcopy(H5T_IEEE_F64LE), H5Tclose);
    case DType::kF16:
      return Float(2, 10, 5, 15);
    case DType::kBF16:
      return Float(2, 7, 8, 127);
    case DType::kI8:
      return H5Id(H5Tcopy(H5T_STD_I8LE), H5Tclose);
    case DType::kI32:
      return H5Id(H5Tcopy(H5T_STD_I32LE), H5Tclose);
    case DType::kI64:
      return H5Id(H5Tcopy(H5T_STD_I64LE), H5Tclose);
    case DType::kU8:
      return H5Id(H5Tcopy(H5T_STD_U8LE), H5Tclose);
    case DType::kBool:
      break;
  }
  return Bool();
}

H5Id SpaceOf(const Shape& shape) {
  if (shape.rank() == 0) return H5Id(H5Screate(H5S_SCALAR), H5Sclose);
  std::vector<hsize_t> sizes(shape.begin(), shape.end());
  return H5Id(H5Screate_simple(shape.rank(), sizes.data(), nullptr), H5Sclose);
}

bool WriteAttribute(hid_t object, const char* name, const H5Id& type, const void* value) {
  const H5Id scalar(H5Screate(H5S_SCALAR), H5Sclose);
  const H5Id attribute(H5Acreate2(object, name, type.get(), scalar.get(), H5P_DEFAULT, H5P_DEFAULT),
                       H5Aclose);
  return attribute.ok() && H5Awrite(attribute.get(), type.get(), value) >= 0;
}

bool WriteChecksum(hid_t object, uint32_t checksum) {
  return WriteAttribute(object, kChecksumAttribute, H5Id(H5Tcopy(H5T_STD_U32LE), H5Tclose),
                        &checksum);
}

// The tensor as it can be written: on the CPU, row-major, without history.
absl::StatusOr<Tensor> Prepare(const std::string& name, const Tensor& tensor) {
  if (IsPending(tensor)) {
    const absl::Status status = PendingError(tensor);
    return absl::Status(status.code(), absl::StrCat(name, ": ", std::string(status.message())));
  }
  try {  // eager functions throw
    RaiseIfError(firn::inner::CheckHostRead(tensor), "");
    return tensor.Detach().To(Device::Cpu()).Contiguous();
  } catch (const Error& e) {
    return absl::Status(e.code(), absl::StrCat(name, ": ", e.what()));
  }
}

absl::Status NumberGroups(hid_t file, absl::Span<const std::string> groups) {
  for (size_t i = 0; i < groups.size(); ++i) {
    const H5Id group(H5Gopen2(file, groups[i].c_str(), H5P_DEFAULT), H5Gclose);
    const auto index = static_cast<int64_t>(i);
    if (!group.ok() || !WriteAttribute(group.get(), "index", TypeOf(DType::kI64), &index)) {
      return H5Error("number the group " + groups[i]);
    }
  }
  return absl::OkStatus();
}

// Checks of all entries before the first is written.
absl::Status Check(const StateDict& state) {
  const int64_t most = LoadLimits().max_name_bytes;
  for (const auto& [name, tensor] : state) {
    FIRN_RETURN_IF(!tensor.defined(), InvalidArgument(name, " is an undefined tensor"));
    const auto bytes = static_cast<int64_t>(H5Path(state, name).size());
    FIRN_RETURN_IF(bytes > most, InvalidArgument("the name ", name.substr(0, 40), "... takes ",
                                                 bytes, " bytes (want at most ", most, ")"));
  }
  return absl::OkStatus();
}

// A new dataset, and where in the file its elements belong.
struct Place {
  H5Id dataset;
  int64_t offset = 0;
};

absl::StatusOr<Place> CreateDataset(hid_t file, const std::string& path, const TensorSpec& spec) {
  const H5Scope scope;
  const H5Id type = TypeOf(spec.dtype), space = SpaceOf(spec.shape);
  const H5Id links(H5Pcreate(H5P_LINK_CREATE), H5Pclose),
      creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  if (!type.ok() || !space.ok() || H5Pset_create_intermediate_group(links.get(), 1) < 0 ||
      H5Pset_obj_track_times(creation.get(), false) < 0 ||
      H5Pset_alloc_time(creation.get(), H5D_ALLOC_TIME_EARLY) < 0 ||
      H5Pset_fill_time(creation.get(), H5D_FILL_TIME_NEVER) < 0) {
    return H5Error("describe " + path);
  }
  Place place;
  place.dataset = H5Id(H5Dcreate2(file, path.c_str(), type.get(), space.get(), links.get(),
                                  creation.get(), H5P_DEFAULT),
                       H5Dclose);
  if (!place.dataset.ok()) return H5Error("create " + path);
  if (spec.num_elements() == 0) return place;  // has no place
  const haddr_t offset = H5Dget_offset(place.dataset.get());
  if (offset == HADDR_UNDEF) return H5Error("place " + path);
  place.offset = static_cast<int64_t>(offset);
  return place;
}

class FileWriter {
 public:
  FileWriter(const StateDict& state, firn::inner::internal::AtomicFile* out,
             absl::FunctionRef<void()> pace)
      : state_(state), out_(*out), pace_(pace) {}

  absl::Status Write(absl::Span<const std::string> groups) {
    FIRN_RETURN_IF_ERROR(Create());
    for (const auto& [name, tensor] : state_) FIRN_RETURN_IF_ERROR(WriteEntry(name));
    FIRN_RETURN_IF_ERROR(Finish(groups));
    return WriteMetadata();
  }

 private:
  // A part of the file that is written already.
  struct Extent {
    int64_t begin, end;
  };

  absl::Status Create() {
    const H5Scope scope;
    const H5Id access = metadata_.FileAccess(), creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
    if (!access.ok() || !creation.ok() ||
        H5Pset_libver_bounds(access.get(), H5F_LIBVER_EARLIEST, H5F_LIBVER_V18) < 0 ||
        H5Pset_obj_track_times(creation.get(), false) < 0) {
      return H5Error("describe a file");
    }
    file_ = H5Id(H5Fcreate("memory", H5F_ACC_TRUNC, creation.get(), access.get()), H5Fclose);
    return file_.ok() ? absl::OkStatus() : H5Error("create a file");
  }

  absl::Status WriteEntry(const std::string& name) {
    const bool need_grad = state_[name].requires_grad();
    const auto index = static_cast<int64_t>(checksums_.size());
    FIRN_ASSIGN_OR_RETURN(const Tensor tensor, Prepare(name, state_[name]));
    FIRN_ASSIGN_OR_RETURN(const Place place,
                          CreateDataset(file_.get(), H5Path(state_, name), tensor.spec()));
    uint32_t checksum = EntryChecksumStart(name, index, need_grad, tensor.spec());
    FIRN_RETURN_IF_ERROR(WriteElements(tensor, place.offset, &checksum));
    checksums_.push_back(checksum);
    const H5Scope scope;
    const int8_t flag = need_grad ? 1 : 0;
    const hid_t dataset = place.dataset.get();
    if (!WriteAttribute(dataset, "need_grad", Bool(), &flag) ||
        !WriteAttribute(dataset, "index", TypeOf(DType::kI64), &index) ||
        !WriteChecksum(dataset, checksum)) {
      return H5Error("describe " + name);
    }
    return absl::OkStatus();
  }

  absl::Status WriteElements(const Tensor& tensor, int64_t offset, uint32_t* checksum) {
    const auto bytes = static_cast<int64_t>(tensor.spec().bytes());
    if (bytes >= kSmallBytes) extents_.push_back({offset, offset + bytes});
    for (int64_t done = 0; done < bytes; done += kPieceBytes) {
      const char* const piece = tensor.impl()->data + done;
      const auto n = static_cast<size_t>(std::min(kPieceBytes, bytes - done));
      *checksum = Crc32(*checksum, piece, n);
      if (bytes < kSmallBytes) {
        metadata_.Write(offset, piece, n);
      } else {
        FIRN_RETURN_IF_ERROR(out_.WriteAt(offset + done, piece, n));
      }
      pace_();
    }
    return absl::OkStatus();
  }

  // Afterwards metadata_ has all bytes of the library.
  absl::Status Finish(absl::Span<const std::string> groups) {
    const H5Scope scope;
    FIRN_RETURN_IF_ERROR(NumberGroups(file_.get(), groups));
    H5Id root(H5Gopen2(file_.get(), "/", H5P_DEFAULT), H5Gclose);
    if (!root.ok() || !WriteChecksum(root.get(), FileChecksum(checksums_)) || !root.Close() ||
        !file_.Close()) {
      return H5Error("finish the file");
    }
    return absl::OkStatus();
  }

  // Writes the bytes between the extents.
  absl::Status WriteMetadata() {
    const auto put = [&](int64_t offset, std::string_view bytes) {
      const absl::Status status = out_.WriteAt(offset, bytes.data(), bytes.size());
      pace_();
      return status;
    };
    std::sort(extents_.begin(), extents_.end(),
              [](const Extent& a, const Extent& b) { return a.begin < b.begin; });
    int64_t at = 0;
    for (const Extent& e : extents_) {
      FIRN_RETURN_IF_ERROR(metadata_.ForEachPiece(at, e.begin, put));
      at = e.end;
    }
    FIRN_RETURN_IF_ERROR(metadata_.ForEachPiece(at, metadata_.size(), put));
    return out_.Resize(metadata_.size());  // if it ends with room that was never filled
  }

  const StateDict& state_;
  firn::inner::internal::AtomicFile& out_;
  const absl::FunctionRef<void()> pace_;
  H5Metadata metadata_;
  H5Id file_;  // closed before metadata_ goes
  std::vector<uint32_t> checksums_;
  std::vector<Extent> extents_;
};

absl::Status Write(const std::string& path, const StateDict& state,
                   absl::Span<const std::string> groups, absl::FunctionRef<void()> pace) {
  FIRN_RETURN_IF_ERROR(Check(state));
  using firn::inner::internal::AtomicFile;
  FIRN_ASSIGN_OR_RETURN(AtomicFile out, AtomicFile::Create(path));
  FIRN_RETURN_IF_ERROR(FileWriter(state, &out, pace).Write(groups));
  return out.Commit();
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
