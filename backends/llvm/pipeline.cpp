// Kernel IR already says what is a vector and what is unrolled, so LLVM's vectorisers, unroller and inliner have no part.
#include "backends/llvm/internal/pipeline.h"

#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/SmallVectorMemoryBuffer.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/DCE.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/GVN.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

namespace plumb::backends::codegen {
namespace {

void optimize(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::PreserveCFG));   // accumulators become registers
  passes.addPass(llvm::EarlyCSEPass(true));                         // repeated index arithmetic and loads
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()), true));
  passes.addPass(llvm::GVNPass());                                  // loads across blocks, after they left loops
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  for (auto& f : module)
    if (!f.isDeclaration()) passes.run(f, functions);
}

}  // namespace

std::unique_ptr<llvm::Module> build_module(llvm::LLVMContext& context, llvm::TargetMachine& machine, std::span<NamedKernel> kernels, const Calls& calls, const EmitOptions& options) {
  auto module = std::make_unique<llvm::Module>("plumb", context);
  module->setDataLayout(machine.createDataLayout());
  module->setTargetTriple(machine.getTargetTriple().str());
  for (auto& k : kernels) k.emitted = emit_kernel(*module, *k.kernel, k.symbol, calls, options);
  for (auto& f : *module)
    if (!f.isDeclaration()) f.addFnAttr("prefer-vector-width", "512");   // where the features have 512-bit registers
  std::string problem;
  llvm::raw_string_ostream out(problem);
  if (llvm::verifyModule(*module, &out)) fail_internal("invalid code was generated: " + problem);
  optimize(*module, machine);
  return module;
}

namespace {

llvm::SmallVector<char, 0> emit(llvm::Module& module, llvm::TargetMachine& machine, llvm::CodeGenFileType type) {
  llvm::SmallVector<char, 0> text;
  llvm::raw_svector_ostream out(text);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, out, nullptr, type)) fail_internal("this LLVM cannot emit code for " + machine.getTargetTriple().str());
  passes.run(module);
  return text;
}

}  // namespace

std::unique_ptr<llvm::MemoryBuffer> object_file(llvm::Module& module, llvm::TargetMachine& machine) {
  return std::make_unique<llvm::SmallVectorMemoryBuffer>(emit(module, machine, llvm::CodeGenFileType::ObjectFile), "plumb.o", false);
}

std::string assembly(llvm::Module& module, llvm::TargetMachine& machine) {
  const auto text = emit(module, machine, llvm::CodeGenFileType::AssemblyFile);
  return {text.data(), text.size()};
}

}  // namespace plumb::backends::codegen
