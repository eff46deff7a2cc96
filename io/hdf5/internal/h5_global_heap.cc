// A collection: "GCOL", version 1, 3 bytes unused, its size 8, then objects: number 2, references
// 2, 4 bytes unused, size 8, and that many bytes, filled up to a multiple of 8. Number 0 is the
// free room, and the last object.
#include "firn/io/hdf5/internal/h5_global_heap.h"

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"

namespace firn::io::internal {

absl::StatusOr<std::string_view> H5GlobalHeap::Get(uint64_t address, uint64_t number) {
  const auto [it, is_new] = collections_.try_emplace(address);
  if (is_new) FIRN_RETURN_IF_ERROR(Read(address, &it->second));
  const auto object = it->second.objects.find(number);
  if (object == it->second.objects.end()) {
    return file_.DamagedAt(address, "global heap", absl::StrCat("there is no object ", number));
  }
  return object->second;
}

absl::Status H5GlobalHeap::Read(uint64_t address, Collection* collection) {
  constexpr const char* kField = "global heap";
  constexpr uint64_t kHead = 16;
  FIRN_ASSIGN_OR_RETURN(const std::string head, file_.ReadMetadata(address, kHead, kField));
  H5Cursor h(head, address);
  const bool is_heap = h.Bytes(4) == "GCOL" && h.Uint(1) == 1;
  h.Skip(3);
  const uint64_t size = h.Uint(8);
  if (!is_heap || size < kHead) {
    return file_.DamagedAt(address, kField, "not the collection that is expected");
  }
  FIRN_ASSIGN_OR_RETURN(collection->bytes,
                        file_.ReadMetadata(address + kHead, size - kHead, kField));
  H5Cursor c(collection->bytes, address + kHead);
  while (c.left() >= kHead) {
    const uint64_t at = c.offset(), number = c.Uint(2);
    c.Skip(6);
    const uint64_t bytes = c.Uint(8);
    if (number == 0) break;
    const std::string_view object = c.Bytes(bytes);
    FIRN_RETURN_IF_ERROR(file_.Check(c, kField));
    c.Skip(std::min<uint64_t>((8 - bytes % 8) % 8, c.left()));
    if (!collection->objects.emplace(number, object).second) {
      return file_.DamagedAt(at, kField, absl::StrCat("a second object ", number));
    }
  }
  return absl::OkStatus();
}

}  // namespace firn::io::internal
