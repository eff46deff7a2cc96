#include "tools/firn/train/train_config.h"

#include "absl/strings/str_cat.h"
#include "firn/device/inner.h"

namespace firn::cli {
namespace {

constexpr int64_t kMost = int64_t{1} << 31;

// What goes with a network, and not with a saved graph.
void ParseNetwork(const Config& config, const Config& model, TrainConfig* c) {
  c->model = ParseModel(model);
  c->optimizer = ParseOptimizer(config.Object("optimizer"));
  c->rates = ParseSchedule(config.Object("schedule"));
  c->clip_grad_norm = config.Number("clip_grad_norm", 0);
  if (!(c->clip_grad_norm >= 0)) config.Refuse("clip_grad_norm", "expected a number from 0");
  c->accumulate = config.Integer("accumulate", 1, 1, kMost);
  c->ema = config.Number("ema", 0);
  if (!(c->ema >= 0 && c->ema < 1)) config.Refuse("ema", "expected a number from 0 to below 1");
  c->bf16 = config.Choice("precision", {"f32", "bf16"}, "f32") == "bf16";
  c->loss = config.Choice("loss", {"cross_entropy", "mse", "l1", "smooth_l1"}, "");
  c->patience = config.Integer("patience", 0, 0);
  c->frozen = config.Flag("frozen", false);
  c->keep_best = config.Choice("keep", {"last", "best"}, "last") == "best";
  c->device = config.Text("device", "cpu");
  c->validation_share = 0.1;
  if (config.Has("validation")) {
    c->validation = ParseData(config.Object("validation"));
    c->validation_share = 0;
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
  c.data = ParseData(config.RequiredObject("data"));
  c.epochs = config.Integer("epochs", c.epochs, 0, kMost);
  c.batch = config.Integer("batch", c.batch, 1, kMost);
  c.seed = static_cast<uint64_t>(config.Integer("seed", 0, 0));
  c.checkpoint_every = config.Integer("checkpoint_every", 0, 0);
  c.threads = static_cast<int>(config.Integer("threads", c.data.decodes ? 2 : 0, 0, 256));
  c.output = config.Path(config.RequiredText("output"));
  const Config model = config.RequiredObject("model");
  if (model.Has("graph")) {
    c.graph = model.Path(model.RequiredText("graph"));
    for (const char* key :
         {"optimizer", "schedule", "loss", "patience", "frozen", "keep", "device", "validation",
          "validation_share", "clip_grad_norm", "accumulate", "ema", "precision"}) {
      if (config.Has(key)) config.Refuse(key, "goes with no saved graph, which is a whole step");
    }
  } else {
    ParseNetwork(config, model, &c);
  }
  config.Finish();
  return c;
}

}  // namespace firn::cli
