#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "firn/autograd/graph/static_graph.h"
#include "firn/io/graph/graph_file.h"
#include "firn/io/image/image.h"
#include "firn/io/parameters.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"
#include "firn/version.h"
#include "tests/tools/firn/firn_command.h"
#include "tools/firn/command.h"

namespace firn::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

nlohmann::json Json(std::vector<std::string> arguments) {
  arguments.push_back("--json");
  const Outcome o = Firn(arguments);
  EXPECT_EQ(o.err, "");
  return nlohmann::json::parse(o.out);
}

std::string Path(const std::string& name) { return ::testing::TempDir() + "/" + name; }

std::string Weights(const std::string& name, float last) {
  StateDict state;
  state.Insert("fc.weight", FromVector(std::vector<float>{1, 2, 3, last}, {2, 2}));
  state.Insert("fc.bias", Zeros({2}));
  io::Save(Path(name), state);
  return Path(name);
}

std::string Graph() {
  const Tensor w = FromVector(std::vector<float>{1, 2});
  const StaticGraph graph = Freeze([&](const Tensor& x) { return Mul(Relu(x), w); }, Zeros({3, 2}));
  io::SaveGraph(Path("net.firn"), graph, {.names = {{"w", w}}});
  return Path("net.firn");
}

TEST(CommandsTest, HelpAndMistakesOfTheCommandLine) {
  const Outcome help = Firn({"--help"});
  EXPECT_EQ(help.status, 0);
  for (const Command& c : Commands()) {
    if (c.name.find(' ') != std::string::npos) continue;  // its group's help has it
    EXPECT_THAT(help.out, HasSubstr(c.name + " "));
  }
  EXPECT_EQ(Firn({}).status, 2);
  EXPECT_EQ(Firn({"inspekt"}).status, 2);
  EXPECT_EQ(Firn({"inspect"}).status, 2);
  EXPECT_THAT(Firn({"inspect"}).err, HasSubstr("FILE is required"));
  EXPECT_EQ(Firn({"inspect", "--wrong", "x"}).status, 2);
  for (const Command& c : Commands()) {
    std::istringstream words(c.name);
    std::vector<std::string> line(std::istream_iterator<std::string>(words), {});
    line.push_back("--help");
    EXPECT_EQ(Firn(line).status, 0);
    EXPECT_THAT(Firn(line).out, HasSubstr(c.summary));
    if (c.declare == nullptr) continue;  // a group
    EXPECT_THAT(Firn(line).out, HasSubstr("Example"));
    EXPECT_THAT(Firn(line).out, HasSubstr("firn " + c.name));
  }
}

