// Kernel IR: loop nests over buffers with quasi-affine indices and scalar SSA bodies.
//
// Semantics, in short; MEANING.md beside this file says it in full, and is part of the specification.
//  Buffers are dense, row-major. Space: `global` parameters (inputs read-only, each output element written exactly
//   once, or combined into after it was written); `shared` one instance a gpu block; `local` one instance for each
//   execution of its Alloc by each parallel instance (inside a vector loop: each lane; inside gpu_thread: each thread);
//   `fragment` one instance a warp (or warpgroup), touched only by tile operations. Alloc gives poison: reading an
//   element before it was written is an error.
//  Loops. `serial` and `unrolled` run in order. `parallel`, `gpu_block`: iterations are unordered and independent: two
//   accesses to one location from different iterations, one a write, are a race, an error. `vector`: the iterations of
//   one step of `width` lanes run each statement together; no iteration may read what another wrote in the same
//   statement or later; the last step may be partial, its absent lanes do nothing (so a masked tail is not a second
//   meaning). `gpu_thread`: threads of a block, unordered between barriers. `tile`: iterations distributed over the
//   threads that own a fragment's elements. gpu_block loops are outermost; all gpu_thread loops nest directly.
//  Barrier: every thread of the scope arrives, or none (divergence is an error); accesses before it are ordered before
//   those after it. AsyncCopy reads and writes at an unknown time until an AsyncWait of the issuing thread covers its
//   group; other threads see it after a barrier that follows. Shuffle: all lanes of the warp take part.
//  Scalars have a dtype and the meaning of ir/scalar/functions.h. Narrow floats are storage formats here: loads may
//   give them, but Apply on them rounds each result to the format. Under relaxed the lowering widens them first.
//  Every access must be in bounds; a guarded load reads only where its predicate holds and gives `other` elsewhere.
//  Index checks (CheckIndex) record the first offending value and its site; the value then reads as 0.
#pragma once
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "ir/kernel/affine.h"
#include "ir/scalar/functions.h"
#include "ir/tensor/graph.h"

