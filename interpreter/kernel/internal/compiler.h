// From a kernel to a Program: where each scalar, variable and buffer stands, and an operation for each statement.
#pragma once
#include "interpreter/kernel/internal/ops.h"
#include "ir/kernel/bounds.h"

namespace plumb::interp::kernel {

class Compiler {
 public:
  explicit Compiler(Program& p);
  void run();

 private:
  /// A block under construction, and what it brings into being.
  struct Scope {
    Ops ops;
    std::vector<kir::VarId> vars;
    std::vector<std::pair<kir::Atom, Linear::Part>> atoms;  ///< computed here; the coefficient tells varying (1) from uniform (0)
  };
  struct ScalarPlace {
    int slot = -1;
    bool lanes = false;        ///< defined where lanes run
    int wide = -1;             ///< its copy for the lanes of the region that is open
    std::size_t scope = 0;
  };
  /// A vector loop or a nest of threads.
  struct LaneRegion {
    Ops enter;
    int lanes = 1;
    bool threads = false;
    std::vector<kir::ScalarId> widened;
  };

  // compile.cpp
  Ops block(const kir::Block& b, std::vector<kir::VarId> vars = {});
  void statement(const kir::Stmt& s);
  void emit(OpPtr op);
  int define(kir::ScalarId s);
  int use(kir::ScalarId s);
  DType dtype(kir::ScalarId s) const { return k_.scalars[static_cast<std::size_t>(s)]; }
  DType element(kir::BufferId b) const { return k_.buffers[static_cast<std::size_t>(b)].dtype; }
  bool is_output(kir::BufferId b) const;
  int slot(int lanes);

  void compile(const kir::Constant& s);
  void compile(const kir::Apply& s);
  void compile(const kir::Convert& s);
  void compile(const kir::Select& s);
  void compile(const kir::IndexValue& s);
  void compile(const kir::Test& s);
  void compile(const kir::Load& s);
  void compile(const kir::Shuffle& s);
  void compile(const kir::Store& s);
  void compile(const kir::Combine& s);
  void compile(const kir::CheckIndex& s);
  void compile(const kir::Alloc& s);
  void compile(const kir::Barrier& s);
  void compile(const kir::AsyncCopy& s);
  void compile(const kir::AsyncCommit& s);
  void compile(const kir::AsyncWait& s);
  void compile(const kir::TileFill& s);
  void compile(const kir::TileLoad& s);
  void compile(const kir::TileMma& s);
  void compile(const kir::TileStore& s);
  void compile(const kir::For& s);
  void compile(const kir::If& s);
  void compile(const kir::IfValue& s);
  void vector_loop(const kir::For& f);
  void thread_nest(const kir::For& f);
  void tile_loop(const kir::For& f);
  Ops lane_body(const kir::Block& b, std::vector<kir::VarId> vars);
  Ops lane_loop_body(const kir::For& f);
  void close_region();
  /// Control that narrows the mask: counts how deep such masks nest.
  template <class F> auto masked(F f) {
    depth_ += 2;
    p_.mask_depth = std::max(p_.mask_depth, depth_ + 2);
    auto r = f();
    depth_ -= 2;
    return r;
  }

  // compile_index.cpp
  Linear linear(const kir::Affine& a);
  Linear::Part atom(const kir::Atom& a, bool& varying);
  std::size_t home(const kir::Atom& a) const;
  Test test(const kir::Predicate& p);
  Access access(kir::BufferId b, const kir::Indices& index);
  std::vector<Linear> linears(const kir::Indices& index);

  Program& p_;
  const kir::Kernel& k_;
  std::vector<Scope> scopes_;
  std::vector<ScalarPlace> scalars_;
  std::vector<kir::VarId> loops_;
  kir::Bounds bounds_;
  std::optional<LaneRegion> region_;
  std::vector<bool> group_fragment_;   ///< fragments of whole warpgroups
  int statement_ = -1;
  int depth_ = 0;
};

}  // namespace plumb::interp::kernel
