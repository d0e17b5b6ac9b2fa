// The verifier's state, shared by its sources.
#pragma once
#include "ir/kernel/bounds.h"
#include "ir/kernel/text.h"
#include "ir/kernel/verifier.h"

namespace plumb::kir {

class Verifier {
 public:
  Verifier(const Kernel& k, const VerifyOptions& options)
      : k_(k), options_(options), printer_(k), is_input_(k.buffers.size()), in_scope_(k.buffers.size()), allocated_(k.buffers.size()), used_(k.buffers.size()),
        alloc_depth_(k.buffers.size()), writes_(k.buffers.size()), visible_(k.scalars.size()), defined_once_(k.scalars.size()), has_loop_(k.vars.size()) {}
  Verified run();

 private:
  [[noreturn]] void broken(const std::string& what) const;

  // verifier.cpp: tables, scopes, uses
  void buffers();
  void collect_writes();
  void block(const Block& b);
  void statement(const Stmt& s);
  void use(ScalarId s) const;
  void affine(const Affine& a) const;
  const For* loop_of(VarId v) const;
  const Buffer& buffer(BufferId b);
  void readable(BufferId b);
  void writable(BufferId b) const;
  void plain(BufferId b, const Indices& index);
  void rank(const Buffer& info, BufferId b, const Indices& index) const;
  void reductions_and_maps() const;

  // verifier_checks.cpp: one statement
  void check(const Constant&) const {}
  void check(const Apply& a) const;
  void check(const Convert& c) const;
  void check(const Select& s) const;
  void check(const IndexValue& i);
  void check(const Test& t) const;
  void check(const Load& l);
  void check(const Shuffle& s) const;
  void check(const Store& s);
  void check(const Combine& c);
  void check(const CheckIndex& c);
  void check(const Alloc& a);
  void check(const Barrier& b) const;
  void check(const AsyncCopy& c);
  void check(const AsyncCommit&) const { asynchronous(); }
  void check(const AsyncWait& w) const;
  void check(const TileFill& t);
  void check(const TileLoad& t);
  void check(const TileMma& t);
  void check(const TileStore& t);
  void check(const For& f);
  void check(const If& i);
  void check(const IfValue& i);

  // verifier_loops.cpp: nesting
  void nesting(const For& f);
  void thread_nest(const For& f);
  bool inside(LoopKind k) const;
  void no_lanes(const char* what) const;
  void asynchronous() const;

  void same(DType a, DType b, const char* what) const;
  void reduction(int r) const;
  const Buffer& fragment(BufferId b, std::size_t rank);
  void tile_access(BufferId b, const Indices& index, Extents tile);
  void bounds(BufferId b, const Indices& index, const Extents& tile = {});
  DType dtype(ScalarId s) const { return k_.scalars[static_cast<std::size_t>(s)]; }

  const Kernel& k_;
  VerifyOptions options_;
  Printer printer_;
  Verified result_;
  Bounds bounds_;
  const Stmt* current_ = nullptr;
  std::vector<char> is_input_, in_scope_, allocated_, used_;
  std::vector<std::size_t> alloc_depth_;          ///< loops around each Alloc
  std::vector<std::vector<std::int64_t>> writes_; ///< places in the text
  std::vector<char> visible_;
  std::vector<int> defined_once_;
  std::vector<char> has_loop_;
  std::vector<ScalarId> defined_;
  std::vector<BufferId> allocs_;
  std::vector<const For*> loops_;
  std::vector<std::int64_t> loop_ends_;
  std::int64_t place_ = -1;
  int conditions_ = 0;                            ///< If around this place
  int loaded_control_ = 0;                        ///< of them, and loops, those that depend on loaded data
  int thread_nests_ = 0;
};

/// The buffer that a statement writes, or -1.
BufferId written_by(const Stmt& s);

}  // namespace plumb::kir
