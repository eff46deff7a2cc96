// For each path on the standard input: reads the file and writes what it read to PATH.firn.nnp, and
// its parameters to PATH.firn.protobuf: a line "OK PATH" or "ERROR PATH CODE MESSAGE".
#include <iostream>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "firn/io/nnabla_model/nnabla_file_status.h"

int main() {
  std::string path;
  while (std::getline(std::cin, path)) {
    const auto model = firn::io::TryLoadNnabla(path);
    absl::Status status = model.status();
    if (model.ok()) status = firn::io::TrySaveNnabla(path + ".firn.nnp", *model);
    if (status.ok()) status = firn::io::TrySaveNnabla(path + ".firn.protobuf", *model);
    if (status.ok()) {
      std::cout << "OK " << path << "\n";
    } else {
      std::cout << "ERROR " << path << " " << absl::StatusCodeToString(status.code()) << " "
                << absl::CEscape(status.message()) << "\n";
    }
  }
  return 0;
}
