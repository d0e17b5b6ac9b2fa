// The text form of kernels: one statement a line; printing and parsing are inverse.
//
//   kernel    := "kernel" @name "(" [parameter {"," …}] ")" ["schedule" "text"] "{" header* statement* "}"
//   parameter := ("in" | "out" | space) %buffer ":" dtype "[" [size {"," size}] "]"
//   header    := "reduction" n ":" function "in" dtype "terms" n "height" n ["node" n] ["truncates"]
//              | "site" n ":" "operation" ["at" "file" line column]
//              | "map" %buffer ":" [var "=" affine {"," …}]
//              | "correctly_rounded"                                      elementary functions are
//              | "spec" "{" function of ir/tensor/text.h "}"
//   statement := %s "=" definition ":" dtype
//              | %buffer "[" indices "]" "=" %s                          store
//              | %buffer "[" indices "]" function "=" %s ["," %s] ["reduction" n]   combine (two operands: fma)
//              | "alloc" %buffer ":" space dtype "[" sizes "]"
//              | "barrier" scope | "async_copy" access "=" access "tile" "[" sizes "]" | "async_commit" | "async_wait" n
//              | "tile_fill" %buffer "=" %s | "tile_load" %buffer "=" access ["transposed"] | "tile_store" access "=" %buffer
//              | "tile_mma" %buffer "=" %buffer "*" %buffer scope ["reduction" n]   adds to the left one
//              | "for" var "in" affine kind ["(" width ")"] block
//              | "if" (predicate | %s) block ["else" block]
//   definition:= "constant" value | function "(" %s {"," …} ")" | ("convert" | "bitcast") %s | "select" "(" %s "," %s "," %s ")"
//              | "index" affine | "test" predicate | "load" access ["if" predicate "else" %s]
//              | "shuffle" ("xor" | "down" | "up" | "from") %s "," affine | "check_index" %s "in" n "site" n
//   affine    := sums of n, n*atom, atom*n, atom; atom := var | %s | "dim(" Symbol ")" | "coord(" axis ")"
//              | "(" affine ("floordiv" n | "mod" n | "xor" affine) ")"
//   predicate := "true" | condition {"and" condition};  condition := affine ("<" | "<=" | ">" | ">=" | "==") affine
//
// Scalars are numbered in the order of their definitions, buffers and loops keep their names where those are unique (others
// get a number at the end), so the text does not depend on how ids were given out: parsing gives them in the text's order.
// Constants print as decimals where these give the bits back, else as bits (0x…). Comments: '#' or '//' to the line's end.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "ir/kernel/kernel.h"

namespace plumb::kir {

std::string print(const Kernel& kernel);
/// Bad input with file:line:column, the line and a caret; `file` is only named in messages.
Kernel parse_kernel(std::string_view text, std::string_view file = "<text>");
std::vector<Kernel> parse_kernels(std::string_view text, std::string_view file = "<text>");

/// How the parts of one kernel read in its text; for messages.
class Printer {
 public:
  explicit Printer(const Kernel& kernel);
  std::string kernel() const;
  /// One statement; of a loop or condition, its first line.
  std::string statement(const Stmt& s) const;
  std::string affine(const Affine& a) const;
  std::string predicate(const Predicate& p) const;
  std::string access(BufferId b, const Indices& index) const;
  std::string buffer(BufferId b) const;   ///< %name
  std::string scalar(ScalarId s) const;   ///< %12
  std::string var(VarId v) const;

 private:
  void number(const Block& block);
  void block(std::string& out, const Block& b, int depth) const;
  void header(std::string& out) const;
  std::string definition(const Stmt& s, ScalarId& result) const;
  std::string atom(const Atom& a) const;
  std::string condition(const Condition& c) const;
  std::string constant(const Constant& c) const;

  const Kernel& k_;
  std::vector<std::string> buffers_, vars_;
  std::vector<int> scalars_;              ///< -1: without definition
  std::vector<BufferId> order_;           ///< parameters first, then allocations
  int next_scalar_ = 0;
};

/// Words that no loop variable may have as its name.
bool is_reserved(std::string_view word);

std::string_view name(Space s);
std::string_view name(LoopKind k);
std::string_view name(Scope s);
std::string_view name(ShuffleMode m);

}  // namespace plumb::kir
