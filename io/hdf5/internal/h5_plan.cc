// Where elements lie, before any is read.
#include "firn/io/hdf5/internal/h5_plan.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"

namespace firn::io::internal {

absl::StatusOr<H5Plan> MakeH5Plan(const H5File& file, const H5Object& dataset,
                                  H5Elements elements) {
  const H5Message* space = dataset.Find(H5Message::kDataspace);
  const H5Message* type = dataset.Find(H5Message::kDatatype);
  const H5Message* layout = dataset.Find(H5Message::kLayout);
  const H5Message* filters = dataset.Find(H5Message::kFilters);
  FIRN_RETURN_IF(!space || !type || !layout,
                 DataLoss(file.file().name(), ": an object is neither a group nor a dataset"));
  if (dataset.Find(H5Message::kExternalFiles)) return file.Refused("elements in other files");
  H5Plan plan;
  FIRN_ASSIGN_OR_RETURN(const H5Space where, ParseH5Space(file, space->cursor()));
  plan.shape = where.shape;
  plan.most = where.most;
  if (elements == H5Elements::kNumbers) {
    FIRN_ASSIGN_OR_RETURN(plan.type, ParseH5Type(file, type->cursor()));
  } else {
    FIRN_ASSIGN_OR_RETURN(plan.word, ParseH5WordType(file, type->cursor()));
    plan.type = {.dtype = DType::kU8, .bytes = plan.word.bytes};
  }
  FIRN_ASSIGN_OR_RETURN(plan.layout, ParseH5Layout(file, layout->cursor()));
  if (filters != nullptr) {
    FIRN_ASSIGN_OR_RETURN(plan.filters, ParseH5Filters(file, filters->cursor()));
  }
  plan.offset = layout->offset;
  return plan;
}

absl::Status ClaimH5Bytes(const H5File& file, uint64_t address, uint64_t bytes, H5Budget* budget) {
  const auto size = static_cast<uint64_t>(file.size());
  if (address > size || bytes > size - address) {
    return file.DamagedAt(address, "elements",
                          absl::StrCat(bytes, " bytes from here lie outside the file of ", size));
  }
  if (bytes > static_cast<uint64_t>(budget->stored_bytes)) {
    return file.DamagedAt(address, "elements", "several datasets claim the same bytes");
  }
  budget->stored_bytes -= static_cast<int64_t>(bytes);
  return absl::OkStatus();
}

absl::Status CheckH5StoredSize(const H5File& file, const H5Plan& plan, uint64_t got) {
  // num_elements() may be so large that times 8 overflows, but not times 1.
  const int64_t n = plan.shape.num_elements();
  if (n <= file.size() / plan.type.bytes && got == static_cast<uint64_t>(plan.stored_bytes())) {
    return absl::OkStatus();
  }
  return file.DamagedAt(
      plan.offset, "elements",
      absl::StrCat("expected ", n, " of ", plan.type.bytes, " bytes, got ", got, " bytes"));
}

absl::StatusOr<std::string> UnwrittenH5Element(const H5File& file, const H5Object& dataset,
                                               const H5Plan& plan, int64_t n, bool all,
                                               H5Budget* budget) {
  if (n > budget->unwritten_bytes / plan.type.bytes) {
    return ResourceExhausted(file.name(), ": ", n, " elements of ", plan.type.bytes,
                             " bytes that were never written are more than the ",
                             budget->unwritten_bytes,
                             " bytes that are left of those allowed (limits.max_unwritten_bytes)");
  }
  budget->unwritten_bytes -= n * plan.type.bytes;
  FIRN_ASSIGN_OR_RETURN(H5Fill fill, ParseH5Fill(file, dataset, plan.type.bytes));
  // If some elements were written, HDF5 leaves the others alone, and h5py has set those to zero.
  if (!fill.defined && all) {
    return file.Refused("elements that were never written and have no fill value");
  }
  if (!fill.defined || fill.value.empty()) {
    return std::string(static_cast<size_t>(plan.type.bytes), '\0');
  }
  if (plan.word.in_heap) return file.Refused("strings of any length with a fill value");
  return std::move(fill.value);
}

// The first element, then twice as many each time.
void FillH5Elements(std::string_view element, int64_t n, char* to) {
  const auto bytes = static_cast<size_t>(n) * element.size();
  if (bytes == 0) return;
  std::memcpy(to, element.data(), element.size());
  for (size_t done = element.size(); done < bytes;) {
    const size_t more = std::min(done, bytes - done);
    std::memcpy(to + done, to, more);
    done += more;
  }
}

}  // namespace firn::io::internal
