// `firn nnp train` on trainings of which NNabla 1.39 told costs and errors (data/expected.txt,
// which make_trainings.py wrote), on its own results, and on files that are wrong.
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "firn/io/data/csv_rows.h"
#include "firn/io/nnabla/nnabla_cache.h"
#include "firn/io/nnabla_model/nnabla_file.h"
#include "firn/io/parameters.h"
#include "firn/tests/io/test_files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/tools/firn/firn_command.h"

namespace firn::cli {
namespace {

using ::testing::HasSubstr;

const std::string kData = "tests/tools/firn/nnp/data/";

// The numbers of the report, by epoch.
using Report = std::map<int, std::map<std::string, double>>;

Report ReadReport(const std::string& path) {
  Report report;
  std::istringstream lines(io::ReadFile(path));
  int epoch = -1;
  for (std::string line; std::getline(lines, line);) {
    const size_t colon = line.find(':');
    if (line[0] != ' ') {
      epoch = std::stoi(line.substr(0, colon));
    } else {
      report[epoch][line.substr(2, colon - 2)] = std::stod(line.substr(colon + 1));
    }
  }
  return report;
}

// The text of each solver is that of the first with another solver.
std::string TextOf(const std::string& name) {
  std::ifstream solvers(kData + "solvers.txt");
  for (std::string line; std::getline(solvers, line);) {
    const size_t blank = line.find(' ');
    if (line.substr(0, blank) != name) continue;
    std::string text = io::ReadFile(kData + "sgd.nntxt");
    const size_t at = text.find("solver {"), end = text.find('\n', at);
    return text.replace(at, end - at, line.substr(blank + 1));
  }
  return io::ReadFile(kData + name + ".nntxt");
}

Outcome Train(const std::string& text, const std::string& out,
              const std::vector<std::string>& more = {}) {
  const std::string path = out + ".nntxt";
  io::WriteFile(path, text);
  const bool pictures = text.find("pictures.csv") != std::string::npos;
  const std::string table = kData + (pictures ? "pictures.csv" : "rows.csv");
  std::vector<std::string> line = {"nnp",    "train",          path,     "-o",           out,
                                   "--data", "train=" + table, "--data", "test=" + table};
  line.insert(line.end(), more.begin(), more.end());
  return Firn(line);
}

TEST(NnpTrainTest, CostsAndErrorsAreNnablas) {
  std::map<std::string, Report> expected;
  std::ifstream lines(kData + "expected.txt");
  for (std::string line; std::getline(lines, line);) {
    const std::vector<std::string> words = absl::StrSplit(line, ' ');
    for (size_t i = 2; i < words.size(); ++i) {
      const std::vector<std::string> pair = absl::StrSplit(words[i], '=');
      expected[words[0]][std::stoi(words[1])][pair[0]] = std::stod(pair[1]);
    }
  }
  ASSERT_EQ(expected.size(), 19u);
  for (const auto& [name, want] : expected) {
    const std::string out = io::TempPath("as_nnabla_" + name);
    const Outcome outcome = Train(TextOf(name), out);
    ASSERT_EQ(outcome.status, 0) << name << ": " << outcome.err;
    const Report got = ReadReport(out + "/monitoring_report.yml");
    ASSERT_EQ(got.size(), want.size()) << name;
    for (const auto& [epoch, values] : want) {
      ASSERT_EQ(got.at(epoch).size(), values.size()) << name << ", epoch " << epoch;
      for (const auto& [key, value] : values) {
        EXPECT_NEAR(got.at(epoch).at(key), value, 1e-4)
            << name << ", epoch " << epoch << ", " << key;
      }
    }
  }
}

// Six epochs at once, and three and three. Batches of 5 come out even with 10 rows, so that each
// training begins with the first.
TEST(NnpTrainTest, ATrainingThatGoesOnGivesTheSameParameters) {
  for (const char* const name : {"adam", "nesterov", "rmsprop_graves"}) {
    const std::string whole_text = absl::StrReplaceAll(
        TextOf(name),
        {{"iter_per_epoch: 3", "iter_per_epoch: 2"}, {"batch_size: 4", "batch_size: 5"}});
    const std::string whole = io::TempPath(absl::StrCat("whole_", name));
    const std::string parts = io::TempPath(absl::StrCat("parts_", name));
    ASSERT_EQ(Train(whole_text, whole).status, 0);
    const auto half = absl::StrReplaceAll(whole_text, {{"max_epoch: 6", "max_epoch: 3"}});
    ASSERT_EQ(Train(half, parts).status, 0);
    const Outcome rest = Train(whole_text, parts, {"--resume", "--json"});
    ASSERT_EQ(rest.status, 0) << rest.err;
    EXPECT_EQ(nlohmann::json::parse(rest.out)["resumed_at"], 3);
    const auto a = io::LoadNnabla(whole + "/results_current_6.nnp").parameters;
    const auto b = io::LoadNnabla(parts + "/results_current_6.nnp").parameters;
    for (const auto& [key, tensor] : a) EXPECT_TRUE(tensor.Equals(b[key])) << name << ", " << key;
    EXPECT_EQ(ReadReport(whole + "/monitoring_report.yml"),
              ReadReport(parts + "/monitoring_report.yml"));
    EXPECT_EQ(io::ReadFile(whole + "/cost.series.txt"), io::ReadFile(parts + "/cost.series.txt"));
  }
}

TEST(NnpTrainTest, WritesWhatNnablaWrites) {
  const std::string out = io::TempPath("files");
  ASSERT_EQ(Train(TextOf("adam"), out).status, 0);
  EXPECT_EQ(io::List(out),
            (std::vector<std::string>{"cost.series.txt", "monitoring_report.yml", "results.nnp",
                                      "results_current_6.nnp", "valid_error.series.txt"}));
  const io::nnabla::Model model = io::LoadNnabla(out + "/results_current_6.nnp");
  EXPECT_EQ(model.parameters.size(), 4u);
  EXPECT_TRUE(model.parameters["fc1.W"].requires_grad());
  ASSERT_EQ(model.optimizers[0].solver->states.size(), 4u);
  EXPECT_EQ(model.optimizers[0].solver->states[0].t, 18u);  // six epochs of three
  // Another training begins with the best.
  const std::string again = io::TempPath("again");
  ASSERT_EQ(Train(TextOf("adam"), again, {"-p", out + "/results.nnp"}).status, 0);
  EXPECT_LT(ReadReport(again + "/monitoring_report.yml").at(0).at("cost"), 1.1);
}

TEST(NnpTrainTest, WithoutEpochsItSavesWhatItBeginsWith) {
  const std::string out = io::TempPath("none");
  const auto text = absl::StrReplaceAll(TextOf("sgd"), {{"max_epoch: 6", "max_epoch: 0"}});
  ASSERT_EQ(Train(text, out).status, 0);
  // numpy.random.RandomState(0).randn() times sqrt(2 / 12), whose first number is
  // 1.764052345967664.
  const Tensor w = io::LoadNnabla(out + "/results.nnp").parameters["fc1.W"];
  EXPECT_FLOAT_EQ(w.ToVector<float>()[0], 1.764052345967664f * 0.408248290463863f);
}

// Parameters may come from files of Firn, too; states of solvers may not.
TEST(NnpTrainTest, BeginsWithParametersOfAFile) {
  const std::string out = io::TempPath("trained"), h5 = io::TempPath("parameters.h5");
  ASSERT_EQ(Train(TextOf("sgd"), out).status, 0);
  io::Save(h5, io::LoadNnabla(out + "/results_current_6.nnp").parameters);
  const std::string a = io::TempPath("from_nnp"), b = io::TempPath("from_h5");
  ASSERT_EQ(Train(TextOf("sgd"), a, {"-p", out + "/results_current_6.nnp"}).status, 0);
  ASSERT_EQ(Train(TextOf("sgd"), b, {"-p", h5}).status, 0);
  EXPECT_EQ(ReadReport(a + "/monitoring_report.yml"), ReadReport(b + "/monitoring_report.yml"));
  EXPECT_NE(ReadReport(a + "/monitoring_report.yml"), ReadReport(out + "/monitoring_report.yml"));
}

TEST(NnpTrainTest, TakesCachesAndShuffles) {
  const std::string cache = io::TempPath("rows.cache");
  io::WriteNnablaCache(cache, io::CsvRows(kData + "rows.csv"),
                       {.rows_per_file = 3, .replace = true});
  const std::string path = io::TempPath("cache.nntxt"), out = io::TempPath("cache");
  io::WriteFile(path, TextOf("sgd"));
  const Outcome outcome = Firn(
      {"nnp", "train", path, "-o", out, "--data", "train=" + cache, "--data", "test=" + cache});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const std::string csv = io::TempPath("from_csv");
  ASSERT_EQ(Train(TextOf("sgd"), csv).status, 0);
  EXPECT_EQ(ReadReport(out + "/monitoring_report.yml"), ReadReport(csv + "/monitoring_report.yml"));
  const auto shuffled = absl::StrReplaceAll(TextOf("sgd"), {{"batch_size: 4 variable",
                                                             "batch_size: 4 shuffle: true "
                                                             "variable"}});
  const std::string mixed = io::TempPath("mixed");
  ASSERT_EQ(Train(shuffled, mixed).status, 0);
  EXPECT_NE(ReadReport(mixed + "/monitoring_report.yml").at(1).at("cost"),
            ReadReport(csv + "/monitoring_report.yml").at(1).at("cost"));
}

TEST(NnpTrainTest, NamesTheFieldThatIsWrong) {
  const std::string good = TextOf("momentum");
  const std::tuple<const char*, const char*, const char*> cases[] = {
      {"training_config { max_epoch: 6 iter_per_epoch: 3 save_best: true }", "",
       "training_config: expected one, got none"},
      {"max_epoch: 6", "max_epoch: -6",
       "training_config.max_epoch: expected no number below 0, got -6"},
      {"max_epoch: 6", "max_epoch: 9223372036854775807", "expected at most 2^53 iterations"},
      {"type: \"Momentum\" momentum_param { lr: 0.1 momentum: 0.9 }", "type: \"Eve\"",
       "optimizer \"o\", solver.type: expected one of Adadelta"},
      {"lr: 0.1", "lr: inf", "optimizer \"o\", solver Momentum, lr: expected a finite number"},
      {"momentum: 0.9", "momentum: -1", "optimizer \"o\", solver Momentum: "},
      {"weight_decay: 0.001", "weight_decay: -1", "solver.weight_decay: expected a finite number"},
      {"\"Cosine\"", "\"Custom\"", "solver.lr_scheduler_type: expected Polynomial"},
      {"max_iter: 12", "max_iter: 0",
       "cosine_scheduler_param.max_iter: expected at least 1, got 0"},
      {"dataset_name: \"train\"", "dataset_name: \"tain\"",
       "optimizer \"o\", dataset_name: expected a data set of the file, got \"tain\""},
      {"network_name: \"n\"", "network_name: \"m\"",
       "optimizer \"o\", network_name: expected a network of the file, got \"m\""},
      {"data_name: \"x\"", "data_name: \"z\"",
       "\"o\", data_variable, data_name: expected a variable of its data sets (x, y), got \"z\""},
      {"data_name: \"x\"", "data_name: \"%time\"", "or %progress, got \"%time\""},
      {"loss_variable { variable_name: \"loss\" }", "", "loss_variable: expected at least one"},
      {"variable_name: \"fc1/W\" learning", "variable_name: \"fc9/W\" learning",
       "parameter_variable: expected a parameter of network \"n\", got \"fc9/W\""},
      {"variable_name: \"fc1/W\" learning", "variable_name: \"h\" learning",
       "parameter_variable \"h\": expected a variable of the type \"Parameter\""},
      {"batch_size: 4 variable", "batch_size: 0 variable",
       "dataset \"train\", batch_size: expected 1 to 16777216, got 0"},
      {"batch_size: 4 variable", "batch_size: 1000000000000000000 variable",
       "dataset \"train\", batch_size: expected 1 to 16777216, got 1000000000000000000"},
      {"batch_size: 4 variable", "batch_size: 3 variable",
       "dataset \"train\", batch_size: expected 4, the first size of variable \"x\" of network "
       "\"n\", got 3"},
      {"batch_size: 4 variable", "batch_size: 16777216 variable",
       "batch_size: expected 4, the first size of variable \"x\" of network \"n\", got 16777216"},
      {"\"fc1/W\" type: \"Parameter\" shape { dim: 4",
       "\"fc1/W\" type: \"Parameter\" shape { dim: "
       "1000000007",
       "variable \"fc1/W\", shape: [1000000007, 8] is more than is left of"},
      {"type: \"NormalAffineGlorot\"", "type: \"Orthogonal\"",
       "network \"n\", variable \"fc1/W\", initializer.type: expected Constant"},
      {" initializer { type: \"NormalAffineGlorot\" multiplier: 1 }", "",
       "variable \"fc1/W\", initializer: expected one, or a parameter of this name"},
  };
  for (const auto& [from, to, message] : cases) {
    const size_t at = good.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    std::string text = good;
    text.replace(at, std::string(from).size(), to);
    const Outcome outcome = Train(text, io::TempPath("wrong"));
    EXPECT_EQ(outcome.status, 1) << message;
    EXPECT_THAT(outcome.err, HasSubstr(message)) << from << " -> " << to;
  }
  const std::string nothing = io::TempPath("nothing");
  EXPECT_EQ(Train(absl::StrReplaceAll(good, {{"\"Cosine\"", "\"Custom\""}}), nothing).status, 1);
  EXPECT_FALSE(std::filesystem::exists(nothing));
  const Outcome outcome = Train(good, io::TempPath("wrong"), {"--data", "train"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.err, HasSubstr("--data is train: expected NAME=PATH"));
}

// A file from a stranger opens nothing outside of the present folder, unless the user says so.
TEST(NnpTrainTest, PathsInTheFileLieBelowThePresentFolder) {
  const std::string table = io::TempPath("outside.csv"), cache = io::TempPath("outside.cache");
  io::WriteFile(table, io::ReadFile(kData + "rows.csv"));
  io::WriteNnablaCache(cache, io::CsvRows(table), {.replace = true});
  const std::string path = io::TempPath("places.nntxt"), out = io::TempPath("places");
  const auto train = [&](const std::string& place, const std::vector<std::string>& more = {}) {
    io::WriteFile(path, absl::StrReplaceAll(TextOf("sgd"), {{"uri: \"rows.csv\"", place}}));
    std::vector<std::string> line = {"nnp", "train", path, "-o", out};
    line.insert(line.end(), more.begin(), more.end());
    return Firn(line);
  };
  const std::string below = absl::StrCat("uri: \"", kData, "rows.csv\"");
  const std::string absolute = absl::StrCat("uri: \"", table, "\"");
  EXPECT_EQ(train(below).status, 0);
  EXPECT_EQ(train(absolute, {"--allow-outside"}).status, 0);
  EXPECT_EQ(train(absolute, {"--data", "train=" + table, "--data", "test=" + table}).status, 0);
  const std::tuple<std::string, const char*> refused[] = {
      {absolute, "uri"},
      {absl::StrCat("uri: \"tests/../", kData, "rows.csv\""), "uri"},
      {absl::StrCat(below, " cache_dir: \"", cache, "\""), "cache_dir"}};
  for (const auto& [place, field] : refused) {
    const Outcome outcome = train(place);
    EXPECT_EQ(outcome.status, 1) << place;
    EXPECT_THAT(outcome.err,
                HasSubstr(absl::StrCat("dataset \"train\", ", field,
                                       ": expected a path below the present folder (--data "
                                       "train=PATH says another, and --allow-outside ")));
  }
}

// Names in a file become neither paths nor lines of the report.
TEST(NnpTrainTest, NamesOfMonitorsAreAnything) {
  const std::string out = io::TempPath("names");
  const auto text =
      absl::StrReplaceAll(TextOf("sgd"), {{"name: \"valid_error\"", "name: \"../up\\nx: 1\""}});
  const Outcome outcome = Train(text, out);
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(io::ReadFile(out + "/monitoring_report.yml"),
              HasSubstr("  \"../up\\u000ax: 1\": 0."));
  EXPECT_THAT(io::List(out), ::testing::Contains("monitor-0.series.txt"));
}

TEST(NnpTrainTest, ACostThatIsNoNumberEndsIt) {
  const auto text = absl::StrReplaceAll(TextOf("sgd"), {{"lr: 0.3", "lr: 1e38"}});
  const Outcome outcome = Train(text, io::TempPath("diverged"));
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, HasSubstr("the cost is no finite number any more at iteration"));
}

}  // namespace
}  // namespace firn::cli
