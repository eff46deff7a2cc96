#!/bin/bash
# Which declarations and registrations tools/scripts/generate_source finds, as clang-format may break their lines.
set -euo pipefail

generate=$PWD/$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# expect WANT COMMAND...: what a command prints.
expect() {
  local want=$1 got
  got=$("${@:2}")
  [[ $got == "$want" ]] || { echo "${*:2} printed:"$'\n'"$got"$'\n'"expected:"$'\n'"$want" >&2 && exit 1; }
}

cat >layers.h <<'EOF'
class Plain final : public Layer {
  class Inner final : public Layer {};
};
class ALayerWithALongName final
    : public LayerWithOptions<ALayerWithALongNameOptions, LayerOf<Tensor, Tensor>> {
 public:
};
class LongArguments final : public LayerWithOptions<LongArgumentsOptions,
                                                    LayerOf<Tensor, Tensor>> {
};
class NotFinal : public Layer {
};
class Declared;
template class OfATemplate<1>;
using Another = OfATemplate<1>;
using AnotherWithALongName =
    OfATemplate<2>;
template <class T>
class Template final : public Layer {
};
template <class T>
requires(std::is_void_v<T>) class Constrained final
    : public Layer {
};
template <class T>
using Short = OfATemplate<sizeof(T)>;
using TwoBase = OfATemplate<3>;
using Pair = LayerOf<Tensor, Tensor>;
using Names = std::vector<std::string>;
EOF
expect "FIRN_LAYER(ALayerWithALongName)
FIRN_LAYER(Another)
FIRN_LAYER(AnotherWithALongName)
FIRN_LAYER(LongArguments)
FIRN_LAYER(Plain)" "$generate" layer_types layers.h

mkdir optim external
echo 'FIRN_REGISTER_RULE(one, OneRule);' >optim/one.cc
echo 'FIRN_REGISTER_OPTIMIZER(two, Two);' >optim/two.cc
echo 'int none;' >optim/none.cc
expect '#include "firn/optim/one.h"
#include "firn/optim/two.h"' grep '#include' <("$generate" optimizers_h optim/two.cc optim/one.cc optim/none.cc)

# A page gives its operations with their rules. An operation without a rule is an error; it is not left out.
cat >optim/page.cc <<'EOF'
FIRN_REGISTER_OP(one_step) { return cpu::OptimizerOp<OneRule>("One."); }
FIRN_REGISTER_OP(two_step) {
  return cpu::OptimizerOp<TwoRule>(
      "Two.");
}
EOF
expect 'FIRN_REGISTER_KERNELS(one_step) { return cuda::OptimizerKernels<OneRule>(); }
FIRN_REGISTER_KERNELS(two_step) { return cuda::OptimizerKernels<TwoRule>(); }' \
  grep FIRN_ <("$generate" step_kernels optim/page.cc)
echo 'FIRN_REGISTER_OP(odd) { return Odd(); }' >>optim/page.cc
if "$generate" step_kernels optim/page.cc 2>error.txt; then echo "a page with another operation was taken" >&2 && exit 1; fi
grep -q "optim/page.cc: an operation there is not" error.txt

# What is written of headers: operations, without those for who writes some; names from outside Firn's repository.
mkdir -p tensor/ops external/firn/tensor/ops
echo 'Tensor F(const Tensor& x);' | tee tensor/ops/b.h >external/firn/tensor/ops/a.h
echo '#include "firn/tensor/op.h"' >tensor/ops/c.h
expect '#include "firn/tensor/ops/a.h"
#include "firn/tensor/ops/b.h"' \
  grep '#include' <("$generate" ops_h tensor/ops/b.h tensor/ops/c.h external/firn/tensor/ops/a.h)
