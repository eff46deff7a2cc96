// firn train: trains as a JSON file describes; the code is in tools/firn/train/.

#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "firn/device/atomic_file.h"
#include "firn/device/status_macros.h"
#include "firn/nn/parallel/world.h"
#include "firn/tensor/error.h"
#include "tools/firn/command.h"
#include "tools/firn/train/ranks.h"
#include "tools/firn/train/run.h"

namespace firn::cli {
namespace {

struct Options {
  std::string config, output;
  bool check = false, quiet = false;
  double timeout = 60;
};

// Keys that may change when a run goes on.
nlohmann::json Fixed(nlohmann::json config) {
  for (const char* key : {"output", "epochs", "patience", "checkpoint_every", "keep", "threads"}) {
    config.erase(key);
  }
  return config;
}

// Whether a run has reached its first checkpoint there.
bool HasCheckpoints(const std::string& folder) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().filename().string().starts_with("checkpoint_")) return true;
  }
  return false;
}

// Makes the output folder and writes the configuration there. A run of another configuration cannot
// be continued; one that left no checkpoint, as after a mistyped path, is forgotten.
void Claim(const std::string& output, const Config& config) {
  std::error_code error;
  std::filesystem::create_directories(output, error);
  if (error) {
    RaiseStatus(absl::ErrnoToStatus(error.value(), absl::StrCat("cannot make the folder ", output)),
                "train");
  }
  const std::string path = output + "/config.json";
  if (std::filesystem::exists(path) && HasCheckpoints(output)) {
    const nlohmann::json before = Fixed(Config::Load(path).value());
    const nlohmann::json changes = nlohmann::json::diff(before, Fixed(config.value()));
    if (!changes.empty()) {
      RaiseStatus(FailedPrecondition(
                      output, " is the output of another configuration: ", path, " differs at ",
                      changes[0]["path"].get<std::string>(),
                      " (want another output or the same configuration; without the folder the run"
                      " begins anew)"),
                  "train");
    }
  }
  RaiseIfError(firn::inner::internal::ReplaceFile(path, config.value().dump(2) + "\n"), "train");
}

std::string TextOf(const nlohmann::json& value) {
  std::string text;
  for (const auto& [key, entry] : value.items()) {
    if (entry.is_null() || entry == "") continue;
    absl::StrAppend(&text, key, ": ", entry.is_string() ? entry.get<std::string>() : entry.dump(),
                    "\n");
  }
  return text;
}

// The work of one rank; rank 0 prints and writes.
void Train(const Options& o, Ranks& ranks, Terminal& terminal) {
  const Config config = Config::Load(o.config);
  TrainConfig c = ParseTrainConfig(config);
  if (!o.output.empty()) c.output = o.output;
  // Every rank finds this error by itself, and need not wait for others.
  if (!c.graph.empty() && ranks.several()) {
    RaiseStatus(Unimplemented("a saved graph is a whole step of one process, not of several"),
                "train");
  }
  ranks.PartOf(c.batch);
  std::vector<std::string> said = absl::StrSplit(config.value().dump(2), '\n');
  said.push_back(absl::StrCat("output ", c.output));
  said.push_back(o.check ? "--check" : "no --check");
  ranks.Agree(said);
  if (o.check) {
    if (!ranks.first()) return;
    terminal.Print(o.config + ": all keys are known and make sense\n", {{"output", c.output}});
    return;
  }
  if (ranks.first()) Claim(c.output, config);
  const Telling telling{terminal, o.quiet || !ranks.first()};
  const nlohmann::json value =
      c.graph.empty() ? TrainNetwork(c, telling, ranks) : TrainGraph(c, telling);
  if (ranks.first()) terminal.Print(TextOf(value), value);
}

}  // namespace

FIRN_COMMAND(train, "Trains a network that a JSON file describes, or resumes the run") {
  auto o = std::make_shared<Options>();
  app.add_option("CONFIG", o->config, "the file; tools/firn/train/README.md lists its keys")
      ->required();
  app.add_option("--output", o->output, "the folder to write to, instead of the file's");
  app.add_flag("--check", o->check, "only checks the file");
  app.add_flag("--quiet", o->quiet,
               "prints no progress on stderr; with --json the progress is a line for each epoch");
  app.add_option("--timeout", o->timeout,
                 "the seconds that processes started by mpirun wait for one another (default: 60)")
      ->check(AtLeast(1));
  app.footer(
      "Example: firn train digits.json, where digits.json is\n"
      "  {\"data\": {\"kind\": \"digits\"}, \"model\": {\"name\": \"lenet\"},\n"
      "   \"optimizer\": {\"name\": \"adam\", \"lr\": 0.003}, \"epochs\": 10, \"output\": "
      "\"run\"}\n"
      "A model may be mlp, layers, file, or a network of firn zoo list that classifies single\n"
      "images: one image in, a score for each class out.\n"
      "Data may be digits, mnist, cifar10, cifar100, csv, images, hdf5, npy, or a dataset:\n"
      "whatever firn dataset create and convert write. After an interruption the same command\n"
      "resumes from the last checkpoint.\n"
      "mpirun -n 2 firn train digits.json trains the same network in two processes.");
  return [o](Terminal& terminal) {
    Ranks ranks(Init({.timeout = absl::Seconds(o->timeout)}));
    ranks.Run([&] { Train(*o, ranks, terminal); });
    return 0;
  };
}

}  // namespace firn::cli
