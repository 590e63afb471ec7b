#include "program.h"

#include "guard.h"

#include "nearside-runtime/src/bridge.rs.h"

#include <executorch/extension/data_loader/buffer_data_loader.h>
#include <executorch/extension/data_loader/file_data_loader.h>
#include <executorch/extension/data_loader/mmap_data_loader.h>

namespace nearside {
namespace {

using executorch::extension::BufferDataLoader;
using executorch::extension::FileDataLoader;
using executorch::extension::MmapDataLoader;
using executorch::runtime::DataLoader;
using executorch::runtime::Error;
using executorch::runtime::MethodMeta;
using executorch::runtime::Result;
using executorch::runtime::Span;
using executorch::runtime::Tag;
using executorch::runtime::TensorInfo;
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

template <typename Loader>
std::unique_ptr<Program> load_from(Result<Loader> loader, uint32_t& code) {
  if (!loader.ok()) {
    code = static_cast<uint32_t>(loader.error());
    return nullptr;
  }
  return load(std::make_unique<Loader>(std::move(loader.get())), code);
}

/// ExecuTorch gives the characters of a string that the file lacks as an address just above null.
bool is_string(const char* text) {
  constexpr uintptr_t kFirstPage = 4096;
  return reinterpret_cast<uintptr_t>(text) >= kFirstPage;
}

/// Fills in `facts` from the tag and, where it is a tensor, from its metadata.
template <typename GetInfo>
Error describe(Result<Tag> tag, GetInfo&& get_info, ValueFacts& facts) {
  if (!tag.ok()) {
    return tag.error();
  }
  facts.tag = static_cast<uint32_t>(tag.get());
  if (tag.get() != Tag::Tensor) {
    return Error::Ok;
  }
  Result<TensorInfo> info = get_info();
  if (!info.ok()) {
    return info.error();
  }
  facts.dtype = static_cast<int8_t>(info->scalar_type());
  facts.bytes = info->nbytes();
  facts.memory_planned = info->is_memory_planned();
  for (int32_t size : info->sizes()) {
    facts.sizes.push_back(size);
  }
  for (uint8_t dim : info->dim_order()) {
    facts.dim_order.push_back(dim);
  }
  const std::string_view name = info->name();
  facts.name = rust::String::lossy(name.data(), name.size());
  return Error::Ok;
}

Error describe(const MethodMeta& meta, MethodFacts& facts) {
  for (size_t i = 0; i < meta.num_inputs(); i++) {
    ValueFacts value{};
    if (Error e = describe(meta.input_tag(i), [&] { return meta.input_tensor_meta(i); }, value); e != Error::Ok) {
      return e;
    }
    facts.inputs.push_back(std::move(value));
  }
  for (size_t i = 0; i < meta.num_outputs(); i++) {
    ValueFacts value{};
    if (Error e = describe(meta.output_tag(i), [&] { return meta.output_tensor_meta(i); }, value); e != Error::Ok) {
      return e;
    }
    facts.outputs.push_back(std::move(value));
  }
  for (size_t i = 0; i < meta.num_memory_planned_buffers(); i++) {
    Result<int64_t> size = meta.memory_planned_buffer_size(i);
    if (!size.ok()) {
      return size.error();
    }
    facts.planned_bytes.push_back(size.get());
  }
  for (size_t i = 0; i < meta.num_backends(); i++) {
    Result<const char*> backend = meta.get_backend_name(i);
    if (!backend.ok()) {
      return backend.error();
    }
    if (!is_string(backend.get())) {
      return Error::InvalidProgram;
    }
    facts.backends.push_back(rust::String::lossy(backend.get()));
  }
  facts.instructions = meta.num_instructions();
  return Error::Ok;
}

} // namespace

std::unique_ptr<Program> open_mapped(const std::string& path, uint32_t& code) {
  return load_from(MmapDataLoader::from(path.c_str(), MmapDataLoader::MlockConfig::NoMlock), code);
}

std::unique_ptr<Program> open_file(const std::string& path, uint32_t& code) {
  return load_from(FileDataLoader::from(path.c_str()), code);
}

std::unique_ptr<Program> open_bytes(rust::Slice<const uint8_t> bytes, uint32_t& code) {
  return load(std::make_unique<BufferDataLoader>(bytes.data(), bytes.size()), code);
}

size_t Program::method_count() const {
  return program_.num_methods();
}

rust::String Program::method_name(size_t index) const {
  Result<const char*> name = program_.get_method_name(index);
  return name.ok() && is_string(name.get()) ? rust::String::lossy(name.get()) : rust::String();
}

uint32_t Program::method_facts(const std::string& name, MethodFacts& facts) const {
  return guarded([&] {
    auto meta = program_.method_meta(name.c_str());
    return meta.ok() ? describe(*meta, facts) : meta.error();
  });
}

} // namespace nearside
