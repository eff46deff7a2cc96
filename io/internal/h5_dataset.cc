// Contiguous elements are read straight into the tensor. Of chunks all are found and checked, then
// the tensor is made, then each chunk is unpacked and copied to its place.
#include "firn/io/internal/h5_dataset.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/io/internal/h5_chunks.h"
#include "firn/io/internal/h5_message.h"
#include "firn/tensor/allocate.h"

namespace firn::io::internal {
namespace {

// Takes the tensor's memory out of the budget, then allocates it.
absl::StatusOr<Tensor> Allocate(const H5File& file, const H5Plan& plan, H5Budget* budget) {
  const int64_t n = plan.shape.num_elements();
  if (n > budget->element_bytes / SizeOf(plan.type.dtype)) {
    return ResourceExhausted(file.file().name(), ": ", n, " elements of ",
                             DTypeName(plan.type.dtype), " take more than the ",
                             budget->element_bytes, " bytes that are left of those allowed");
  }
  budget->element_bytes -= n * SizeOf(plan.type.dtype);
  return AllocateTensor(TensorSpec::Contiguous(plan.type.dtype, plan.shape, Device::Cpu()),
                        AllocTag::kParameter);
}

// --- Chunks --------------------------------------------------------------------------------------

absl::StatusOr<Tensor> ReadChunked(H5File& file, const H5Plan& plan, H5Budget* budget) {
  if (plan.shape.num_elements() == 0) return Allocate(file, plan, budget);
  FIRN_ASSIGN_OR_RETURN(const H5Grid grid, MakeH5Grid(file, plan));
  if (grid.chunk_bytes > budget->element_bytes) {  // a chunk may be larger than the array
    return ResourceExhausted(file.file().name(), ": a chunk of ", grid.chunk_bytes,
                             " bytes takes more than the ", budget->element_bytes,
                             " bytes that are left of those allowed");
  }
  FIRN_ASSIGN_OR_RETURN(const std::vector<H5Chunk> chunks, ListH5Chunks(file, plan, grid, budget));
  FIRN_ASSIGN_OR_RETURN(Tensor tensor, Allocate(file, plan, budget));
  H5ChunkReader reader(file, plan, grid);
  for (const H5Chunk& chunk : chunks) {
    FIRN_ASSIGN_OR_RETURN(const char* const elements, reader.Read(chunk));
    CopyH5Chunk(grid, chunk, plan.type.bytes, elements, tensor.impl()->data);
  }
  return tensor;
}

// --- Elements in one piece -----------------------------------------------------------------------

absl::StatusOr<Tensor> ReadContiguous(H5File& file, const H5Plan& plan, H5Budget* budget) {
  const H5Layout& layout = plan.layout;
  if (plan.shape.num_elements() == 0) return Allocate(file, plan, budget);
  if (layout.address == kH5Undefined) {
    return file.DamagedAt(plan.offset, "elements", "none were ever written");
  }
  FIRN_RETURN_IF_ERROR(CheckH5StoredSize(file, plan, layout.bytes));
  FIRN_RETURN_IF_ERROR(ClaimH5Bytes(file, layout.address, layout.bytes, budget));
  FIRN_ASSIGN_OR_RETURN(Tensor tensor, Allocate(file, plan, budget));
  FIRN_RETURN_IF_ERROR(file.file().ReadAt(static_cast<int64_t>(layout.address), tensor.impl()->data,
                                          plan.stored_bytes(), "elements"));
  return tensor;
}

absl::StatusOr<Tensor> ReadCompact(const H5File& file, const H5Plan& plan, H5Budget* budget) {
  FIRN_RETURN_IF_ERROR(CheckH5StoredSize(file, plan, plan.layout.inside.size()));
  FIRN_ASSIGN_OR_RETURN(Tensor tensor, Allocate(file, plan, budget));
  if (!plan.layout.inside.empty()) {
    std::memcpy(tensor.impl()->data, plan.layout.inside.data(), plan.layout.inside.size());
  }
  return tensor;
}

absl::StatusOr<Tensor> ReadElements(H5File& file, const H5Plan& plan, H5Budget* budget) {
  switch (plan.layout.kind) {
    case H5Layout::kCompact:
      return ReadCompact(file, plan, budget);
    case H5Layout::kContiguous:
      return ReadContiguous(file, plan, budget);
    case H5Layout::kChunked:
      break;
  }
  return ReadChunked(file, plan, budget);
}

}  // namespace

absl::StatusOr<Tensor> ReadH5Dataset(H5File& file, const H5Object& dataset, H5Budget* budget) {
  FIRN_ASSIGN_OR_RETURN(const H5Plan plan, MakeH5Plan(file, dataset));
  FIRN_ASSIGN_OR_RETURN(Tensor tensor, ReadElements(file, plan, budget));
  const absl::Status converted =
      ConvertStored(plan.type, plan.shape.num_elements(), tensor.impl()->data);
  if (!converted.ok()) {
    return file.DamagedAt(plan.offset, "elements", std::string(converted.message()));
  }
  return tensor;
}

}  // namespace firn::io::internal
