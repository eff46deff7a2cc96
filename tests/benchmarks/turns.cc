// `turns N` does N equal turns of a few instructions, and little else: it is linked statically.

#include <cstdlib>

int main(int, char** argv) {
  // The asm tells the compiler only that each turn reads and changes `left`; without it g++ 14
  // merges two turns into one.
  for (long left = std::atol(argv[1]); left > 0; --left) asm volatile("" : "+r"(left));
}
