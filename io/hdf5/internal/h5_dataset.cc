// Contiguous elements are read straight into the tensor. Chunks are all found and checked first;
// then the tensor is made, and each chunk is unpacked and copied to its place. Elements that were
// never written are the dataset's fill value.
#include "firn/io/hdf5/internal/h5_dataset.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/io/hdf5/internal/h5_chunks.h"
#include "firn/io/hdf5/internal/h5_message.h"
#include "firn/tensor/allocate.h"

namespace firn::io::internal {
namespace {

using MakeRoom = absl::FunctionRef<absl::StatusOr<char*>()>;

// Takes the tensor's memory out of the budget, then allocates it.
absl::StatusOr<Tensor> Allocate(const H5File& file, const H5Plan& plan, H5Budget* budget) {
  const int64_t n = plan.shape.num_elements();
  if (n > budget->element_bytes / SizeOf(plan.type.dtype)) {
    return ResourceExhausted(file.name(), ": ", n, " elements of ", DTypeName(plan.type.dtype),
                             " take more than the ", budget->element_bytes,
                             " bytes that are left of those allowed (limits.max_total_bytes)");
  }
  budget->element_bytes -= n * SizeOf(plan.type.dtype);
  return AllocateTensor(TensorSpec::Contiguous(plan.type.dtype, plan.shape, Device::Cpu()),
                        AllocTag::kParameter);
}

absl::Status ReadUnwritten(const H5File& file, const H5Object& dataset, const H5Plan& plan,
                           H5Budget* budget, MakeRoom room) {
  const int64_t n = plan.shape.num_elements();
  FIRN_ASSIGN_OR_RETURN(const std::string element,
                        UnwrittenH5Element(file, dataset, plan, n, true, budget));
  FIRN_ASSIGN_OR_RETURN(char* const to, room());
  FillH5Elements(element, n, to);
  return absl::OkStatus();
}

absl::Status ReadChunked(H5File& file, const H5Object& dataset, const H5Plan& plan,
                         H5Budget* budget, MakeRoom room) {
  FIRN_ASSIGN_OR_RETURN(const H5Grid grid, MakeH5Grid(file, plan));
  if (grid.chunk_bytes > budget->element_bytes) {  // a chunk may be larger than the array
    return ResourceExhausted(file.name(), ": a chunk of ", grid.chunk_bytes,
                             " bytes takes more than the ", budget->element_bytes,
                             " bytes that are left of those allowed (limits.max_total_bytes)");
  }
  FIRN_ASSIGN_OR_RETURN(const std::vector<H5Chunk> chunks, ListH5Chunks(file, plan, grid, budget));
  if (chunks.empty()) return ReadUnwritten(file, dataset, plan, budget, room);
  std::string unwritten;
  if (static_cast<int64_t>(chunks.size()) < grid.chunks) {
    int64_t left = plan.shape.num_elements();
    for (const H5Chunk& chunk : chunks) left -= H5ChunkElements(grid, chunk);
    FIRN_ASSIGN_OR_RETURN(unwritten, UnwrittenH5Element(file, dataset, plan, left, false, budget));
  }
  FIRN_ASSIGN_OR_RETURN(char* const to, room());
  if (!unwritten.empty()) FillH5Elements(unwritten, plan.shape.num_elements(), to);
  H5ChunkReader reader(file, plan, grid);
  for (const H5Chunk& chunk : chunks) {
    FIRN_ASSIGN_OR_RETURN(const char* const elements, reader.Read(chunk));
    CopyH5Chunk(grid, chunk, plan.type.bytes, elements, to);
  }
  return absl::OkStatus();
}

absl::Status ReadContiguous(H5File& file, const H5Object& dataset, const H5Plan& plan,
                            H5Budget* budget, MakeRoom room) {
  const H5Layout& layout = plan.layout;
  if (layout.address == kH5Undefined) return ReadUnwritten(file, dataset, plan, budget, room);
  FIRN_RETURN_IF_ERROR(CheckH5StoredSize(file, plan, layout.bytes));
  FIRN_RETURN_IF_ERROR(ClaimH5Bytes(file, layout.address, layout.bytes, budget));
  FIRN_ASSIGN_OR_RETURN(char* const to, room());
  return file.file().ReadAt(static_cast<int64_t>(layout.address), to, plan.stored_bytes(),
                            "elements");
}

absl::Status ReadCompact(const H5File& file, const H5Plan& plan, MakeRoom room) {
  FIRN_RETURN_IF_ERROR(CheckH5StoredSize(file, plan, plan.layout.inside.size()));
  FIRN_ASSIGN_OR_RETURN(char* const to, room());
  std::memcpy(to, plan.layout.inside.data(), plan.layout.inside.size());
  return absl::OkStatus();
}

// Reads the elements, at least one, as they are stored, into the memory that `room` makes once they
// are known to fit.
absl::Status ReadStored(H5File& file, const H5Object& dataset, const H5Plan& plan, H5Budget* budget,
                        MakeRoom room) {
  switch (plan.layout.kind) {
    case H5Layout::kCompact:
      return ReadCompact(file, plan, room);
    case H5Layout::kContiguous:
      return ReadContiguous(file, dataset, plan, budget, room);
    case H5Layout::kChunked:
      break;
  }
  return ReadChunked(file, dataset, plan, budget, room);
}

}  // namespace

absl::StatusOr<Tensor> ReadH5Dataset(H5File& file, const H5Object& dataset, H5Budget* budget) {
  FIRN_ASSIGN_OR_RETURN(const H5Plan plan, MakeH5Plan(file, dataset));
  if (plan.shape.num_elements() == 0) return Allocate(file, plan, budget);
  Tensor tensor;
  const auto room = [&]() -> absl::StatusOr<char*> {
    FIRN_ASSIGN_OR_RETURN(tensor, Allocate(file, plan, budget));
    return tensor.impl()->data;
  };
  FIRN_RETURN_IF_ERROR(ReadStored(file, dataset, plan, budget, room));
  const absl::Status converted =
      ConvertStored(plan.type, plan.shape.num_elements(), tensor.impl()->data);
  if (!converted.ok()) return file.Unconverted(plan.offset, "elements", converted);
  return tensor;
}

absl::StatusOr<std::string> ReadH5Stored(H5File& file, const H5Object& dataset, const H5Plan& plan,
                                         H5Budget* budget) {
  std::string bytes;
  const int64_t n = plan.shape.num_elements();
  if (n == 0) return bytes;
  const auto room = [&]() -> absl::StatusOr<char*> {
    if (n > budget->element_bytes / plan.type.bytes) {
      return ResourceExhausted(file.name(), ": ", n, " strings of ", plan.type.bytes,
                               " bytes take more than the ", budget->element_bytes,
                               " bytes that are left of those allowed (limits.max_total_bytes)");
    }
    budget->element_bytes -= n * plan.type.bytes;
    bytes.resize(static_cast<size_t>(n * plan.type.bytes));
    return bytes.data();
  };
  FIRN_RETURN_IF_ERROR(ReadStored(file, dataset, plan, budget, room));
  return bytes;
}

}  // namespace firn::io::internal