TEST(CommandsTest, MistakesOfTheCommandLineHaveNoControlCharacters) {
  const Outcome parsed = Firn({"inspect", "a", "\x1b[1m"});
  EXPECT_EQ(parsed.status, 2);
  EXPECT_THAT(parsed.err, HasSubstr("\\x1b[1m"));
  EXPECT_THAT(parsed.err, Not(HasSubstr("\x1b")));
  const Outcome ran =
      Firn({"dataset", "split", "a.csv", "--ratio", "50,50", "-o", "\x1b.csv", "\x1b.csv"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, HasSubstr("two outputs are called \\x1b.csv"));
  EXPECT_THAT(ran.err, Not(HasSubstr("\x1b")));
}

TEST(CommandsTest, VersionAndInfo) {
  EXPECT_EQ(Firn({"version"}).out,
            "firn " + Json({"version"})["version"].get<std::string>() + "\n");
  const nlohmann::json info = Json({"info"});
  EXPECT_GT(info["operations"], 200);
  EXPECT_GT(info["threads"], 0);
  EXPECT_EQ(info["version"], FIRN_VERSION);
  const nlohmann::json& processor = info["processor"];
  EXPECT_THAT(Firn({"info"}).out,
              HasSubstr("kernels for " + processor["kernels"].get<std::string>()));
  EXPECT_TRUE(info["cuda_devices"].is_array());
  EXPECT_THAT(Firn({"info"}).out, HasSubstr("operations"));
  // Versions begin with a digit, but for the one that says what it is.
  EXPECT_EQ(info["libraries"].size(), 8u);
  EXPECT_TRUE(info["libraries"].contains("oneDNN"));
  for (const auto& [name, version] : info["libraries"].items()) {
    EXPECT_THAT(version.get<std::string>(), ::testing::MatchesRegex("(interface )?[0-9][0-9.]*"));
    EXPECT_THAT(Firn({"info"}).out, HasSubstr(name + " " + version.get<std::string>()));
  }
}

TEST(CommandsTest, InfoNamesMpiAndTheProcessesOfALauncher) {
  for (const char* const name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK", "SLURM_PROCID"}) {
    unsetenv(name);
  }
  const nlohmann::json alone = Json({"info"})["ranks"];
  if (alone["mpi"].is_null()) {
    EXPECT_THAT(alone["mpi_unavailable_because"].get<std::string>(),
                HasSubstr("no MPI library: looked for libmpi.so.40, "));
  } else {
    EXPECT_THAT(alone["mpi"].get<std::string>(),
                ::testing::MatchesRegex("[A-Z].*[0-9].* \\(lib.*\\.so\\.[0-9]+\\)"));
    EXPECT_THAT(Firn({"info"}).out, HasSubstr("MPI         " + alone["mpi"].get<std::string>()));
  }
  EXPECT_TRUE(alone["processes"].is_null());
  EXPECT_TRUE(alone["nccl_found"].is_boolean());
  EXPECT_THAT(Firn({"info"}).out, HasSubstr("; no launcher has started this\nNCCL "));
  setenv("OMPI_COMM_WORLD_RANK", "1", 1);
  setenv("OMPI_COMM_WORLD_SIZE", "3", 1);
  const nlohmann::json second = Json({"info"})["ranks"];
  EXPECT_EQ(second["process"], 1);
  EXPECT_EQ(second["processes"], 3);
  EXPECT_THAT(Firn({"info"}).out, HasSubstr("; a launcher started this as process 1 of 3\n"));
  unsetenv("OMPI_COMM_WORLD_RANK");
  unsetenv("OMPI_COMM_WORLD_SIZE");
  setenv("SLURM_PROCID", "1", 1);
  setenv("SLURM_STEP_NUM_TASKS", "4", 1);
  EXPECT_THAT(Firn({"info"}).out, HasSubstr("; srun started this as task 1 of 4 without MPI\n"));
  unsetenv("SLURM_PROCID");
  unsetenv("SLURM_STEP_NUM_TASKS");
}

TEST(CommandsTest, InspectsTensors) {
  const std::string path = Weights("a.h5", std::nanf(""));
  const Outcome text = Firn({"inspect", path});
  EXPECT_EQ(text.status, 0);
  EXPECT_THAT(text.out, HasSubstr("1 NaN"));
  EXPECT_THAT(text.out, HasSubstr("2 tensors, 6 elements, 24 B"));
  const nlohmann::json weight = Json({"inspect", path})["tensors"][0];
  EXPECT_EQ(weight["name"], "fc.weight");
  EXPECT_EQ(weight["shape"], nlohmann::json({2, 2}));
  EXPECT_EQ(weight["mean"], 2);
  EXPECT_EQ(weight["nan"], 1);
}

TEST(CommandsTest, InspectsGraphs) {
  const nlohmann::json graph = Json({"inspect", Graph()});
  EXPECT_EQ(graph["inputs"][0]["shape"], nlohmann::json({3, 2}));
  EXPECT_EQ(graph["operations"]["relu"], 1);
  EXPECT_EQ(graph["tensors"][0]["name"], "w");
  EXPECT_THAT(Firn({"inspect", Graph()}).out, HasSubstr("1 relu"));
}

TEST(CommandsTest, FilesThatCannotBeRead) {
  const Outcome none = Firn({"inspect", Path("nothing.h5")});
  EXPECT_EQ(none.status, 1);
  EXPECT_EQ(none.out, "");
  EXPECT_THAT(none.err, HasSubstr("nothing.h5"));
  std::ofstream(Path("text.h5")) << "not a file of tensors";
  EXPECT_EQ(Firn({"inspect", Path("text.h5")}).status, 1);
  std::ofstream(Path("cut.firn"), std::ios::binary) << "\x89"
                                                       "FIRN\r\n\x1a";
  EXPECT_EQ(Firn({"inspect", Path("cut.firn")}).status, 1);
  EXPECT_EQ(Firn({"inspect", ::testing::TempDir()}).status, 1);
}

TEST(CommandsTest, Compares) {
  const std::string a = Weights("a.h5", 4), b = Weights("b.h5", 4.5);
  EXPECT_EQ(Firn({"compare", a, a}).status, 0);
  const Outcome differ = Firn({"compare", a, b});
  EXPECT_EQ(differ.status, 1);
  EXPECT_EQ(differ.out, "fc.weight: 1 of 4 elements differ, by 0.5 at most\n1 the same, 1 not\n");
  EXPECT_EQ(Firn({"compare", a, b, "--atol", "0.6"}).status, 0);
  StateDict other;
  other.Insert("fc.weight", Zeros({4}));
  other.Insert("fc.scale", Zeros({4}));
  io::Save(Path("c.h5"), other);
  EXPECT_THAT(
      Firn({"compare", a, Path("c.h5")}).out,
      HasSubstr("fc.weight: f32 [2, 2] and f32 [4]\nfc.bias: only in A\nfc.scale: only in B"));
}

TEST(CommandsTest, ComparesWhatDoublesCannotHoldAndInfinities) {
  const auto save = [](const char* name, float x, int64_t n) {
    StateDict state;
    state.Insert("x", FromVector(std::vector<float>{x}));
    state.Insert("n", FromVector(std::vector<int64_t>{n}));
    io::Save(Path(name), state);
    return Path(name);
  };
  const int64_t large = int64_t{1} << 53;
  const std::string a = save("a.h5", 1, large), b = save("b.h5", HUGE_VALF, large + 1);
  EXPECT_THAT(Firn({"compare", a, b, "--rtol", "1e-5"}).out, HasSubstr("0 the same, 2 not"));
}

// Names in files come from strangers.
TEST(CommandsTest, NamesCannotWriteToTheTerminal) {
  StateDict state;
  state.Insert(
      "a\x1b]0;x\x07 \xc2\x9b"
      "31m \xc3\xa4",
      Zeros({1}));
  io::Save(Path("names.h5"), state);
  const std::string out = Firn({"inspect", Path("names.h5")}).out;
  EXPECT_THAT(out, HasSubstr("a\\x1b]0;x\\x07 \xc2\\x9b"
                             "31m \xc3\xa4"));
}

TEST(CommandsTest, Infers) {
  const std::string graph = Graph();
  const nlohmann::json run = Json({"infer", graph, "--input", "2"});
  EXPECT_EQ(run["outputs"][0]["elements"], nlohmann::json({2, 4, 2, 4, 2, 4}));
  StateDict batch;
  batch.Insert("x", FromVector(std::vector<float>{-1, 1, 1, 1, 1, -1}, {3, 2}));
  io::Save(Path("batch.h5"), batch);
  EXPECT_EQ(
      Firn({"infer", graph, "--input", Path("batch.h5") + ":x", "--output", Path("y.h5")}).status,
      0);
  EXPECT_EQ(io::Load(Path("y.h5"))["output.0"].ToVector<float>(),
            (std::vector<float>{0, 2, 1, 2, 1, 0}));
  EXPECT_EQ(Json({"infer", graph, "--input", Path("batch.h5")})["outputs"][0]["elements"],
            nlohmann::json({0, 2, 1, 2, 1, 0}));  // its only tensor
  EXPECT_THAT(Firn({"infer", graph, "--input", Weights("a.h5", 4)}).err,
              HasSubstr("has 2 tensors: say which"));
  EXPECT_THAT(Firn({"infer", graph, "--input", Path("batch.h5") + ":z"}).err,
              HasSubstr("has no tensor z"));
  EXPECT_THAT(Firn({"infer", graph, "--input", "one"}).err, HasSubstr("'one' is no number"));
  EXPECT_THAT(Firn({"infer", graph, "--input", "1", "2"}).err,
              HasSubstr("2 are given, the graph has 1:\n  f32 [3, 2]"));
}

// Inputs that would run, with another meaning.
TEST(CommandsTest, InferRefusesWhatTheGraphWasNotMadeFor) {
  const std::string graph = Graph();
  EXPECT_THAT(Firn({"infer", graph}).err, HasSubstr("--input is missing; the graph wants"));
  EXPECT_EQ(Firn({"infer", graph}).status, 1);
  EXPECT_EQ(Firn({"infer", graph, "--input", "random"}).status, 0);
  StateDict batch;
  batch.Insert("pixels", Full({3, 2}, 255).To(DType::kU8));
  batch.Insert("wide", Full({3, 2}, 0.5).To(DType::kF64));
  io::Save(Path("kinds.h5"), batch);
  EXPECT_THAT(Firn({"infer", graph, "--input", Path("kinds.h5") + ":pixels"}).err,
              AllOf(HasSubstr("is u8, the graph wants f32: convert it first"),
                    HasSubstr("or use firn forward")));
  EXPECT_EQ(Firn({"infer", graph, "--input", Path("kinds.h5") + ":wide"}).status, 0);

  const StaticGraph rows =
      Freeze([](const Tensor& i) { return Add(i, 1); }, Zeros({2}, DType::kI32));
  io::SaveGraph(Path("integers.firn"), rows, {});
  const auto with = [&](int64_t last) {
    StateDict numbers;
    numbers.Insert("i", FromVector(std::vector<int64_t>{1, last}));
    io::Save(Path("integers.h5"), numbers);
    return Firn({"infer", Path("integers.firn"), "--input", Path("integers.h5")});
  };
  EXPECT_THAT(Firn({"infer", Path("integers.firn"), "--input", "1e12"}).err,
              HasSubstr("input: value is 1000000000000 (want -2147483648 to 2147483647"));
  EXPECT_EQ(with(7).status, 0);
  EXPECT_THAT(with(int64_t{1} << 40).err, HasSubstr("which does not hold all of its numbers"));
}

TEST(CommandsTest, InferSaysWhereAPictureGoes) {
  const std::string picture = Path("p.png");
  io::WriteImage(picture, Zeros({3, 5, 4}, DType::kU8));
  EXPECT_THAT(
      Firn({"infer", Graph(), "--input", picture}).err,
      HasSubstr(picture + " is a picture, u8 [3, 5, 4] on cpu; the graph wants f32 [3, 2] on "
                          "cpu: give FILE:NAME, a tensor of that shape"));
  const StaticGraph halves =
      Freeze([](const Tensor& x) { return Mul(x, 0.5); }, Zeros({1, 3, 5, 4}));
  io::SaveGraph(Path("pictures.firn"), halves, {});
  EXPECT_THAT(Firn({"infer", Path("pictures.firn"), "--input", picture}).err,
              HasSubstr("; the graph wants f32 [1, 3, 5, 4] on cpu: firn forward GRAPH " + picture +
                        " makes a batch of it, with --resize of that size"));
}

TEST(CommandsTest, MistypedNamesAreToldFromMissingOnes) {
  const auto err = [](const std::vector<std::string>& arguments) {
    const Outcome o = Firn(arguments);
    EXPECT_EQ(o.status, 2);
    return o.err;
  };
  EXPECT_THAT(err({"trian", "x"}), HasSubstr("firn has no command trian; did you mean train?"));
  EXPECT_THAT(err({"zebra"}), HasSubstr("firn has no command zebra\n"));
  EXPECT_THAT(err({"dataset", "splt", "x"}),
              HasSubstr("dataset has no command splt; did you mean split?"));
  EXPECT_THAT(err({"infer", "net.firn", "--ouput", "x"}),
              HasSubstr("infer has no option --ouput; did you mean --output?"));
  EXPECT_THAT(err({"infer", "net.firn", "--ouput=x"}), HasSubstr("did you mean --output?"));
}

TEST(CommandsTest, Profiles) {
  const nlohmann::json profile = Json({"profile", Graph(), "--runs", "3"});
  EXPECT_EQ(profile["runs"], 3);
  EXPECT_FALSE(profile["rows"].empty());
  EXPECT_THAT(Firn({"profile", Graph()}).out, HasSubstr("calls"));
  const Outcome none = Firn({"profile", Graph(), "--runs", "0"});
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.err, HasSubstr("'0' is no number from 1 on"));
}

