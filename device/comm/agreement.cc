// All ranks see all digests and so decide alike: they send the same texts, or send none, and get
// the same error. What comes from other ranks is checked before it is used.

#include "firn/device/comm/agreement.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/strings/escaping.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "firn/device/comm/broadcast_pieces.h"
#include "firn/device/status_macros.h"

namespace firn::comm {
namespace {

constexpr int64_t kLongestText = int64_t{64} << 20;  // bytes; of a million parameters

// The length and two hashes by FNV-1a, of the text and of the text behind another start: ranks are
// mistaken, not malicious, and 128 bits tell texts apart.
struct Digest {
  int64_t length = 0, hash = 0, other = 0;
  friend bool operator==(const Digest&, const Digest&) = default;
};

int64_t Fnv1a(std::string_view text, uint64_t start) {
  uint64_t hash = start;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return static_cast<int64_t>(hash);
}

Digest DigestOf(std::string_view text) {
  constexpr uint64_t kStart = 0xcbf29ce484222325u;
  return {static_cast<int64_t>(text.size()), Fnv1a(text, kStart), Fnv1a(text, ~kStart)};
}

absl::StatusOr<std::string> TextOf(int rank, const Digest& digest, const std::string& mine,
                                   Communicator& comm) {
  FIRN_RETURN_IF(digest.length < 0 || digest.length > kLongestText,
                 DataLoss("rank ", rank, " describes itself in ", digest.length,
                          " bytes (want 0 to ", kLongestText, ")"));
  std::string text = comm.rank() == rank ? mine : std::string();
  FIRN_RETURN_IF_ERROR(BroadcastPieces(comm, text, digest.length, Element::kU8, rank));
  FIRN_RETURN_IF(DigestOf(text) != digest,
                 DataLoss("what rank ", rank, " says of itself arrived as something else"));
  return text;
}

// Bytes of another rank go into a message as text of one line.
std::string Said(std::optional<absl::string_view> line) {
  if (!line) return "nothing more";
  constexpr size_t kMost = 1000;
  return "\"" + absl::Utf8SafeCHexEscape(line->substr(0, kMost)) + "\"";
}

}  // namespace

absl::Status CheckAgreement(Communicator& comm, const std::vector<std::string>& lines) {
  const std::string mine = absl::StrJoin(lines, "\n");
  const Digest digest = DigestOf(mine);
  std::vector<Digest> all(static_cast<size_t>(comm.size()));
  FIRN_RETURN_IF_ERROR(comm.AllGather(&digest, all.data(), 3, Element::kI64));
  const auto unlike =
      std::find_if(all.begin(), all.end(), [&](const Digest& d) { return d != all[0]; });
  if (unlike == all.end()) return absl::OkStatus();
  const auto rank = static_cast<int>(unlike - all.begin());
  FIRN_ASSIGN_OR_RETURN(const std::string first, TextOf(0, all[0], mine, comm));
  FIRN_ASSIGN_OR_RETURN(const std::string second, TextOf(rank, *unlike, mine, comm));
  // One line after the other: a text may consist of line ends only.
  const auto one = absl::StrSplit(first, '\n'), other = absl::StrSplit(second, '\n');
  auto a = one.begin(), b = other.begin();
  while (a != one.end() && b != other.end() && *a == *b) ++a, ++b;
  const auto here = a == one.end() ? std::nullopt : std::optional(*a);
  const auto there = b == other.end() ? std::nullopt : std::optional(*b);
  return FailedPrecondition("ranks differ: rank 0 has ", Said(here), ", rank ", rank, " has ",
                            Said(there));
}

}  // namespace firn::comm