namespace plumb::kir {

enum class Space : std::uint8_t { global, shared, local, fragment };
enum class LoopKind : std::uint8_t { serial, unrolled, parallel, vector, gpu_block, gpu_thread, tile };
enum class Scope : std::uint8_t { warp, warpgroup, block };

struct Buffer {
  std::string name;
  DType dtype = DType::f32;
  Extents extents;
  Space space = Space::global;
};

using Indices = std::vector<Affine>;  ///< one expression an axis
struct Stmt;
using Block = std::vector<Stmt>;

// ── scalar definitions (result is a ScalarId; its dtype stands in Kernel::scalars) ──
struct Constant { ScalarId result; std::uint64_t bits; /* storage format of the dtype */ };
struct Apply { ScalarId result; FnId fn; SmallVector<ScalarId, 3> args; };
struct Convert { ScalarId result; ScalarId arg; bool bits = false; /* the same bits in a dtype as wide; of a NaN, those of some NaN */ };
struct Select { ScalarId result; ScalarId condition, on_true, on_false; };
struct IndexValue { ScalarId result; Affine expr; };            ///< an i64
struct Test { ScalarId result; Predicate predicate; };          ///< a bool
struct Load { ScalarId result; BufferId buffer; Indices index; Predicate guard; ScalarId other = -1; /* needed with a guard */ };
enum class ShuffleMode : std::uint8_t { bit_xor, down, up, from };
struct Shuffle { ScalarId result; ScalarId arg; ShuffleMode mode; Affine lane; };

// ── effects ──
struct Store { BufferId buffer; Indices index; ScalarId value; };
/// buffer[index] = fn(buffer[index], a), or fma(a, b, buffer[index]) when fn is fma. One step of a declared reduction.
struct Combine { BufferId buffer; Indices index; FnId fn; ScalarId a; ScalarId b = -1; int reduction = -1; };
struct CheckIndex { ScalarId result; ScalarId value; std::int64_t extent; int site; };  ///< result: value when in [0, extent), else 0
struct Alloc { BufferId buffer; };
struct Barrier { Scope scope; };
struct AsyncCopy { BufferId to; Indices to_index; BufferId from; Indices from_index; Extents tile; /* trailing axes; elements outside `from` read as +0 */ };
struct AsyncCommit {};
struct AsyncWait { int pending; };  ///< waits until at most this many committed groups of this thread are unfinished
struct TileFill { BufferId fragment; ScalarId value; };
struct TileLoad { BufferId fragment; BufferId from; Indices index; bool transposed = false; };
/// d += a · b over fragments of [m,k], [k,n], [m,n]; the accumulator's rounding is the reduction's.
struct TileMma { BufferId d, a, b; Scope scope; int reduction = -1; };
struct TileStore { BufferId to; Indices index; BufferId fragment; };

struct For { VarId var; Affine extent; LoopKind kind = LoopKind::serial; int width = 1; /* vector lanes; gpu: axis 0..2 */ Block body; };
struct If { Predicate condition; Block then; Block otherwise; };
/// Runs a block where a loaded bool holds (scatter, masks): data-dependent, so never around a barrier.
struct IfValue { ScalarId condition; Block then; };

struct Stmt {
  std::variant<Constant, Apply, Convert, Select, IndexValue, Test, Load, Shuffle, Store, Combine, CheckIndex, Alloc, Barrier, AsyncCopy, AsyncCommit,
               AsyncWait, TileFill, TileLoad, TileMma, TileStore, For, If, IfValue>
      node;
};

/// How a reduction of the specification is computed here: what the oracle's enclosure rests on, so that what is declared must
/// be true of the kernel and within the contract. Its combining steps are the Combine and TileMma statements that name it;
/// a reduction of more than one term has such steps, and takes each term once (a minimum or maximum may take one again).
/// The enclosure of a sum is as wide as `height` steps' errors in the accumulator's format, each half a unit in the last
/// place, or a whole one where the unit truncates (interpreter/domains/accumulation.h). A declaration that says less than is true is
/// found by the kernel's text and by counting (verify/accumulation.h); one that says more than the contract allows is a
/// violation too, and makes no enclosure wider.
struct Reduction {
  int spec_node = -1;             ///< the node of Kernel::spec that it implements
  FnId fn = fn_id<scalar::Add>;
  DType accumulator = DType::f32; ///< the narrowest format that a partial result passes before the next step
  bool truncates = false;         ///< tensor cores: products aligned and truncated, not rounded
  std::int64_t terms = 0;
  std::int64_t height = 0;        ///< longest chain of combining steps that any term passes; the step into an initial value counts
};

/// Inverse of one store to an output: for the element at `coordinate(k)`, the value of each loop variable around the store.
/// The maps of a buffer stand in the order of its stores. The element is written by the one store whose loop values then lie
/// in their loops' ranges, whose conditions hold, and whose index is the element: the witness that each element is written
/// exactly once. A store at a place that data decides has no map (and is its buffer's only one).
struct OutputMap {
  BufferId buffer;
  std::vector<std::pair<VarId, Affine>> inverse;
};

struct Site { std::string operation; SourceLocation where; };  ///< of a CheckIndex

struct Kernel {
  std::string name;
  std::string schedule;                         ///< the template that built it: "pointwise", "row_reduce", "gemm", …
  std::vector<Buffer> buffers;
  bool correctly_rounded = false;               ///< elementary functions are (strict); else they may err as their rows say
  std::vector<BufferId> inputs, outputs;        ///< global buffers, in the order of spec's parameters and results
  std::vector<DType> scalars;
  std::vector<std::string> vars;
  Block body;
  std::vector<Reduction> reductions;
  std::vector<OutputMap> output_maps;
  std::vector<Site> sites;
  std::shared_ptr<const ir::Function> spec;     ///< the tensor program of primitives that this kernel implements
};

}  // namespace plumb::kir
