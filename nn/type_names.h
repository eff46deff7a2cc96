#ifndef FIRN_NN_TYPE_NAMES_H_
#define FIRN_NN_TYPE_NAMES_H_

#include <string>
#include <typeinfo>

namespace firn::nn {

// The name of a class without namespaces, enclosing functions and template arguments: "Conv2d".
std::string ClassName(const std::type_info& type);

// "res_unit" for "ResUnit", "lstm_cell" for "LSTMCell".
std::string SnakeCase(const std::string& class_name);

}  // namespace firn::nn

#endif  // FIRN_NN_TYPE_NAMES_H_
