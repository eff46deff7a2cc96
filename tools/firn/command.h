#ifndef FIRN_TOOLS_FIRN_COMMAND_H_
#define FIRN_TOOLS_FIRN_COMMAND_H_

// A command of the command line `firn` is a file that registers itself:
//
//   FIRN_COMMAND(count, "Counts the tensors of a file") {
//     auto file = std::make_shared<std::string>();
//     app.add_option("FILE", *file, "a file of tensors")->required();
//     app.footer("Example: firn count net.h5");
//     return [file](Terminal& terminal) {
//       terminal.Print(...);
//       return 0;
//     };
//   }
//
// A group of commands is FIRN_COMMAND_GROUP(data, "..."), and one of the group
// FIRN_SUBCOMMAND(data, count, "...") { ... }.
//
// The function that a command returns throws firn::Error or another std::exception if something is
// wrong, which becomes a line on stderr and exit status 1; 2 is for command lines that make no
// sense.

#include <CLI/CLI.hpp>
#include <functional>
#include <nlohmann/json.hpp>
#include <ostream>
#include <stdexcept>
#include <string>
#include <vector>

namespace firn::cli {

// Where a command writes. Results go to `out`, as text or, with --json, as one JSON value; progress
// to `err`.
struct Terminal {
  std::ostream& out;
  std::ostream& err;
  bool json = false;

  // Prints the text or, with --json, the value. Names in files come from strangers: control
  // characters of the text except line feeds are written as \x1b and the like.
  void Print(const std::string& text, const nlohmann::json& value);
  // Prints a line to `err`, with control characters written in the same way.
  void Warn(const std::string& line);
};

// Thrown for options that make no sense together: exit status 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Returns the exit status.
using Run = std::function<int(Terminal& terminal)>;

// Declares options, and returns the function that runs with them.
using Declare = Run (*)(CLI::App& app);

struct Command {
  std::string name;  // in a group, both names: "dataset split"
  std::string summary;
  Declare declare;  // null: a group
};
// All commands that are linked, by name: a group comes before its commands.
std::vector<Command> Commands();

struct Registration {
  Registration(const char* name, const char* summary, Declare declare);
};

#define FIRN_COMMAND(name, summary)                                                               \
  static ::firn::cli::Run FirnCommand_##name(CLI::App& app);                                      \
  static const ::firn::cli::Registration firn_command_##name(#name, summary, FirnCommand_##name); \
  static ::firn::cli::Run FirnCommand_##name(CLI::App& app)

#define FIRN_COMMAND_GROUP(name, summary) \
  static const ::firn::cli::Registration firn_command_##name(#name, summary, nullptr)

#define FIRN_SUBCOMMAND(group, name, summary)                           \
  static ::firn::cli::Run FirnCommand_##group##_##name(CLI::App& app);  \
  static const ::firn::cli::Registration firn_command_##group##_##name( \
      #group " " #name, summary, FirnCommand_##group##_##name);         \
  static ::firn::cli::Run FirnCommand_##group##_##name(CLI::App& app)

// A least number for an option: CLI11's own text names the range of a double, 300 digits long.
CLI::Validator AtLeast(double least);

// Runs a command line without the program's name. Nothing ends the process. Returns the exit
// status: 0 for success, 1 for an error, 2 for a command line that makes no sense.
int RunCommandLine(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

}  // namespace firn::cli

#endif  // FIRN_TOOLS_FIRN_COMMAND_H_