TEST(CommandsTest, Plots) {
  std::ofstream(Path("loss.series.txt")) << "0 1\n1 0.5\n2 0.25\n";
  std::ofstream(Path("time.timer.txt")) << "0 1.5 1.5 1.5\n1 3 1.5 1.5\n";
  for (const char* end : {".svg", ".png"}) {
    const std::string loss = Path("loss") + end, time = Path("time") + end;
    EXPECT_EQ(Firn({"plot-series", Path("loss.series.txt"), "-o", loss, "--log-y", "--x-label",
                    "steps", "--y-label", "cost"})
                  .err,
              "");
    EXPECT_EQ(Firn({"plot-timer", Path("time.timer.txt"), "-o", time, "--unit", "m"}).err, "");
    for (const std::string& path : {loss, time}) {
      std::ifstream file(path, std::ios::binary);
      std::string head(4, '\0');
      file.read(head.data(), 4);
      EXPECT_EQ(head, end == std::string(".svg") ? "<svg" : "\x89PNG") << path;
    }
  }
  std::ostringstream svg;
  svg << std::ifstream(Path("loss.svg")).rdbuf();
  EXPECT_THAT(svg.str(), HasSubstr(">steps</text>"));
  EXPECT_THAT(svg.str(), HasSubstr(">cost</text>"));
  EXPECT_EQ(Firn({"plot-series", Path("loss.series.txt"), "-o", Path("loss.gif")}).status, 1);
  std::ofstream(Path("nan.series.txt")) << "0 nan\n1 nan\n";
  EXPECT_THAT(Firn({"plot-series", Path("nan.series.txt"), "-o", Path("nan.svg")}).err,
              HasSubstr("nan has no point to draw: all are NaN"));
  EXPECT_EQ(Firn({"plot-series", Path("none.series.txt"), "-o", Path("loss.svg")}).status, 1);
  EXPECT_EQ(Firn({"plot-timer", Path("time.timer.txt"), "-o", "x.svg", "--unit", "y"}).status, 2);
}

