// Module: the tree, names, parameters and modes. Saving and loading are in module_state.cc.
//
// A child is made by a factory that the parent keeps, so that a clone of any subclass can be made.
// Paths are made at first use, when the whole tree stands, and forgotten when a name above changes;
// they are interned, so a call costs one pointer and records may keep them.

#include "firn/nn/module.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <typeinfo>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/nn/type_names.h"
#include "firn/tensor/dispatch.h"

namespace firn::nn {
Module::Module() = default;

// A child's destructor would destroy its own children, and so on, on a stack as deep as the tree.
// So the children of a module that the loop below destroys wait in a list, which is linked by their
// parent_. A module that is destroyed in another way, such as a member of a module, destroys its
// children at once, since its owner may end before the loop.
Module::~Module() {
  static thread_local constinit Module* waiting = nullptr;
  static thread_local constinit const Module* popped = nullptr;
  Module* const before = waiting;
  for (auto it = children_.rbegin(); it != children_.rend(); ++it) {
    Module* const child = it->release();
    child->parent_ = std::exchange(waiting, child);
  }
  children_.clear();
  if (popped == this) return;
  const Module* const outer = popped;
  while (waiting != before) {
    const std::unique_ptr<Module> next(waiting);
    waiting = std::exchange(next->parent_, nullptr);
    popped = next.get();
  }
  popped = outer;
}

void CallScope::RaiseTooDeep(const Module& module) {
  --depth_;                          // no destructor does it
  const PathScope no_path(nullptr);  // it would be pages long
  RaiseStatus(ResourceExhausted("more than ", kMostNested,
                                " calls of modules run inside each other, the last one of a ",
                                module.type_name(),
                                "; each takes a part of the stack. Put layers one after another"
                                " into one Sequential, not each into the one before"),
              absl::StrCat("call at ", module.root().path()));
}

// --- Names --------------------------------------------------------------------------------------

std::string Module::type_name() const { return ClassName(typeid(*this)); }

std::string Module::name() const { return name_.empty() ? SnakeCase(type_name()) : name_; }

const std::string* Module::MakePath() const {
  std::vector<std::string> names;  // the innermost first
  for (const Module* m = this; m != nullptr; m = m->parent_) names.push_back(m->name());
  std::string path = std::move(names.back());
  for (size_t i = names.size() - 1; i-- > 0;) absl::StrAppend(&path, ".", names[i]);
  const std::string* interned = PathScope::Intern(path);
  __atomic_store_n(&path_, interned, __ATOMIC_RELEASE);
  return interned;
}

void Module::ForgetPaths() {
  VisitModules([](Module& m) { __atomic_store_n(&m.path_, nullptr, __ATOMIC_RELEASE); });
}

void Module::SetName(std::string name) {
  if (parent_ != nullptr) {
    RaiseStatus(FailedPrecondition("the module is ", parent_->path(),
                                   "'s child and keeps the name that Add gave it"),
                "set_name");
  }
  name_ = std::move(name);
  ForgetPaths();
}

// --- The tree -----------------------------------------------------------------------------------

std::vector<NamedModule> Module::named_modules() const {
  std::vector<NamedModule> done;
  std::vector<NamedModule> open = {{"", const_cast<Module*>(this)}};
  while (!open.empty()) {
    const NamedModule m = open.back();
    open.pop_back();
    for (auto it = m.module->children_.rbegin(); it != m.module->children_.rend(); ++it) {
      open.push_back(
          {m.name.empty() ? (*it)->name_ : absl::StrCat(m.name, ".", (*it)->name_), it->get()});
    }
    done.push_back(m);
  }
  return done;
}

std::vector<Module*> Module::Modules() const {
  std::vector<Module*> done, open = {const_cast<Module*>(this)};
  while (!open.empty()) {
    Module* const m = open.back();
    open.pop_back();
    done.push_back(m);
    for (auto it = m->children_.rbegin(); it != m->children_.rend(); ++it) {
      open.push_back(it->get());
    }
  }
  return done;
}

void Module::VisitModules(const std::function<void(Module&)>& f) {
  for (Module* m : Modules()) f(*m);
}

Module& Module::child(size_t i) const {
  if (i >= children_.size()) {
    RaiseStatus(OutOfRange("there is no child ", i, ", only ", children_.size()),
                absl::StrCat("child of ", path()));
  }
  return *children_[i];
}

Module* Module::FindChild(const std::string& name) const {
  const auto found = child_of_name_.find(name);
  return found == child_of_name_.end() ? nullptr : found->second;
}

void Module::CheckNewName(const std::string& name, bool taken, const char* what) const {
  if (name.empty() || name.find('.') != std::string::npos || taken) {
    RaiseStatus(InvalidArgument("\"", name, "\" in ", type_name(), ": ",
                                taken          ? "the name is taken"
                                : name.empty() ? "the name is empty"
                                               : "a name cannot hold a dot"),
                what);
  }
}

Module& Module::AddMade(std::string child_name, const ModuleFactory& factory) {
  CheckNewName(child_name, FindChild(child_name) != nullptr, "add");
  std::unique_ptr<Module> child = factory == nullptr ? nullptr : factory(nullptr);
  if (child == nullptr) {
    RaiseStatus(InvalidArgument("nothing makes \"", child_name, "\" in ", type_name(),
                                ": the factory is empty, or gave no module"),
                "add");
  }
  child->name_ = std::move(child_name);
  child->parent_ = this;
  child->factory_ = factory;
  if (!training_) child->Train(false);
  child->ForgetPaths();
  children_.push_back(std::move(child));
  child_of_name_.emplace(children_.back()->name_, children_.back().get());
  NoteChild();
  return *children_.back();
}

const Module& Module::root() const {
  const Module* m = this;
  while (m->parent_ != nullptr) m = m->parent_;
  return *m;
}

void Module::CheckPartOf(const Module& caller) {
  if (!training_ || foreign_call_noted_ || !GradEnabled() || &root() == &caller.root()) return;
  foreign_call_noted_ = true;
  std::fprintf(stderr,
               "firn: %s calls %s, which is no part of its network: it is not trained, saved or"
               " switched to evaluation with it. Make it with Add\n",
               caller.path().c_str(), path().c_str());
}

HookHandle Module::RegisterForwardPreHook(ForwardPreHook hook) {
  return hooks().pre.Add(std::move(hook));
}

HookHandle Module::RegisterForwardHook(ForwardHook hook) {
  return hooks().post.Add(std::move(hook));
}

HookHandle Module::RegisterBackwardHook(BackwardHook hook) {
  return hooks().backward.Add(std::move(hook));
}

Hooks& Module::hooks() {
  if (hooks_ == nullptr) hooks_ = std::make_unique<Hooks>();
  return *hooks_;
}

// --- Text ---------------------------------------------------------------------------------------

// Indentation stops at a depth where it no longer helps; in a very deep tree it would be most of
// the text.
std::string Module::ToString() const {
  constexpr size_t kWidest = 200;
  struct Open {
    const Module* module;
    size_t next = 0;  // child
  };
  std::string text;
  std::vector<Open> open;
  const auto margin = [&](size_t depth) { return std::string(std::min(2 * depth, kWidest), ' '); };
  const auto begin = [&](const Module& m) {
    absl::StrAppend(&text, m.type_name(), "(", m.Describe());
    open.push_back({&m});
  };
  begin(*this);
  while (!open.empty()) {
    const Module& m = *open.back().module;
    const size_t next = open.back().next++;
    if (next < m.children_.size()) {
      const Module& child = *m.children_[next];
      absl::StrAppend(&text, "\n", margin(open.size()), "(", child.name_, "): ");
      begin(child);
      continue;
    }
    open.pop_back();
    absl::StrAppend(&text, m.children_.empty() ? "" : "\n" + margin(open.size()), ")");
  }
  return text;
}

}  // namespace firn::nn
