#include "program.h"

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
using executorch::runtime::Result;
using executorch::runtime::Span;
using executorch::runtime::Tag;
using executorch::runtime::TensorInfo;
using EtProgram = executorch::runtime::Program;

std::unique_ptr<Program> load(std::unique_ptr<DataLoader> loader, uint32_t& code) {
  Result<EtProgram> program = EtProgram::load(loader.get(), EtProgram::Verification::InternalConsistency);
  if (!program.ok()) {
    code = static_cast<uint32_t>(program.error());
    return nullptr;
  }
  code = 0;
  return std::make_unique<Program>(std::move(loader), std::move(program.get()));
}

template <typename Loader>
std::unique_ptr<Program> load_from(Result<Loader> loader, uint32_t& code) {
  if (!loader.ok()) {
    code = static_cast<uint32_t>(loader.error());
    return nullptr;
  }
  return load(std::make_unique<Loader>(std::move(loader.get())), code);
}

/// Fills in `facts` from the tag and, where it is a tensor, from its metadata.
Error describe(Result<Tag> tag, Result<TensorInfo> info, ValueFacts& facts) {
  if (!tag.ok()) {
    return tag.error();
  }
  facts.tag = static_cast<uint32_t>(tag.get());
  if (tag.get() != Tag::Tensor) {
    return Error::Ok;
  }
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

rust::Str Program::method_name(size_t index) const {
  Result<const char*> name = program_.get_method_name(index);
  return name.ok() && name.get() != nullptr ? rust::Str(name.get()) : rust::Str();
}

uint32_t Program::method_facts(const std::string& name, MethodFacts& facts) const {
  auto meta = program_.method_meta(name.c_str());
  if (!meta.ok()) {
    return static_cast<uint32_t>(meta.error());
  }
  for (size_t i = 0; i < meta->num_inputs(); i++) {
    ValueFacts value{};
    if (Error e = describe(meta->input_tag(i), meta->input_tensor_meta(i), value); e != Error::Ok) {
      return static_cast<uint32_t>(e);
    }
    facts.inputs.push_back(std::move(value));
  }
  for (size_t i = 0; i < meta->num_outputs(); i++) {
    ValueFacts value{};
    if (Error e = describe(meta->output_tag(i), meta->output_tensor_meta(i), value); e != Error::Ok) {
      return static_cast<uint32_t>(e);
    }
    facts.outputs.push_back(std::move(value));
  }
  for (size_t i = 0; i < meta->num_memory_planned_buffers(); i++) {
    Result<int64_t> size = meta->memory_planned_buffer_size(i);
    if (!size.ok()) {
      return static_cast<uint32_t>(size.error());
    }
    facts.planned_bytes.push_back(size.get());
  }
  for (size_t i = 0; i < meta->num_backends(); i++) {
    Result<const char*> backend = meta->get_backend_name(i);
    if (!backend.ok()) {
      return static_cast<uint32_t>(backend.error());
    }
    facts.backends.push_back(rust::String::lossy(backend.get()));
  }
  facts.instructions = meta->num_instructions();
  return 0;
}

} // namespace nearside
