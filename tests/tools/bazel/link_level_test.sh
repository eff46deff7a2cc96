#!/bin/bash
# The object that tools/bazel/link_level makes of a level's kernels shares no name with the rest of a program. Both keep
# their own copy of an inline function, none of the object's constructors runs by itself, and a name that cannot be made
# local is an error.
set -euo pipefail
link_level=$PWD/$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
die() {
  echo "FAILED: $*"
  exit 1
}

# A header that both levels read; LEVEL stands for what differs by -march.
cat >level.h <<'END'
#include <vector>
inline int Level() {
  static std::vector<int> levels{LEVEL};  // a weak function with a guarded static inside
  return levels.back();
}
void Register(int level);
END
cat >kernels.cc <<'END'
#include "level.h"
struct Kernels {
  Kernels() { Register(10 * Level()); }
} kernels;
__attribute__((constructor(500))) static void First() { Register(Level()); }
END
cat >main.cc <<'END'
#include <cstdio>
#include "level.h"
int got[2], count;
void Register(int level) { got[count++] = level; }
using Function = void (*)();
extern "C" Function __start_part_first[], __stop_part_first[], __start_part_then[], __stop_part_then[];
int main() {
  if (Level() != 2 || count != 0) return 1;  // nothing of the level ran yet
  for (auto f = __start_part_first; f != __stop_part_first; ++f) (*f)();
  for (auto f = __start_part_then; f != __stop_part_then; ++f) (*f)();
  std::printf("%d %d %d\n", got[0], got[1], Level());
}
END
flags=(-std=c++17 -O1 -fno-inline -c)
c++ "${flags[@]}" -DLEVEL=3 -fno-gnu-unique kernels.cc -o kernels.o 2>warned ||
  c++ "${flags[@]}" -DLEVEL=3 kernels.cc -o kernels.o  # clang has no such names
c++ "${flags[@]}" -DLEVEL=2 main.cc -o main.o
nm --defined-only --extern-only kernels.o | grep -q Level || die "there was no name to make local"
ar rc libkernels.a kernels.o

"$link_level" linked.o part libkernels.a
[[ -z $(nm --defined-only --extern-only linked.o) ]] || die "$(nm --defined-only --extern-only linked.o)"
nm linked.o | grep -q ' t .*Level' || die "the level's copy is gone"
for linker in bfd gold lld; do
  c++ -fuse-ld=$linker main.o linked.o -o program 2>/dev/null || { echo "no $linker here"; continue; }
  said=$(./program) || die "$linker: constructors of the level ran at the start"
  [[ $said == "3 30 2" ]] || die "$linker: the two levels' functions got mixed: $said"
  echo "$linker: $said"
done
[[ -f program ]] || die "nothing was linked"

# Archives after --needed give the objects that are called, and nothing else.
cat >called.cc <<'END'
#include "level.h"
int Called() { return Level(); }
END
echo 'void Idle() {}' >idle.cc
cat >caller.cc <<'END'
int Called();
void Register(int level);
__attribute__((constructor(500))) static void First() { Register(Called()); }
END
for name in called idle caller; do
  c++ "${flags[@]}" -DLEVEL=3 -fno-gnu-unique $name.cc -o $name.o 2>warned || c++ "${flags[@]}" -DLEVEL=3 $name.cc -o $name.o
done
ar rc libneeded.a called.o idle.o
"$link_level" caller_linked.o part caller.o --needed libneeded.a
nm caller_linked.o | grep -q ' t .*Called' || die "what is called is not there"
if nm caller_linked.o | grep -q Idle; then die "what nobody calls is there"; fi
"$link_level" caller_linked.o part caller.o --needed
nm caller_linked.o | grep -q ' U .*Called' || die "what is called came from nowhere"

# A unique name exists once in the whole process, and objcopy cannot make it local.
echo 'asm(".globl one\n.type one, @gnu_unique_object\n.data\none: .long 1\n.size one, 4\n");' >unique.cc
c++ "${flags[@]}" unique.cc -o unique.o
if said=$("$link_level" refused.o part unique.o 2>&1); then die "a unique name passed"; fi
[[ $said == *"keep names or constructors that other levels would see"*one* ]] || die "it said: $said"
