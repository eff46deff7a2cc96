// Old groups have a symbol table: a B-tree ("TREE", version 1) whose leaves point to nodes ("SNOD")
// of entries of 40 bytes (offset of the name in the local heap, address of the object, a kind, and
// for kind 2, a soft link, the offset of its path), and a local heap ("HEAP") with the names. New
// groups list their links as messages in their header or, when there are many, in a fractal heap
// (h5_heap).
#include "firn/io/hdf5/internal/h5_group.h"

#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/io/hdf5/internal/h5_heap.h"

namespace firn::io::internal {
namespace {

constexpr uint64_t kTreeHeader = 24, kSymbolHeader = 8, kSymbolEntry = 40, kHeapHeader = 32;

// A symbol table can give one name to many members, so names are charged in addition to the bytes
// that were read.
absl::Status AddLink(H5File& file, uint64_t offset, H5Link link, std::vector<H5Link>* links) {
  const std::string_view name = link.name;
  if (name.empty() || name == "." || name.find('/') != std::string_view::npos ||
      name.find('\0') != std::string_view::npos) {
    return file.DamagedAt(offset, "link name", "not a name");
  }
  if (name.size() > static_cast<uint64_t>(file.limits().max_name_bytes)) {
    return ResourceExhausted(file.name(), ": a name has more than the ",
                             file.limits().max_name_bytes,
                             " bytes allowed (limits.max_name_bytes), ", name.size());
  }
  if (static_cast<int64_t>(links->size()) >= file.limits().max_tensors) {
    return ResourceExhausted(file.file().name(), ": a group has more than the ",
                             file.limits().max_tensors, " members allowed (limits.max_tensors)");
  }
  FIRN_RETURN_IF_ERROR(file.ChargeMetadata(name.size() + link.path.size()));
  links->push_back(std::move(link));
  return absl::OkStatus();
}

// The names of a symbol table.
absl::StatusOr<std::string> ReadLocalHeap(H5File& file, uint64_t address) {
  FIRN_ASSIGN_OR_RETURN(const std::string header,
                        file.ReadMetadata(address, kHeapHeader, "local heap"));
  H5Cursor c(header, address);
  if (c.Bytes(4) != "HEAP") return file.DamagedAt(address, "local heap", "expected HEAP");
  c.Skip(4);
  const uint64_t size = c.Uint(8);
  c.Skip(8);
  return file.ReadMetadata(c.Uint(8), size, "local heap");
}

absl::Status ReadSymbols(H5File& file, uint64_t address, const std::string& names,
                         std::vector<H5Link>* links) {
  FIRN_ASSIGN_OR_RETURN(const std::string header,
                        file.ReadMetadata(address, kSymbolHeader, "symbol node"));
  H5Cursor h(header, address);
  if (h.Bytes(4) != "SNOD") return file.DamagedAt(address, "symbol node", "expected SNOD");
  h.Skip(2);
  const uint64_t n = h.Uint(2);
  FIRN_ASSIGN_OR_RETURN(
      const std::string entries,
      file.ReadMetadata(address + kSymbolHeader, n * kSymbolEntry, "symbol node"));
  H5Cursor c(entries, address + kSymbolHeader);
  for (uint64_t i = 0; i < n; ++i) {
    const uint64_t offset = c.offset();
    const uint64_t name_at = c.Uint(8), object = c.Uint(8), kind = c.Uint(4);
    c.Skip(4);
    const uint64_t path_at = c.Uint(4);  // of a soft link
    c.Skip(12);
    const auto text_at = [&](uint64_t at) -> absl::StatusOr<std::string> {
      if (at >= names.size()) {
        return file.DamagedAt(offset, "link name",
                              absl::StrCat("at ", at, " of a heap of ", names.size(), " bytes"));
      }
      H5Cursor text(std::string_view(names).substr(at), offset);
      const std::string_view found = text.Text();
      FIRN_RETURN_IF_ERROR(file.Check(text, "link name"));
      return std::string(found);
    };
    H5Link link;
    link.address = object;
    FIRN_ASSIGN_OR_RETURN(link.name, text_at(name_at));
    if (kind > 2) return file.DamagedAt(offset, "symbol", absl::StrCat("kind ", kind));
    link.is_soft = kind == 2;
    if (link.is_soft) {
      FIRN_ASSIGN_OR_RETURN(link.path, text_at(path_at));
    }
    FIRN_RETURN_IF_ERROR(AddLink(file, offset, std::move(link), links));
  }
  return absl::OkStatus();
}

// Goes through the tree; levels fall by one at each step, which ends every path, and no node is
// seen twice.
absl::Status ReadSymbolTable(H5File& file, const H5Message& message, std::vector<H5Link>* links) {
  H5Cursor m = message.cursor();
  const uint64_t tree = m.Uint(8), heap = m.Uint(8);
  FIRN_RETURN_IF_ERROR(file.Check(m, "symbol table"));
  FIRN_ASSIGN_OR_RETURN(const std::string names, ReadLocalHeap(file, heap));
  struct Node {
    uint64_t address;
    int64_t level;  // -1: a node of symbols; kAnyLevel: the root
  };
  constexpr int64_t kAnyLevel = 256;
  std::vector<Node> todo = {{tree, kAnyLevel}};
  std::set<uint64_t> seen;
  while (!todo.empty()) {
    const Node node = todo.back();
    todo.pop_back();
    if (!seen.insert(node.address).second) {
      return file.DamagedAt(node.address, "group tree", "a node is named twice");
    }
    if (node.level < 0) {
      FIRN_RETURN_IF_ERROR(ReadSymbols(file, node.address, names, links));
      continue;
    }
    FIRN_ASSIGN_OR_RETURN(const std::string header,
                          file.ReadMetadata(node.address, kTreeHeader, "group tree"));
    H5Cursor h(header, node.address);
    const bool is_tree = h.Bytes(4) == "TREE" && h.Uint(1) == 0;
    const auto level = static_cast<int64_t>(h.Uint(1));
    const uint64_t n = h.Uint(2);
    if (!is_tree || (node.level != kAnyLevel && level != node.level)) {
      return file.DamagedAt(node.address, "group tree", "not the node that is expected");
    }
    // A key of 8 bytes before each child of 8 bytes.
    FIRN_ASSIGN_OR_RETURN(const std::string children,
                          file.ReadMetadata(node.address + kTreeHeader, n * 16, "group tree"));
    H5Cursor c(children, node.address + kTreeHeader);
    for (uint64_t i = 0; i < n; ++i) {
      c.Skip(8);
      todo.push_back({c.Uint(8), level - 1});
    }
  }
  return absl::OkStatus();
}

// Link info: version, flags, then what the flags announce, the address of the heap and that of the
// index by name.
absl::Status ReadDenseLinks(H5File& file, const H5Message& info, std::vector<H5Link>* links) {
  H5Cursor c = info.cursor();
  c.Skip(1);
  if ((c.Uint(1) & 1) != 0) c.Skip(8);
  const uint64_t heap = c.Uint(8), index = c.Uint(8);
  FIRN_RETURN_IF_ERROR(file.Check(c, "link info"));
  if (heap == kH5Undefined) return absl::OkStatus();
  return ForEachHeapObject(file, heap, index, H5HeapIndex::kLinks, {},
                           [&](H5Cursor object) { return ParseH5Link(file, object, links); });
}

}  // namespace

absl::Status ParseH5Link(H5File& file, H5Cursor c, std::vector<H5Link>* links) {
  constexpr uint64_t kSoft = 1, kFirstOwn = 64;
  const uint64_t offset = c.offset();
  const uint64_t version = c.Uint(1), flags = c.Uint(1);
  const uint64_t kind = (flags & 8) != 0 ? c.Uint(1) : 0;
  if ((flags & 4) != 0) c.Skip(8);
  if ((flags & 16) != 0) c.Skip(1);
  const std::string_view name = c.Bytes(c.Uint(size_t{1} << (flags & 3)));
  FIRN_RETURN_IF_ERROR(file.Check(c, "link"));
  if (version != 1) return file.DamagedAt(offset, "link", absl::StrCat("version ", version));
  H5Link link{.name = std::string(name)};
  if (kind == kSoft) {
    link.is_soft = true;
    link.path = std::string(c.Bytes(c.Uint(2)));
  } else if (kind != 0) {
    if (kind < kFirstOwn) return file.DamagedAt(offset, "link", absl::StrCat("kind ", kind));
    return file.Refused(
        absl::StrCat(kind == kFirstOwn ? "external" : "user-defined", " link ", link.name));
  } else {
    link.address = c.Uint(8);
  }
  FIRN_RETURN_IF_ERROR(file.Check(c, "link"));
  return AddLink(file, offset, std::move(link), links);
}

absl::StatusOr<std::vector<H5Link>> ListH5Group(H5File& file, const H5Object& group) {
  std::vector<H5Link> links;
  if (const H5Message* table = group.Find(H5Message::kSymbolTable)) {
    FIRN_RETURN_IF_ERROR(ReadSymbolTable(file, *table, &links));
    return links;
  }
  for (const H5Message& m : group.messages) {
    if (m.type == H5Message::kLink) FIRN_RETURN_IF_ERROR(ParseH5Link(file, m.cursor(), &links));
  }
  FIRN_RETURN_IF_ERROR(ReadDenseLinks(file, *group.Find(H5Message::kLinkInfo), &links));
  return links;
}

}  // namespace firn::io::internal
