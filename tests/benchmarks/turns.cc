// `turns N` does N equal turns of a few instructions, and little else: it is linked statically.

#include <cstdlib>

int main(int, char** argv) {
  // Whoever compiles it sees no more than that each turn reads and changes `left`: g++ 14 makes one
  // turn of two else.
  for (long left = std::atol(argv[1]); left > 0; --left) asm volatile("" : "+r"(left));
}
