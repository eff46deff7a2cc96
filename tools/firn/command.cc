#include "tools/firn/command.h"

#include <algorithm>
#include <exception>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "firn/device/edit_distance.h"

namespace firn::cli {
namespace {

std::map<std::string, Command>& Registry() {
  static auto* registry = new std::map<std::string, Command>();
  return *registry;
}

std::string Printable(const std::string& text) {
  std::string printable;
  for (const char c : text) {
    const unsigned char byte = static_cast<unsigned char>(c);
    // In UTF-8, C2 80 to C2 9F are control characters too.
    const bool after_c2 = !printable.empty() && printable.back() == '\xc2';
    if (c == '\n' || (byte >= 32 && byte != 127 && !(after_c2 && byte >= 0x80 && byte < 0xa0))) {
      printable += c;
    } else {
      constexpr char kDigits[] = "0123456789abcdef";
      printable += {'\\', 'x', kDigits[byte / 16], kDigits[byte % 16]};
    }
  }
  return printable;
}

// The names that may follow `app`: those of its commands, or of its options.
std::vector<std::string> NamesOf(const CLI::App& app, bool options) {
  std::vector<std::string> names;
  if (options) {
    for (const CLI::Option* option : app.get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
  } else {
    for (const CLI::App* sub : app.get_subcommands(nullptr)) names.push_back(sub->get_name());
  }
  return names;
}

// For a mistyped name CLI11 says only that something is missing or was not expected. This message
// says which name is wrong and which one may have been meant; "" if all names are right.
std::string UnknownName(const CLI::App& firn, const std::vector<std::string>& arguments) {
  const CLI::App* app = &firn;
  for (const std::string& argument : arguments) {
    const bool option = argument.size() > 2 && argument.compare(0, 2, "--") == 0;
    if (!option && (argument[0] == '-' || app->get_subcommands(nullptr).empty())) continue;
    const std::string name = argument.substr(0, option ? argument.find('=') : argument.npos);
    const std::vector<std::string> known = NamesOf(*app, option);
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      const std::string likely = inner::internal::LikelyName(name, known);
      return app->get_display_name() + " has no " + (option ? "option " : "command ") + name +
             (likely.empty() ? "" : "; did you mean " + likely + "?");
    }
    if (!option) app = app->get_subcommand(name);
  }
  return "";
}

}  // namespace

Registration::Registration(const char* name, const char* summary, Declare declare) {
  // C++ names have no dashes.
  std::string dashed = name;
  std::replace(dashed.begin(), dashed.end(), '_', '-');
  Registry()[dashed] = {dashed, summary, declare};
}

std::vector<Command> Commands() {
  std::vector<Command> all;
  for (const auto& [name, command] : Registry()) all.push_back(command);
  return all;
}

CLI::Validator AtLeast(double least) {
  std::ostringstream bound;
  bound << least;
  return CLI::Validator(
      [least, bound = bound.str()](const std::string& text) {
        double number = 0;
        const bool ok = CLI::detail::lexical_cast(text, number) && number >= least;
        return ok ? std::string() : "'" + text + "' is no number from " + bound + " on";
      },
      ">= " + bound.str());
}

void Terminal::Print(const std::string& text, const nlohmann::json& value) {
  // Names in files are bytes that need not be UTF-8.
  using Handler = nlohmann::json::error_handler_t;
  out << (json ? value.dump(2, ' ', false, Handler::replace) + "\n" : Printable(text))
      << std::flush;
  if (!out) throw std::runtime_error("the results could not be written");
}

void Terminal::Warn(const std::string& line) {
  // Written by one call, since several processes may share a terminal.
  err << Printable(line) + "\n" << std::flush;
}

int RunCommandLine(const std::vector<std::string>& arguments, std::ostream& out,
                   std::ostream& err) {
  CLI::App app("Firn: deep learning in C++", "firn");
  app.require_subcommand(1);
  app.footer(
      "`firn COMMAND --help` lists its options. Exit status: 0 for success, 1 if something is "
      "wrong, 2 for an invalid command line.");
  Terminal terminal{out, err};
  Run chosen;
  std::map<std::string, CLI::App*> groups;
  for (const Command& command : Commands()) {
    const size_t blank = command.name.find(' ');
    const bool inside = blank != std::string::npos;
    CLI::App* const above = inside ? groups.at(command.name.substr(0, blank)) : &app;
    CLI::App* const sub = above->add_subcommand(
        inside ? command.name.substr(blank + 1) : command.name, command.summary);
    if (command.declare == nullptr) {
      sub->require_subcommand(1);
      groups[command.name] = sub;
      continue;
    }
    sub->add_flag("--json", terminal.json, "print one JSON value, for programs");
    const Run run = command.declare(*sub);
    sub->callback([&chosen, run] { chosen = run; });
  }
  try {
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
    app.parse(std::move(reversed));
  } catch (const CLI::ParseError& e) {
    std::ostringstream said;  // CLI11's text repeats arguments
    const int status = app.exit(e, out, said);
    const std::string unknown = status == 0 ? "" : UnknownName(app, arguments);
    if (unknown.empty()) {
      err << Printable(said.str());
    } else {
      terminal.Warn("firn: " + unknown + "\nRun with --help for more information.");
    }
    return status == 0 ? 0 : 2;
  }
  try {
    return chosen(terminal);
  } catch (const UsageError& e) {
    terminal.Warn(std::string("firn: ") + e.what());
    return 2;
  } catch (const std::exception& e) {
    terminal.Warn(std::string("firn: ") + e.what());
    return 1;
  }
}

}  // namespace firn::cli
