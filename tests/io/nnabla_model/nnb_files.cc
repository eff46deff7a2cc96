// For nnb_python_test.py: nnb_files IN.nnp OUT.nnb
#include <iostream>

#include "firn/io/nnabla_model/nnabla_file.h"
#include "firn/io/nnabla_model/nnb_file.h"
#include "firn/tensor/error.h"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  try {
    firn::io::SaveNnb(argv[2], firn::io::LoadNnabla(argv[1]));
  } catch (const firn::Error& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
