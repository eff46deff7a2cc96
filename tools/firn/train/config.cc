// The text is checked while it is parsed: nesting and keys that stand twice, of which the parser
// would take the last. The keys that were asked for are noted, so that a key that no code reads is
// an error and not a setting without effect.
#include "tools/firn/train/config.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <filesystem>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "firn/device/edit_distance.h"
#include "firn/device/escape.h"
#include "firn/device/status_macros.h"
#include "firn/io/random_access.h"
#include "firn/tensor/error.h"

namespace firn::cli {

using nlohmann::json;

struct Config::Document {
  std::string file;
  json root;
};

struct Config::Node {
  std::shared_ptr<const Document> document;
  const json* object;
  std::string path;  // "$.optimizer"
  std::vector<std::string> asked = {};
  std::vector<std::shared_ptr<Node>> objects = {};  // keys that were asked for
};

namespace {

constexpr int64_t kMaxBytes = 1 << 20;
constexpr int kMaxDepth = 32;

[[noreturn]] void Raise(const std::string& what) { RaiseStatus(InvalidArgument(what), "config"); }

std::string Suggestion(const std::string& name, const std::vector<std::string>& names) {
  const std::string nearest = firn::inner::internal::LikelyName(name, names);
  return nearest.empty() ? "" : absl::StrCat(" (did you mean '", nearest, "'?)");
}

std::string Quoted(const std::string& text) {
  return absl::StrCat(firn::inner::internal::JsonString(text.substr(0, 60)),
                      text.size() > 60 ? "..." : "");
}

std::string Said(const json& value) {
  switch (value.type()) {
    case json::value_t::object:
      return "an object";
    case json::value_t::array:
      return "a list";
    case json::value_t::string:
      return absl::StrCat("the text ", Quoted(value.get_ref<const std::string&>()));
    default:
      return value.dump();
  }
}

// Refuses, while a text is parsed, what the parser would accept.
class Strict {
 public:
  explicit Strict(const std::string& file) : file_(file) {}
  bool operator()(int depth, json::parse_event_t event, const json& parsed) {
    using Event = json::parse_event_t;
    if (event == Event::object_start || event == Event::array_start) {
      if (depth >= kMaxDepth) {
        Raise(absl::StrCat(file_, ": nested more than ", kMaxDepth, " levels deep"));
      }
      if (event == Event::object_start) keys_.emplace_back();
    } else if (event == Event::object_end) {
      keys_.pop_back();
    } else if (event == Event::key) {
      const auto& key = parsed.get_ref<const std::string&>();
      if (!keys_.back().insert(key).second) {
        Raise(absl::StrCat(file_, ": the key ", Quoted(key), " stands twice in an object"));
      }
    }
    return true;
  }

