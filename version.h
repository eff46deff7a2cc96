#ifndef FIRN_VERSION_H_
#define FIRN_VERSION_H_

// The only place for the version of the code: programs use the macros, and scripts that pack Firn
// read this file. It equals the newest heading of CHANGELOG.md. Versions follow semver.org.
#define FIRN_VERSION_MAJOR 0
#define FIRN_VERSION_MINOR 2
#define FIRN_VERSION_PATCH 0

#define FIRN_VERSION_TEXT_(x) #x
#define FIRN_VERSION_JOIN_(a, b, c) \
  FIRN_VERSION_TEXT_(a) "." FIRN_VERSION_TEXT_(b) "." FIRN_VERSION_TEXT_(c)
// "0.2.0"
#define FIRN_VERSION FIRN_VERSION_JOIN_(FIRN_VERSION_MAJOR, FIRN_VERSION_MINOR, FIRN_VERSION_PATCH)

#endif  // FIRN_VERSION_H_
