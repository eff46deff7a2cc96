#ifndef FIRN_VERSION_H_
#define FIRN_VERSION_H_

// The version stands here alone: programs ask the macros, and what packs or documents Firn reads
// this file. Versions follow semver.org.
#define FIRN_VERSION_MAJOR 0
#define FIRN_VERSION_MINOR 1
#define FIRN_VERSION_PATCH 0

#define FIRN_VERSION_TEXT_(x) #x
#define FIRN_VERSION_JOIN_(a, b, c) \
  FIRN_VERSION_TEXT_(a) "." FIRN_VERSION_TEXT_(b) "." FIRN_VERSION_TEXT_(c)
// "0.1.0"
#define FIRN_VERSION FIRN_VERSION_JOIN_(FIRN_VERSION_MAJOR, FIRN_VERSION_MINOR, FIRN_VERSION_PATCH)

#endif  // FIRN_VERSION_H_
