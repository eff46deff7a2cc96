#include "firn/io/internal/h5_plan.h"

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"

namespace firn::io::internal {

absl::StatusOr<H5Plan> MakeH5Plan(const H5File& file, const H5Object& dataset) {
  const H5Message* space = dataset.Find(H5Message::kDataspace);
  const H5Message* type = dataset.Find(H5Message::kDatatype);
  const H5Message* layout = dataset.Find(H5Message::kLayout);
  const H5Message* filters = dataset.Find(H5Message::kFilters);
  FIRN_RETURN_IF(!space || !type || !layout,
                 DataLoss(file.file().name(), ": an object is neither a group nor a dataset"));
  if (dataset.Find(H5Message::kExternalFiles)) return file.Refused("elements in other files");
  H5Plan plan;
  FIRN_ASSIGN_OR_RETURN(plan.shape, ParseH5Shape(file, space->cursor()));
  FIRN_ASSIGN_OR_RETURN(plan.type, ParseH5Type(file, type->cursor()));
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
  if (plan.shape.num_elements() <= file.size() &&
      got == static_cast<uint64_t>(plan.stored_bytes())) {
    return absl::OkStatus();
  }
  return file.DamagedAt(plan.offset, "elements",
                        absl::StrCat("expected ", plan.shape.num_elements(), " of ",
                                     plan.type.bytes, " bytes, got ", got, " bytes"));
}

}  // namespace firn::io::internal
