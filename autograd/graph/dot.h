#ifndef FIRN_AUTOGRAD_GRAPH_DOT_H_
#define FIRN_AUTOGRAD_GRAPH_DOT_H_

#include <string>

#include "firn/autograd/graph/graph.h"
#include "firn/tensor/state_dict.h"

namespace firn {

struct PictureOptions {
  // Names for states, as io::SaveGraph takes and ReadGraph gives them; others are numbers.
  StateDict names = {};
  // One box for each module instead of one for each operation, so that a large network fits on a
  // page. Forward and backward pass have a box each.
  bool modules = false;
};

// The graph in GraphViz's DOT language: a box for each operation, coloured by its module and inside
// a frame for each module around it; dashed boxes ran in the backward pass. Ovals are inputs,
// cylinders states, notes constants, double octagons results, trapezia gradients that a run leaves.
// Edges show dtype and shape; dashed ones go to states that an operation changes in place.
//
// The same graph gives the same text, and a module the same colour in every graph.
std::string DotText(const Graph& graph, const PictureOptions& options = {});

// Draws it: "net.svg" or "net.png" by the program `dot` of Debian's package graphviz, which is
// looked for in $PATH, "net.dot" without it. The file appears whole or not at all. Throws
// firn::Error: kInvalidArgument for another suffix, kFailedPrecondition where there is no `dot`,
// kInternal with the message of `dot` where that fails, and the system's error where the file
// cannot be written.
void WriteGraphPicture(const Graph& graph, const std::string& path,
                       const PictureOptions& options = {});

}  // namespace firn

#endif  // FIRN_AUTOGRAD_GRAPH_DOT_H_
