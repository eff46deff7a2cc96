#ifndef FIRN_AUTOGRAD_GRAPH_DOT_H_
#define FIRN_AUTOGRAD_GRAPH_DOT_H_

#include <string>

#include "firn/autograd/graph/graph.h"

namespace firn {

// The graph in GraphViz's DOT language: a box for each operation, coloured by its module and inside
// a frame for each module around it; dashed boxes ran in the backward pass. Ovals are inputs,
// cylinders states, notes constants, double octagons results, trapezia gradients that a run leaves.
// Edges show dtype and shape; dashed ones go to states that an operation changes in place.
//
// The same graph gives the same text, and a module the same colour in every graph.
std::string DotText(const Graph& graph);

// Draws it: "net.svg" or "net.png" by the program `dot` of Debian's package graphviz, which is
// looked for in $PATH, "net.dot" without it. The file appears whole or not at all. Throws
// firn::Error: kInvalidArgument for another suffix, kFailedPrecondition where there is no `dot`,
// kInternal with its message where it fails, what the system says where nothing can be written.
void WriteGraphPicture(const Graph& graph, const std::string& path);

}  // namespace firn

#endif  // FIRN_AUTOGRAD_GRAPH_DOT_H_
