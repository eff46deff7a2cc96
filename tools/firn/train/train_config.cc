#include "tools/firn/train/train_config.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "firn/device/edit_distance.h"
#include "firn/device/inner.h"
#include "tools/firn/train/data_kinds.h"

namespace firn::cli {
namespace {

constexpr int64_t kMost = int64_t{1} << 31;

const std::vector<std::string>& Losses() {
  static const auto* const losses =
      new std::vector<std::string>{"cross_entropy", "mse", "l1", "smooth_l1"};
  return *losses;
}

// One loss, or one for each of several targets.
void ParseLosses(const Config& config, TrainConfig* c) {
  if (c->data.several == 0) {
    c->loss = config.Choice("loss", Losses(), "");
    return;
  }
  const auto targets = static_cast<size_t>(c->data.several);
  if (config.Has("loss")) {
    config.Refuse("loss", "expected \"losses\", one for each of \"targets\" of the data");
  }
  c->losses = config.Texts("losses", std::vector<std::string>(targets));
  c->loss_weights = config.Numbers("loss_weights", std::vector<double>(targets, 1.0));
  const std::string want = absl::StrCat("expected one for each of ", targets, " targets");
  if (c->losses.size() != targets) config.Refuse("losses", want);
  if (c->loss_weights.size() != targets) config.Refuse("loss_weights", want);
  for (const std::string& loss : c->losses) {
    if (loss.empty() || std::find(Losses().begin(), Losses().end(), loss) != Losses().end())
      continue;
    const std::string likely = internal::LikelyName(loss, Losses());
    config.Refuse("losses",
                  absl::StrCat("expected some of ", absl::StrJoin(Losses(), ", "), ", got ", loss,
                               likely.empty() ? "" : " (did you mean '" + likely + "'?)"));
  }
  for (const double weight : c->loss_weights) {
    if (!FitsF32(weight)) config.Refuse("loss_weights", "expected numbers that f32 can hold");
  }
  if (!c->file.has_value()) {
    config.Refuse("model",
                  "expected a \"file\" or a \"graph\": those made by name take one input and "
                  "have one target, the data have more");
  }
}

// Keys that go with a network, and not with a saved graph.
void ParseNetwork(const Config& config, const Config& model, TrainConfig* c) {
  c->model = ParseModel(model);
  if (model.Text("name", "") == "file") c->file = ParseNetworkFile(model);
  c->optimizer = ParseOptimizer(config.Object("optimizer"));
  c->rates = ParseSchedule(config.Object("schedule"));
  c->clip_grad_norm = config.Number("clip_grad_norm", 0);
  if (!(c->clip_grad_norm >= 0)) config.Refuse("clip_grad_norm", "expected a number from 0");
  c->accumulate = config.Integer("accumulate", 1, 1, kMost);
  c->ema = config.Number("ema", 0);
  if (!(c->ema >= 0 && c->ema < 1)) config.Refuse("ema", "expected a number from 0 to below 1");
  c->bf16 = config.Choice("precision", {"f32", "bf16"}, "f32") == "bf16";
  ParseLosses(config, c);
  c->patience = config.Integer("patience", 0, 0);
  c->frozen = config.Flag("frozen", false);
  c->keep_best = config.Choice("keep", {"last", "best"}, "last") == "best";
  c->device = config.Text("device", "cpu");
  c->validation_share = 0.1;
  if (config.Has("validation")) {
    c->validation = ParseData(config.Object("validation"), NetworkOfZoo(model));
    c->validation_share = 0;
    if (c->validation->several != c->data.several) {
      const int64_t n = c->data.several;
      config.Refuse("validation",
                    n == 0 ? "expected an input and a target, as the data have"
                           : absl::StrCat("expected a list of ", n, " targets, as the data have"));
    }
    if (config.Has("validation_share")) {
      config.Refuse("validation_share", "there is a validation already");
    }
  }
  c->validation_share = config.Number("validation_share", c->validation_share);
  if (!(c->validation_share >= 0 && c->validation_share < 1)) {
    config.Refuse("validation_share",
                  absl::StrCat("expected a number from 0 to below 1, got ", c->validation_share));
  }
}

}  // namespace

TrainConfig ParseTrainConfig(const Config& config) {
  TrainConfig c;
  const Config data = config.RequiredObject("data");
  const Config model = config.RequiredObject("model");
  c.data = ParseData(data, NetworkOfZoo(model));
  c.epochs = config.Integer("epochs", c.epochs, 0, kMost);
  c.batch = config.Integer("batch", c.batch, 1, kMost);
  c.seed = static_cast<uint64_t>(config.Integer("seed", 0, 0));
  c.checkpoint_every = config.Integer("checkpoint_every", 0, 0);
  c.threads = static_cast<int>(config.Integer("threads", c.data.decodes ? 2 : 0, 0, 256));
  c.output = config.Path(config.RequiredText("output"));
  if (model.Has("graph")) {
    c.graph = model.Path(model.RequiredText("graph"));
    for (const char* key : {"optimizer", "schedule", "loss", "losses", "loss_weights", "patience",
                            "frozen", "keep", "device", "validation", "validation_share",
                            "clip_grad_norm", "accumulate", "ema", "precision"}) {
      if (config.Has(key)) config.Refuse(key, "goes with no saved graph, which is a whole step");
    }
  } else {
    ParseNetwork(config, model, &c);
  }
  config.Finish();
  return c;
}

}  // namespace firn::cli