// Writes a picture only if GraphViz is installed.
TEST(CommandsTest, DrawsGraphs) {
  EXPECT_EQ(Firn({"draw-graph", Graph(), "-o", Path("net.dot")}).status, 0);
  std::ostringstream dot;
  dot << std::ifstream(Path("net.dot")).rdbuf();
  EXPECT_THAT(dot.str(), HasSubstr("relu"));
  EXPECT_EQ(Firn({"draw-graph", Graph()}).status, 2);
  EXPECT_EQ(Firn({"draw-graph", Graph(), "-o", Path("net.doc")}).status, 1);
  EXPECT_EQ(Firn({"draw-graph", Weights("a.h5", 4), "-o", Path("net.dot")}).status, 1);
}

TEST(CommandsTest, Operations) {
  EXPECT_THAT(Firn({"operations"}).out, HasSubstr("conv2d"));
  EXPECT_THAT(Firn({"operations", "softmax"}).out, HasSubstr("differentiable"));
  EXPECT_THAT(Firn({"operations", "gelu"}).out,
              HasSubstr("options\n  approximate: none (of none or tanh)\n"));
  EXPECT_EQ(Json({"operations", "gelu"})["options"],
            nlohmann::json::parse(
                R"([{"name": "approximate", "default": "none", "words": ["none", "tanh"]}])"));
  EXPECT_EQ(Json({"operations", "softmax"})["options"][0]["name"], "dim");
  EXPECT_EQ(Json({"operations", "relu"})["options"], nlohmann::json::array());
  const Outcome typo = Firn({"operations", "sofmax"});
  EXPECT_EQ(typo.status, 1);
  EXPECT_THAT(typo.err, HasSubstr("softmax"));
  EXPECT_EQ(Json({"operations", "adam_step"})["inputs"][2]["changed_in_place"], true);
}

TEST(CommandsTest, CompletesAllCommands) {
  const std::string script = Firn({"completion"}).out;
  for (const Command& c : Commands()) {
    EXPECT_THAT(script, HasSubstr(c.name.substr(c.name.find(' ') + 1)));
  }
  EXPECT_THAT(script, HasSubstr("words='convert create inspect split'"));
  EXPECT_THAT(script, Not(HasSubstr("completion completion")));
}

}  // namespace
}  // namespace firn::cli
