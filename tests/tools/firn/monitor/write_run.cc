// Writes a run into the folder that it is given, with names and texts that try to be markup, for
// monitor_page_test.py.
#include <cmath>
#include <iostream>
#include <string>

#include "firn/io/monitors/event_writer.h"
#include "firn/io/monitors/monitor.h"
#include "firn/io/monitors/monitor_image.h"
#include "firn/io/monitors/record_writer.h"
#include "firn/tensor/ops.h"

namespace {

using namespace firn;

void WriteMonitors(const std::string& folder) {
  const io::Monitor monitor(folder);
  io::MonitorSeries loss("training loss", monitor), odd("<script>alert(1)<", monitor);
  io::MonitorTimeElapsed timer("time", monitor, {.interval = 10});
  io::MonitorImageTile tiles("samples", monitor, {.interval = 50, .num_images = 9});
  io::MonitorImageTile hostile("<img src=x onerror=alert(1)>", monitor, {.interval = 100});
  for (int step = 0; step < 200; ++step) {
    loss.Add(step, 2.5 * std::exp(-step / 60.0) + 0.05 * std::sin(step));
    odd.Add(step, step % 7);
    timer.Add(step);
    tiles.Add(step, Rand({9, 1, 12, 12}));
    hostile.Add(step, Rand({4, 3, 8, 8}));
  }
}

void WriteRecords(const std::string& folder) {
  io::CsvWriter csv(folder + "/run.csv", {"step", "learning rate", "</style><b>accuracy"});
  io::JsonLinesWriter json(folder + "/run.jsonl");
  for (int step = 0; step < 200; ++step) {
    csv.Write({step, 0.1 * (1 + std::cos(step * 3.14159 / 200)), 1 - std::exp(-step / 50.0)});
    json.Write({{"step", step}, {"gradient norm", step == 50 ? std::nan("") : 1.0 / (1 + step)}});
  }
}

void WriteEvents(const std::string& folder, double worse) {
  io::EventWriter events(folder);
  for (int step = 0; step < 200; step += 5) {
    events.AddScalar("loss/test", worse + std::exp(-step / 80.0), step);
    events.AddHistogram("conv1/weight", Mul(Randn({500}), 0.5 + step / 200.0), step);
  }
  events.AddImage("filters\"><script>", Rand({3, 16, 16}), 195);
  events.AddText("note", "first line\n<script>alert(document.title)</script>\n&amp; \"quotes\"",
                 195);
  events.AddGraph({{.name = "x", .op = "input", .output_shapes = {{64, 1, 8, 8}}},
                   {.name = "net/conv1", .op = "conv2d", .inputs = {"x"}},
                   {.name = "net/relu1", .op = "relu", .inputs = {"net/conv1"}},
                   {.name = "net/conv2", .op = "conv2d", .inputs = {"net/relu1"}},
                   {.name = "net/add", .op = "add", .inputs = {"net/conv2", "net/relu1"}},
                   {.name = "net/fc", .op = "<script>", .inputs = {"net/add"}}});
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: write_run FOLDER\n";
    return 2;
  }
  const std::string folder = argv[1];
  WriteMonitors(folder);
  WriteRecords(folder);
  WriteEvents(folder + "/first", 0);
  WriteEvents(folder + "/second", 0.2);
  return 0;
}
