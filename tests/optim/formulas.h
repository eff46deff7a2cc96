#ifndef FIRN_TESTS_OPTIM_FORMULAS_H_
#define FIRN_TESTS_OPTIM_FORMULAS_H_

// The step of every optimizer in double, the slow way, as the comments of its options have it; and
// options of which each has to matter, in one list or another.

#include "tests/optim/formula.h"
#include "tests/optim/matrix_formulas.h"
#include "tests/optim/reference_formulas.h"
#include "tests/optim/translated_formulas.h"

#endif  // FIRN_TESTS_OPTIM_FORMULAS_H_
