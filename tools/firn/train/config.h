#ifndef FIRN_TOOLS_FIRN_TRAIN_CONFIG_H_
#define FIRN_TOOLS_FIRN_TRAIN_CONFIG_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace firn::cli {

// An object in a JSON file that a person wrote, asked for one key after the other:
//
//   const Config config = Config::Load("train.json");
//   const int64_t epochs = config.Integer("epochs", 10, 1);
//   const double lr = config.Object("optimizer").Number("lr", 1e-3);
//   config.Finish();
//
// Everything that does not fit is a firn::Error that names the file, the place in it, what was
// expected and what came: "train.json: $.optimizer.lr: expected a number, got the text "fast"".
// Thread-compatible.
class Config {
 public:
  // The file's object. At most 1 MiB and 32 levels deep, and no key stands twice in an object.
  static Config Load(const std::string& path);
  static Config Parse(std::string_view text, const std::string& file);

  bool Has(const char* key) const;
  // The value of a key, or the default if the key is missing.
  double Number(const char* key, double otherwise) const;
  int64_t Integer(const char* key, int64_t otherwise,
                  int64_t least = std::numeric_limits<int64_t>::min(),
                  int64_t most = std::numeric_limits<int64_t>::max()) const;
  bool Flag(const char* key, bool otherwise) const;
  std::string Text(const char* key, const std::string& otherwise) const;
  std::vector<int64_t> Integers(const char* key, const std::vector<int64_t>& otherwise) const;
  std::vector<double> Numbers(const char* key, const std::vector<double>& otherwise) const;
  std::vector<std::string> Texts(const char* key, const std::vector<std::string>& otherwise) const;
  // The text of what may be a number, true or false, a text or whole numbers: "3", "true", "[3,
  // 5]"; "" if the key is missing.
  std::string AnyText(const char* key) const;
  // One of `names`; the error suggests the nearest.
  std::string Choice(const char* key, const std::vector<std::string>& names,
                     const std::string& otherwise) const;
  // The object at a key; an empty one if the key is missing.
  Config Object(const char* key) const;
  // The objects of a list; empty if the key is missing.
  std::vector<Config> Objects(const char* key) const;

  // The same; throws if the key is missing.
  std::string RequiredText(const char* key) const;
  int64_t RequiredInteger(const char* key, int64_t least, int64_t most) const;
  std::string RequiredChoice(const char* key, const std::vector<std::string>& names) const;
  Config RequiredObject(const char* key) const;

  // A path in the file is relative to the file's folder, unless it begins with a slash.
  std::string Path(const std::string& path) const;

  // Throws for the first key, in this object and those taken from it, that no code has asked for.
  void Finish() const;
  // Throws for the value of a key, or for the whole object with "".
  [[noreturn]] void Refuse(const std::string& key, const std::string& what) const;

  const nlohmann::json& value() const;

 private:
  struct Document;
  struct Node;
  explicit Config(std::shared_ptr<Node> node) : node_(std::move(node)) {}
  const nlohmann::json* Find(const char* key) const;
  void Require(const char* key, const char* what) const;
  // The value at a place in it, which has to be an object.
  Config ObjectAt(const std::string& place, const nlohmann::json& value) const;
  [[noreturn]] void Expected(const std::string& key, const std::string& what,
                             const nlohmann::json& got) const;

  std::shared_ptr<Node> node_;
};

}  // namespace firn::cli

#endif  // FIRN_TOOLS_FIRN_TRAIN_CONFIG_H_
