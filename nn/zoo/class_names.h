#ifndef FIRN_NN_ZOO_CLASS_NAMES_H_
#define FIRN_NN_ZOO_CLASS_NAMES_H_

// The files of class_names/ within the program. Programs call zoo::ClassNames.

namespace firn::zoo {

struct ClassNameList {
  const char* set = nullptr;    // "imagenet"
  const char* names = nullptr;  // a line each
};
// The last one has no set. Written while building.
extern const ClassNameList kClassNameLists[];

}  // namespace firn::zoo

#endif  // FIRN_NN_ZOO_CLASS_NAMES_H_
