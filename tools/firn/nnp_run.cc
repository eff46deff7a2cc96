// firn nnp train, firn nnp infer: do what nnabla_cli does with its model files, with its options.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "firn/nn/parallel/world.h"
#include "tools/firn/command.h"
#include "tools/firn/nnp/infer.h"
#include "tools/firn/nnp/train.h"
#include "tools/firn/train/ranks.h"

namespace firn::cli {

FIRN_SUBCOMMAND(nnp, train, "Trains a network of an .nnp as its optimizers say") {
  struct Options {
    NnpTraining training;
    std::vector<std::string> data;
    double timeout = 60;
  };
  auto o = std::make_shared<Options>();
  app.add_option("MODEL", o->training.model, "an .nnp or .nntxt of NNabla")->required();
  app.add_option("-o,--outdir", o->training.output, "the folder of the results")->required();
  app.add_option("-p,--param", o->training.parameters,
                 "a file of initial parameters: .nnp, .h5, .protobuf or what Firn saves; without "
                 "it they are drawn as NNabla draws them, even if MODEL has some");
  app.add_flag("-r,--resume", o->training.resume,
               "resumes from the newest results_current_<epoch>.nnp in the folder");
  app.add_option(
      "--data", o->data,
      "NAME=PATH: a CSV file or a cache to use for a data set, instead of the path in MODEL");
  app.add_flag("--allow-outside", o->training.data.allow_outside,
               "lets MODEL name data sets, and tables name files, outside their folders");
  app.add_option("--max-gib", o->training.max_gib, "the most GiB that drawn parameters may take")
      ->capture_default_str()
      ->check(CLI::Range(1, 1 << 20));
  app.add_option("--timeout", o->timeout,
                 "the seconds that processes started by mpirun wait for one another (default: 60)")
      ->check(AtLeast(1));
  app.footer(
      "Writes results.nnp (the best by the monitor valid_error), results_current_<epoch>.nnp and\n"
      "monitoring_report.yml, as nnabla_cli train does. Data sets are read from the current\n"
      "folder, and from outside it only with --allow-outside. Example:\n"
      "  firn nnp train lenet.nnp -o results\n"
      "With mpirun -n 2 firn nnp train lenet.nnp -o results, each of two processes makes half the\n"
      "iterations, with its own batches.");
  return [o](Terminal& terminal) {
    for (const std::string& text : o->data) {
      const size_t sign = text.find('=');
      if (sign == std::string::npos || sign + 1 == text.size()) {
        throw UsageError(absl::StrCat("--data is ", text, ": expected NAME=PATH"));
      }
      if (!o->training.data.by_name.emplace(text.substr(0, sign), text.substr(sign + 1)).second) {
        throw UsageError(absl::StrCat("--data says twice where ", text.substr(0, sign), " is"));
      }
    }
    const Ranks ranks(Init({.timeout = absl::Seconds(o->timeout)}));
    ranks.Run([&] {
      const nlohmann::json value = TrainNnp(o->training, terminal, ranks);
      if (!ranks.first()) return;
      terminal.Print(absl::StrCat(value["parameters"].get<std::string>(), "\n"), value);
    });
    return 0;
  };
}

FIRN_SUBCOMMAND(nnp, infer, "Runs the executors of an .nnp on files of bare elements") {
  auto o = std::make_shared<NnpInference>();
  app.add_option("MODEL", o->model, "an .nnp or .nntxt of NNabla")->required();
  app.add_option("INPUTS", o->inputs, "a file for each input, of elements in row-major order");
  app.add_option("-o,--output", o->output,
                 "writes results to <this>_<sample>.bin in f32; without it they are printed");
  app.add_option("-p,--param", o->parameters, "a file of parameters to use instead of MODEL's");
  app.add_option("-t,--data_type", o->data_type,
                 "the type of the elements in the files: uint8, int32 or float32");
  app.add_option("-b,--batch_size", o->batch_size, "the batch size; -1: that of MODEL")
      ->capture_default_str();
  app.footer(
      "firn infer and firn forward take graphs and data of other formats.\n"
      "Example: firn nnp infer lenet.nnp image.bin -o scores");
  return [o](Terminal& terminal) { return InferNnp(*o, terminal); };
}

}  // namespace firn::cli
