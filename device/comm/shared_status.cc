// A code of each rank travels first; the text follows only where there is an error.
#include "firn/device/comm/shared_status.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "firn/device/comm/broadcast_pieces.h"
#include "firn/device/status_macros.h"

namespace firn::comm {

absl::Status StatusOfAll(Communicator& comm, const absl::Status& own) {
  const int64_t code = own.raw_code();
  std::vector<int64_t> codes(static_cast<size_t>(comm.size()));
  FIRN_RETURN_IF_ERROR(comm.AllGather(&code, codes.data(), 1, Element::kI64));
  for (int rank = 0; rank < comm.size(); ++rank) {
    const int64_t failed = codes[static_cast<size_t>(rank)];
    if (failed == 0) continue;
    FIRN_RETURN_IF(failed != static_cast<int>(failed),
                   Internal("rank ", rank, " tells of an error of the code ", failed));
    std::vector<std::string> texts = {std::string(own.message())};
    FIRN_RETURN_IF_ERROR(BroadcastTexts(comm, texts, rank));
    FIRN_RETURN_IF(texts.size() != 1, Internal("rank ", rank, " tells of its error in ",
                                               texts.size(), " texts (want one)"));
    return {static_cast<absl::StatusCode>(failed), absl::StrCat("rank ", rank, ": ", texts[0])};
  }
  return absl::OkStatus();
}

absl::Status BroadcastTexts(Communicator& comm, std::vector<std::string>& texts, int root) {
  auto count = static_cast<int64_t>(texts.size());
  FIRN_RETURN_IF_ERROR(comm.Broadcast(&count, 1, Element::kI64, root));
  // The size that comes is not trusted: it would become memory before it is compared with what
  // follows.
  constexpr int64_t kMostTexts = int64_t{1} << 20, kMost = int64_t{1} << 31;
  FIRN_RETURN_IF(count < 0 || count > kMostTexts,
                 Internal("rank ", root, " tells of ", count, " texts (want 0 to 2^20)"));
  std::vector<int64_t> sizes;
  std::string all;
  if (comm.rank() == root) {
    for (const std::string& text : texts) {
      sizes.push_back(static_cast<int64_t>(text.size()));
      all += text;
    }
  }
  FIRN_RETURN_IF_ERROR(BroadcastPieces(comm, sizes, count, Element::kI64, root));
  int64_t bytes = 0;
  for (const int64_t size : sizes) {
    FIRN_RETURN_IF(size < 0 || size > kMost - bytes,
                   Internal("rank ", root, " tells of a text of ", size, " bytes"));
    bytes += size;
  }
  FIRN_RETURN_IF_ERROR(BroadcastPieces(comm, all, bytes, Element::kU8, root));
  texts.clear();
  size_t at = 0;
  for (const int64_t size : sizes) {
    texts.push_back(all.substr(at, static_cast<size_t>(size)));
    at += static_cast<size_t>(size);
  }
  return absl::OkStatus();
}

}  // namespace firn::comm
