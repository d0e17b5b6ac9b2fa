// One thread's code of a kernel for blocks of threads.
#include "backends/llvm/internal/kernel_emitter.h"

namespace plumb::backends::codegen {

using kir::LoopKind;

namespace {

constexpr std::int64_t most_blocks_along_y = 65535, most_blocks = (std::int64_t{1} << 31) - 1;

/// The loops over blocks, outermost first.
std::vector<const kir::For*> block_loops(const kir::Kernel& k) {
  std::vector<const kir::For*> loops;
  const kir::Block* body = &k.body;
  while (body) {
    const kir::Block* inner = nullptr;
    for (const auto& s : *body)
      if (auto* f = std::get_if<kir::For>(&s.node); f && f->kind == LoopKind::gpu_block) {
        require(!inner, "a kernel has one nest of loops over blocks");
        loops.push_back(f);
        inner = &f->body;
      }
    body = inner;
  }
  return loops;
}

}  // namespace

void KernelEmitter::need_grid(const char* what) const {
  if (!options_.grid) fail_unsupported("kernel " + k_.name + " holds " + what + " of a GPU schedule, which the cpu target does not run");
}

/// Blocks that do not fit a grid's second and third axis are numbered along the first.
void KernelEmitter::start_grid() {
  std::vector<kir::BufferId> global = k_.inputs;
  global.insert(global.end(), k_.outputs.begin(), k_.outputs.end());
  auto* pointer = b_.getPtrTy(Grid::global);
  auto* type = llvm::FunctionType::get(b_.getVoidTy(), llvm::SmallVector<llvm::Type*, 8>(global.size() + 1, pointer), false);
  frame_.function = llvm::Function::Create(type, llvm::Function::ExternalLinkage, symbol_, module_);
  b_.SetInsertPoint(llvm::BasicBlock::Create(module_.getContext(), "entry", frame_.function));
  for (unsigned i = 0; i < global.size(); ++i) {
    frame_.function->addParamAttr(i, llvm::Attribute::getWithAlignment(module_.getContext(), llvm::Align(16)));
    frame_.function->addParamAttr(i, llvm::Attribute::NoAlias);
    pointers_[static_cast<std::size_t>(global[i])] = frame_.function->getArg(i);
  }
  frame_.runtime = frame_.function->getArg(static_cast<unsigned>(global.size()));
  const auto loops = block_loops(k_);
  std::int64_t all = 1;
  bool flat = loops.size() > 3;
  for (const auto* f : loops) {
    const auto n = std::max<std::int64_t>(f->extent.as_constant().value(), 0);
    all *= n;
    if (all > most_blocks) fail_unsupported("kernel " + k_.name + " needs more blocks than a grid has");
    flat = flat || (f->width > 0 && n > most_blocks_along_y);
    if (f->width < 3) shape_.blocks[static_cast<std::size_t>(f->width)] = n;
  }
  if (!flat) return;
  shape_.blocks = {all, 1, 1};
  Value* rest = b_.CreateZExt(options_.grid->block_index(b_, 0, all), b_.getInt64Ty());
  for (std::size_t k = loops.size(); k-- > 0;) {
    const auto n = loops[k]->extent.as_constant().value();
    Value* low = b_.CreateTrunc(rest, b_.getInt32Ty());
    block_vars_[loops[k]->var] = k == 0 ? rest : b_.CreateZExt(b_.CreateURem(low, b_.getInt32(static_cast<std::uint32_t>(n))), b_.getInt64Ty());
    rest = b_.CreateZExt(b_.CreateUDiv(low, b_.getInt32(static_cast<std::uint32_t>(std::max<std::int64_t>(n, 1)))), b_.getInt64Ty());
  }
}

void KernelEmitter::grid_loop(const kir::For& f) {
  const auto n = f.extent.as_constant().value();
  if (n <= 0) return;
  Value*& var = vars_[static_cast<std::size_t>(f.var)];
  set_range(f.var, n);
  const bool block_loop = f.kind == LoopKind::gpu_block;
  if (!block_loop) shape_.threads[static_cast<std::size_t>(f.width)] = n;
  if (const auto it = block_vars_.find(f.var); it != block_vars_.end()) var = it->second;
  else var = n == 1 ? i64(0) : b_.CreateZExt(block_loop ? options_.grid->block_index(b_, f.width, n) : options_.grid->thread_index(b_, f.width, n), b_.getInt64Ty());
  block(f.body);
}

/// Executed again, it is the same memory.
void KernelEmitter::allocate_shared(kir::BufferId buffer) {
  const auto& info = this->info(buffer);
  if (pointers_[static_cast<std::size_t>(buffer)]) return;
  constexpr std::int64_t alignment = 128;
  Value* start = options_.grid->shared_memory(module_);
  pointers_[static_cast<std::size_t>(buffer)] = b_.CreateConstGEP1_64(b_.getInt8Ty(), start, static_cast<std::uint64_t>(shape_.shared_bytes));
  shape_.shared_bytes += (element_count(info.extents) * byte_size(info.dtype) + alignment - 1) / alignment * alignment;
}

void KernelEmitter::emit_node(const kir::Barrier& s) {
  need_grid("barriers");
  options_.grid->barrier(b_, s.scope);
}

/// Values travel as 32-bit words.
void KernelEmitter::emit_node(const kir::Shuffle& s) {
  need_grid("shuffles");
  auto* i32 = b_.getInt32Ty();
  Value *x = scalar(s.arg), *lane = b_.CreateTrunc(uniform(s.lane), i32);
  auto* type = x->getType();
  const unsigned bits = type->getPrimitiveSizeInBits();
  auto* word = b_.getIntNTy(bits);
  Value* whole = b_.CreateBitCast(x, word);
  if (bits <= 32) {
    Value* moved = options_.grid->shuffle(b_, s.mode, b_.CreateZExt(whole, i32), lane);
    scalar(s.result) = b_.CreateBitCast(b_.CreateTrunc(moved, word), type);
    return;
  }
  Value *low = options_.grid->shuffle(b_, s.mode, b_.CreateTrunc(whole, i32), lane), *high = options_.grid->shuffle(b_, s.mode, b_.CreateTrunc(b_.CreateLShr(whole, 32), i32), lane);
  scalar(s.result) = b_.CreateBitCast(b_.CreateOr(b_.CreateZExt(low, word), b_.CreateShl(b_.CreateZExt(high, word), 32)), type);
}

}  // namespace plumb::backends::codegen