 private:
  const std::string& file_;
  std::deque<std::set<std::string>> keys_;
};

}  // namespace

Config Config::Parse(std::string_view text, const std::string& file) {
  if (text.size() > kMaxBytes) {
    Raise(absl::StrCat(file, ": expected at most ", kMaxBytes, " bytes, got ", text.size()));
  }
  auto document = std::make_shared<Document>();
  document->file = file;
  Strict strict(file);
  try {
    document->root = json::parse(text.begin(), text.end(),
                                 [&](int depth, json::parse_event_t event, json& parsed) {
                                   return strict(depth, event, parsed);
                                 });
  } catch (const json::parse_error& e) {
    Raise(absl::StrCat(file, ": offset ", e.byte, ": ", e.what()));
  } catch (const json::exception& e) {
    Raise(absl::StrCat(file, ": ", e.what()));
  }
  auto node = std::make_shared<Node>(Node{document, &document->root, "$"});
  if (!document->root.is_object()) Config(node).Expected("", "an object", document->root);
  return Config(std::move(node));
}

Config Config::Load(const std::string& path) {
  auto file = io::RandomAccess::Open(path);
  RaiseIfError(file.status(), "config");
  std::string text(static_cast<size_t>(std::min((*file)->size(), kMaxBytes + 1)), '\0');
  RaiseIfError((*file)->ReadAt(0, text.data(), static_cast<int64_t>(text.size()), "text"),
               "config");
  return Parse(text, path);
}

const json& Config::value() const { return *node_->object; }

const json* Config::Find(const char* key) const {
  node_->asked.push_back(key);
  const auto found = node_->object->find(key);
  return found == node_->object->end() ? nullptr : &*found;
}

bool Config::Has(const char* key) const { return Find(key) != nullptr; }

void Config::Refuse(const std::string& key, const std::string& what) const {
  Raise(absl::StrCat(node_->document->file, ": ", node_->path, key.empty() ? "" : ".", key, ": ",
                     what));
}

void Config::Expected(const std::string& key, const std::string& what,
                      const nlohmann::json& got) const {
  Refuse(key, absl::StrCat("expected ", what, ", got ", Said(got)));
}

void Config::Require(const char* key, const char* what) const {
  if (Has(key)) return;
  std::vector<std::string> there;
  for (const auto& item : node_->object->items()) there.push_back(item.key());
  const std::string near = firn::inner::internal::LikelyName(key, there);
  Refuse(key, absl::StrCat("expected ", what, ", got nothing",
                           near.empty() ? "" : absl::StrCat(" (is it '", near, "'?)")));
}

double Config::Number(const char* key, double otherwise) const {
  const nlohmann::json* const value = Find(key);
  if (value == nullptr) return otherwise;
  if (!value->is_number()) Expected(key, "a number", *value);
  return value->get<double>();
}

int64_t Config::Integer(const char* key, int64_t otherwise, int64_t least, int64_t most) const {
  const nlohmann::json* const value = Find(key);
  if (value == nullptr) return otherwise;
  const std::string want = absl::StrCat("a whole number from ", least, " to ", most);
  if (!value->is_number_integer()) Expected(key, want, *value);
  const bool too_large =
      value->is_number_unsigned() &&
      value->get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  const int64_t number = too_large ? 0 : value->get<int64_t>();
  if (too_large || number < least || number > most) Expected(key, want, *value);
  return number;
}

bool Config::Flag(const char* key, bool otherwise) const {
  const nlohmann::json* const value = Find(key);
  if (value == nullptr) return otherwise;
  if (!value->is_boolean()) Expected(key, "true or false", *value);
  return value->get<bool>();
}

std::string Config::Text(const char* key, const std::string& otherwise) const {
  const nlohmann::json* const value = Find(key);
  if (value == nullptr) return otherwise;
  if (!value->is_string()) Expected(key, "text", *value);
  return value->get<std::string>();
}

std::vector<int64_t> Config::Integers(const char* key,
                                      const std::vector<int64_t>& otherwise) const {
  const nlohmann::json* const value = Find(key);
  if (value == nullptr) return otherwise;
  if (!value->is_array()) Expected(key, "a list of whole numbers", *value);
  std::vector<int64_t> numbers;
  for (const nlohmann::json& item : *value) {
    const bool fits = item.is_number_integer() &&
                      (!item.is_number_unsigned() || item.get<uint64_t>() < (uint64_t{1} << 63));
    if (!fits) Expected(absl::StrCat(key, "[", numbers.size(), "]"), "a whole number", item);
    numbers.push_back(item.get<int64_t>());
  }
  return numbers;
}

std::vector<double> Config::Numbers(const char* key, const std::vector<double>& otherwise) const {
  const nlohmann::json* const value = Find(key);
  if (value == nullptr) return otherwise;
  if (!value->is_array()) Expected(key, "a list of numbers", *value);
  std::vector<double> numbers;
  for (const nlohmann::json& item : *value) {
    if (!item.is_number()) Expected(absl::StrCat(key, "[", numbers.size(), "]"), "a number", item);
    numbers.push_back(item.get<double>());
  }
  return numbers;
}

std::vector<std::string> Config::Texts(const char* key,
                                       const std::vector<std::string>& otherwise) const {
  const nlohmann::json* const value = Find(key);
  if (value == nullptr) return otherwise;
  if (!value->is_array()) Expected(key, "a list of texts", *value);
  std::vector<std::string> texts;
  for (const nlohmann::json& item : *value) {
    if (!item.is_string()) Expected(absl::StrCat(key, "[", texts.size(), "]"), "text", item);
    texts.push_back(item.get<std::string>());
  }
  return texts;
}

std::string Config::AnyText(const char* key) const {
  const nlohmann::json* const value = Find(key);
  if (value == nullptr) return "";
  if (value->is_string()) return value->get<std::string>();
  if (value->is_array()) return absl::StrCat("[", absl::StrJoin(Integers(key, {}), ", "), "]");
  if (!value->is_number() && !value->is_boolean()) {
    Expected(key, "a number, true or false, text or a list of whole numbers", *value);
  }
  return value->dump();
}

std::string Config::Choice(const char* key, const std::vector<std::string>& names,
                           const std::string& otherwise) const {
  if (!Has(key)) return otherwise;
  const std::string name = Text(key, "");
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    Refuse(key, absl::StrCat("expected one of ", absl::StrJoin(names, ", "), ", got ", "the text ",
                             Quoted(name), Suggestion(name, names)));
  }
  return name;
}

