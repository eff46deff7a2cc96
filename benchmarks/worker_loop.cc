#include "benchmarks/worker_loop.h"

#include <chrono>
#include <ctime>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "firn/device/escape.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"

namespace firn::benchmarks {
namespace {

using Answer = absl::FunctionRef<absl::StatusOr<std::string>(const JsonLine&)>;

absl::StatusOr<std::string> AnswerLine(Answer answer, const std::string& line, bool* quit) {
  FIRN_ASSIGN_OR_RETURN(const JsonLine command, JsonLine::Parse(line));
  FIRN_ASSIGN_OR_RETURN(const std::string name, command.Text("cmd"));
  *quit = name == "quit";
  if (*quit) return std::string();
  try {  // eager functions throw
    return answer(command);
  } catch (const Error& e) {
    return absl::Status(e.code(), e.what());
  }
}

}  // namespace

double NowMs(bool cpu) {
  if (cpu) return 1e3 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::milli>(now).count();
}

void AnswerCommands(Answer answer) {
  bool quit = false;
  for (std::string line; std::getline(std::cin, line);) {
    const absl::StatusOr<std::string> reply = AnswerLine(answer, line, &quit);
    if (quit) return;
    const std::string error(reply.status().message());
    std::cout << (reply.ok() ? *reply
                             : absl::StrCat("{\"error\": ", internal::JsonString(error), "}"))
              << std::endl;
  }
}

}  // namespace firn::benchmarks
