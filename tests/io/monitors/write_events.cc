// Writes a run's events into the folder that it is given, for tensorboard_test.py: two files, the
// first one cut off within a record as a killed process leaves it.
#include <cmath>
#include <filesystem>
#include <iostream>
#include <string>

#include "firn/io/monitors/event_writer.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"

int main(int argc, char** argv) {
  using namespace firn;
  if (argc != 2) {
    std::cerr << "usage: write_events FOLDER\n";
    return 2;
  }
  std::string first;
  {
    io::EventWriter events(argv[1], {.clock = [] { return 1.6e9; }});
    first = events.path();
    for (int step = 0; step < 5; ++step) events.AddScalar("loss", 1.0 / (step + 1), step);
    events.AddScalar("cut off", 1, 5);
  }
  std::filesystem::resize_file(first, std::filesystem::file_size(first) - 5);
  io::EventWriter events(argv[1], {.purge_step = 3, .clock = [] { return 1.7e9; }});
  events.AddScalar("loss", 30, 3);
  events.AddScalar("bad", std::nan(""), 3);
  events.AddHistogram("weights", Arange(0, 61), 3);
  events.AddHistogram("empty", FromValues({std::nan("")}), 3);
  events.AddImage("image", Full({3, 4, 6}, 0.5), 3);
  events.AddText("note", "hello *world*", 3);
  events.AddGraph({{.name = "x", .op = "input", .output_shapes = {{2, 3}}},
                   {.name = "net/relu", .op = "relu", .inputs = {"x"}, .device = "cpu"}});
  return 0;
}
