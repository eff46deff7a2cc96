#ifndef FIRN_TESTS_OPS_CHECKS_H_
#define FIRN_TESTS_OPS_CHECKS_H_

#include "firn/tensor/testing/samples.h"
#include "tests/ops/calls.h"

namespace firn::testing {

// The checks of the suite for an operation or a composite, each as GoogleTest expectations. A check
// passes silently if it does not apply (no gradient, no kernels).

// The functions that users call give what the operation gives, to the bit: results, what they write
// in place, and gradients.
void CheckFunction(const Subject& subject, const Samples& samples);
// Every kernel in every declared dtype and several layouts gives what the reference says, and the
// specs that the shape rule announced.
void CheckForward(const Subject& subject, const Samples& samples);
// Kernels called by hand write all of their outputs, nothing beside them, and read nothing
// uninitialised.
void CheckBuffers(const Subject& subject, const Samples& samples);
// Gradients against central differences, in every dtype, for one wanted input at a time, and for
// incoming gradients of other layouts.
void CheckGradient(const Subject& subject, const Samples& samples);
void CheckSecondGradient(const Subject& subject, const Samples& samples);
// `saves` names all that the gradient rule reads and nothing else.
void CheckSaves(const Subject& subject, const Samples& samples);
// Error samples throw what they promise and change nothing.
void CheckErrors(const Subject& subject, const Samples& samples);
// Calls with one input made wrong throw firn::Error or give what the shape rule says.
void CheckArguments(const Subject& subject, const Samples& samples);
// The same for attributes.
void CheckAttributes(const Subject& subject, const Samples& samples);
// Equal calls give equal bits, also on large inputs, and nearly equal results with other numbers of
// threads.
void CheckDeterminism(const Subject& subject, const Samples& samples);
// Captured and frozen, a call and its gradient give what they give outside, to the bit.
void CheckCaptured(const Subject& subject, const Samples& samples);
// If an operation changes each of many tensors, one call for all does the same as one call for
// each.
void CheckRepetitions(const Subject& subject, const Samples& samples);

struct Check {
  const char* name;
  void (*run)(const Subject&, const Samples&);
};
inline constexpr Check kChecks[] = {
    {"function", CheckFunction},
    {"forward", CheckForward},
    {"buffers", CheckBuffers},
    {"gradient", CheckGradient},
    {"second_gradient", CheckSecondGradient},
    {"saves", CheckSaves},
    {"errors", CheckErrors},
    {"arguments", CheckArguments},
    {"attributes", CheckAttributes},
    {"determinism", CheckDeterminism},
    {"captured", CheckCaptured},
    {"repetitions", CheckRepetitions},
};

}  // namespace firn::testing

#endif  // FIRN_TESTS_OPS_CHECKS_H_
