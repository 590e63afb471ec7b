#include "program.h"

#include "guard.h"
#include "loader.h"
#include "tracer.h"

namespace nearside {
namespace {

using executorch::runtime::DataLoader;
using executorch::runtime::Result;
using EtProgram = executorch::runtime::Program;

std::unique_ptr<Program> load(std::unique_ptr<DataLoader> loader, uint32_t& code) {
  std::unique_ptr<Program> opened;
  code = guarded([&] {
    Result<EtProgram> program = EtProgram::load(loader.get(), EtProgram::Verification::InternalConsistency);
    if (program.ok()) {
      opened = std::make_unique<Program>(std::move(loader), std::move(program.get()));
    }
    return program.error();
  });
  return opened;
}

} // namespace

std::unique_ptr<Program> open_file(int32_t file, uint64_t bytes, uint32_t& code) {
  auto keeping = std::make_unique<KeepingLoader>(std::make_unique<FileLoader>(file, bytes));
  KeepingLoader* const kept = keeping.get();
  auto program = load(traceable(std::move(keeping)), code);
  if (program != nullptr) {
    program->set_keeping(kept);
  }
  return program;
}

std::unique_ptr<Program> open_bytes(rust::Slice<const uint8_t> bytes, bool droppable, uint32_t& code) {
  return load(traceable(std::make_unique<MemoryLoader>(bytes.data(), bytes.size(), droppable)), code);
}

} // namespace nearside