Config Config::ObjectAt(const std::string& place, const nlohmann::json& value) const {
  if (!value.is_object()) Expected(place, "an object", value);
  const std::string path = absl::StrCat(node_->path, ".", place);
  for (const std::shared_ptr<Node>& object : node_->objects) {
    if (object->path == path) return Config(object);
  }
  node_->objects.push_back(std::make_shared<Node>(Node{node_->document, &value, path}));
  return Config(node_->objects.back());
}

Config Config::Object(const char* key) const {
  static const nlohmann::json* const kEmpty = new nlohmann::json(nlohmann::json::object());
  const nlohmann::json* const value = Find(key);
  return ObjectAt(key, value == nullptr ? *kEmpty : *value);
}

std::vector<Config> Config::Objects(const char* key) const {
  const nlohmann::json* const value = Find(key);
  std::vector<Config> objects;
  if (value == nullptr) return objects;
  if (!value->is_array()) Expected(key, "a list of objects", *value);
  for (const nlohmann::json& item : *value) {
    objects.push_back(ObjectAt(absl::StrCat(key, "[", objects.size(), "]"), item));
  }
  return objects;
}

std::string Config::RequiredText(const char* key) const {
  Require(key, "text");
  return Text(key, "");
}

int64_t Config::RequiredInteger(const char* key, int64_t least, int64_t most) const {
  Require(key, "a whole number");
  return Integer(key, 0, least, most);
}

std::string Config::RequiredChoice(const char* key, const std::vector<std::string>& names) const {
  Require(key, absl::StrCat("one of ", absl::StrJoin(names, ", ")).c_str());
  return Choice(key, names, "");
}

Config Config::RequiredObject(const char* key) const {
  Require(key, "an object");
  return Object(key);
}

std::string Config::Path(const std::string& path) const {
  return (std::filesystem::path(node_->document->file).parent_path() / path)
      .lexically_normal()
      .string();
}

void Config::Finish() const {
  for (const auto& item : node_->object->items()) {
    const std::vector<std::string>& asked = node_->asked;
    if (std::find(asked.begin(), asked.end(), item.key()) != asked.end()) continue;
    Refuse("",
           absl::StrCat("there is no key ", Quoted(item.key()), Suggestion(item.key(), asked),
                        "; known are ",
                        absl::StrJoin(std::set<std::string>(asked.begin(), asked.end()), ", ")));
  }
  for (const std::shared_ptr<Node>& object : node_->objects) Config(object).Finish();
}

}  // namespace firn::cli
