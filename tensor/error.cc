// The one choke point between absl::Status (inside the library) and firn::Error (at its edge).

#include "firn/tensor/error.h"

#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "firn/device/fork.h"

namespace firn {

Error::Error(const absl::Status& status, const std::string& what)
    : std::runtime_error(what), status_(std::make_shared<const absl::Status>(status)) {}

absl::StatusCode Error::code() const { return status_->code(); }

std::string PathScope::Current() {
  std::vector<const std::string*> names;
  for (const PathScope* s = innermost_; s != nullptr; s = s->outer_) {
    if (s->name_ != nullptr && !s->name_->empty()) names.push_back(s->name_);
    if (s->resumed_) break;
  }
  std::string path;
  for (auto it = names.rbegin(); it != names.rend(); ++it) {
    if (!path.empty()) path += '.';
    path += **it;
  }
  return path;
}

const std::string* PathScope::Intern(const std::string& path) {
  static std::mutex* mutex = [] {
    auto* const made = new std::mutex;
    inner::KeepOverFork(*made, inner::ForkOrder::kTables);
    return made;
  }();
  static auto* paths = new std::set<std::string>;  // as many as the program has modules
  std::lock_guard lock(*mutex);
  return &*paths->insert(path).first;
}

const std::string* PathScope::Interned() {
  // Out of line, so that the usual path needs no stack frame: every recorded operation calls this
  // function.
  static constexpr auto intern = [](PathScope * scope) __attribute__((noinline)) {
    return scope->interned_ = Intern(Current());
  };
  PathScope* const scope = innermost_;
  if (scope == nullptr || scope->interned_ != nullptr || scope->resumed_) {
    return scope == nullptr ? nullptr : scope->interned_;
  }
  return intern(scope);
}

void RaiseStatus(const absl::Status& status, std::string_view op) {
  std::string what(op);
  const std::string path = PathScope::Current();
  if (!path.empty()) what += (what.empty() ? "at " : " at ") + path;
  if (!what.empty()) what += ": ";
  // A function that returns its status may have named itself already.
  std::string_view message(status.message().data(), status.message().size());
  if (!op.empty() && message.starts_with(op) && message.substr(op.size()).starts_with(": ")) {
    message.remove_prefix(op.size() + 2);
  }
  what.append(message);
  throw Error(status, what);
}

}  // namespace firn
